import Control
import DiskCalls
import FinishedTakes
import Foundation
import OtherPrograms
import StoreTrials
import Takes
import Testing

@Suite(.waitsOnNamedThreads, .serialized, .fewKitsAtATime, .timeLimit(.minutes(15)), .needs(.curl))
struct SpectrumTests {
    private let kit: RunningKit

    init() throws { kit = try RunningKit() }

    private typealias Head = SpectrumHead

    private func spectrum(_ stem: String, _ query: String = "") throws -> Curl.Answer {
        try kit.phone.get("/api/takes/\(stem)/spectrum\(query.isEmpty ? "" : "?\(query)")")
    }

    /// Whether the library may keep columns where tests run.
    static let hasRoom: Bool = {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: "/tmp")
        let free = (attributes?[.systemFreeSize] as? NSNumber)?.int64Value ?? 0
        let size = (attributes?[.systemSize] as? NSNumber)?.int64Value ?? 0
        return free > max(size / 10, 2 << 30)
    }()

    /// Puts a take of noise into the folder for takes: 100 s at 1000 Hz.
    private func addTake(_ number: Int, isDamaged: Bool = false) throws -> String {
        let sidecar = TakesOnDisk.sidecar(
            number, started: TakesOnDisk.morning + .seconds(number), seconds: 100, rateHz: 1000)
        return try kit.add(sidecar, TakesOnDisk.sound(bytes: 400_000, seed: number), isDamaged: isDamaged)
    }

    @Test func `a recorded take is drawn in columns of any width, and what cannot be drawn is refused`() throws {
        let stem = try kit.record(seconds: 2)
        let take = try #require(try kit.phone.get("/api/takes/\(stem)").json?["take"])
        let rateHz = try #require(take["rate_hz"]?.integer)
        let frames = try #require(take["frames"]?.integer)
        let fine = try spectrum(stem)
        #expect(fine.status == 200 && fine.headers["content-type"] == "application/octet-stream")
        #expect(fine.headers["cache-control"] == "private, no-cache")
        let window = rateHz <= 24_000 ? 512 : rateHz <= 96_000 ? 1024 : 2048
        #expect(
            Head(fine.bytes)
                == Head(columns: 512, rows: window / 2, rateHz: rateHz, window: window, first: 0))
        #expect(try spectrum(stem).bytes == fine.bytes)
        let part = try spectrum(stem, "from=1000&to=\(rateHz)&columns=100&size=256&channel=0")
        #expect(Head(part.bytes) == Head(columns: 100, rows: 128, rateHz: rateHz, window: 256, first: 1000))
        let coarse = try spectrum(stem, "columns=10&size=256")
        #expect(Head(coarse.bytes) == Head(columns: 10, rows: 256, rateHz: rateHz, window: window, first: 0))
        let head = try kit.phone.run("HEAD", "/api/takes/\(stem)/spectrum?columns=10", nil, [])
        #expect(head.status == 200 && head.headers["content-length"] == "\(32 + 2560)")

        for (query, sentence) in [
            ("columns=0", "spectrum: columns: found 0, allowed is a number from 1 to 2000"),
            ("columns=2001", "spectrum: columns: found 2001, allowed is a number from 1 to 2000"),
            ("columns=x", "console: columns: found \"x\", allowed is a whole number"),
            ("size=300", "spectrum: size: found 300, allowed are 256, 512, 1024, 2048, 4096, 8192"),
            ("channel=64", "spectrum: channel: found 64, \(stem) has the channels 0 to"),
            ("from=5&to=5", "console: from 5 does not lie before to 5"),
            ("from=\(frames)", "spectrum: \(stem) has frames 0 to \(frames): from must lie before to"),
            ("rows=5", "console: the query has \"rows\""),
        ] {
            let answer = try spectrum(stem, query)
            #expect(answer.status == 400 && answer.detail?.hasPrefix(sentence) == true, "\(query): \(answer.body)")
        }
        #expect(try spectrum("heron07-9999_20261121_061811").status == 404)
        #expect(try kit.stranger.get("/api/takes/\(stem)/spectrum").status == 401)
        #expect(try kit.phone.post("/api/takes/\(stem)/spectrum").status == 405)
        let folder = try #require(take["folder"]?.text)
        try FileManager.default.removeItem(atPath: "\(folder)/\(stem).wav")
        #expect(try spectrum(stem, "columns=501").status == 404)
    }

    @Test(.enabled(if: hasRoom, "the disk is too full"))
    func `a long take is drawn when its columns are computed, which is not done while the recorder hangs`() throws {
        kit.holdRecorder(true)
        let stem = try addTake(901)
        let waiting = try spectrum(stem, "columns=500")
        #expect(waiting.status == 202 && waiting.headers["content-type"] == "application/json")
        #expect(waiting.json == .object(["computed": .integer(0)]), "\(waiting.body)")
        // A minute of it is drawn at once.
        let minute = try spectrum(stem, "columns=300&from=40000")
        #expect(Head(minute.bytes) == Head(columns: 300, rows: 256, rateHz: 1000, window: 512, first: 40_000))
        let long = try spectrum(stem, "columns=2000")
        #expect(long.status == 400 && long.detail?.contains("are made of at most 60 s") == true)
        kit.holdRecorder(false)
        var drawn = try spectrum(stem, "columns=500")
        while drawn.status == 202 {
            usleep(100_000)
            drawn = try spectrum(stem, "columns=500")
        }
        #expect(Head(drawn.bytes) == Head(columns: 500, rows: 256, rateHz: 1000, window: 512, first: 0))
        #expect(drawn.bytes.dropFirst(32).allSatisfy { $0 > 0 })
        #expect(FileManager.default.fileExists(atPath: "\(kit.folder)/library/spectra/\(stem).spectrum"))
    }

    @Test(.enabled(if: hasRoom, "the disk is too full"))
    func `a day is drawn from the columns of its takes, and says how much of them is there`() throws {
        kit.holdRecorder(true)
        _ = try addTake(903)
        func day(_ query: String) throws -> Curl.Answer {
            try kit.phone.get("/api/days/2026-11-21/spectrum?zone=UTC&\(query)")
        }
        /// The columns in which there is any sound.
        func sounding(_ answer: Curl.Answer) -> [Int] {
            let values = Array(answer.bytes.dropFirst(32))
            return (0..<values.count / 256).filter { column in
                values[column * 256..<(column + 1) * 256].contains { $0 > 0 }
            }
        }
        var drawn = try day("columns=24")
        #expect(drawn.status == 200 && drawn.headers["content-type"] == "application/octet-stream")
        #expect(drawn.headers["fieldfare-computed"] == "0.0" && sounding(drawn).isEmpty)
        kit.holdRecorder(false)
        while drawn.headers["fieldfare-computed"] != "1.0" {
            usleep(100_000)
            drawn = try day("columns=24")
        }
        #expect(Head(drawn.bytes) == Head(columns: 24, rows: 256, rateHz: 1000, window: 512, first: 0))
        // It began at 06:33:14.25.
        #expect(sounding(drawn) == [6])
        let near = try day("columns=10&from=23589&until=23599")
        #expect(Head(near.bytes) == Head(columns: 10, rows: 256, rateHz: 1000, window: 512, first: 23_589))
        #expect(sounding(near) == [5, 6, 7, 8, 9])
        let none = try kit.phone.get("/api/days/2026-11-20/spectrum?zone=UTC")
        #expect(Head(none.bytes) == Head(columns: 1440, rows: 256, rateHz: 48_000, window: 1024, first: 0))
        #expect(none.headers["fieldfare-computed"] == "1.0" && sounding(none).isEmpty)
    }

    @Test func `a day has its takes and markers, its levels, and a place in its month`() throws {
        let stem = try addTake(904)
        _ = try kit.phone.patch(
            "/api/takes/\(stem)",
            #"{"title":"weir","markers":{"set":[{"at_frame":50000,"note":"wren"}]}}"#)
        let month = try kit.phone.get("/api/days?month=2026-11&zone=UTC")
        #expect(
            month.json
                == .object([
                    "days": .array([
                        .object([
                            "date": .string("2026-11-21"), "takes": .integer(1), "seconds": .integer(100),
                            "faults": .integer(0),
                        ])
                    ])
                ]), "\(month.body)")
        #expect(try kit.phone.get("/api/days?month=2026-10&zone=UTC").json == .object(["days": .array([])]))
        let day = try #require(try kit.phone.get("/api/days/2026-11-21?zone=UTC").json)
        #expect(
            day["takes"]
                == .array([
                    .object([
                        "take": .string(stem), "number": .integer(904), "title": .string("weir"),
                        "start_seconds": .double(23_595.25), "seconds": .integer(100),
                    ])
                ]))
        #expect(
            day["markers"]
                == .array([
                    .object(["take": .string(stem), "at_seconds": .double(23_645.25), "note": .string("wren")])
                ]))
        #expect(day["planned"] == nil && day["faults"] == .array([]) && day["measured"] == .array([]))
        // In Japan it was recorded in the afternoon.
        if let tokyo = try kit.phone.get("/api/days/2026-11-21?zone=Asia/Tokyo").json?["takes"], tokyo != .array([]) {
            guard case .array(let takes) = tokyo else { return }
            #expect(takes.first?["start_seconds"] == .double(23_595.25 + 9 * 3600))
        }
        // The take is in one column, so that its sidecar is enough: this one has no waveform.
        let levels = try kit.phone.get("/api/days/2026-11-21/waveform?zone=UTC&columns=24").json
        guard case .array(let peaks)? = levels?["peaks"] else { return }
        #expect(peaks.count == 24 && peaks.filter { $0 != .null } == [.integer(-12)] && peaks[6] == .integer(-12))
    }

    @Test func `a take whose notes cannot be read does not hide the rest of its day`() throws {
        let stem = try addTake(906)
        _ = try kit.phone.patch("/api/takes/\(stem)", #"{"markers":{"set":[{"at_frame":50000,"note":"wren"}]}}"#)
        // The library writes the notes again when it has compared the sound.
        while try kit.phone.get("/api/takes/\(stem)").json?["take"]?["sound"] != .string("as-recorded") {
            usleep(20_000)
        }
        let notes = "\(kit.folder)/library/takes/\(stem).json"
        try FileManager.default.removeItem(atPath: notes)
        try FileManager.default.createDirectory(atPath: notes, withIntermediateDirectories: false)
        let day = try kit.phone.get("/api/days/2026-11-21?zone=UTC")
        #expect(day.status == 200 && day.json?["markers"] == .array([]) && day.json?["takes"] != .array([]))
        for picture in ["spectrum", "waveform"] {
            #expect(try kit.phone.get("/api/days/2026-11-21/\(picture)?zone=UTC&columns=24").status == 200)
        }
    }

    @Test(arguments: [
        ("/2026-02-30", #"day: found "2026-02-30", allowed is a day such as 2026-11-27"#),
        ("/2026-11-21?zone=Mars", #"day: zone: found "Mars", allowed is a time zone such as "Europe/Berlin""#),
        ("?month=2026-13", #"days: month: found "2026-13", allowed is a month such as 2026-11"#),
        ("?month=2026-11-21", #"days: month: found "2026-11-21", allowed is a month such as 2026-11"#),
        ("/2026-11-21/spectrum?columns=0", "day: columns: found 0, allowed is a number from 1 to 2000"),
        ("/2026-11-21/waveform?columns=2001", "day: columns: found 2001, allowed is a number from 1 to 2000"),
        (
            "/2026-11-21/spectrum?from=5&until=5",
            "day: from 5 until 5: allowed are seconds of the day up to 90000, the later one as until"
        ),
        (
            "/2026-11-21/waveform?until=90001",
            "day: from 0 until 90001: allowed are seconds of the day up to 90000, the later one as until"
        ),
    ])
    func `a day that does not exist, or more of one, is refused`(path: String, sentence: String) throws {
        let answer = try kit.phone.get("/api/days\(path)")
        #expect(answer.status == 400 && answer.detail == sentence)
        #expect(try kit.stranger.get("/api/days\(path)").status == 401)
    }

    @Test func `of a damaged take, a minute at a time is drawn`() throws {
        let stem = try addTake(902, isDamaged: true)
        while try kit.phone.get("/api/takes/\(stem)").json?["take"]?["sound"] != .string("damaged") { usleep(20_000) }
        let whole = try spectrum(stem, "columns=500")
        #expect(whole.status == 422)
        #expect(
            whole.detail
                == "spectrum: \(stem): \(stem).wav: its sound is not what was recorded: the fingerprint differs: "
                + "only ranges of at most 60 s can be shown")
        #expect(try spectrum(stem, "columns=300&to=60000").status == 200)
        #expect(!FileManager.default.fileExists(atPath: "\(kit.folder)/library/spectra/\(stem).spectrum"))
    }
}

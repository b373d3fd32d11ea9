import Control
import FinishedTakes
import Foundation
import History
import Takes

/// The last week of a kit in the field, in a time zone in which it is about noon now. So last night is over, and no day
/// ends during a test.
///
/// Each day had three takes, which are at home, except a Tuesday on which the storage was full. The ten takes of last
/// night are in the outbox, which is paused.
struct FieldWeek: Encodable {
    /// The time zone of the phone, such as `Etc/GMT-5`, which is 5 hours ahead of UTC.
    let zone: String
    /// The last Tuesday before today, such as `2026-11-24`.
    let tuesday: String
    /// The loudest take of last night. A take of an earlier day is louder.
    let loudest: String
    /// The longest take, which is at home.
    let longest: String

    /// Writes the takes and the history of a running kit that sends takes, and waits until those at home are there.
    init(on kit: RunningKit) throws {
        let days = NoonDays(now: SystemClock().wallTime())
        let tuesday = days.sinceTuesday
        var earlier = (1...7).reversed().filter { $0 != tuesday }.flatMap { day in
            [
                Call(started: days.time(day, 5), seconds: 2, peakDBFS: -20),
                Call(started: days.time(day, 5.75), seconds: 2, peakDBFS: -14),
                Call(started: days.time(day, 20.25), seconds: 2, peakDBFS: -9),
            ]
        }
        (earlier[0].seconds, earlier[1].peakDBFS) = (12, -0.4)
        var night = (0..<10).map { index in
            Call(started: days.time(0, 1 + 0.7 * Double(index)), seconds: 1.25, peakDBFS: -30 + Double(index))
        }
        (night[6].peakDBFS, night[9].seconds) = (-1.8, 6)

        try Self.writeHistory(to: kit, days, fullOn: tuesday)
        let sent = try Self.write(earlier, from: 1, to: kit)
        while try Self.count("done", of: kit) < sent.count { usleep(20_000) }
        _ = try kit.phone.post("/api/outbox/pause")
        let waiting = try Self.write(night, from: sent.count + 1, to: kit)
        while try Self.count("waiting", of: kit) < waiting.count { usleep(20_000) }
        // It lists the takes that it finds at its start.
        kit.stopRecorder()
        try kit.startRecorder()

        zone = days.zone
        self.tuesday = "\(days.today + -tuesday)"
        (loudest, longest) = (waiting[6], sent[0])
    }

    /// For the script that walks through the pages.
    var json: String { get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) } }

    private struct Call {
        var started: WallTime
        var seconds: Double
        var peakDBFS: Double
    }

    /// - Parameter number: that of the first take.
    /// - Returns: the stems.
    private static func write(_ calls: [Call], from number: Int, to kit: RunningKit) throws -> [String] {
        let disk = TakesOnDisk()
        return try calls.enumerated().map { index, call in
            var sidecar = TakesOnDisk.sidecar(
                number + index, started: call.started, seconds: call.seconds, rateHz: 16_000)
            for channel in sidecar.levels.indices {
                sidecar.levels[channel].peakDBFS = call.peakDBFS
                sidecar.levels[channel].rmsDBFS = call.peakDBFS - 3
            }
            let written = try disk.addSound(sidecar, in: "\(kit.folder)/takes") { bytes, _ in
                tone(bytes: bytes, peakDBFS: call.peakDBFS)
            }
            return written.name.stem
        }
    }

    /// A tone of an eighth of the rate, in two channels of 16 bits.
    private static func tone(bytes: Int, peakDBFS: Double) -> [UInt8] {
        let most = 32_767 * pow(10, peakDBFS / 20)
        var sound: [UInt8] = []
        sound.reserveCapacity(bytes)
        for frame in 0..<bytes / 4 {
            let sample = Int16(most * sin(.pi / 4 * Double(frame)))
            for _ in 0..<2 {
                sound.append(UInt8(truncatingIfNeeded: sample))
                sound.append(UInt8(truncatingIfNeeded: sample >> 8))
            }
        }
        return sound
    }

    /// The storage was full from the evening before a day until the night after it.
    private static func writeHistory(to kit: RunningKit, _ days: NoonDays, fullOn day: Int) throws {
        let start = days.time(9, 12)
        let (full, free) = (days.time(day + 1, 21), days.time(day - 1, 0.5))
        func record(_ time: WallTime, _ event: HistoryEvent) -> HistoryRecord {
            HistoryRecord(at: time, uptime: 60 + (time - start).inSeconds, event)
        }
        let message = "storage: /var/lib/fieldfare/takes: full: 511 MiB free: free some space"
        var records = [
            record(start, .started(.init(version: "0.2.0", bootID: "of that week", before: .person))),
            record(full, .faultBegan(.init(code: 2, message: message))),
            record(free, .faultEnded(.init(code: 2, seconds: (free - full).inSeconds))),
        ]
        var writer = HistoryWriter(HistoryFolder(kit.history))
        try writer.append(&records)
    }

    /// The number of takes in a state, by the key of the outbox's report.
    private static func count(_ state: String, of kit: RunningKit) throws -> Int {
        guard case .array(let stores)? = try kit.phone.get("/api/outbox").json?["stores"] else { return 0 }
        return stores.reduce(0) { $0 + ($1[state]?.integer ?? 0) }
    }
}

/// The days of a time zone in which it is about noon. It has no daylight saving.
private struct NoonDays {
    let zone: String
    let today: CalendarDay
    private let midnight: WallTime

    init(now: WallTime) {
        // From -11 to 12. So its date is that of UTC.
        let ahead = 12 - now.microsecondsOfDay / 3_600_000_000
        // The names have the opposite sign, as in POSIX.
        zone = ahead == 0 ? "Etc/GMT" : "Etc/GMT\(ahead > 0 ? "-" : "+")\(abs(ahead))"
        today = CalendarDay(now.date)!
        midnight = WallTime(microseconds: now.microseconds - now.microsecondsOfDay - ahead * 3_600_000_000)
    }

    /// The time at an hour of the day that is some days ago.
    func time(_ daysAgo: Int, _ hour: Double) -> WallTime {
        midnight + .seconds(hour * 3600 - Double(daysAgo) * 86_400)
    }

    /// How many days ago the last Tuesday before today was: 1 to 7.
    var sinceTuesday: Int {
        // 1970-01-06 was a Tuesday.
        let since = (today.number - 5) % 7
        return since == 0 ? 7 : since
    }
}

import Files
import Glibc
import PowerCuts
import Takes
import TestBench
import Testing

@testable import TakeFiles

@Suite struct TakeDatingTests {
    private let scratch = TestFolder(in: .memory)
    private var path: String { scratch.path + "/takes" }
    private let boot = "0b0c0d0e-0000-4000-8000-000000000001"
    /// An hour and a half later than the start in the takes.
    private var truth: TrueStart {
        TrueStart(
            bootID: boot, offset: ClockOffset(microseconds: morning.microseconds - 5_000_000 + 5_400_000_000),
            origin: .manual)
    }
    private let corrected = "2026-11-21T07:48:11.250000Z"

    @discardableResult
    private func record(
        _ directory: TakesDirectory, kit: String = "heron07", boot: String? = nil,
        _ change: (inout Sidecar) -> Void = { _ in }
    ) throws -> TakeName {
        let name = try directory.nextTake(kit: kit, started: morning)
        var sidecar = testSidecar(name)
        if let boot { sidecar.bootID = boot }
        change(&sidecar)
        let output = try TakeOutput(
            in: directory, name: name, sidecar: sidecar, started: morning, format: stereo16, keepsUnfiltered: false,
            splitBytes: TakeOutput.largestSplitBytes)
        _ = try output.finish(endedBy: .stop, levels: [])
        return name
    }

    /// The outcome of each step: a letter and the take's number.
    private func run(_ directory: TakesDirectory, _ truth: TrueStart) throws -> [String] {
        var dating = try TakeDating(directory, truth: truth, kit: "heron07")
        var steps: [String] = []
        while let step = dating.step() {
            switch step {
            case .unchanged(let take): steps.append("unchanged \(take.number)")
            case .dated(let take, let sidecar): steps.append("dated \(take.number) r\(sidecar.revision)")
            case .skipped(let take, let error): steps.append("skipped \(take.number): \(error)")
            }
        }
        return steps
    }

    @Test func `the takes of this boot get their true start, newest first, and nothing else changes`() throws {
        let directory = try TakesDirectory(path: path)
        for other in ["another", "another", nil, nil, nil] { try record(directory, boot: other) }
        let before = try everything(in: path)
        #expect(try run(directory, truth) == ["dated 5 r2", "dated 4 r2", "dated 3 r2", "unchanged 2"])
        let after = try everything(in: path)
        let changed = after.keys.filter { after[$0] != before[$0] }.sorted()
        #expect(changed == [3, 4, 5].map { "2026-11-21/heron07-000\($0)_20261121_061811.json" })
        #expect(after.keys.sorted() == before.keys.sorted())
        for name in try directory.takes().suffix(3) {
            let sidecar = try directory.sidecar(of: name)
            #expect(sidecar.startedCorrected == corrected)
            #expect(sidecar.started == morning.iso8601)
            #expect(sidecar.take == name.stem)
        }
    }

    @Test func `a date that is set again, by less than matters, revises no take`() throws {
        let directory = try TakesDirectory(path: path)
        for _ in 0..<2 {
            try record(directory) { sidecar in
                sidecar.clockMap = [0, 60].map { seconds in
                    Sidecar.ClockPoint(
                        atFrame: TakeFrame(seconds * 48_000), rawNs: seconds * 1_000_000_000, utc: nil, errorUs: 30,
                        monotonicNs: 5_000_000_000 + seconds * 1_000_000_000)
                }
            }
        }
        #expect(try run(directory, truth) == ["dated 2 r2", "dated 1 r2"])
        let before = try everything(in: path)
        for step in [5000, -60_000, 90_000] as [Int64] {
            var again = truth
            again.offset.microseconds += step
            #expect(try run(directory, again) == ["unchanged 2", "unchanged 1"])
        }
        #expect(try everything(in: path) == before)
    }

    @Test func `done again it changes nothing, and when the date is set back the correction goes`() throws {
        let directory = try TakesDirectory(path: path)
        try record(directory)
        try record(directory)
        #expect(try run(directory, truth) == ["dated 2 r2", "dated 1 r2"])
        let before = try everything(in: path)
        #expect(try run(directory, truth) == ["unchanged 2", "unchanged 1"])
        #expect(try everything(in: path) == before)
        var back = truth
        back.offset.microseconds -= 5_400_000_000
        #expect(try run(directory, back) == ["dated 2 r3", "dated 1 r3"])
        #expect(try directory.takes().map { try directory.sidecar(of: $0).startedCorrected } == [nil, nil])
    }

    @Test func `begun again after it was cut short, it does what is left`() throws {
        let directory = try TakesDirectory(path: path)
        for _ in 0..<3 { try record(directory) }
        var first = try TakeDating(directory, truth: truth, kit: "heron07")
        _ = first.step()
        #expect(try run(directory, truth) == ["unchanged 3", "dated 2 r2", "dated 1 r2"])
    }

    @Test func `sidecars that cannot be read are named and passed over`() throws {
        let directory = try TakesDirectory(path: path)
        let names = try (0..<4).map { _ in try record(directory) }
        let day = "\(path)/2026-11-21"
        let files = FileSystem()
        try files.write(Array("{}".utf8), to: files.create("\(day)/\(names[1].stem).json", isNew: false), at: 0)
        _ = try files.create("\(day)/\(names[2].stem).json", isNew: false)
        #expect(
            try run(directory, truth) == [
                "dated 4 r2", "skipped 3: read \(day)/\(names[2].stem).json: not a sidecar: not JSON",
                "skipped 2: read \(day)/\(names[1].stem).json: not a sidecar: schema is missing", "dated 1 r2",
            ])
    }

    @Test func `takes that were copied here from another kit do not end the search`() throws {
        let directory = try TakesDirectory(path: path)
        try record(directory, boot: "another")
        try record(directory)
        try record(directory, kit: "wren01", boot: "theirs")
        try record(directory)
        #expect(try run(directory, truth) == ["dated 4 r2", "unchanged 3", "dated 2 r2", "unchanged 1"])
    }

    @Test func `whatever call fails, each sidecar is the old one or the new one, and the rest is done`() throws {
        let calls = FaultyCalls(root: path)
        let directory = try TakesDirectory(path: path, files: FileSystem(calls: calls))
        for _ in 0..<2 { try record(directory) }
        let names = try directory.takes()
        var failures = 0
        for index in 0... {
            for name in names { _ = try directory.revise(name) { $0.startedCorrected = nil } }
            var dating = try TakeDating(directory, truth: truth, kit: "heron07")
            calls.setPlan { number, _ in number == index ? EIO : nil }
            var skipped = 0
            while let step = dating.step() {
                if case .skipped = step { skipped += 1 }
            }
            calls.setPlan { _, _ in nil }
            let dates = try names.map { try directory.sidecar(of: $0).startedCorrected }
            #expect(dates.allSatisfy { $0 == nil || $0 == corrected })
            #expect(dates.count { $0 == corrected } >= 1)
            if skipped == 0 {
                #expect(dates == [corrected, corrected])
                break
            }
            failures += 1
        }
        #expect(failures > 8)
    }

    @Test func `takes that cannot be listed are reported`() throws {
        let calls = FaultyCalls(root: path)
        let directory = try TakesDirectory(path: path, files: FileSystem(calls: calls))
        calls.setPlan { _, _ in EIO }
        #expect(throws: FileError("list", path, code: EIO)) {
            _ = try TakeDating(directory, truth: truth, kit: "heron07")
        }
    }
}

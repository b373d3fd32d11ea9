import Files
import Glibc
import Takes
import TestBench
import Testing
import Transport

@testable import Doctor

@Suite struct StorageProbeTests {
    private let folder = TestFolder(in: .memory)

    private func run(
        _ storage: MadeUpStorage, reserveBytes: Int64 = 0, brake: Brake = Brake()
    ) -> StorageProbe.Outcome {
        StorageProbe.run(
            in: folder.path, bytesPerSecond: 192_000, reserveBytes: reserveBytes, brake: brake,
            files: FileSystem(calls: storage), clock: storage)
    }

    private func measured(_ outcome: StorageProbe.Outcome) -> StorageSpeed? {
        if case .measured(let speed) = outcome { speed } else { nil }
    }

    private func error(_ outcome: StorageProbe.Outcome) -> FileError? {
        if case .failed(let error) = outcome { error } else { nil }
    }

    @Test func `32 MiB are written with a sync each, then 16 syncs of a second's sound`() throws {
        let storage = MadeUpStorage { $0 < 32 ? .milliseconds(40) : .milliseconds($0 - 20) }
        let speed = try #require(measured(run(storage)))
        #expect(speed.bytes == 32 << 20)
        #expect(speed.writing == .milliseconds(1600))
        #expect(speed.syncs == (12..<28).map { .milliseconds($0) })
        #expect(speed.median == .milliseconds(20))
        #expect(speed.longest == .milliseconds(27))
        #expect(abs(speed.bytesPerSecond - 20_971_520) < 1)
    }

    @Test func `a slow storage is judged by what it did in four seconds of each`() throws {
        let storage = MadeUpStorage { _ in .milliseconds(990) }
        let speed = try #require(measured(run(storage)))
        #expect(speed.bytes == 4 << 20)
        #expect(speed.writing == .seconds(4))
        #expect(speed.syncs.count == 4)
    }

    @Test func `nothing is left behind, whichever call fails`() {
        for call in ["free", "open", "remove", "write", "sync"] {
            let storage = MadeUpStorage(failure: (call, EIO))
            #expect(error(run(storage))?.code == EIO, "\(call)")
            #expect(storage.count(of: "open") == (call == "free" ? 0 : 1), "\(call)")
            #expect(storage.count(of: "close") == (["free", "open"].contains(call) ? 0 : 1), "\(call)")
            // A file that could not be removed is removed by the next run.
            if call != "remove" { #expect(folder.names() == [], "\(call)") }
        }
        #expect(measured(run(MadeUpStorage())) != nil)
        #expect(folder.names() == [])
    }

    @Test func `the real file system is measured too`() throws {
        let speed = try #require(
            measured(
                StorageProbe.run(
                    in: folder.path, bytesPerSecond: 192_000, reserveBytes: 0, brake: Brake())))
        #expect(speed.bytes == 32 << 20)
        #expect(folder.names() == [])
    }

    @Test func `a take that began stops it before the next write`() {
        let brake = Brake()
        brake.pull()
        let storage = MadeUpStorage()
        guard case .skipped(let reason) = run(storage, brake: brake) else {
            Issue.record("it went on")
            return
        }
        #expect(reason.contains("a take began"))
        #expect(storage.count(of: "write") == 0)
        #expect(folder.names() == [])
    }

    @Test func `the reserve is not touched`() {
        let needed: Int64 = 32 << 20 + 192_000
        for (free, count) in [(needed + 1000, 48), (needed + 999, 0)] {
            let storage = MadeUpStorage(free: free)
            _ = run(storage, reserveBytes: 1000)
            #expect(storage.count(of: "write") == count)
        }
    }
}

@Suite struct StorageCheckTests {
    private func findings(
        _ outcome: StorageProbe.Outcome,
        rights: FolderRights? = FolderRights(isOwn: true, owner: "fieldfare", mode: 0o2750),
        isRecorder: Bool = true
    ) -> [Finding] {
        StorageCheck(
            directory: "/takes", outcome: outcome, rights: rights, faults: [], neededBytesPerSecond: 192_000,
            isRecorder: isRecorder
        ).findings
    }

    private func speed(megabytes: Double, syncs: [Int]) -> StorageProbe.Outcome {
        .measured(
            StorageSpeed(
                bytes: Int64(megabytes * 1e6), writing: .seconds(1), syncs: syncs.map { .milliseconds($0) }))
    }

    @Test(arguments: [
        (20.0, [5, 6, 7], Finding.Severity.ok, "/takes: writes 20 MB/s, syncs in 6 ms, at worst 7 ms"),
        (0.77, [5], .ok, "writes 0.8 MB/s"),
        (0.76, [5], .failure, "0.8 MB/s are needed"),
        (20.0, [5, 100], .ok, "at worst 100 ms"),
        (20.0, [5, 5, 101], .warning, "at worst 101 ms: a power cut"),
        (20.0, [5, 101, 101], .failure, "too slow: a power cut costs more than the last second"),
    ])
    func `a storage is judged by what a take needs`(
        megabytes: Double, syncs: [Int], severity: Finding.Severity, words: String
    ) {
        let found = findings(speed(megabytes: megabytes, syncs: syncs))
        #expect(found.map(\.severity) == [severity])
        #expect(found[0].message.contains(words))
    }

    @Test func `a storage that cannot be written to is reported with the system's text`() {
        let readOnly = findings(.failed(FileError("create", "/takes/.doctor", code: EROFS)))
        #expect(readOnly.map(\.exitStatus) == [74])
        #expect(readOnly[0].message.contains("Read-only file system"))
        let denied = FileError("create", "/takes/.doctor", code: EACCES)
        #expect(findings(.failed(denied)).map(\.exitStatus) == [77])
        #expect(findings(.failed(denied), isRecorder: false).map(\.severity) == [.warning])
        #expect(findings(.stalled(.seconds(15))).map(\.message)[0].contains("has not answered a write for 15 s"))
    }

    @Test func `a fault of the recorder is reported unless the check found it itself`() {
        var check = StorageCheck(
            directory: "/takes", outcome: .skipped("a take is being recorded"), rights: nil, faults: [],
            neededBytesPerSecond: 192_000, isRecorder: true)
        #expect(check.findings.map(\.severity) == [.ok])
        check.faults = [Fault(.storageFailing, "storage: pid 812 already does")]
        #expect(check.findings.map(\.message) == ["storage: pid 812 already does"])
        check.outcome = .failed(FileError("create", "/takes/.doctor", code: EIO))
        #expect(check.findings.count == 1)
        check.outcome = .stalled(.seconds(15))
        #expect(check.findings.count == 1)
    }

    @Test func `storage that is too slow, or another user's, does not hide a damaged take`() {
        let damaged = Fault(.storageFailing, "takes: heron07-0042-061811Z: its sound is damaged")
        var check = StorageCheck(
            directory: "/takes", outcome: speed(megabytes: 0.5, syncs: [5]), rights: nil, faults: [damaged],
            neededBytesPerSecond: 192_000, isRecorder: true)
        #expect(check.findings.map(\.severity) == [.failure, .failure])
        #expect(check.findings.last?.message == damaged.message)
        check.outcome = speed(megabytes: 20, syncs: [5])
        #expect(check.findings.map(\.message) == [damaged.message])
    }

    @Test func `a folder that the wrong users may use is a warning`() {
        let well = speed(megabytes: 20, syncs: [5])
        let open = findings(well, rights: FolderRights(isOwn: true, owner: "fieldfare", mode: 0o777))
        #expect(open.map(\.severity) == [.warning])
        #expect(open[0].message.contains("anybody may write"))
        let closed = findings(well, rights: FolderRights(isOwn: true, owner: "fieldfare", mode: 0o700))
        #expect(closed.map(\.message) == ["/takes: the library cannot read there (mode 700): chmod 2750"])
        let both = findings(well, rights: FolderRights(isOwn: true, owner: "fieldfare", mode: 0o702))
        #expect(
            both.map(\.message) == [
                "/takes: anybody may write there (mode 702): chmod 2750",
                "/takes: the library cannot read there (mode 702): chmod 2750",
            ])
    }

    @Test func `a folder's rights are read`() throws {
        let folder = TestFolder()
        #expect(chmod(folder.path, 0o2750) == 0)
        let rights = try #require(FolderRights(of: folder.path))
        #expect(rights.isOwn)
        #expect(rights.mode == 0o2750)
        #expect(FolderRights(of: folder.path + "/none") == nil)
    }
}

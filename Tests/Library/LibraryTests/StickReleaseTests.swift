import DiskCalls
import Files
import FinishedTakes
import Foundation
import Glibc
import Logging
import PowerCuts
import Takes
import Testing
import Transport

@testable import Catalog
@testable import Library

/// A stick is unmounted while the library reads it.
@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) struct StickReleaseTests {
    private let disk = TakesOnDisk()
    private var release: StickRelease { StickRelease(mark: "\(disk.path)/leaving", mountPoint: disk.path) }

    @Test func `only what is on the stick concerns it, and only while it is unmounted`() throws {
        #expect(!release.concerns(disk.takes))
        let mark = try release.begin()
        #expect(release.concerns(disk.takes) && release.concerns("\(disk.takes)/2026-11-21/a.wav"))
        #expect(!release.concerns(disk.path) && !release.concerns("\(disk.path)2/takes"))
        FileSystem().unlock(mark)
        #expect(!release.concerns(disk.takes))
        // No question keeps the mark locked.
        FileSystem().unlock(try release.begin())
    }

    @Test func `the mark of a script that is killed is without effect`() throws {
        let script = Process()
        script.executableURL = URL(filePath: "/bin/sh")
        // As in `deploy/systemd/stick`.
        script.arguments = ["-c", #"exec 8>"$0"; flock 8; echo locked; read -r line"#, release.mark]
        let (input, output) = (Pipe(), Pipe())
        script.standardInput = input
        script.standardOutput = output
        try script.run()
        #expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "locked\n")
        #expect(release.concerns(disk.takes))
        kill(script.processIdentifier, SIGKILL)
        script.waitUntilExit()
        #expect(script.terminationReason == .uncaughtSignal)
        #expect(access(release.mark, F_OK) == 0 && !release.concerns(disk.takes))
    }

    @Test func `a scan of a stick that is unmounted closes its files and opens no others`() throws {
        var takes: [TakeName] = []
        for number in 1...60 {
            takes.append(
                try disk.add(TakesOnDisk.sidecar(number, started: TakesOnDisk.morning + .seconds(3600 * number))))
        }
        let catalog = try Catalog.open(in: disk.library).0
        let storage = try #require(Storage(at: disk.takes))
        let number = try #require(try catalog.setPresent([storage])[storage])
        let stick = LeavingStick(release, afterFiles: 30)
        let scan = FolderScan(
            catalog: catalog, storage: storage, number: number, files: FileSystem(calls: stick),
            progress: ScanProgress(), release: release, report: { Issue.record("\($0)") })
        #expect(throws: FolderScan.StickLeaves.self) { try scan.all() }
        // The take that was being read is read to its end.
        #expect(Set(stick.lateFiles.filter { $0.contains(".") }.map { $0.prefix { $0 != "." } }).count <= 1)
        #expect(stick.openFiles == [])
        stick.stay()
        try scan.all()
        #expect(try catalog.counts().takes == takes.count)
    }

    @Test func `the takes of a stick that could not be unmounted are cataloged after a while`() async throws {
        let tested = try TestedIndexer(disk, release: release)
        let take = try disk.add(TakesOnDisk.sidecar(1))
        let mark = try release.begin()
        await tested.indexer.scanAll()
        #expect(try tested.stems() == [] && tested.log.lines == [])
        FileSystem().unlock(mark)
        let pending = await tested.indexer.retry
        let retry = try #require(pending, "nothing scans the stick again")
        await retry.value
        // The events are those that are waiting now.
        tested.watch.finish()
        for await event in tested.watch.events { await tested.indexer.handle(event) }
        #expect(try tested.stems() == [take.stem])
    }

    @Test func `the sound of a take on a stick that is unmounted is compared later`() async throws {
        let tested = try TestedIndexer(disk)
        let name = try disk.addSound(InspectedKit.sidecar(1)).name
        await tested.indexer.scanAll()
        let log = tested.log
        let inspector = try SoundInspector(
            tested.catalogs, release: release, show: { _ in }, log: Logger(label: "test") { _ in log })
        let mark = try release.begin()
        await #expect(throws: CancellationError.self) { try await inspector.check(name, in: disk.takes, .all) }
        FileSystem().unlock(mark)
        try await inspector.check(name, in: disk.takes, .all)
        #expect(try tested.catalog.find(.stem(name.stem)).map(\.sound) == [.asRecorded])
    }
}

extension StickRelease {
    /// Locks the mark, as `deploy/systemd/stick` does while it unmounts the stick. `FileSystem.unlock` ends that.
    func begin() throws -> OpenFile {
        let (file, isLocked) = try FileSystem().openLocked(mark)
        try #require(isLocked)
        return file
    }
}

/// The kernel's calls. When a number of files was opened, somebody begins to unmount the stick.
private final class LeavingStick: ForwardedCalls {
    let kernel = KernelCalls()
    private let release: StickRelease
    private let state: Locked<State>

    private struct State {
        var filesLeft: Int
        var mark: OpenFile?
        var open: [Int32: String] = [:]
        var late: [String] = []
    }

    init(_ release: StickRelease, afterFiles count: Int) {
        self.release = release
        state = Locked(State(filesLeft: count))
    }

    /// The stick is not unmounted any longer.
    func stay() {
        state.withLock { state in
            if let mark = state.mark { FileSystem().unlock(mark) }
            state.mark = nil
        }
    }

    var openFiles: [String] { state.withLock { Array($0.open.values) } }
    /// The names of the files that were opened afterwards.
    var lateFiles: [String] { state.withLock(\.late) }

    func open(_ path: String, flags: Int32, mode: UInt32) throws(Errno) -> Int32 {
        let descriptor = try kernel.open(path, flags: flags, mode: mode)
        state.withLock { state in
            state.open[descriptor] = path
            if state.mark != nil { state.late.append(String(path.split(separator: "/").last ?? "")) }
            state.filesLeft -= 1
            if state.filesLeft == 0 { state.mark = try? release.begin() }
        }
        return descriptor
    }

    func close(_ descriptor: Int32) {
        state.withLock { _ = $0.open.removeValue(forKey: descriptor) }
        kernel.close(descriptor)
    }

    func attributes(_ path: String) throws(Errno) -> FileAttributes { try kernel.attributes(path) }
}

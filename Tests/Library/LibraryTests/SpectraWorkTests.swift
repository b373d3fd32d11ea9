import Catalog
import DiskCalls
import Files
import FinishedTakes
import Foundation
import Logging
import ServiceLifecycle
import TakeFiles
import Takes
import TestBench
import Testing

@testable import Library

@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) final class SpectraWorkTests: SpectraKit {
    /// Compared takes without columns.
    private func takes(_ count: Int, seconds: Double = 0.5) async throws -> [Sidecar] {
        var takes: [Sidecar] = []
        for number in 1...count { takes.append(try await addWithoutColumns(Self.long(number, seconds: seconds))) }
        return takes
    }

    @Test func `older takes get columns, the newest first`() async throws {
        let takes = try await takes(3)
        #expect(settle().files == takes.reversed().map(\.take))
        for take in takes { #expect(try file(take) == expected(take.parts[0], take)) }
        // Then it rests.
        let read = takes.map { storage.bytesRead($0.parts[0].file) }
        clock.advance(by: SpectraWork.interval)
        let (pause, files) = settle()
        #expect(pause == SpectraWork.interval && files == [])
        #expect(takes.map { storage.bytesRead($0.parts[0].file) } == read && warnings == [])
    }

    @Test func `all parts of a take get columns, and twins have none`() async throws {
        let take = try await addWithoutColumns(InspectedKit.sidecar(1, parts: 3, hasTwin: true))
        #expect(settle().files.count == 3)
        #expect(Set(names) == Set(take.parts.map { "\(RecordedSound.base(of: $0.file)).spectrum" }))
    }

    @Test func `a take that somebody looks at goes first, and again while it waits`() async throws {
        let takes = try await takes(4)
        desk.look(at: takes[0].identity)
        desk.look(at: takes[1].identity)
        #expect(settle().files == [0, 1, 3, 2].map { takes[$0].take })
        #expect(desk.nextLook() == nil)
    }

    @Test func `a long take is left for one that somebody looks at`() async throws {
        let takes = try await takes(2, seconds: 10)
        begin()
        for _ in 0..<3 { _ = work.turn(clock.now()) }
        #expect(drafts == ["\(takes[1].take).spectrum.tmp"])
        desk.look(at: takes[0].identity)
        #expect(settle().files == [takes[0].take, takes[1].take])
    }

    @Test func `a take is left while its stick is unmounted, and found again if the stick stays`() async throws {
        let take = try await takes(1, seconds: 10)[0]
        let log = tested.log
        let release = StickRelease(mark: "\(tested.disk.path)/leaving", mountPoint: tested.disk.path)
        let work = SpectraWork(
            desk, tested.catalogs, isScanned: { true }, release: release, log: Logger(label: "test") { _ in log })
        while drafts == [] { _ = work.turn(clock.now()) }
        let mark = try release.begin()
        #expect(work.turn(clock.now()) == clock.now() + SpectraDesk.pause && drafts == [])
        FileSystem().unlock(mark)
        while work.turn(clock.now()) <= clock.now() {}
        #expect(names == ["\(take.take).spectrum"])
    }

    @Test func `the share that is computed grows while a take is read`() async throws {
        let take = try await takes(1, seconds: 10)[0]
        desk.look(at: take.identity)
        var shares: [Double] = []
        repeat {
            _ = work.turn(clock.now())
            shares.append(try columns(take).computed)
        } while shares.last != 1 && shares.count < 100
        #expect(shares == shares.sorted() && shares.first == 0 && shares.last == 1)
        #expect(shares.contains { (0.1...0.9).contains($0) })
    }

    @Test func `while the recorder falls behind, nothing is read, and it is asked every ten seconds`() async throws {
        let takes = try await takes(2, seconds: 10)
        let file = takes[1].parts[0].file
        begin()
        record(.unsynced(seconds: 3))
        clock.advance(by: SpectraDesk.pause)
        #expect(settle().pause == SpectraDesk.pause)
        #expect(drafts == [])
        let (read, asked) = (storage.bytesRead(file), recording.withLock { $0.count })
        for _ in 0..<5 {
            clock.advance(by: .seconds(5))
            settle()
        }
        #expect(storage.bytesRead(file) == read)
        #expect((2...3).contains(recording.withLock { $0.count } - asked))
        record(.unknown)
        clock.advance(by: SpectraDesk.pause)
        #expect(settle().files == [])
        record(.unsynced(seconds: 1))
        clock.advance(by: SpectraDesk.pause)
        #expect(settle().files == [takes[1].take, takes[0].take])
    }

    /// The work of a kit with a battery, and its desk.
    private func withBattery() -> (SpectraWork, SpectraDesk) {
        let log = tested.log
        let logger = Logger(label: "test") { _ in log }
        let desk = SpectraDesk(
            in: folder, SpectraGate(hasBattery: true, reservedBytes: 0), files: FileSystem(calls: storage),
            clock: clock, recording: Self.answers(recording), log: logger)
        return (SpectraWork(desk, tested.catalogs, isScanned: { true }, log: logger), desk)
    }

    @Test func `a kit with a battery computes what somebody looks at, and does not ask in vain`() async throws {
        let takes = try await takes(2)
        let (work, desk) = withBattery()
        func settle() {
            while work.turn(clock.now()) <= clock.now() {}
        }
        let asked = recording.withLock { $0.count }
        for _ in 0..<10 {
            settle()
            clock.advance(by: SpectraWork.interval)
        }
        #expect(names == [] && recording.withLock { $0.count } == asked)
        desk.look(at: takes[0].identity)
        settle()
        #expect(names == ["\(takes[0].take).spectrum"])
    }

    @Test func `a kit with a battery leaves a take at which nobody looks any more`() async throws {
        let take = try await takes(1, seconds: 10)[0]
        let (work, desk) = withBattery()
        desk.look(at: take.identity)
        while drafts == [] { _ = work.turn(clock.now()) }
        clock.advance(by: .seconds(31))
        while work.turn(clock.now()) <= clock.now() {}
        #expect(names == [])
        desk.look(at: take.identity)
        while work.turn(clock.now()) <= clock.now() {}
        #expect(names == ["\(take.take).spectrum"])
    }

    @Test func `a folder that is deleted is filled again, at any time`() async throws {
        let takes = try await takes(2, seconds: 10)
        settle()
        #expect(names.count == 2)
        try FileManager.default.removeItem(atPath: folder)
        #expect(try columns(takes[0]).computed == 0)
        clock.advance(by: SpectraWork.interval)
        begin()
        // In the middle of a file.
        try FileManager.default.removeItem(atPath: folder)
        settle()
        #expect(names.count == 1 && warnings.count == 1)
        clock.advance(by: .seconds(601))
        settle()
        #expect(names.count == 2)
        for take in takes { #expect(try file(take) == expected(take.parts[0], take)) }
    }

    @Test func `a file is measured once, however many are begun after it, and again if it was deleted`() async throws {
        let takes = try await takes(4)
        func measures() -> [Int] { takes.map { storage.measures("\($0.take).spectrum") } }
        #expect(settle().files == [3, 2, 1, 0].map { takes[$0].take })
        #expect(measures() == [0, 1, 1, 1])
        for index in [3, 0] {
            try FileManager.default.removeItem(atPath: "\(folder)/\(takes[index].take).spectrum")
            clock.advance(by: SpectraWork.interval)
            #expect(settle().files == [takes[index].take])
        }
        #expect(measures() == [1, 1, 1, 2])
    }

    @Test func `the files of a take that is deleted are removed, and others stay`() async throws {
        let takes = try await takes(3)
        settle()
        tested.disk.remove(TakesOnDisk.name(takes[1]))
        await tested.indexer.scanAll()
        desk.add(.tidy)
        settle()
        #expect(names == [takes[0], takes[2]].map { "\($0.take).spectrum" })
    }

    @Test func `before all takes are scanned, no file counts as that of a deleted take`() async throws {
        let takes = try await takes(2)
        settle()
        // As after a crash.
        try tested.disk.write([1], to: "\(folder)/heron07-0009_20261121_061811.spectrum.tmp")
        let other = try TestedIndexer()
        let isScanned = Locked(false)
        let log = tested.log
        let work = SpectraWork(
            desk, other.catalogs, isScanned: { isScanned.withLock { $0 } }, log: Logger(label: "test") { _ in log })
        desk.add(.tidy)
        #expect(work.turn(clock.now()) == clock.now() + SpectraDesk.pause)
        #expect(names.count == 3)
        isScanned.withLock { $0 = true }
        while work.turn(clock.now()) <= clock.now() {}
        #expect(names == [] && takes.count == 2)
    }

    @Test func `files that were removed for space come back only for somebody who looks`() async throws {
        let takes = try await takes(3)
        settle()
        storage.free = 1
        clock.advance(by: SpectraWork.interval)
        settle()
        #expect(names == [])
        storage.free = 5 << 30
        clock.advance(by: SpectraWork.interval)
        #expect(settle().files == [])
        desk.look(at: takes[1].identity)
        #expect(settle().files == [takes[1].take])
    }

    @Test func `a sound that cannot be read is left, and the others are computed`() async throws {
        let takes = try await takes(3)
        let day = "\(tested.disk.takes)/\(TakesOnDisk.name(takes[2]).day)"
        try FileManager.default.removeItem(atPath: "\(day)/\(takes[2].parts[0].file)")
        #expect(settle().files == [takes[1].take, takes[0].take])
        #expect(try columns(takes[2]).obstacle == .damage("\(takes[2].parts[0].file): it is missing"))
    }

    @Test func `a sound that became longer is read once, and again when it is put back`() async throws {
        let take = try await addWithoutColumns(Self.long(1, seconds: 1))
        let path = "\(tested.disk.takes)/\(TakesOnDisk.name(take).day)/\(take.parts[0].file)"
        let intact = try FileSystem().contents(path, limit: 1 << 26)
        let added = [UInt8](repeating: 1, count: 8 << 20)
        var longer = intact + added
        // The sizes of the RIFF chunk and of the sound.
        for (place, size) in [(4, longer.count - 8), (40, longer.count - 44)] {
            longer.replaceSubrange(place..<place + 4, with: (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) })
        }
        try Data(longer).write(to: URL(filePath: path))
        desk.look(at: take.identity)
        #expect(settle().files == [] && drafts == [])
        let expected = TakeColumns.Obstacle.damage("\(take.parts[0].file): it has more sound than its sidecar says")
        let found = try columns(take).obstacle
        #expect(found == expected)
        try Data(intact).write(to: URL(filePath: path))
        try await compare(take)
        #expect(try columns(take).obstacle == nil)
        settle()
        #expect(names == ["\(take.take).spectrum"])
    }

    @Test func `work that ends in the middle of a take leaves nothing`() async throws {
        let takes = try await takes(1, seconds: 10)
        let log = tested.log
        var work: SpectraWork? = SpectraWork(
            desk, tested.catalogs, isScanned: { true }, log: Logger(label: "test") { _ in log })
        while drafts == [] { _ = work?.turn(clock.now()) }
        for _ in 0..<3 { _ = work?.turn(clock.now()) }
        #expect(names == ["\(takes[0].take).spectrum.tmp"])
        work = nil
        #expect(names == [])
        desk.add(.search)
        #expect(settle().files == [takes[0].take])
    }

    @Test func `the thread works by itself, and ends`() async throws {
        let takes = try await takes(2)
        let log = tested.log
        let thread = SpectraThread(
            desk, tested.catalogs, isScanned: { true }, log: Logger(label: "test") { _ in log })
        let group = ServiceGroup(
            services: [thread], logger: Logger(label: "services") { _ in SwiftLogNoOpLogHandler() })
        let running = Task { try await group.run() }
        while desk.bases().count < 2 { await Task.yield() }
        // A take that is deleted is reported by the catalog, and one that somebody looks at by the desk.
        tested.disk.remove(TakesOnDisk.name(takes[0]))
        await tested.indexer.scanAll()
        while desk.bases() != [takes[1].take] { await Task.yield() }
        desk.remove(takes[1].take)
        desk.look(at: takes[1].identity)
        while desk.bases() != [takes[1].take] { await Task.yield() }
        await group.triggerGracefulShutdown()
        try await running.value
    }
}

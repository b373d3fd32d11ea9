import Catalog
import Control
import DiskCalls
import Files
import FinishedTakes
import Foundation
import Glibc
import Logging
import ServiceLifecycle
import TakeFiles
import TakePlaces
import Takes
import TestBench
import Testing
import Transport
import Upload

@testable import Library

/// Sound that changes after it was compared.
@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) final class DecayTests: InspectedKit {
    private func scan(_ sidecar: Sidecar, hasFingerprint: Bool = true) async throws -> TakeName {
        let name = try tested.disk.addSound(sidecar, hasFingerprint: hasFingerprint).name
        await tested.indexer.scanAll()
        return name
    }

    private func compare(_ name: TakeName, _ depth: SoundInspector.Depth = .changed) async throws {
        try await inspector.check(name, in: tested.disk.takes, depth)
    }

    /// Sends a take to another store, using the result of its last comparison.
    private func deliver(_ name: TakeName) async throws -> [String] {
        let path = "\(tested.disk.path)/second"
        mkdir(path, 0o755)
        let second = try FolderStore(name: "folder:second", path: path, kit: "heron07")
        let delivery = TakeDelivery(
            name, in: TakesFolder(path: tested.disk.takes), to: second, reader: try DiskReader(name: "reader"),
            throttle: nil)
        let catalog = tested.catalog
        do {
            _ = try await delivery.run(
                catalog.notes(of: name.stem), now: { TakesOnDisk.morning }, report: { _ in },
                save: { _ = try catalog.note(name.stem, $0) })
        } catch let error as StoreError {
            #expect(error.problem == .unreadable && error.sentence.contains("has changed"), "\(error)")
        }
        return try FileManager.default.subpathsOfDirectory(atPath: path)
    }

    @Test(arguments: [true, false])
    func `sound that decayed between the comparison and sending is not sent`(hasFingerprint: Bool) async throws {
        let name = try await scan(Self.sidecar(1, parts: 2, hasTwin: true), hasFingerprint: hasFingerprint)
        try await compare(name)
        try decay(name.stem.file("-p2-raw.wav"))
        try await send { try counts().held == 1 }
        #expect(try damaged().map(\.take) == [name.stem])
        #expect(try damaged()[0].damaged?.hasPrefix("\(name.stem.file("-p2-raw.wav")): ") == true)
        #expect(!home.contains { $0.hasEnding("-p2-raw.wav") || $0.hasSuffix(".json") })
    }

    @Test func `sound that became longer after it was compared is not sent`() async throws {
        let name = try await scan(Self.sidecar(1))
        try await compare(name)
        try spoil("\(name.stem).wav") { $0 += [1, 2, 3, 4] }
        #expect(try await deliver(name).allSatisfy { !$0.hasSuffix(".wav") && !$0.hasSuffix(".json") })
    }

    @Test func `sound that decayed after one store had it is not sent to the next one`() async throws {
        let name = try await scan(Self.sidecar(1))
        try await send { try counts().done == 1 }
        try decay("\(name.stem).wav")
        #expect(try await deliver(name).allSatisfy { !$0.hasSuffix(".wav") && !$0.hasSuffix(".json") })
        // It is not deleted either.
        await #expect(throws: StoreError.self) { try await compare(name, .all) }
        #expect(try tested.catalog.sentTakes(limit: 10).isEmpty)
    }

    @Test func `what a person accepted is these bytes, and no others are sent`() async throws {
        let name = try await scan(Self.sidecar(1))
        try decay("\(name.stem).wav")
        await #expect(throws: StoreError.self) { try await compare(name) }
        try await inspector.accept(name, in: tested.disk.takes)
        try spoilAsDecay("\(name.stem).wav", at: 2000)
        try await send { try counts().held == 1 }
        #expect(try damaged().map(\.take) == [name.stem])
        #expect(!home.contains { $0.hasSuffix("/\(name.stem).wav") || $0.hasSuffix(".json") })
    }

    @Test func `a take that was compared without a note of its bytes is read again first`() async throws {
        let name = try await scan(Self.sidecar(1))
        try await compare(name)
        #expect(try tested.catalog.notes(of: name.stem).sounds?[0].wholeSHA256 != nil)
        _ = try tested.catalog.note(name.stem) { notes in
            notes.sounds?[0].wholeSHA256 = nil
            notes.sounds?[0].changedNs = nil
            notes.hashes = []
        }
        try decay("\(name.stem).wav")
        await #expect(throws: StoreError.self) { try await compare(name) }
    }

    @Test func `a file whose header alone changed is compared again, and sent as it is now`() async throws {
        let name = try await scan(Self.sidecar(1))
        try await compare(name)
        // An empty LIST chunk, which readers ignore.
        try spoil("\(name.stem).wav") { bytes in
            bytes += Array("LIST".utf8) + [4, 0, 0, 0] + Array("INFO".utf8)
            let size = UInt32(bytes.count - 8)
            for place in 0..<4 { bytes[4 + place] = UInt8(truncatingIfNeeded: size >> (8 * UInt32(place))) }
        }
        try await send { try counts().done == 1 }
        let sent = try FileSystem().contents("\(tested.disk.path)/home/\(name.day)/\(name.stem).wav", limit: 1 << 30)
        #expect(try sent == FileSystem().contents("\(day)/\(name.stem).wav", limit: 1 << 30))
    }

    private func spoilAsDecay(_ file: String, at place: Int) throws {
        let path = "\(day)/\(file)"
        var before = stat()
        #expect(stat(path, &before) == 0)
        try spoil(file) { $0[place] ^= 2 }
        var times = [before.st_atim, before.st_mtim]
        #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
    }

    // MARK: After it was sent

    /// Requests checks repeatedly until `holds` is true.
    private func look(until holds: () throws -> Bool) async throws {
        let group = ServiceGroup(
            services: [inspector], logger: Logger(label: "services") { _ in SwiftLogNoOpLogHandler() })
        let running = Task { try await group.run() }
        while try !holds() {
            inspector.look()
            await Task.yield()
        }
        await group.triggerGracefulShutdown()
        try await running.value
    }

    @Test func `damage after sending, of a take that waits, and of one that is never sent is said`() async throws {
        let names = try (1...4).map { try tested.disk.addSound(Self.sidecar($0)).name }
        await tested.indexer.scanAll()
        _ = try tested.catalog.note(names[3].stem) { $0.upload = .never }
        _ = try tested.catalog.note(names[2].stem) { $0.upload = .hold }
        try await send { try counts().done == 2 }
        for name in names { try await compare(name) }
        try change(names.dropFirst(), at: 1)
        var isSaid = false
        try await look {
            guard !isSaid else { return try damaged().isEmpty }
            guard try damaged().count == 3 else { return false }
            isSaid = true
            #expect(try Set(damaged().map(\.take)) == Set(names.dropFirst().map(\.stem)))
            #expect(try tested.catalog.sentTakes(limit: 10).map(\.take) == [names[0]])
            // Restore the bytes, so that the takes are intact again.
            try change(names.dropFirst(), at: 2)
            return false
        }
        #expect(shown.withLock { $0.contains { $0?.contains("3 takes are damaged") == true } && $0.last == .some(nil) })
    }

    /// Flips a bit in each take and sets a distinct modification time, because file system clocks have a coarse
    /// resolution.
    private func change(_ names: ArraySlice<TakeName>, at second: Int) throws {
        for name in names {
            try spoil("\(name.stem).wav") { $0[1000] ^= 2 }
            var times = [timespec(tv_sec: second, tv_nsec: 0), timespec(tv_sec: second, tv_nsec: 0)]
            #expect(utimensat(AT_FDCWD, "\(day)/\(name.stem).wav", &times, 0) == 0)
        }
    }

    @Test func `damage that changes neither length nor time is found in turn`() async throws {
        let names = try (1...3).map { try tested.disk.addSound(Self.sidecar($0)).name }
        await tested.indexer.scanAll()
        for name in names { try await compare(name) }
        try decay("\(names[1].stem).wav")
        var rounds = 0
        try await look {
            rounds += 1
            clock.advance(by: .seconds(600))
            return try damaged().map(\.take) == [names[1].stem]
        }
        #expect(rounds > 0)
    }

    @Test func `takes have their turn one after the other, and none is read whole before it is due`() async throws {
        let names = try (1...45).map { number in
            var sidecar = Self.sidecar(number)
            (sidecar.parts[0].frames, sidecar.frames) = (1, 1)
            return try tested.disk.addSound(sidecar).name
        }
        await tested.indexer.scanAll()
        var rotation = SoundRotation()
        #expect(try rotation.next(of: tested.catalog).isEmpty)
        for name in names { try await compare(name) }
        var found: [TakeName] = []
        for _ in 1...3 { found += try rotation.next(of: tested.catalog).map(\.take) }
        #expect(found.count == 60 && Set(found.prefix(45)) == Set(names) && found.suffix(15) == found.prefix(15))
        var now = clock.now()
        #expect(try rotation.nextWhole(of: tested.catalog, at: now) == nil)
        now = now + SoundRotation.wholePause
        var whole: Set<TakeName> = []
        for _ in names {
            whole.insert(try #require(try rotation.nextWhole(of: tested.catalog, at: now)).take)
            #expect(try rotation.nextWhole(of: tested.catalog, at: now) == nil)
            now = now + SoundRotation.wholeInterval
        }
        #expect(whole == Set(names))
    }
}

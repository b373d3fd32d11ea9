import Catalog
import Control
import DiskCalls
import Files
import FinishedTakes
import Foundation
import Logging
import OtherPrograms
import ServiceLifecycle
import Settings
import TakeFiles
import TakePlaces
import Takes
import TestBench
import Testing
import Transport
import Upload

@testable import Library

@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) final class SoundInspectorTests: InspectedKit {
    enum Damage: String, CaseIterable {
        case half, emptied, zeroedHeader, another, anotherOfThatLength, oneBit, dataSize, missing, twin, secondPart,
            rate
    }

    @Test(arguments: Damage.allCases, [false, true])
    func `a take that is damaged before it is first read is not sent, not deleted, and listed`(
        damage: Damage, hasFingerprint: Bool
    ) async throws {
        let sidecar = Self.sidecar(1, parts: 2, hasTwin: true)
        let name = try tested.disk.addSound(sidecar, hasFingerprint: hasFingerprint).name
        let good = try tested.disk.addSound(Self.sidecar(2), hasFingerprint: hasFingerprint).name
        var file = "\(name.stem).wav"
        var isSeenByLength = true
        switch damage {
        case .half: try spoil(file) { $0.removeLast($0.count / 2) }
        case .emptied: try spoil(file) { $0 = [] }
        case .zeroedHeader: try spoil(file) { $0.replaceSubrange(..<44, with: [UInt8](repeating: 0, count: 44)) }
        case .another:
            try spoil(file) {
                $0 = TakesOnDisk.wave([1, 2, 3, 4], StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s16))
            }
        case .anotherOfThatLength:
            isSeenByLength = false
            try spoil(file) { bytes in for index in 44..<bytes.count { bytes[index] = 9 } }
        case .oneBit:
            isSeenByLength = false
            try spoil(file) { $0[1000] ^= 2 }
        case .dataSize: try spoil(file) { $0[41] ^= 1 }
        case .missing: unlink("\(day)/\(file)")
        case .twin:
            file = name.stem.file("-raw.wav")
            try spoil(file) { $0.removeLast(100) }
        case .secondPart:
            file = name.stem.file("-p2.wav")
            try spoil(file) { $0.removeLast(100) }
        case .rate: try spoil(file) { $0.replaceSubrange(24..<28, with: [0x44, 0xac, 0, 0]) }
        }
        guard isSeenByLength || hasFingerprint else { return }
        await tested.indexer.scanAll()
        try await send { try counts().done == 1 && counts().held == 1 }
        #expect(home.allSatisfy { !$0.isFile(of: name.stem) } && home.contains("\(good.day)/\(good.stem).json"))
        let held = try tested.catalog.outbox(limit: 10)
        #expect(held.map(\.id.stem) == [name.stem])
        #expect(held[0].until == nil && held[0].why?.hasPrefix("damaged: \(file): ") == true, "\(held)")
        let listed = try damaged()
        #expect(listed.map(\.take) == [name.stem] && listed[0].damaged?.hasPrefix("\(file): ") == true)
        #expect(listed[0].sound == .damaged)
        #expect(shown.withLock { $0.last??.contains(name.stem) } == true)
        // A retry does not send it, and it never counts for deletion.
        try tested.catalog.retryUploads()
        try await send { try counts().held == 1 }
        #expect(try tested.catalog.sentTakes(limit: 10).map(\.take.stem) == [good.stem])
        // The result survives the catalog.
        let rebuilt = try Catalog.open(in: tested.disk.library, isNew: true, stores: [store.name]).0
        let storage = try #require(Storage(at: tested.disk.takes))
        let number = try #require(try rebuilt.setPresent([storage])[storage])
        _ = try rebuilt.index(
            [StoredTake(name, in: TakesFolder(path: tested.disk.takes))], on: number, at: tested.disk.takes)
        #expect(try rebuilt.damagedTakes().map(\.take.take.stem) == [name.stem])
        #expect(try rebuilt.outboxCounts(of: store.name).held == 1)
    }

    @Test func `a take that an older version sent is not deleted once it is damaged`() async throws {
        for (number, hasFingerprint) in [(1, true), (2, false)] {
            let (name, sidecar) = try tested.disk.addSound(Self.sidecar(number), hasFingerprint: hasFingerprint)
            // The file was already damaged when an older version hashed and sent it, so the receipt matches it.
            try spoil("\(name.stem).wav") { $0.removeLast(400) }
            await tested.indexer.scanAll()
            var digest = SoundDigest()
            let bytes = try FileSystem().contents("\(day)/\(name.stem).wav", limit: 1 << 30)
            digest.update(bytes)
            _ = try tested.catalog.note(name.stem) { notes in
                notes.attribute(to: sidecar.recordingStart)
                let hash = TakeNotes.FileHash(
                    file: "\(name.stem).wav", bytes: Int64(bytes.count), sha256: digest.hexadecimal)
                notes.setHash(hash)
                var receipt = UploadReceipt(store: store.name)
                receipt.add(hash)
                receipt.completed = TakesOnDisk.morning.iso8601
                receipt.revision = 1
                notes[receiptOf: receipt.store] = receipt
            }
        }
        #expect(try tested.catalog.sentTakes(limit: 10).count == 2)
        let socket = "\(tested.disk.path)/recorder.sock"
        let asked = Locked(0)
        let recorder = try DeskRecorder(socket) { message in
            if case .command(.discard) = message { asked.withLock { $0 += 1 } }
        }
        defer { recorder.stop() }
        let keeper = try keeper(at: socket)
        keeper.look()
        let group = ServiceGroup(
            services: [keeper], logger: Logger(label: "services") { _ in SwiftLogNoOpLogHandler() })
        let running = Task { try await group.run() }
        while try damaged().count < 2 { await Task.yield() }
        while try !tested.catalog.sentTakes(limit: 10).isEmpty { await Task.yield() }
        await group.triggerGracefulShutdown()
        try await running.value
        #expect(asked.withLock { $0 } == 0)
        #expect(tested.log.lines.contains { $0.contains("not deleted from the kit: damaged: ") })
    }

    @Test func `a take that a person accepts is sent with a note of that, and may be deleted`() async throws {
        let name = try tested.disk.addSound(Self.sidecar(1)).name
        try spoil("\(name.stem).wav") { $0[1000] ^= 2 }
        await tested.indexer.scanAll()
        try await send { try counts().held == 1 }
        let deletion = try TakeDeletion(
            tested.catalogs,
            tested.requests {},
            try tested.copies(), try tested.discards("\(tested.disk.path)/none.sock"),
            reader: try DiskReader(name: "reader"),
            recorder: "\(tested.disk.path)/none.sock", inspector: inspector)
        let reply = try await deletion.acceptDamaged(name.stem)
        #expect(reply.take.sound == .accepted)
        #expect(try damaged().isEmpty && shown.withLock { $0.last } == .some(nil))
        try await send { try counts().done == 1 }
        let path = "\(tested.disk.path)/home/\(name.day)/\(name.stem).json"
        let sent = try SidecarFile.sidecar(FileSystem().contents(path), path: path)
        var digest = SoundDigest()
        digest.update(try FileSystem().contents("\(day)/\(name.stem).wav", limit: 1 << 30))
        #expect(sent.parts[0].acceptedSHA256 == digest.hexadecimal && sent.parts[0].sha256 == digest.hexadecimal)
        #expect(sent.parts[0].fingerprint == .capture)
        #expect(try tested.catalog.sentTakes(limit: 10).map(\.take.stem) == [name.stem])
        try await inspector.check(name, in: tested.disk.takes, .all)
        // Only this content was accepted.
        try spoil("\(name.stem).wav") { $0[2000] ^= 2 }
        await #expect(throws: StoreError.self) { try await inspector.check(name, in: tested.disk.takes, .all) }
        #expect(try damaged().count == 1)
        await #expect(throws: Refusal.self) { _ = try await deletion.acceptDamaged("heron07-0099_20261121_061811") }
    }

    @Test func `a take without a fingerprint is hashed when it is first seen, and later damage is found`() async throws
    {
        let name = try tested.disk.addSound(Self.sidecar(1), hasFingerprint: false).name
        await tested.indexer.scanAll()
        try await send { try counts().done == 1 }
        let path = "\(tested.disk.path)/home/\(name.day)/\(name.stem).json"
        let sent = try SidecarFile.sidecar(FileSystem().contents(path), path: path)
        #expect(sent.parts[0].fingerprint == .later && sent.parts[0].soundSHA256 != nil)
        #expect(try tested.catalog.notes(of: name.stem).sounds?.first?.fingerprint == .later)
        #expect(try tested.catalog.find(.stem(name.stem))[0].sound == .later)
        try spoil("\(name.stem).wav") { $0[1000] ^= 2 }
        await #expect(throws: StoreError.self) { try await inspector.check(name, in: tested.disk.takes, .changed) }
        #expect(try tested.catalog.sentTakes(limit: 10).isEmpty)
        // With the bytes restored, it is intact again without any action.
        try spoil("\(name.stem).wav") { $0[1000] ^= 2 }
        try await inspector.check(name, in: tested.disk.takes, .changed)
        #expect(try damaged().isEmpty && tested.catalog.sentTakes(limit: 10).count == 1)
    }

    @Test func `takes that nobody sends are compared as well, each once`() async throws {
        let names = try (1...3).map { try tested.disk.addSound(Self.sidecar($0)).name }
        try spoil("\(names[1].stem).wav") { $0 = [] }
        await tested.indexer.scanAll()
        #expect(try tested.catalog.uncomparedTakes(limit: 10).count == 3)
        inspector.look()
        let group = ServiceGroup(
            services: [inspector], logger: Logger(label: "services") { _ in SwiftLogNoOpLogHandler() })
        let running = Task { try await group.run() }
        while try !tested.catalog.uncomparedTakes(limit: 10).isEmpty { await Task.yield() }
        await group.triggerGracefulShutdown()
        try await running.value
        #expect(try damaged().map(\.take) == [names[1].stem])
        #expect(try counts().held == 1 && counts().waiting == 2)
        #expect(tested.log.lines.filter { $0.contains("is neither sent nor deleted") }.count == 1)
    }

    @Test func `takes come to be compared the newest first, each once, and new ones before older ones`() async throws {
        func add(_ numbers: ClosedRange<Int>) async throws {
            for number in numbers {
                try tested.disk.addSound(Self.sidecar(number))
                await tested.indexer.scanAll()
            }
        }
        try await add(1...3)
        var passed: ClosedRange<Int64>?
        var found: [Int] = []
        while let next = try tested.catalog.nextUncompared(&passed) {
            found.append(next.take.number)
            if found.count == 2 { try await add(4...5) }
        }
        #expect(found == [3, 2, 4, 5, 1])
        #expect(try tested.catalog.nextUncompared(&passed) == nil)
    }

    @Test func `damage that decays neither length nor time is found before a deletion`() async throws {
        let name = try tested.disk.addSound(Self.sidecar(1)).name
        await tested.indexer.scanAll()
        try await inspector.check(name, in: tested.disk.takes, .changed)
        try decay("\(name.stem).wav")
        try await inspector.check(name, in: tested.disk.takes, .changed)
        await #expect(throws: StoreError.self) { try await inspector.check(name, in: tested.disk.takes, .all) }
    }

    @Test func `a take that is deleted while it is compared is not damaged`() async throws {
        let name = try tested.disk.addSound(Self.sidecar(1)).name
        await tested.indexer.scanAll()
        for ending in ["wav", "json"] { unlink("\(day)/\(name.stem).\(ending)") }
        await #expect(throws: StoreError.self) { try await inspector.check(name, in: tested.disk.takes, .changed) }
        #expect(try damaged().isEmpty)
    }

    @Test func `a take that the storage does not give is read again after an hour, and shown as a fault until then`()
        async throws
    {
        let names = try (1...3).map { try tested.disk.addSound(Self.sidecar($0)).name }
        let file = "\(names[1].stem).wav"
        storage.damaged = [file]
        await tested.indexer.scanAll()
        let (group, running) = runInspector()
        let reason = "read \(day)/\(file): Input/output error"
        await look { $0?.contains(reason) == true }
        #expect(try tested.catalog.uncomparedTakes(limit: 10).map(\.take).contains(names[1]))
        #expect(
            shown.withLock { $0.last }
                == "takes: \(names[1].stem): cannot be compared with the recorded sound: \(reason): check the storage; "
                + "the next attempt is in an hour")
        let reads = storage.reads
        clock.advance(by: .seconds(3599))
        let count = shown.withLock { $0.count }
        await look { _ in shown.withLock { $0.count } > count + 5 }
        #expect(storage.reads == reads)
        // The storage can read the file again.
        storage.damaged = []
        clock.advance(by: .seconds(1))
        await look { $0 == nil }
        while try !tested.catalog.uncomparedTakes(limit: 10).isEmpty { await Task.yield() }
        #expect(try damaged().isEmpty)
        await group.triggerGracefulShutdown()
        try await running.value
        #expect(tested.log.lines.filter { $0.contains("Input/output error") }.count == 1)
    }

    @Test func `a take that cannot be read is no fault once its stick was pulled, or it was deleted`() async throws {
        let names = try (1...2).map { try tested.disk.addSound(Self.sidecar($0)).name }
        storage.damaged = Set(names.map { "\($0.stem).wav" })
        await tested.indexer.scanAll()
        let (group, running) = runInspector()
        await look { $0?.contains("(and 1 more takes)") == true }
        for ending in ["wav", "json"] { unlink("\(day)/\(names[0].stem).\(ending)") }
        await tested.indexer.scanAll()
        await look { $0?.contains("\(names[1].stem): cannot be compared") == true && $0?.contains("more") == false }
        rename(tested.disk.takes, tested.disk.takes + "-pulled")
        await tested.indexer.scanAll()
        await look { $0 == nil }
        await group.triggerGracefulShutdown()
        try await running.value
    }

    private func runInspector() -> (ServiceGroup, Task<Void, any Error>) {
        inspector.look()
        let group = ServiceGroup(
            services: [inspector], logger: Logger(label: "services") { _ in SwiftLogNoOpLogHandler() })
        return (group, Task { try await group.run() })
    }

    /// Requests checks until the shown fault satisfies `holds`.
    private func look(until holds: (String?) -> Bool) async {
        while !holds(shown.withLock { $0.last ?? nil }) {
            inspector.look()
            await Task.yield()
        }
    }

    @Test(.needs(.python))
    func `a row that an older version wrote gets its standing again, of what was compared before`() async throws {
        let name = try tested.disk.addSound(Self.sidecar(1)).name
        let good = try tested.disk.addSound(Self.sidecar(2)).name
        try spoil("\(name.stem).wav") { $0[1000] ^= 2 }
        await tested.indexer.scanAll()
        for take in [name, good] { try? await inspector.check(take, in: tested.disk.takes, .changed) }
        #expect(try damaged().map(\.take) == [name.stem] && counts().held == 1)
        try change(
            "UPDATE take SET entry = json_remove(entry, '$.sound', '$.damaged')",
            "UPDATE upload SET state = 'waiting', why = NULL")
        #expect(try damaged().isEmpty && tested.catalog.uncomparedTakes(limit: 10).count == 2)
        for take in [name, good] { try? await inspector.check(take, in: tested.disk.takes, .changed) }
        #expect(try damaged().map(\.take) == [name.stem] && counts().held == 1)
        #expect(try tested.catalog.uncomparedTakes(limit: 10).isEmpty)
        #expect(try tested.catalog.find(.stem(good.stem))[0].sound == .asRecorded)
    }

    /// Changes the database like another program.
    private func change(_ statements: String...) throws {
        let python = try Process.run(
            URL(filePath: OtherProgram.python.path),
            arguments: [
                "-c",
                """
                import sqlite3, sys
                database = sqlite3.connect(sys.argv[1])
                for statement in sys.argv[2:]: database.execute(statement)
                database.commit()
                """, Catalog.databasePath(in: tested.disk.library),
            ] + statements)
        python.waitUntilExit()
        #expect(python.terminationStatus == 0)
    }

    @Test func `a file that decayed after it was compared, and before it was sent, is listed as damaged`() async throws
    {
        let name = try tested.disk.addSound(Self.sidecar(1)).name
        await tested.indexer.scanAll()
        try await inspector.check(name, in: tested.disk.takes, .changed)
        let path = "\(day)/\(name.stem).wav"
        let hash = try await UploadSource(path: path, reader: DiskReader(name: "reader")).sha256()
        let attributes = try FileSystem().attributes(path)
        _ = try tested.catalog.note(name.stem) { notes in
            notes.setHash(
                .init(
                    file: "\(name.stem).wav", bytes: attributes.byteCount, sha256: hash,
                    modifiedNs: attributes.modifiedNs))
        }
        try decay("\(name.stem).wav")
        try await send { try counts().held == 1 }
        #expect(
            try damaged().map(\.take) == [name.stem] && damaged()[0].damaged?.hasPrefix("\(name.stem).wav: ") == true)
        #expect(try tested.catalog.outbox(limit: 1)[0].until == nil)
        #expect(!home.contains { $0.hasSuffix("/\(name.stem).wav") || $0.hasSuffix("/\(name.stem).json") })
    }
}

import FinishedTakes
import Foundation
import StoreTrials
import TakeFiles
import Takes
import Testing

@testable import Upload

/// The library ends after a file has arrived, and before this is noted.
struct LostReceiptTests {
    private let deliveries: TakeDeliveryTests
    private let name: TakeName
    private let notes: TakeDeliveryTests.Notes

    init() throws {
        deliveries = try TakeDeliveryTests()
        name = try deliveries.disk.add(TakesOnDisk.sidecar(42), audioBytes: 5000)
        notes = TakeDeliveryTests.Notes(name.stem)
    }

    private struct Killed: Error {}

    private func peaks(_ bytes: [UInt8]) throws {
        try deliveries.disk.write(bytes, to: "\(deliveries.disk.takes)/\(name.day)/\(name.stem).dat")
    }

    private func home(_ ending: String) -> String? {
        try? String(contentsOfFile: "\(deliveries.root)/\(name.day)/\(name.stem).\(ending)", encoding: .utf8)
    }

    /// Delivers until the arrival of a file should be noted.
    private func killed(after file: String) async throws {
        let delivery = TakeDelivery(
            name, in: TakesFolder(path: deliveries.disk.takes), to: deliveries.store, reader: deliveries.trial.reader,
            throttle: nil)
        await #expect(throws: Killed.self) {
            _ = try await delivery.run(
                await notes.notes, now: { TakesOnDisk.morning }, report: { _ in },
                save: { change in
                    var noted = TakeNotes(take: name.stem)
                    change(&noted)
                    if noted.receipts.contains(where: { $0.sha256(of: file) != nil }) { throw Killed() }
                    await notes.change(change)
                })
        }
        #expect(await notes.notes[receiptOf: deliveries.store.name]?.sha256(of: file) == nil)
    }

    @Test func `of what is sent once more nothing is taken over, and all that has changed is replaced`() async throws {
        await notes.change { ($0.memo, $0.tags) = ("wrong", ["bad", "good"]) }
        try peaks([1])
        _ = try await deliveries.deliver(name, notes)
        await notes.change { notes in
            (notes.memo, notes.tags) = ("right", ["good"])
            notes[receiptOf: deliveries.store.name]?.doubt()
        }
        try peaks([2, 3])
        _ = try await deliveries.deliver(name, notes)
        let noted = await notes.notes
        #expect(noted.memo == "right" && noted.tags == ["good"])
        #expect(home("txt") == "right\n" && home("dat") == "\u{2}\u{3}")
        await notes.change { notes in
            notes.memo = nil
            notes[receiptOf: deliveries.store.name]?.doubt()
        }
        _ = try await deliveries.deliver(name, notes)
        #expect(await notes.notes.memo == nil)
        #expect(home("txt") == nil)
    }

    @Test(arguments: ["txt", "notes.json", "dat", "json"])
    func `what arrived, and was changed on the kit before that was noted, is replaced`(ending: String) async throws {
        await notes.change { $0.memo = "first" }
        try peaks([1])
        try await killed(after: "\(name.stem).\(ending)")
        let first = try #require(home(ending))
        await notes.change { $0.memo = "second" }
        await notes.change { $0.setMarker(.init(atFrame: TakeFrame(7), note: "owl")) }
        try peaks([2, 3])
        _ = try await deliveries.deliver(name, notes)
        #expect(await notes.notes.isComplete(revision: 1, in: deliveries.store.name))
        #expect(home(ending) != first)
        #expect(home("txt") == "second\n")
        #expect(NotesDocument(Array((home("notes.json") ?? "").utf8))?.memo == "second")
        #expect(await notes.notes[receiptOf: deliveries.store.name]?.attempts == nil)
    }

    @Test func `a memo that arrived, and was taken back before that was noted, is deleted`() async throws {
        await notes.change { $0.memo = "first" }
        try await killed(after: "\(name.stem).txt")
        await notes.change { $0.memo = nil }
        _ = try await deliveries.deliver(name, notes)
        #expect(home("txt") == nil)
    }

    @Test func `several changes without an answer are all known`() async throws {
        for memo in ["first", "second", "third"] {
            await notes.change { $0.memo = memo }
            try await killed(after: "\(name.stem).txt")
            #expect(home("txt") == "\(memo)\n")
        }
        await notes.change { $0.memo = "last" }
        _ = try await deliveries.deliver(name, notes)
        #expect(home("txt") == "last\n")
    }

    @Test func `another's file stays, whatever was attempted`() async throws {
        await notes.change { $0.memo = "first" }
        try await killed(after: "\(name.stem).txt")
        let path = "\(deliveries.root)/\(name.day)/\(name.stem).txt"
        try Data("another".utf8).write(to: URL(filePath: path))
        await notes.change { $0.memo = "second" }
        await deliveries.trial.expectProblem(.conflict) { _ = try await deliveries.deliver(name, notes) }
        await notes.change { $0.memo = nil }
        _ = try await deliveries.deliver(name, notes)
        #expect(home("txt") == "another")
    }

    @Test func `an attempt that met another's file is forgotten, so that the same bytes are another's later`()
        async throws
    {
        let day = "\(deliveries.root)/\(name.day)"
        try FileManager.default.createDirectory(atPath: day, withIntermediateDirectories: true)
        try Data("another".utf8).write(to: URL(filePath: "\(day)/\(name.stem).txt"))
        await notes.change { $0.memo = "first" }
        await deliveries.trial.expectProblem(.conflict) { _ = try await deliveries.deliver(name, notes) }
        #expect(await notes.notes[receiptOf: deliveries.store.name]?.attempts == nil)
    }
}

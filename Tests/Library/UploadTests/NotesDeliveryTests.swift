import FinishedTakes
import Foundation
import Glibc
import StoreTrials
import TakeFiles
import Takes
import Testing

@testable import Upload

/// `STEM.notes.json`: people's notes of a take, in the store.
struct NotesDeliveryTests {
    private let deliveries: TakeDeliveryTests
    private let name: TakeName
    private let notes: TakeDeliveryTests.Notes

    init() throws {
        deliveries = try TakeDeliveryTests()
        name = try deliveries.disk.add(TakesOnDisk.sidecar(42, markers: ["wren"]), audioBytes: 5000)
        notes = TakeDeliveryTests.Notes(name.stem)
    }

    private var file: String { "\(deliveries.root)/2026-11-21/\(name.stem).notes.json" }
    private func there() throws -> String { try String(contentsOfFile: file, encoding: .utf8) }
    private func revision() throws -> Int? { NotesDocument(Array(try there().utf8))?.revision }
    private func send() async throws { _ = try await deliveries.deliver(name, notes) }
    private func isComplete() async -> Bool { await notes.notes.isComplete(revision: 1, in: deliveries.store.name) }

    @Test("a take of which nothing was ever noted has no such file")
    func nothing() async throws {
        try await send()
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(await isComplete())
    }

    @Test("all that people noted is at home, with the markers as they are now")
    func all() async throws {
        await notes.change { notes in
            notes.memo = "two \"owls\"\nnear the ö"
            notes.starred = true
            notes.tag(adding: ["owl", "night"], removing: [])
            notes.setMarker(.init(atFrame: TakeFrame(500), note: nil))
        }
        try await send()
        #expect(
            try there() == """
                {
                  "markers" : [
                    {
                      "at_frame" : 0,
                      "note" : "wren"
                    },
                    {
                      "at_frame" : 500,
                      "note" : null
                    }
                  ],
                  "memo" : "two \\"owls\\"\\nnear the ö",
                  "revision" : 1,
                  "schema" : 1,
                  "star" : true,
                  "tags" : [
                    "night",
                    "owl"
                  ],
                  "take" : "\(name.stem)",
                  "title" : null
                }

                """)
        #expect(await isComplete())
    }

    @Test("a region is at home with its band, in the notes and in the sidecar")
    func region() async throws {
        let region = try MarkedRegion(from: TakeFrame(500), to: TakeFrame(900), lowHz: 1500, highHz: 8000.5)
        await notes.change { $0.setMarker(.init(atFrame: TakeFrame(500), note: "owl", region: .set(region))) }
        try await send()
        var expected = Sidecar.Marker(atFrame: TakeFrame(500), note: "owl")
        (expected.endFrame, expected.lowHz, expected.highHz) = (TakeFrame(900), 1500, 8000.5)
        let document = try #require(NotesDocument(Array(try there().utf8)))
        #expect(document.markers == [Sidecar.Marker(atFrame: .first, note: "wren"), expected])
        let path = "\(deliveries.root)/2026-11-21/\(name.stem).json"
        let sent = try SidecarFile.sidecar(Array(Data(contentsOf: URL(filePath: path))), path: path)
        #expect(sent.markers == document.markers)
        #expect(await isComplete())
    }

    /// People's changes to a take that is already in the store.
    private static let changes: [@Sendable (inout TakeNotes) -> Void] = [
        { $0.memo = "a wren" }, { $0.starred = true }, { $0.tag(adding: ["owl"], removing: []) },
        { $0.setMarker(.init(atFrame: TakeFrame(7), note: "owl")) },
        { $0.removeMarker(at: .first, of: [.init(atFrame: .first, note: "wren")]) },
    ]

    @Test("each change has the take wait, is sent once, and sends no sound again", arguments: 0..<5)
    func changed(_ index: Int) async throws {
        try await send()
        let sound = try deliveries.modified("\(name.stem).wav")
        await notes.change(Self.changes[index])
        #expect(await !isComplete())
        try await send()
        #expect(await isComplete())
        #expect(try revision() == 1)
        #expect(try deliveries.modified("\(name.stem).wav") == sound)
        // Removed notes are sent as well.
        await notes.change { notes in
            (notes.memo, notes.starred, notes.tags, notes.markers) = (nil, false, [], [])
        }
        #expect(await !isComplete())
        try await send()
        #expect(await isComplete())
        let document = try #require(NotesDocument(Array(try there().utf8)))
        #expect(document.revision == 2 && document.memo == nil && !document.star && document.tags.isEmpty)
        #expect(document.markers.map(\.note) == ["wren"])
        let files = try deliveries.modified("\(name.stem).notes.json")
        try await send()
        #expect(try deliveries.modified("\(name.stem).notes.json") == files)
    }

    @Test("what a person changes while the take is sent is sent afterwards, as a later revision")
    func meanwhile() async throws {
        await notes.change { $0.starred = true }
        let delivery = TakeDelivery(
            name, in: TakesFolder(path: deliveries.disk.takes), to: deliveries.store, reader: deliveries.trial.reader,
            throttle: nil)
        _ = try await delivery.run(
            await notes.notes, now: { TakesOnDisk.morning }, report: { _ in },
            save: { change in
                await notes.change { $0.tags = ["owl"] }
                await notes.change(change)
            })
        #expect(await !isComplete())
        #expect(try revision() == 1)
        try await send()
        #expect(try revision() == 2 && there().contains("owl"))
        #expect(await isComplete())
    }

    /// The kit's file as an earlier version writes it, which drops unknown keys.
    private func writtenByEarlierVersion() async {
        await notes.drop { notes in
            notes.revision = nil
            for index in notes.receipts.indices { notes.receipts[index].notesRevision = nil }
        }
    }

    @Test("a take that an earlier version sent gets its notes once, and no sound again")
    func earlier() async throws {
        try await send()
        await notes.drop { $0.starred = true }
        #expect(await notes.notes[receiptOf: deliveries.store.name]?.completed != nil)
        #expect(await !isComplete())
        let sound = try deliveries.modified("\(name.stem).wav")
        try await send()
        #expect(await isComplete())
        #expect(try revision() == 1 && there().contains("\"star\" : true"))
        #expect(try deliveries.modified("\(name.stem).wav") == sound)
    }

    @Test("what an earlier version changed on a kit that went back to it arrives, as a later revision")
    func rolledBack() async throws {
        for memo in ["a", "b", "c"] { await notes.change { $0.memo = memo } }
        try await send()
        #expect(try revision() == 3)
        await writtenByEarlierVersion()
        // Nothing was changed, so the file keeps its content and its revision.
        let file = try deliveries.modified("\(name.stem).notes.json")
        #expect(await !isComplete())
        try await send()
        #expect(await isComplete())
        #expect(try deliveries.modified("\(name.stem).notes.json") == file && revision() == 3)
        // All notes were removed meanwhile, and the receipt was completed by a version that does not know the file.
        await writtenByEarlierVersion()
        await notes.drop { $0.memo = nil }
        #expect(await !isComplete())
        try await send()
        #expect(await isComplete())
        #expect(try revision() == 4 && there().contains("\"memo\" : null"))
        await notes.change { $0.memo = "d" }
        try await send()
        #expect(try revision() == 5)
    }

    @Test("a library that forgot all counts on from the notes of its own take")
    func forgotten() async throws {
        for tag in ["a", "b"] { await notes.change { $0.tags = [tag] } }
        try await send()
        await notes.drop { $0 = TakeNotes(take: $0.take) }
        try await send()
        #expect(try revision() == 2)
        await notes.change { $0.tags = ["c"] }
        try await send()
        #expect(try revision() == 3 && there().contains("\"c\""))
        await notes.change { $0.tags = ["d"] }
        try await send()
        #expect(try revision() == 4)
    }

    @Test("notes at home that cannot be read, or have an absurd number, are no number to count on from")
    func absurd() async throws {
        try await send()
        await notes.drop { $0.starred = true }
        try Data("{\"revision\":9223372036854775807}".utf8).write(to: URL(filePath: file))
        await deliveries.trial.expectProblem(.conflict) { try await send() }
        #expect(TakeNotes(take: "x").currentRevision == 0)
        var noted = TakeNotes(take: "x")
        noted.revision = .max
        let before = noted
        noted.starred = true
        noted.revise(since: before)
        #expect(noted.currentRevision == TakeNotes.highestRevision)
    }
}

extension TakeDeliveryTests.Notes {
    /// Changes the notes like a version that does not count revisions.
    func drop(_ change: @Sendable (inout TakeNotes) -> Void) { change(&notes) }
}

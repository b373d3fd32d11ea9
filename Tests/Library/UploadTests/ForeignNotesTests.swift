import FinishedTakes
import Foundation
import StoreTrials
import TakeFiles
import Takes
import Testing

@testable import Upload

/// Notes in the store that the kit does not know, because it lost its own or because another library wrote them.
struct ForeignNotesTests {
    private let deliveries: TakeDeliveryTests
    private let name: TakeName
    private let notes: TakeDeliveryTests.Notes
    private let other: FolderStore

    init() throws {
        deliveries = try TakeDeliveryTests()
        name = try deliveries.disk.add(TakesOnDisk.sidecar(42, markers: ["wren"]), audioBytes: 5000)
        notes = TakeDeliveryTests.Notes(name.stem)
        let root = "\(deliveries.trial.folder)/other"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        other = try FolderStore(name: "folder:\(root)", path: root, kit: "heron07")
    }

    private func send(to store: FolderStore? = nil) async throws {
        let delivery = TakeDelivery(
            name, in: TakesFolder(path: deliveries.disk.takes), to: store ?? deliveries.store,
            reader: deliveries.trial.reader, throttle: nil)
        _ = try await delivery.run(
            await notes.notes, now: { TakesOnDisk.morning }, report: { _ in }, save: { await notes.change($0) })
    }

    private func file(_ store: FolderStore? = nil) -> String {
        "\((store ?? deliveries.store).path)/\(name.day)/\(name.stem).notes.json"
    }

    private func there(_ store: FolderStore? = nil) throws -> NotesDocument {
        try #require(NotesDocument(Array(Data(contentsOf: URL(filePath: file(store))))))
    }

    /// Notes of each kind, sent to both stores, and then lost on the kit.
    private func lose() async throws {
        await notes.change { notes in
            notes.memo = "by the river"
            notes.tags = ["owl", "night"]
            notes.setMarker(.init(atFrame: TakeFrame(500), note: "call"))
        }
        try await send(to: other)
        await notes.change { $0.tag(adding: ["wet"], removing: []) }
        try await send()
        await notes.forget()
    }

    @Test func `after the library's folder was lost, a star replaces nothing`() async throws {
        try await lose()
        await notes.change { $0.starred = true }
        try await send()
        let found = try there()
        #expect(found.star && found.memo == "by the river" && found.tags == ["night", "owl", "wet"])
        #expect(found.markers.map(\.note) == ["wren", "call"])
        #expect(found.revision == 3)
        // The kit has the notes again.
        let noted = await notes.notes
        #expect(noted.memo == "by the river" && noted.tags == ["night", "owl", "wet"] && noted.starred)
        #expect(noted.isComplete(revision: 1, in: deliveries.store.name))
    }

    @Test(arguments: [
        ("a wren", "a wren\n\nby the river"), ("a wren by the river", "a wren by the river\n\nby the river"),
        ("a wren\nby the river", "a wren\nby the river"),
    ])
    func `two memos are both kept, and none twice`(memo: String, united: String) async throws {
        try await lose()
        await notes.change { $0.memo = memo }
        try await send()
        #expect(try there().memo == united)
        let text = "\(deliveries.root)/\(name.day)/\(name.stem).txt"
        #expect(try String(contentsOfFile: text, encoding: .utf8) == "\(united)\n")
    }

    @Test(arguments: [3990, 9000])
    func `a memo at home that is too long beside the kit's is kept at home and on the kit`(longer: Int) async throws {
        let (own, other) = (String(repeating: "k", count: 3000), String(repeating: "h", count: longer) + "\"\n end")
        await notes.change { $0.memo = own }
        try await send()
        var document = try there()
        (document.memo, document.revision, document.title) = (other, 7, "at the weir")
        document.tags = [String(repeating: "t", count: 200)] + (0..<60).map { "t\($0)" }
        document.markers.append(
            Sidecar.Marker(atFrame: TakeFrame(600), note: String(repeating: "m", count: 5000)))
        try Data(document.bytes).write(to: URL(filePath: file()))
        await notes.change { $0.starred = true }
        for _ in 0..<2 {
            try await send()
            let found = try there()
            #expect(found.memo == own && found.star && found.tags.count == TakeNotes.mostTags)
            let text = found.otherMemos?.joined(separator: "\n") ?? ""
            #expect(found.otherMemos?.count == 1 && text.hasPrefix(other))
            #expect(found.title == "at the weir" && !text.contains("title: "))
            for tag in document.tags where !found.tags.contains(tag) { #expect(text.contains("tag: \(tag)\n")) }
            #expect(text.contains("marker at frame 600: mmm"))
            #expect(await notes.notes.otherMemos == found.otherMemos)
            let folder = "\(deliveries.root)/\(name.day)"
            let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains(".other-") }
            #expect(files.count == 1 && files[0].hasPrefix("\(name.stem).other-") && files[0].hasSuffix(".txt"))
            #expect(try String(contentsOfFile: "\(folder)/\(files[0])", encoding: .utf8) == "\(text)\n")
            await notes.change { $0.starred.toggle() }
            await notes.change { $0.starred.toggle() }
        }
    }

    @Test func `what was corrected on the kit is not undone by a store that comes back with an older revision`()
        async throws
    {
        try await lose()
        await notes.change { $0.starred = true }
        try await send()
        await notes.change { notes in
            notes.tag(adding: [], removing: ["night"])
            notes.memo = "by the lake"
            notes.removeMarker(at: TakeFrame(500), of: [])
        }
        try await send(to: other)
        try await send()
        for store in [other, deliveries.store] {
            let found = try there(store)
            #expect(found.memo == "by the lake" && found.tags == ["owl", "wet"] && found.star)
            #expect(found.markers.map(\.note) == ["wren"])
        }
    }

    @Test func `what was taken over, and could not be replaced at once, is not taken over twice`() async throws {
        try await lose()
        await notes.change { $0.starred = true }
        // The sound in the store is another's, so the notes are not sent.
        let sound = "\(deliveries.root)/\(name.day)/\(name.stem).wav"
        let content = try Data(contentsOf: URL(filePath: sound))
        try Data("another".utf8).write(to: URL(filePath: sound))
        await deliveries.trial.expectProblem(.conflict) { try await send() }
        #expect(await notes.notes.tags == ["night", "owl", "wet"])
        await notes.change { $0.tag(adding: [], removing: ["night"]) }
        try content.write(to: URL(filePath: sound))
        try await send()
        #expect(try there().tags == ["owl", "wet"])
    }

    @Test func `what another library changed at home is united with what the kit has`() async throws {
        await notes.change { $0.tags = ["owl"] }
        try await send()
        var document = try there()
        document.tags = ["owl", "wet"]
        document.revision += 1
        try Data(document.bytes).write(to: URL(filePath: file()))
        await notes.change { $0.starred = true }
        try await send()
        let found = try there()
        #expect(found.tags == ["owl", "wet"] && found.star && found.revision == 3)
        #expect(await notes.notes.tags == ["owl", "wet"])
    }

    @Test func `a title at home comes to a kit that has none, and is kept as text beside another`() async throws {
        await notes.change { $0.title = "dawn" }
        try await send()
        #expect(try there().title == "dawn")
        await notes.forget()
        await notes.change { $0.starred = true }
        try await send()
        #expect(await notes.notes.title == "dawn")
        var document = try there()
        (document.title, document.revision) = ("the weir", document.revision + 1)
        try Data(document.bytes).write(to: URL(filePath: file()))
        await notes.change { $0.starred = false }
        try await send()
        let found = try there()
        #expect(found.title == "dawn" && found.otherMemos == ["title: the weir"])
    }

    @Test func `notes that another wrote have no more than a person may note`() async throws {
        try await lose()
        var document = try there()
        document.tags = (0..<200).map { "tag\($0)" } + [" ", String(repeating: "x", count: 500)]
        document.memo = String(repeating: "m", count: 5000)
        document.markers = (0..<2000).map { .init(atFrame: TakeFrame(Int64($0)), note: nil) }
        document.markers[0].note = String(repeating: "n", count: 2000)
        try Data(document.bytes).write(to: URL(filePath: file()))
        await notes.change { $0.starred = true }
        try await send()
        let noted = await notes.notes
        #expect(noted.tags.count == TakeNotes.mostTags && noted.memo == nil)
        #expect(noted.markers.count == TakeNotes.mostMarkerChanges && noted.markers.allSatisfy { $0.note == nil })
    }

    /// Frames outside any take, and one after this take's end.
    private static let outside: [Int64] = [-1, 480_001, .max]
    private static let lines = outside.map { "marker at frame \($0): far" }

    @Test func `markers at home that lie outside of the take are kept as text, and the sidecar can be read`()
        async throws
    {
        try await lose()
        var document = try there()
        document.markers.append(.init(atFrame: TakeFrame(480_000), note: "end"))
        for frame in Self.outside { document.markers.append(.init(atFrame: TakeFrame(frame), note: "far")) }
        try Data(document.bytes).write(to: URL(filePath: file()))
        await notes.change { $0.starred = true }
        try await send()
        #expect(try sentSidecar().markers.map(\.note) == ["wren", "call", "end"])
        let found = try there()
        #expect(found.markers.map(\.note) == ["wren", "call", "end"])
        #expect(found.otherMemos == [Self.lines.joined(separator: "\n")])
        #expect(await notes.notes.otherMemos == found.otherMemos)
    }

    @Test func `markers in the kit's own notes that lie outside of the take are kept as text as well`() async throws {
        await notes.change { notes in
            for frame in Self.outside + [480_000] { notes.setMarker(.init(atFrame: TakeFrame(frame), note: "far")) }
        }
        try await send()
        #expect(try sentSidecar().markers.map(\.atFrame.count) == [0, 480_000])
        #expect(try there().otherMemos == [Self.lines.joined(separator: "\n")])
        let noted = await notes.notes
        #expect(noted.markers.map(\.atFrame.count) == [480_000])
        #expect(noted.otherMemos == [Self.lines.joined(separator: "\n")])
        #expect(noted.isComplete(revision: 1, in: deliveries.store.name))
    }

    @Test func `a region at home comes back to a kit that lost its notes, and ends with the take`() async throws {
        try await lose()
        var document = try there()
        var owl = Sidecar.Marker(atFrame: TakeFrame(600), note: "owl")
        (owl.endFrame, owl.lowHz, owl.highHz) = (TakeFrame(480_001), 100, 400)
        document.markers.append(owl)
        try Data(document.bytes).write(to: URL(filePath: file()))
        await notes.change { $0.starred = true }
        try await send()
        owl.endFrame = TakeFrame(480_000)
        #expect(try sentSidecar().markers.last == owl)
        #expect(try there().markers.last == owl)
        #expect(await notes.notes.markers(of: []).last == owl)
    }

    private func sentSidecar() throws -> Sidecar {
        let path = "\(deliveries.root)/\(name.day)/\(name.stem).json"
        return try SidecarFile.sidecar(Array(Data(contentsOf: URL(filePath: path))), path: path)
    }
}

extension TakeDeliveryTests.Notes {
    /// Drops all notes, as if the library's folder were lost.
    func forget() { notes = TakeNotes(take: notes.take) }
}

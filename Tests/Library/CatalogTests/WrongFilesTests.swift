import DiskCalls
import Files
import FinishedTakes
import GRDB
import Glibc
import TakeFiles
import Takes
import Testing
import Transport

@testable import Catalog

/// Files written by a person or another program.
@Suite(.waitsOnNamedThreads) struct WrongFilesTests {
    private let takes: CatalogedTakes

    init() throws { takes = try CatalogedTakes() }

    private func stored(_ sidecars: [Sidecar]) throws -> [StoredTake] {
        try sidecars.map { try StoredTake(takes.disk.add($0), in: TakesFolder(path: takes.disk.takes)) }
    }

    private func index(_ stored: [StoredTake]) throws -> [String] {
        try takes.catalog.index(stored, on: takes.number, at: takes.disk.takes).map { "\($0)" }
    }

    private func note(_ text: String, of stem: String) throws {
        try takes.disk.write(Array(text.utf8), to: takes.catalog.notes.file(of: stem))
    }

    @Test func `a tag that is noted twice hides no take`() throws {
        let sidecars = (1...3).map { TakesOnDisk.sidecar($0) }
        try note(
            "{\"take\":\"\(sidecars[1].take)\",\"memo\":\"m\",\"tags\":[\"a\",\" a\",\"\",\"b\",\"a\"],\"starred\":true}",
            of: sidecars[1].take)
        #expect(try index(stored(sidecars)) == [])
        #expect(try takes.catalog.counts().takes == 3)
        let found = try takes.catalog.find(.stem(sidecars[1].take))
        #expect(found.map(\.tags) == [["a", "b"]] && found.map(\.memo) == ["m"] && found.map(\.starred) == [true])
    }

    @Test func `what of a file can be read is used, the rest is named, and kept when the next note is written`() throws
    {
        let sidecar = TakesOnDisk.sidecar(7)
        let text = """
            {"take": "\(sidecar.take)", "memo": "at the pond", "tags": ["b", 7, "a"], "starred": "yes",
             "markers": [{"at_frame": 5, "removed": false, "note": "owl"}, {"at_frame": "x"},
                         {"at_frame": 9223372036854775807, "removed": false}, {"at_frame": -1, "removed": false}],
             "receipts": [{"store": 1}], "hashes": {}, "upload": "later"}
            """
        try note(text, of: sidecar.take)
        let path = takes.catalog.notes.file(of: sidecar.take)
        #expect(
            try index(stored([sidecar])) == ["notes: \(path): is used in part: tags.1 cannot be read (and 7 more)"])
        let (notes, problem) = try takes.catalog.readableNotes(of: sidecar.take)
        var expected = TakeNotes(take: sidecar.take)
        (expected.memo, expected.tags, expected.upload) = ("at the pond", ["a", "b"], .hold)
        expected.setMarker(.init(atFrame: TakeFrame(5), note: "owl"))
        #expect(notes == expected && problem?.isUsable == true)
        #expect(try takes.catalog.find(.stem(sidecar.take)).map(\.memo) == ["at the pond"])
        _ = try takes.catalog.note(sidecar.take) { $0.starred = true }
        #expect(try FileSystem().contents(path + ".damaged") == Array(text.utf8))
        #expect(try takes.catalog.readableNotes(of: sidecar.take).problem == nil)
        #expect(try takes.catalog.notes(of: sidecar.take).memo == "at the pond")
    }

    @Test func `texts with control characters are read, each as a space`() throws {
        let sidecar = TakesOnDisk.sidecar(7)
        try note(
            #"""
            {"take": "\#(sidecar.take)", "title": "a\u0000wren", "memo": "at\u0007dawn\n", "tags": ["a\u0000b", "\u0000"],
             "other_memos": ["\u001b[2J"], "markers": [{"at_frame": 5, "removed": false, "note": "owl\u007f"}]}
            """#, of: sidecar.take)
        #expect(try index(stored([sidecar])) == [])
        let found = try takes.catalog.find(.stem(sidecar.take))
        #expect(found.map(\.title) == ["a wren"] && found.map(\.tags) == [["a b"]])
        var query = TakeQuery()
        query.tag = "a b"
        #expect(try takes.stems(query) == [sidecar.take])
        let notes = try takes.catalog.notes(of: sidecar.take)
        #expect(notes.memo == "at dawn\n" && notes.otherMemos == [" [2J"] && notes.markers.map(\.note) == ["owl "])
    }

    @Test func `receipts of a recording that cannot be read say nothing`() throws {
        var notes = TakeNotes(take: TakesOnDisk.sidecar(7).take)
        notes[receiptOf: "home"] = UploadReceipt(store: "home")
        try takes.catalog.notes.write(notes, of: TakeIdentity(stem: notes.take))
        let path = takes.catalog.notes.file(of: notes.take)
        let text = String(decoding: try FileSystem().contents(path), as: UTF8.self)
        #expect(try takes.catalog.notes(of: notes.take).receipts.count == 1)
        try note("{\"origin\":5," + text.dropFirst(), of: notes.take)
        #expect(try takes.catalog.notes(of: notes.take).receipts.isEmpty)
    }

    @Test func `a take that the database does not accept is named, and all others are there`() throws {
        try takes.catalog.database.write { try $0.execute(sql: "CREATE UNIQUE INDEX once ON take (byteCount)") }
        var sidecars = (1...4).map { TakesOnDisk.sidecar($0, markers: Array(repeating: "wren", count: $0)) }
        sidecars[2] = TakesOnDisk.sidecar(3, markers: ["wren"])
        let failures = try index(stored(sidecars))
        let path = Catalog.databasePath(in: takes.disk.library)
        let expected = """
            \(sidecars[2].take): cannot be cataloged: cannot write \(path): UNIQUE constraint failed: take.byteCount \
            (SQLite error 2067): check its sidecar
            """
        #expect(failures == [expected])
        #expect(try Set(takes.stems(TakeQuery())) == Set([0, 1, 3].map { sidecars[$0].take }))
        var query = TakeQuery()
        query.marker = "wren"
        #expect(try takes.stems(query).count == 3)
    }

    @Test(arguments: [[0xef, 0xbb, 0xbf], [UInt8]()])
    func `a sidecar that an editor wrote in another form is cataloged, also with receipts`(_ mark: [UInt8]) throws {
        let sidecar = TakesOnDisk.sidecar(7)
        let name = try takes.disk.add(sidecar)
        let text = SidecarFile.bytes(sidecar)
        let bytes = mark.isEmpty ? text.flatMap { [$0, 0] } : mark + text
        try takes.disk.write(bytes, to: "\(takes.disk.takes)/\(name.day)/\(name.stem).json")
        var notes = TakeNotes(take: name.stem)
        notes.attribute(to: sidecar.recordingStart)
        notes[receiptOf: "home"] = UploadReceipt(store: "home")
        try takes.catalog.notes.write(notes, of: TakeIdentity(stem: notes.take))
        let take = try StoredTake(name, in: TakesFolder(path: takes.disk.takes))
        #expect(take.sidecar == sidecar)
        #expect(try index([take]) == [])
        let kept = try #require(try takes.catalog.sidecar(of: name.stem))
        #expect(try SidecarFile.sidecar(Array(kept.utf8), path: "kept") == sidecar)
    }
}

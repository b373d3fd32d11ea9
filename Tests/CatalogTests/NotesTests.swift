import FinishedTakes
import Glibc
import TakeFiles
import Takes
import Testing
import Transport

@testable import Catalog

@Suite struct NotesTests {
    @Test func `what is noted is in a file of the library's own`() throws {
        let takes = try CatalogedTakes()
        let stem = try takes.add(TakesOnDisk.sidecar(7))
        let entry = try takes.catalog.note(stem) { notes in
            notes.memo = "two \"owls\"\nnear the ö"
            notes.starred = true
            notes.tag(adding: ["owl", "night"], removing: [])
        }
        #expect(entry.memo == "two \"owls\"\nnear the ö")
        #expect(entry.tags == ["night", "owl"])
        #expect(entry.starred)
        let file = try FileSystem().contents(takes.catalog.notes.file(of: stem))
        #expect(
            String(decoding: file, as: UTF8.self) == """
                {
                  "hashes" : [

                  ],
                  "memo" : "two \\"owls\\"\\nnear the ö",
                  "receipts" : [

                  ],
                  "schema" : 1,
                  "starred" : true,
                  "tags" : [
                    "night",
                    "owl"
                  ],
                  "take" : "\(stem)"
                }

                """)
    }

    @Test func `a note of a take that is not there is refused, and leaves no file`() throws {
        let takes = try CatalogedTakes()
        #expect(throws: Catalog.NoSuchTake.self) {
            try takes.catalog.note("heron07-0009-061811Z") { $0.starred = true }
        }
        #expect(try takes.catalog.notes.takes() == [])
    }

    @Test func `a folder that cannot be written leaves file and catalog as they were`() throws {
        let takes = try CatalogedTakes()
        let stem = try takes.add(TakesOnDisk.sidecar(7))
        let before = try takes.catalog.note(stem) { $0.memo = "first" }
        // A folder in the place of the draft: root may write everywhere.
        mkdir(takes.catalog.notes.file(of: stem) + ".tmp", 0o755)
        #expect(throws: FileError.self) { try takes.catalog.note(stem) { $0.memo = "second" } }
        #expect(try takes.catalog.find(.stem(stem)) == [before])
        #expect(try takes.catalog.notes.notes(of: stem).memo == "first")
    }

    @Test(arguments: [
        "", "{", "[]", "{\"schema\":1}", "{\"schema\":1,\"take\":\"other-0001-000000Z\",\"tags\":[],\"starred\":false}",
    ])
    func `a damaged file is reported, and kept when the next note is written`(_ text: String) throws {
        let takes = try CatalogedTakes()
        let stem = TakesOnDisk.sidecar(7).take
        let path = takes.catalog.notes.file(of: stem)
        try takes.disk.write(Array(text.utf8), to: path)
        let name = try takes.disk.add(TakesOnDisk.sidecar(7))
        let stored = try StoredTake(name, in: TakesFolder(path: takes.disk.takes))
        let failures = try takes.catalog.index([stored], on: takes.number, at: takes.disk.takes)
        #expect(failures.map { "\($0)".hasPrefix("notes: \(path): cannot be used: ") } == [true])
        #expect(try takes.catalog.find(.stem(stem)).map(\.memo) == [nil])
        _ = try takes.catalog.note(stem) { $0.memo = "new" }
        #expect(try takes.catalog.notes.notes(of: stem).memo == "new")
        #expect(try FileSystem().contents(path + ".damaged") == Array(text.utf8))
    }

    @Test func `tags are sorted, each once, and without spaces around`() {
        var notes = TakeNotes(take: "t")
        notes.tag(adding: ["b", "a", "b"], removing: ["c"])
        notes.tag(adding: ["c"], removing: ["b"])
        #expect(notes.tags == ["a", "c"])
        #expect(TakeNotes.tag("  dawn chorus ") == "dawn chorus")
        #expect(TakeNotes.tag("   ") == nil)
        #expect(TakeNotes.tag("one\ntwo") == nil)
        #expect(TakeNotes.tag(String(repeating: "x", count: 101)) == nil)
    }
}

import DiskCalls
import Files
import FinishedTakes
import Glibc
import TakeFiles
import Takes
import Testing
import Transport

@testable import Catalog

@Suite(.waitsOnNamedThreads) struct NotesTests {
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
                  "markers" : [

                  ],
                  "memo" : "two \\"owls\\"\\nnear the ö",
                  "receipts" : [

                  ],
                  "revision" : 1,
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

    @Test func `a title is in the library's own file, and found as the memo is`() throws {
        let takes = try CatalogedTakes()
        let stem = try takes.add(TakesOnDisk.sidecar(7))
        let entry = try takes.catalog.note(stem) { notes in
            notes.memo = "Dawn at the weir\n\nwith an owl"
            notes.setTitle("Dawn at the weir")
        }
        #expect(entry.title == "Dawn at the weir" && entry.memo == "with an owl")
        let file = try FileSystem().contents(takes.catalog.notes.file(of: stem))
        #expect(String(decoding: file, as: UTF8.self).contains("\n  \"title\" : \"Dawn at the weir\"\n}"))
        for (text, isFound) in [("weir owl", true), ("dawn", true), ("mill", false)] {
            var query = TakeQuery()
            query.text = text
            #expect(try takes.stems(query) == (isFound ? [stem] : []), "\(text)")
        }
        let without = try takes.catalog.note(stem) { $0.setTitle(nil) }
        #expect(without.title == nil && without.memo == "with an owl")
        #expect(try takes.catalog.notes(of: stem).currentRevision == 2)
    }

    @Test func `markers that a person changes are found, counted, and kept by a new catalog`() throws {
        let takes = try CatalogedTakes()
        var sidecar = TakesOnDisk.sidecar(7, markers: ["wren"])
        sidecar.markers.append(Sidecar.Marker(atFrame: TakeFrame(500), note: "robin"))
        let stem = try takes.add(sidecar)
        let entry = try takes.catalog.note(stem) { notes, recorded in
            notes.setMarker(.init(atFrame: TakeFrame(500), note: "owl"))
            notes.setMarker(.init(atFrame: TakeFrame(20), note: nil))
            for frame in [.first, TakeFrame(999)] { notes.removeMarker(at: frame, of: recorded) }
        }
        #expect(entry.counts.markers == 2)
        let notes = try takes.catalog.notes(of: stem)
        #expect(
            notes.markers(of: sidecar.markers) == [
                .init(atFrame: TakeFrame(20), note: nil), .init(atFrame: TakeFrame(500), note: "owl"),
            ])
        // A marker that was only set is forgotten. A recorded marker stays removed.
        _ = try takes.catalog.note(stem) { notes, recorded in notes.removeMarker(at: TakeFrame(20), of: recorded) }
        #expect(try takes.catalog.notes(of: stem).markers.map(\.removed) == [true, false])

        func found(_ word: String, in catalog: Catalog) throws -> [String] {
            var query = TakeQuery()
            query.marker = word
            return try catalog.page(query).takes().map(\.take)
        }
        try takes.catalog.close()
        for name in ["catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm"] {
            unlink("\(takes.disk.library)/\(name)")
        }
        let catalog = try Catalog.open(in: takes.disk.library).0
        let number = try #require(try catalog.setPresent([takes.storage])[takes.storage])
        let stored = try StoredTake(TakesOnDisk.name(sidecar), in: TakesFolder(path: takes.disk.takes))
        #expect(try catalog.index([stored], on: number, at: takes.disk.takes).isEmpty)
        #expect(try found("owl", in: catalog) == [stem])
        #expect(try found("wren", in: catalog) == [] && found("robin", in: catalog) == [])
        #expect(try catalog.find(.stem(stem)).map(\.counts.markers) == [1])
    }

    @Test func `a region is kept in the library's own file, and a marker without one has no keys of it`() throws {
        let takes = try CatalogedTakes()
        let stem = try takes.add(TakesOnDisk.sidecar(7))
        let region = try MarkedRegion(from: TakeFrame(500), to: TakeFrame(900), lowHz: 1500, highHz: 8000)
        _ = try takes.catalog.note(stem) { notes in
            notes.setMarker(.init(atFrame: TakeFrame(500), note: "wren", region: .set(region)))
            notes.setMarker(.init(atFrame: TakeFrame(20), note: nil))
        }
        let file = try FileSystem().contents(takes.catalog.notes.file(of: stem))
        #expect(
            String(decoding: file, as: UTF8.self).contains(
                """
                  "markers" : [
                    {
                      "at_frame" : 20,
                      "note" : null,
                      "removed" : false
                    },
                    {
                      "at_frame" : 500,
                      "end_frame" : 900,
                      "high_hz" : 8000,
                      "low_hz" : 1500,
                      "note" : "wren",
                      "removed" : false
                    }
                  ],

                """))
        var expected = Sidecar.Marker(atFrame: TakeFrame(500), note: "wren")
        (expected.endFrame, expected.lowHz, expected.highHz) = (TakeFrame(900), 1500, 8000)
        #expect(
            try takes.catalog.notes(of: stem).markers(of: [])
                == [Sidecar.Marker(atFrame: TakeFrame(20), note: nil), expected])
    }

    @Test func `as many markers as may be changed fit into a file, and what is refused changes nothing`() throws {
        struct Refused: Error {}
        let takes = try CatalogedTakes()
        let stem = try takes.add(TakesOnDisk.sidecar(7))
        let note = String(repeating: "\u{1}", count: TakeNotes.longestMarkerNote)
        let region = try MarkedRegion(from: .first, to: .last, lowHz: 1.0 / 3, highHz: 1e6 / 3)
        _ = try takes.catalog.note(stem) { notes in
            for frame in 0..<TakeNotes.mostMarkerChanges {
                notes.setMarker(.init(atFrame: TakeFrame(Int64(frame)), note: note, region: .set(region)))
            }
        }
        #expect(throws: Refused.self) {
            try takes.catalog.note(stem) { notes, _ in
                notes.memo = "half"
                throw Refused()
            }
        }
        let notes = try takes.catalog.notes(of: stem)
        #expect(notes.markers.count == TakeNotes.mostMarkerChanges)
        #expect(notes.memo == nil)
        #expect(try takes.catalog.find(.stem(stem)).map(\.memo) == [nil])
    }

    @Test func `each damaged file is kept`() throws {
        let takes = try CatalogedTakes()
        let stem = try takes.add(TakesOnDisk.sidecar(7))
        let path = takes.catalog.notes.file(of: stem)
        for text in ["first", "second"] {
            try takes.disk.write(Array(text.utf8), to: path)
            _ = try takes.catalog.note(stem) { $0.memo = text }
        }
        #expect(try FileSystem().contents(path + ".damaged") == Array("first".utf8))
        #expect(try FileSystem().contents(path + ".damaged2").starts(with: Array("second".utf8)))
    }

    @Test func `what cannot be read is not written over`() throws {
        let takes = try CatalogedTakes()
        let stem = try takes.add(TakesOnDisk.sidecar(7))
        let path = takes.catalog.notes.file(of: stem)
        mkdir(path, 0o755)
        #expect(throws: FileError.self) { try takes.catalog.note(stem) { $0.memo = "new" } }
        #expect(try FileSystem().entries(path) == [])
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
        // A folder with the name of the temporary file, because root may write everywhere.
        mkdir(takes.catalog.notes.file(of: stem) + ".tmp", 0o755)
        #expect(throws: FileError.self) { try takes.catalog.note(stem) { $0.memo = "second" } }
        #expect(try takes.catalog.find(.stem(stem)) == [before])
        #expect(try takes.catalog.notes(of: stem).memo == "first")
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
        #expect(try takes.catalog.notes(of: stem).memo == "new")
        #expect(try FileSystem().contents(path + ".damaged") == Array(text.utf8))
    }

    @Test(arguments: [
        ("{", "cannot be used: it is not of the form that the library writes"),
        ("{\"take\":\"STEM\",\"memo\":7,\"tags\":[\"owl\"]}", "is used in part: memo cannot be read"),
    ])
    func `the file that is kept is reported, whether some of it is used or nothing`(text: String, why: String) throws {
        let disk = TakesOnDisk()
        let sentences = Locked<[String]>([])
        let (catalog, _) = try Catalog.open(in: disk.library) { sentence in sentences.withLock { $0.append(sentence) } }
        let name = try disk.add(TakesOnDisk.sidecar(7))
        let path = catalog.notes.file(of: name.stem)
        try disk.write(Array(text.replacing("STEM", with: name.stem).utf8), to: path)
        try catalog.notes.write(TakeNotes(take: name.stem), of: TakeIdentity(stem: name.stem))
        #expect(sentences.withLock { $0 } == ["notes: \(path): \(why): it is kept as \(path).damaged"])
        try catalog.notes.write(TakeNotes(take: name.stem), of: TakeIdentity(stem: name.stem))
        #expect(sentences.withLock(\.count) == 1)
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

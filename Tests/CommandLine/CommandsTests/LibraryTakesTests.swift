import Control
import Takes
import Testing
import Transport

@testable import Commands

/// `takes` while a library runs.
@Suite struct LibraryTakesTests {
    @Test func `a line has the star, the tags and the beginning of the memo, and where a take is not`() throws {
        let library = try DeskLibrary([
            deskTake(1),
            deskTake(12_345) { take in
                take.place = .elsewhere
                take.counts.markers = 2
                take.clipped = true
                take.starred = true
                take.tags = ["interview", "two\u{1b}words"]
                take.memo = "\nA wren at dawn, and then another one behind the house"
            },
            deskTake(3) { $0.memo = "short" },
        ])
        let lines = [
            "heron07-0001_20261121_061811   2026-11-21 06:18:11   0:00:02.0",
            "heron07-12345_20261121_061811  2026-11-21 06:18:11   0:00:02.0  elsewhere, 2 markers, clipped  "
                + "★ [interview, two words] \"A wren at dawn, and then another one beh…\"",
            "heron07-0003_20261121_061811   2026-11-21 06:18:11   0:00:02.0  \"short\"",
        ]
        #expect(run(["takes"], library: library) == (0, lines, []))
        let console = PaperConsole()
        console.showsUnicode = false
        #expect(run(["takes"], library: library, console: console).output[1].hasSuffix(" one beh...\""))
        #expect(console.output.contains("clipped  * [interview"))
    }

    @Test func `pages of 200 are asked for until there are no more, or enough`() throws {
        let library = try DeskLibrary((1...450).map { deskTake($0) })
        func query(_ limit: Int, after: String? = nil) -> LibraryMessage {
            var query = TakeQuery()
            query.isDescending = false
            query.limit = limit
            query.after = after
            return .takes(query)
        }
        let all = run(["takes"], library: library)
        #expect(all.output.map { $0.prefix(28) } == (1...450).map { deskTake($0).take[...] })
        #expect(library.messages == [.status, query(200), query(200, after: "200"), query(200, after: "400")])
        library.desk.messages.withLock { $0 = [] }
        #expect(run(["takes", "--limit", "201"], library: library).output.count == 201)
        #expect(library.messages == [.status, query(200), query(1, after: "200")])
        library.desk.messages.withLock { $0 = [] }
        #expect(run(["takes", "--limit", "3"], library: library).output.count == 3)
        #expect(library.messages == [.status, query(3)])
    }

    @Test func `every condition is asked for`() throws {
        let library = try DeskLibrary()
        var query = TakeQuery()
        query.text = "wren dawn"
        query.tag = "river"
        query.isStarred = true
        query.marker = ""
        query.since = WallTime(microseconds: 1_795_219_200_000_000)
        query.until = WallTime(microseconds: 1_795_241_891_000_000)
        query.leastSeconds = 1.5
        query.mostSeconds = 60
        query.place = .elsewhere
        query.order = .size
        query.limit = 200
        let result = run(
            [
                "takes", "--text", "wren dawn", "--tag", " river", "--starred", "--marker", "", "--since", "2026-11-21",
                "--until", "2026-11-21T06:18:11Z", "--longer", "1.5", "--shorter", "60", "--elsewhere", "--order",
                "size", "--reverse",
            ], library: library)
        #expect(result == (0, ["no such takes"], []))
        #expect(library.messages == [.status, .takes(query)])
        #expect(run(["takes"], library: library) == (0, ["no takes"], []))
    }

    @Test func `as JSON they have all keys of the list`() throws {
        let takes = [deskTake(1) { $0.memo = "a wren" }, deskTake(2)]
        let library = try DeskLibrary(takes)
        let list = try takes.map { try JSONValue(encoding: $0).description }.joined(separator: ",")
        #expect(
            run(["takes", "--json"], library: library) == (
                0, [#"{"directory":"/desk/takes","takes":[\#(list)]}"#], []
            ))
        #expect(list.contains(#""memo":"a wren""#))
        #expect(
            run(["takes", "--json", "--elsewhere"], library: library)
                == (0, [#"{"directory":"/desk/takes","takes":[]}"#], []))
    }

    @Test func `while the library still reads the folders, that is said`() throws {
        let library = try DeskLibrary([deskTake(1)])
        library.desk.scan.withLock { $0 = .object(["done": .integer(3), "total": .integer(400)]) }
        let result = run(["takes"], library: library)
        #expect(result.status == 0)
        #expect(result.output.count == 1)
        #expect(result.complaints == ["takes: the library still reads the folders (3 of 400): takes may be missing"])
        library.desk.scan.withLock { $0 = .object(["done": .integer(3), "total": .null]) }
        #expect(run(["takes"], library: library).complaints.first?.contains("(3)") == true)
    }

    @Test func `what the library refuses is one sentence and its exit status`() throws {
        let library = try DeskLibrary()
        library.desk.refusal.withLock { $0 = Refusal(.io, "takes: the catalog cannot be read") }
        #expect(run(["takes"], library: library) == (74, [], ["takes: the catalog cannot be read"]))
    }

    @Test func `a folder that is named is read, whatever the library has`() throws {
        let folder = KitFolder()
        let name = try folder.record()
        let library = try DeskLibrary([deskTake(7)])
        let result = run(["takes", "--directory", folder.path], library: library)
        #expect(result.output.map { $0.prefix(28) } == [name.stem[...]])
        #expect(library.messages == [])
    }
}

import Control
import Takes
import Testing
import Transport

@testable import Commands

/// `title`, `memo`, `tag` and `star`.
@Suite struct NotesCommandsTests {
    private static let line = "heron07-0001_20261121_061811  2026-11-21 06:18:11   0:00:02.0"

    @Test func `a memo is written, printed and removed`() throws {
        let library = try DeskLibrary([deskTake(1)])
        let text = "A wren\nat dawn\u{1b}"
        #expect(run(["memo", "1"], library: library) == (0, ["heron07-0001_20261121_061811: no memo"], []))
        #expect(run(["memo", "1", text], library: library) == (0, [Self.line + "  \"A wren…\""], []))
        #expect(run(["memo", "last"], library: library) == (0, ["A wren", "at dawn "], []))
        #expect(
            run(["memo", "last", "--json"], library: library)
                == (0, [#"{"memo":"A wren\nat dawn ","take":"heron07-0001_20261121_061811"}"#], []))
        #expect(run(["memo", "1", "--clear"], library: library) == (0, [Self.line], []))
        let place = "\ngeo:48.20849,16.37208;u=12"
        #expect(run(["memo", "1", place], library: library) == (0, [Self.line + "  \"\(place.dropFirst())\""], []))
        #expect(
            library.messages == [
                .show(.number(1)), .change(.number(1), .memo("A wren\nat dawn ")), .show(.last), .show(.last),
                .change(.number(1), .memo(nil)), .change(.number(1), .memo(place)),
            ])
    }

    @Test func `a title is written, printed and removed, and may be the first line of the memo`() throws {
        let library = try DeskLibrary([deskTake(1) { $0.memo = "A wren\nat dawn" }])
        #expect(run(["title", "1"], library: library) == (0, ["heron07-0001_20261121_061811: no title"], []))
        #expect(
            run(["title", "1", " A wren "], library: library) == (0, [Self.line + "  A wren \"at dawn\""], []))
        #expect(run(["title", "last"], library: library) == (0, ["A wren"], []))
        #expect(
            run(["title", "last", "--json"], library: library)
                == (0, [#"{"take":"heron07-0001_20261121_061811","title":"A wren"}"#], []))
        #expect(run(["title", "1", "--clear"], library: library) == (0, [Self.line + "  \"at dawn\""], []))
        #expect(
            run(["title", "1", "--json"], library: library)
                == (0, [#"{"take":"heron07-0001_20261121_061811","title":null}"#], []))
        #expect(
            library.messages == [
                .show(.number(1)), .change(.number(1), .title("A wren")), .show(.last), .show(.last),
                .change(.number(1), .title(nil)), .show(.number(1)),
            ])
    }

    @Test func `tags are added and removed`() throws {
        let library = try DeskLibrary([deskTake(1)])
        #expect(
            run(["tag", "1", "river", " interview "], library: library)
                == (0, [Self.line + "  [interview, river]"], []))
        #expect(run(["tag", "last", "--remove", "river"], library: library) == (0, [Self.line + "  [interview]"], []))
        #expect(
            library.messages == [
                .change(.number(1), .tags(adding: ["river", "interview"], removing: [])),
                .change(.last, .tags(adding: [], removing: ["river"])),
            ])
    }

    @Test func `a star is set and removed`() throws {
        let library = try DeskLibrary([deskTake(1)])
        #expect(run(["star", "heron07-0001_20261121_061811"], library: library) == (0, [Self.line + "  ★"], []))
        #expect(run(["star", "1", "--off"], library: library) == (0, [Self.line], []))
        #expect(
            library.messages == [
                .change(.stem("heron07-0001_20261121_061811"), .starred(true)), .change(.number(1), .starred(false)),
            ])
    }

    @Test func `as JSON it is the take as it then is`() throws {
        let library = try DeskLibrary([deskTake(1)])
        let starred = try JSONValue(encoding: deskTake(1) { $0.starred = true })
        let line = try #require(run(["star", "1", "--json"], library: library).output.first)
        #expect(try JSONValue(decoding: line.utf8)["take"] == starred)
    }

    @Test(arguments: [
        ["title", "1"], ["title", "1", "x"], ["memo", "1"], ["memo", "1", "x"], ["tag", "1", "x"], ["star", "1"],
    ])
    func `without a library, or without the take, nothing is done`(arguments: [String]) throws {
        let path = barePlaces.librarySocket
        #expect(
            run(arguments)
                == (69, [], ["control: \(path): the library is not running (No such file or directory)"]))
        #expect(
            run(arguments, library: try DeskLibrary()) == (66, [], ["library: 1: no such take"]))
    }

    @Test(arguments: [
        (["memo", "1", "x", "--clear"], "memo: --clear and a text exclude each other"),
        (
            ["memo", "1", String(repeating: "x", count: 4001)],
            "memo: the text has 4001 bytes, allowed are at most 4000"
        ),
        (["title", "1", "x", "--clear"], "title: --clear and a text exclude each other"),
        (["title", "1", "x\ny"], "title: a title has 1 to 200 characters on one line"),
        (["title", "1", " "], "title: a title has 1 to 200 characters on one line"),
        (
            ["title", "1", String(repeating: "x", count: 201)],
            "title: a title has 1 to 200 characters on one line"
        ),
        (["tag", "1"], "tag: Missing expected argument '<tag> ...'"),
        (["tag", "1", "x", ""], "tag: a tag has 1 to 100 bytes on one line"),
        (
            ["tag", "1"] + (1...51).map { "tag \($0)" },
            "tag: there are 51 tags, allowed are at most 50"
        ),
    ])
    func `a mistake in the arguments is one sentence`(arguments: [String], sentence: String) throws {
        let library = try DeskLibrary([deskTake(1)])
        let command = arguments[0]
        #expect(
            run(arguments, library: library)
                == (64, [], ["fieldfare \(sentence): see 'fieldfare \(command) --help'"]))
        #expect(library.messages == [])
    }
}

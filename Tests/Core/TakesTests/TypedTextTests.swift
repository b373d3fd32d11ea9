import Takes
import Testing

struct TypedTextTests {
    @Test(
        arguments: [
            ("", ""), ("a wren, 굴뚝새", "a wren, 굴뚝새"), ("👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"),
            ("one\r\ntwo\n\tthree", "one\r\ntwo\n\tthree"), ("a\u{b}b\u{c}c", "a b c"),
            ("\u{1b}[2Jb\u{7f}\u{9b}", " [2Jb  "), ("a\0", nil), ("\u{7}\0", nil),
        ] as [(String, String?)])
    func `what a terminal would obey becomes a space, and NUL is refused`(text: String, typed: String?) {
        #expect(text.typed == typed)
        #expect(typed == nil || text.withoutControls == typed)
    }

    @Test func `of a text that is stored already, each other character stays`() {
        #expect("\0a\0\u{1}b\n".withoutControls == " a  b\n")
    }

    @Test(
        arguments: [
            (" river ", "river"), ("a\tb", "a b"), ("\u{1b}[2Ja\u{7}", "[2Ja"), ("\u{7}", nil), ("a\0b", nil),
            ("a\nb", nil), ("a\u{b}b", nil), (" \n", nil), (String(repeating: "x", count: 101), nil),
        ] as [(String, String?)])
    func `a tag is one line, without control characters`(text: String, tag: String?) {
        #expect(TakeNotes.tag(text) == tag)
        #expect(TakeNotes.title(text) == (text.count > 100 ? text : tag))
    }

    @Test func `notes of another library are taken over without control characters`() {
        var notes = TakeNotes(take: "heron07-0042_20261121_061811")
        notes.unite(
            title: "a\0wren", memo: "at\u{7}dawn\nby the mill", otherMemos: ["\u{1b}[2J"], starred: false,
            tags: ["a\0b", "\0"], markers: [Sidecar.Marker(atFrame: .first, note: "owl\0")], recorded: [],
            end: TakeFrame(100))
        var expected = TakeNotes(take: notes.take)
        (expected.title, expected.memo, expected.tags) = ("a wren", "at dawn\nby the mill", ["a b"])
        expected.otherMemos = [" [2J", "tag:  "]
        expected.setMarker(.init(atFrame: .first, note: "owl "))
        #expect(notes == expected)
    }
}

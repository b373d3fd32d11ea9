import Takes
import Testing

struct TakeTitleTests {
    @Test(
        arguments: [
            (" Dawn at the weir ", "Dawn at the weir"), ("", nil), (" \t", nil), ("a\nb", nil), ("a\r\nb", nil),
            ("a\u{2028}b", nil), ("a\u{0}", nil),
            (String(repeating: "ö", count: 200), String(repeating: "ö", count: 200)),
            (String(repeating: "ö", count: 201), nil),
            (String(repeating: "👩‍👩‍👧‍👦", count: 41), nil),
        ] as [(String, String?)])
    func `a title is one line of at most 200 characters`(text: String, title: String?) {
        #expect(TakeNotes.title(text) == title)
    }

    @Test(
        arguments: [
            ("wren\nat dawn", "wren", "at dawn"),
            ("\n wren \n\n  at dawn\n by the mill", "wren", "at dawn\n by the mill"),
            ("wren", "wren", nil), ("wren at dawn", "wren", "wren at dawn"), ("owl\nwren", "wren", "owl\nwren"),
        ] as [(String, String, String?)])
    func `the memo's first line moves into a title that is equal to it`(memo: String, title: String, left: String?) {
        var notes = TakeNotes(take: "heron07-0042_20261121_061811")
        notes.memo = memo
        notes.setTitle(title)
        #expect(notes.title == title && notes.memo == left)
    }

    @Test func `a memo stays when a title is changed or removed`() {
        var notes = TakeNotes(take: "heron07-0042_20261121_061811")
        (notes.title, notes.memo) = ("wren", "owl\nat dawn")
        notes.setTitle("owl")
        #expect(notes.title == "owl" && notes.memo == "owl\nat dawn")
        notes.setTitle(nil)
        #expect(notes.title == nil && notes.memo == "owl\nat dawn")
    }

    @Test func `a title makes a new revision, and reopens receipts`() {
        var notes = TakeNotes(take: "heron07-0042_20261121_061811")
        var receipt = UploadReceipt(store: "folder:home")
        receipt.complete(revision: 1, at: "2026-11-21T07:00:00Z")
        notes[receiptOf: "folder:home"] = receipt
        #expect(notes.currentRevision == 0)
        let before = notes
        notes.setTitle("wren")
        notes.revise(since: before)
        #expect(notes.currentRevision == 1 && notes[receiptOf: "folder:home"]?.completed == nil)
    }
}

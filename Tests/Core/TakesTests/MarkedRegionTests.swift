import FoundationEssentials
import Takes
import Testing

struct MarkedRegionTests {
    private let end = TakeFrame(480_000)

    private func region(
        from start: Int64 = 7, to end: Int64, _ lowHz: Double? = nil, _ highHz: Double? = nil
    ) throws -> MarkedRegion {
        try MarkedRegion(from: TakeFrame(start), to: TakeFrame(end), lowHz: lowHz, highHz: highHz)
    }

    /// A marker of a program.
    private func recorded(to end: Int64 = 9) -> Sidecar.Marker {
        var marker = Sidecar.Marker(atFrame: TakeFrame(7), note: "?")
        (marker.endFrame, marker.label, marker.score) = (TakeFrame(end), "wren", 0.5)
        (marker.lowHz, marker.highHz) = (1500, 8000)
        return marker
    }

    private func text(_ markers: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(markers), as: UTF8.self)
    }

    private func markers(_ text: String) throws -> [TakeNotes.MarkerChange] {
        try JSONDecoder().decode([TakeNotes.MarkerChange].self, from: Data(text.utf8))
    }

    @Test func `a region that is not possible is refused in a sentence`() {
        let edges = "give both low_hz and high_hz, or neither"
        let cases: [(end: Int64?, lowHz: Double?, highHz: Double?, sentence: String)] = [
            (nil, 1500, 8000, "end_frame is missing: give the frame after the region's last one"),
            (100, nil, nil, "end_frame: found 100, allowed is a later frame: the one after the region's last"),
            (1 << 43, nil, nil, "end_frame: found 8796093022208, allowed is a frame up to 4398046511104"),
            (200, 1500, nil, "high_hz is missing: \(edges)"), (200, nil, 8000, "low_hz is missing: \(edges)"),
            (200, -1, 8000, "low_hz: found -1.0, allowed is a frequency of at least 0 Hz"),
            (200, 8000, 8000, "low_hz: found 8000.0, high_hz is 8000.0: give the lower edge as low_hz"),
        ]
        for (end, lowHz, highHz, sentence) in cases {
            do throws(MarkedRegion.Problem) {
                _ = try MarkedRegion(
                    from: TakeFrame(100), to: end.map { TakeFrame($0) }, lowHz: lowHz, highHz: highHz)
                Issue.record("accepted, although \(sentence)")
            } catch {
                #expect(error.sentence == sentence)
            }
        }
        // The sentence of a marker at the end of all numbers does not overflow.
        #expect(throws: MarkedRegion.Problem.self) { try region(from: .max, to: .max) }
        #expect(throws: MarkedRegion.Problem.self) { try region(to: 200, .nan, 8000) }
        #expect(throws: MarkedRegion.Problem.self) { try region(to: 200, 0, .infinity) }
    }

    @Test func `a region lies in its take, and its band below half the rate`() throws {
        #expect(try region(to: 480_000, 0, 24_000).problem(inTakeUpTo: end, rateHz: 48_000) == nil)
        #expect(
            try region(to: 480_001).problem(inTakeUpTo: end, rateHz: 48_000)
                == "end_frame: found 480001, allowed is at most 480000, the end of the take")
        #expect(
            try region(to: 200, 0, 24_000.5).problem(inTakeUpTo: end, rateHz: 48_000)
                == "high_hz: found 24000.5, allowed is at most 24000.0 Hz, half the take's rate")
    }

    @Test func `regions in the notes read as they were written, and plain markers have no further keys`() throws {
        var notes = TakeNotes(take: "heron07-0001-061811Z")
        notes.setMarker(.init(atFrame: TakeFrame(7), note: "wren", region: .set(try region(to: 200, 1500, 8000.5))))
        notes.setMarker(.init(atFrame: TakeFrame(8), note: nil, region: .set(try region(from: 8, to: 9))))
        notes.setMarker(.init(atFrame: TakeFrame(20), note: nil))
        notes.setMarker(.init(atFrame: TakeFrame(30), note: "owl", region: .removed))
        let written =
            #"[{"at_frame":7,"end_frame":200,"high_hz":8000.5,"low_hz":1500,"note":"wren","removed":false},"#
            + #"{"at_frame":8,"end_frame":9,"note":null,"removed":false},{"at_frame":20,"note":null,"removed":false},"#
            + #"{"at_frame":30,"end_frame":null,"note":"owl","removed":false}]"#
        #expect(try text(notes.markers) == written)
        #expect(try markers(written) == notes.markers)
        let plain = #"[{"at_frame":5,"note":"owl","removed":false},{"at_frame":9,"note":null,"removed":true}]"#
        #expect(try text(markers(plain)) == plain)
    }

    @Test func `a region in the notes that is not possible costs neither the marker nor its note`() throws {
        for keys in [
            #""end_frame":7"#, #""end_frame":"9""#, #""end_frame":-5"#, #""low_hz":5,"high_hz":9"#,
            #""end_frame":9,"low_hz":5"#, #""end_frame":9,"low_hz":9,"high_hz":5"#, #""end_frame":9e30"#,
        ] {
            let found = try markers(#"[{"at_frame":7,"note":"wren","removed":false,\#(keys)}]"#)
            #expect(found == [.init(atFrame: TakeFrame(7), note: "wren")], "\(keys)")
        }
    }

    @Test func `a person changes the region of a recorded marker, and what a program found stays`() throws {
        var notes = TakeNotes(take: "heron07-0001-061811Z")
        var expected = recorded()
        notes.setMarker(.init(atFrame: TakeFrame(7), note: "a", region: .set(try region(to: 50))))
        (expected.note, expected.endFrame, expected.lowHz, expected.highHz) = ("a", TakeFrame(50), nil, nil)
        #expect(notes.markers(of: [recorded()]) == [expected])
        notes.setMarker(.init(atFrame: TakeFrame(7), note: "b"))
        expected.note = "b"
        #expect(notes.markers(of: [recorded()]) == [expected])
        notes.setMarker(.init(atFrame: TakeFrame(7), note: "b", region: .removed))
        expected.endFrame = nil
        #expect(notes.markers(of: [recorded()]) == [expected])
        notes.setMarker(.init(atFrame: TakeFrame(7), note: nil))
        expected.note = nil
        #expect(notes.markers(of: [recorded()]) == [expected])
    }

    @Test func `a region that changed makes a new revision`() throws {
        var notes = TakeNotes(take: "heron07-0001-061811Z")
        notes.setMarker(.init(atFrame: TakeFrame(7), note: nil))
        let before = notes
        notes.setMarker(.init(atFrame: TakeFrame(7), note: nil, region: .set(try region(to: 9))))
        notes.revise(since: before)
        #expect(notes.currentRevision == 2)
    }

    @Test func `a region ends with the take, and one outside of it becomes a text`() throws {
        var notes = TakeNotes(take: "heron07-0001-061811Z")
        notes.setMarker(.init(atFrame: TakeFrame(7), note: "a", region: .set(try region(to: 200, 5, 9))))
        notes.setMarker(.init(atFrame: TakeFrame(100), note: "b", region: .set(try region(from: 100, to: 200))))
        notes.setMarker(.init(atFrame: TakeFrame(101), note: "c", region: .set(try region(from: 101, to: 200, 5, 9))))
        notes.setAsideMarkers(outside: TakeFrame(100))
        let cut = try region(to: 100, 5, 9)
        #expect(
            notes.markers == [
                .init(atFrame: TakeFrame(7), note: "a", region: .set(cut)),
                .init(atFrame: TakeFrame(100), note: "b", region: .removed),
            ])
        #expect(notes.otherMemos == ["marker at frame 101 to 200, 5.0 to 9.0 Hz: c"])
        let once = notes
        notes.setAsideMarkers(outside: TakeFrame(100))
        #expect(notes == once)
    }

    @Test func `the regions of another library are taken over, up to the end of the take`() throws {
        var (other, changed) = (Sidecar.Marker(atFrame: TakeFrame(20), note: "owl"), recorded(to: 30))
        (other.endFrame, other.lowHz, other.highHz) = (TakeFrame(900_000), 100, 400)
        changed.note = "wren!"
        var (point, program) = (recorded(), recorded())
        (point.atFrame, point.endFrame, point.lowHz, point.highHz) = (TakeFrame(8), nil, nil, nil)
        // A single edge is a program's, and is in the recording as well.
        (program.atFrame, program.endFrame, program.highHz) = (TakeFrame(9), TakeFrame(12), nil)
        var (before, note) = (recorded(), program)
        (before.atFrame, note.note) = (TakeFrame(8), "changed")
        before.endFrame = TakeFrame(40)
        let sidecar = [recorded(), before, program]
        var notes = TakeNotes(take: "heron07-0001-061811Z")
        notes.unite(
            title: nil, memo: nil, otherMemos: [], starred: false, tags: [],
            markers: [changed, point, note, other, Sidecar.Marker(atFrame: TakeFrame(50), note: nil)],
            recorded: sidecar, end: end)
        other.endFrame = end
        #expect(
            notes.markers(of: sidecar)
                == [changed, point, note, other, Sidecar.Marker(atFrame: TakeFrame(50), note: nil)])
        #expect(notes.markers.map(\.region).filter { $0 == .kept }.count == 2)
    }

    @Test func `a clip has the part of a region that lies in it`() {
        var marker = recorded(to: 200)
        marker.atFrame = TakeFrame(100)
        let cases: [(clip: Range<Int64>, found: Range<Int64>?)] = [
            (0..<300, 100..<200), (150..<300, 0..<50), (0..<150, 100..<150), (120..<130, 0..<10), (199..<300, 0..<1),
            (100..<101, 0..<1), (200..<300, nil), (0..<100, nil),
        ]
        for (clip, found) in cases {
            let expected = found.map { range in
                var cut = marker
                (cut.atFrame, cut.endFrame) = (TakeFrame(range.lowerBound), TakeFrame(range.upperBound))
                return cut
            }
            #expect(marker.clipped(to: clip) == expected, "\(clip)")
        }
        let point = Sidecar.Marker(atFrame: TakeFrame(100), note: "owl")
        #expect(point.clipped(to: 100..<101) == Sidecar.Marker(atFrame: .first, note: "owl"))
        #expect(point.clipped(to: 101..<200) == nil && point.clipped(to: 0..<100) == nil)
    }

    @Test func `a sidecar rebuilt from sound gets from the earlier one what sound files do not contain`() {
        var there = SidecarTests.full
        var call = recorded(to: 20)
        call.by = "birdnet"
        there.markers = [Sidecar.Marker(atFrame: TakeFrame(5), note: nil), call]
        (call.lowHz, call.highHz, call.by, call.score) = (nil, nil, nil, nil)
        var rebuilt = there
        rebuilt.markers = [call, Sidecar.Marker(atFrame: TakeFrame(6), note: "owl")]
        #expect(rebuilt.completed(by: there).markers == [there.markers[1], rebuilt.markers[1]])
        // Another length is another marker.
        rebuilt.markers[0].endFrame = TakeFrame(30)
        #expect(rebuilt.completed(by: there).markers == rebuilt.markers)
    }
}

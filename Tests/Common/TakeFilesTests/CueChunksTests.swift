import TakePlaces
import Takes
import Testing

@testable import TakeFiles

struct CueChunksTests {
    private func sidecar(_ markers: [Sidecar.Marker]) throws -> Sidecar {
        var sidecar = testSidecar(try #require(TakeName(stem: "heron07-0001-061811Z", day: "2026-11-21")))
        sidecar.markers = markers
        return sidecar
    }

    @Test func `a marker is a cue point and a label`() throws {
        let markers = [
            Sidecar.Marker(atFrame: 9, note: "before"), Sidecar.Marker(atFrame: 0x1_0000_0102, note: "wren"),
            Sidecar.Marker(atFrame: 0x1_0000_0110, note: "behind"),
        ]
        let cues = try sidecar(markers).cues(
            firstFrame: TakeFrame(0x1_0000_0000), frames: 0x110, rateHz: 48_000, isLast: false)
        let bytes = CueChunks.bytes(cues)
        var expected = Array("cue ".utf8) + [28, 0, 0, 0, 1, 0, 0, 0]
        expected += [2, 0, 0, 0, 2, 1, 0, 0] + Array("data".utf8) + [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0]
        expected += Array("LIST".utf8) + [22, 0, 0, 0] + Array("adtllabl".utf8)
        // A label of odd size, including its zero byte, is padded.
        expected += [9, 0, 0, 0, 2, 0, 0, 0] + Array("wren".utf8) + [0, 0]
        #expect(bytes == expected)
    }

    @Test func `a region is an ltxt chunk, as long as it lies in the part, and is read back`() throws {
        var marker = Sidecar.Marker(atFrame: 10, note: "dawn")
        marker.endFrame = TakeFrame(300)
        var labelled = Sidecar.Marker(atFrame: 30, note: nil)
        (labelled.label, labelled.endFrame) = ("wren", TakeFrame(40))
        let cues = try sidecar([marker, labelled]).cues(
            firstFrame: TakeFrame(0), frames: 100, rateHz: 48_000, isLast: false)
        let expected = [
            PartCue(number: 1, frame: 10, label: "dawn", region: PartCue.Region(frames: 90, label: "")),
            PartCue(number: 2, frame: 30, label: "wren", region: PartCue.Region(frames: 10, label: "wren")),
        ]
        #expect(cues == expected)
        let bytes = CueChunks.bytes(cues)
        var chunk = Array("ltxt".utf8) + [25, 0, 0, 0, 2, 0, 0, 0, 10, 0, 0, 0] + Array("rgn ".utf8)
        chunk += [UInt8](repeating: 0, count: 8) + Array("wren".utf8) + [0, 0]
        #expect(Array(bytes.suffix(chunk.count)) == chunk)
        #expect(CueReading.cues(bytes) == expected)
        // A truncated chunk list is read as far as possible.
        for count in bytes.indices { #expect(CueReading.cues(Array(bytes[..<count])).count <= 2) }
    }

    @Test func `a part without markers has neither`() throws {
        let one = try sidecar([Sidecar.Marker(atFrame: 10, note: nil)])
        #expect(one.cues(firstFrame: TakeFrame(0), frames: 10, rateHz: 48_000, isLast: false) == [])
        #expect(
            one.cues(firstFrame: TakeFrame(0), frames: 10, rateHz: 48_000, isLast: true)
                == [PartCue(number: 1, frame: 10, label: "Marker 1")])
        #expect(CueChunks.bytes([]) == [])
    }

    @Test func `a chunk follows sound of an odd size, an empty one if there are no markers`() throws {
        let cues = try sidecar([Sidecar.Marker(atFrame: 10, note: nil)])
            .cues(firstFrame: TakeFrame(0), frames: 20, rateHz: 48_000, isLast: true)
        #expect(CueChunks.closing(cues, afterBytes: 60) == CueChunks.bytes(cues))
        #expect(CueChunks.closing(cues, afterBytes: 61) == [0] + CueChunks.bytes(cues))
        #expect(CueChunks.closing([], afterBytes: 60) == [])
        #expect(CueChunks.closing([], afterBytes: 61) == [0] + Array("JUNK".utf8) + [0, 0, 0, 0])
        for identifier in ["cue ", "JUNK"] { #expect(CueChunks.begin(with: Array(identifier.utf8))) }
        for identifier in ["", "\0JUN", "data"] { #expect(!CueChunks.begin(with: Array(identifier.utf8))) }
    }

    @Test func `a marker in a part of another rate stands where it was set`() throws {
        let one = try sidecar([Sidecar.Marker(atFrame: 48_000 * 3, note: "wren")])
        let cues = one.cues(firstFrame: TakeFrame(48_000 * 2), frames: 100_000, rateHz: 96_000, isLast: false)
        #expect(cues == [PartCue(number: 1, frame: 96_000, label: "wren")])
        #expect(one.cues(firstFrame: TakeFrame(48_000 * 2), frames: 95_999, rateHz: 96_000, isLast: true) == [])
    }

    @Test func `markers at the ends of the world lie in no part`() throws {
        let far = try sidecar([Sidecar.Marker(atFrame: .max, note: nil), Sidecar.Marker(atFrame: .min, note: nil)])
        for rateHz in [48_000, 384_000] {
            #expect(far.cues(firstFrame: TakeFrame(-2), frames: 10, rateHz: rateHz, isLast: true) == [])
            #expect(far.cues(firstFrame: TakeFrame(.max - 5), frames: 2, rateHz: rateHz, isLast: true) == [])
        }
    }
}

import Takes
import Testing

@testable import TakeFiles

struct CueChunksTests {
    @Test func `a marker is a cue point and a label`() {
        let markers = [
            Sidecar.Marker(atFrame: 9, note: "before"), Sidecar.Marker(atFrame: 0x1_0000_0102, note: "wren"),
            Sidecar.Marker(atFrame: 0x1_0000_0110, note: "behind"),
        ]
        let bytes = CueChunks.bytes(markers: markers, in: 0x1_0000_0000..<0x1_0000_0110)
        var expected = Array("cue ".utf8) + [28, 0, 0, 0, 1, 0, 0, 0]
        expected += [2, 0, 0, 0, 2, 1, 0, 0] + Array("data".utf8) + [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0]
        expected += Array("LIST".utf8) + [22, 0, 0, 0] + Array("adtllabl".utf8)
        // A label of odd size, with its zero byte, is filled up.
        expected += [9, 0, 0, 0, 2, 0, 0, 0] + Array("wren".utf8) + [0, 0]
        #expect(bytes == expected)
    }

    @Test func `a part without markers has neither`() {
        #expect(CueChunks.bytes(markers: [Sidecar.Marker(atFrame: 10, note: nil)], in: 0..<10) == [])
        #expect(CueChunks.bytes(markers: [], in: 0..<10) == [])
    }
}

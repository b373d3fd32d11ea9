/// What follows the sound in a WAV file when a take is finished: its markers, as cue points with labels.
package enum CueChunks {
    /// All that follows the sound: the zero byte that RIFF wants after an odd size, then the chunks.
    ///
    /// A reader of GStreamer (`wavparse` of 1.22) looks for a chunk behind that zero byte, and plays nothing of a file that ends there: an
    /// empty one stands there where a take has no markers.
    package static func closing(_ markers: [PartCue], afterBytes dataBytes: Int64) -> [UInt8] {
        var bytes = bytes(markers)
        guard dataBytes % 2 == 1 else { return bytes }
        if bytes.isEmpty { bytes.append(chunk: filler, []) }
        return [0] + bytes
    }

    /// Whether a chunk with this identifier is the first one that follows the sound.
    static func begin(with identifier: [UInt8]) -> Bool {
        [cue, filler].contains { identifier == Array("\($0)".utf8) }
    }

    private static let cue: StaticString = "cue "
    private static let filler: StaticString = "JUNK"

    /// The `cue ` chunk and the `LIST` of type `adtl` with a `labl` each, and an `ltxt` for a region, for the markers that lie in one part.
    ///
    /// - Returns: nothing if there are none.
    static func bytes(_ markers: [PartCue]) -> [UInt8] {
        guard !markers.isEmpty else { return [] }
        var cues: [UInt8] = []
        var labels: [UInt8] = []
        cues.append(littleEndian: UInt32(markers.count))
        labels.append("adtl", filling: 4)
        for marker in markers {
            let id = UInt32(clamping: marker.number)
            let position = UInt32(clamping: marker.frame)
            cues.append(littleEndian: id)
            cues.append(littleEndian: position)
            cues.append("data", filling: 4)
            // There is one data chunk, and it is not compressed.
            cues.append(littleEndian: UInt64(0))
            cues.append(littleEndian: position)

            var label: [UInt8] = []
            label.append(littleEndian: id)
            label += Array(marker.label.utf8.filter { $0 != 0 }) + [0]
            labels.append(chunk: "labl", label)
            guard let region = marker.region else { continue }
            var text: [UInt8] = []
            text.append(littleEndian: id)
            text.append(littleEndian: UInt32(clamping: region.frames))
            text.append("rgn ", filling: 4)
            // No country, language, dialect or code page.
            text.append(littleEndian: UInt64(0))
            text += Array(region.label.utf8.filter { $0 != 0 }) + [0]
            labels.append(chunk: "ltxt", text)
        }
        var bytes: [UInt8] = []
        bytes.append(chunk: cue, cues)
        bytes.append(chunk: "LIST", labels)
        return bytes
    }
}

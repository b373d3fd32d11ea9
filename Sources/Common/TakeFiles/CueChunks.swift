/// The chunks after the sound in the WAV file of a finished take: its markers, as cue points with labels.
package enum CueChunks {
    /// All bytes after the sound: the zero byte that RIFF requires after an odd size, then the chunks.
    ///
    /// GStreamer (`wavparse` of 1.22) looks for a chunk after that zero byte, and plays nothing if the file ends there.
    /// So an empty chunk follows the zero byte if the take has no markers.
    package static func closing(_ markers: [PartCue], afterBytes dataBytes: Int64) -> [UInt8] {
        var bytes = bytes(markers)
        guard dataBytes % 2 == 1 else { return bytes }
        if bytes.isEmpty { bytes.append(chunk: filler, []) }
        return [0] + bytes
    }

    /// Whether a chunk with this identifier can be the first one after the sound.
    static func begin(with identifier: [UInt8]) -> Bool {
        [cue, filler].contains { identifier == Array("\($0)".utf8) }
    }

    private static let cue: StaticString = "cue "
    private static let filler: StaticString = "JUNK"

    /// The `cue ` chunk and the `LIST` chunk of type `adtl`, with one `labl` per marker and then one `ltxt` per region,
    /// for the markers in one part. libsndfile 1.2 and ffmpeg 5.1 read no label that follows an `ltxt`.
    ///
    /// - Returns: an empty array without markers.
    static func bytes(_ markers: [PartCue]) -> [UInt8] {
        guard !markers.isEmpty else { return [] }
        var cues: [UInt8] = []
        var labels: [UInt8] = []
        var regions: [UInt8] = []
        cues.append(littleEndian: UInt32(markers.count))
        labels.append("adtl", filling: 4)
        for marker in markers {
            let id = UInt32(clamping: marker.number)
            let position = UInt32(clamping: marker.frame)
            cues.append(littleEndian: id)
            cues.append(littleEndian: position)
            cues.append("data", filling: 4)
            // The file has one data chunk, and it is not compressed.
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
            regions.append(chunk: "ltxt", text)
        }
        var bytes: [UInt8] = []
        bytes.append(chunk: cue, cues)
        bytes.append(chunk: "LIST", labels + regions)
        return bytes
    }
}

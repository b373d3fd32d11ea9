/// What follows the sound in a WAV file when a take is finished: its markers, as cue points with labels.
package enum CueChunks {
    /// The `cue ` chunk and the `LIST` of type `adtl` with a `labl` each, for the markers that lie in one part.
    ///
    /// - Returns: nothing if there are none.
    package static func bytes(_ markers: [PartCue]) -> [UInt8] {
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
        }
        var bytes: [UInt8] = []
        bytes.append(chunk: "cue ", cues)
        bytes.append(chunk: "LIST", labels)
        return bytes
    }
}

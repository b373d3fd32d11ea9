public import Takes

/// What follows the sound in a WAV file when a take is finished: its markers, as cue points with labels.
public enum CueChunks {
    /// The `cue ` chunk and the `LIST` of type `adtl` with a `labl` each, for the markers that lie in one part.
    ///
    /// - Parameters:
    ///   - markers: of the take, in its frames.
    ///   - frames: the part's frames, counted from the take's first.
    /// - Returns: nothing if no marker lies in the part.
    public static func bytes(markers: [Sidecar.Marker], in frames: Range<Int64>) -> [UInt8] {
        let inside = markers.enumerated().filter { frames.contains($0.element.atFrame) }
        guard !inside.isEmpty else { return [] }
        var cues: [UInt8] = []
        var labels: [UInt8] = []
        cues.append(littleEndian: UInt32(inside.count))
        labels.append("adtl", filling: 4)
        for (index, marker) in inside {
            let id = UInt32(index + 1)
            let position = UInt32(clamping: marker.atFrame - frames.lowerBound)
            cues.append(littleEndian: id)
            cues.append(littleEndian: position)
            cues.append("data", filling: 4)
            // There is one data chunk, and it is not compressed.
            cues.append(littleEndian: UInt64(0))
            cues.append(littleEndian: position)

            var label: [UInt8] = []
            label.append(littleEndian: id)
            label += Array((marker.note ?? "Marker \(id)").utf8.filter { $0 != 0 }) + [0]
            labels.append(chunk: "labl", label)
        }
        var bytes: [UInt8] = []
        bytes.append(chunk: "cue ", cues)
        bytes.append(chunk: "LIST", labels)
        return bytes
    }
}

package import Takes

/// A marker of a take, in the file of the part that it lies in.
package struct PartCue: Hashable, Sendable {
    /// Which of the take's markers it is, from 1.
    package var number: Int
    /// Its frame in the file.
    package var frame: Int64
    /// What it is called.
    package var label: String
    /// The region that begins there, as far as it lies in the file, or nil for a point.
    package var region: Region?

    /// Frames of the file that a marker stands for.
    package struct Region: Hashable, Sendable {
        /// How many.
        package var frames: Int64
        /// What was found in them; may be empty.
        package var label: String
    }
}

extension Sidecar {
    /// The markers that lie in a part, in its own frames: it may have another rate than the take.
    ///
    /// - Parameters:
    ///   - firstFrame: the part's, of the take.
    ///   - frames: that the part has, at its own rate.
    ///   - isLast: whether it is the take's last part: a marker set while the very last frame was sampled lies behind it.
    package func cues(firstFrame: TakeFrame, frames: Int64, rateHz: Int, isLast: Bool) -> [PartCue] {
        let end = frames + (isLast ? 1 : 0)
        /// The frame of the file, or nil if there cannot be one.
        func place(_ frame: TakeFrame) -> Int64? {
            let (distance, isFar) = frame.count.subtractingReportingOverflow(firstFrame.count)
            if isFar { return nil }
            return rateHz == self.rateHz
                ? distance
                : Int64(exactly: (Double(distance) * Double(rateHz) / Double(max(1, self.rateHz))).rounded())
        }
        return markers.enumerated().compactMap { index, marker in
            guard let start = place(marker.atFrame), start >= 0, start < end else { return nil }
            let last = marker.endFrame.map { min(frames, place($0) ?? frames) }
            return PartCue(
                number: index + 1, frame: start, label: marker.note ?? marker.label ?? "Marker \(index + 1)",
                region: last.map { PartCue.Region(frames: max(0, $0 - start), label: marker.label ?? "") })
        }
    }
}

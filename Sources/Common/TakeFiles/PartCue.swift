package import Takes

/// A marker of a take, relative to the file of its part.
package struct PartCue: Hashable, Sendable {
    /// The index among the take's markers, from 1.
    package var number: Int
    /// Counted from the start of the file.
    package var frame: Int64
    package var label: String
    /// The region that begins at the marker, limited to the file, or nil for a point.
    package var region: Region?

    package struct Region: Hashable, Sendable {
        package var frames: Int64
        /// A description of the region; may be empty.
        package var label: String
    }
}

extension Sidecar {
    /// The markers that lie in a part, in frames of the part, whose rate may differ from the take's rate.
    ///
    /// - Parameters:
    ///   - firstFrame: the part's first frame in the take.
    ///   - frames: the part's length at its own rate.
    ///   - isLast: whether it is the take's last part. A marker that was set while the very last frame was sampled lies
    ///     directly after it.
    package func cues(firstFrame: TakeFrame, frames: Int64, rateHz: Int, isLast: Bool) -> [PartCue] {
        let end = frames + (isLast ? 1 : 0)
        /// The frame in the file, or nil if it cannot be represented.
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

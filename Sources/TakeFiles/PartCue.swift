package import Takes

/// A marker of a take, in the file of the part that it lies in.
package struct PartCue: Hashable, Sendable {
    /// Which of the take's markers it is, from 1.
    package var number: Int
    /// Its frame in the file.
    package var frame: Int64
    /// What it is called.
    package var label: String
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
        return markers.enumerated().compactMap { index, marker in
            let (distance, isFar) = marker.atFrame.count.subtractingReportingOverflow(firstFrame.count)
            let place: Int64? =
                rateHz == self.rateHz
                ? distance
                : Int64(exactly: (Double(distance) * Double(rateHz) / Double(max(1, self.rateHz))).rounded())
            guard !isFar, let place, place >= 0, place < end else { return nil }
            return PartCue(number: index + 1, frame: place, label: marker.note ?? "Marker \(index + 1)")
        }
    }
}

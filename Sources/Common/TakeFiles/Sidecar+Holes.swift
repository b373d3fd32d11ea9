import Takes

extension Sidecar {
    /// Adds gaps for the frames that are in no part and not listed as a gap yet: before the first part, and between two
    /// parts.
    /// - Parameter known: the parts that were listed before recovery. Frames missing before one of them are a stall.
    ///   Before any other part the card was lost.
    /// - Returns: the new gaps.
    mutating func listHoles(known: Set<String>) -> [Gap] {
        var new: [Gap] = []
        var next = TakeFrame.first
        for part in parts {
            // A frame number that was converted from another rate may be rounded.
            let rounding: Int64 = part.rateHz == rateHz ? 0 : 2
            if part.firstFrame - next > rounding {
                let cause: Gap.Cause = known.contains(part.file) ? .stall : .cardLost
                new += unlisted(from: next, to: part.firstFrame, cause)
            }
            next = max(next, end(of: part))
        }
        for gap in new {
            let index = gaps.firstIndex { $0.atFrame > gap.atFrame } ?? gaps.endIndex
            gaps.insert(gap, at: index)
        }
        return new
    }

    /// The frames of a range that are in no gap, as one gap for each contiguous stretch.
    private func unlisted(from start: TakeFrame, to end: TakeFrame, _ cause: Gap.Cause) -> [Gap] {
        var found: [Gap] = []
        var next = start
        for gap in gaps.sorted(by: { $0.atFrame < $1.atFrame }) where gap.end > next && gap.atFrame < end {
            if gap.atFrame > next { found.append(Gap(atFrame: next, frames: gap.atFrame - next, cause: cause)) }
            next = gap.end
        }
        if next < end { found.append(Gap(atFrame: next, frames: end - next, cause: cause)) }
        return found
    }
}

import Takes

extension Sidecar {
    /// Lists what is in no part as gaps, as far as it is not listed: before the first part, and between two.
    /// - Parameter known: the parts that were listed before recovery; what is missing before another one is the time without its card.
    /// - Returns: the gaps that are new.
    mutating func listHoles(known: Set<String>) -> [Gap] {
        var new: [Gap] = []
        var next = TakeFrame.first
        for part in parts {
            // Counted at another rate, the last frame may be rounded.
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

    /// The frames of a range that are in no gap. A range of several gaps counts as one.
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

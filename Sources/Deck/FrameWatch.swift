import Ring

/// Listens to a ring's stamps, recording or not, for frames that the card lost without saying so.
struct FrameWatch: Sendable {
    private(set) var clock: FrameClock
    /// The number of the next stamp.
    private var next: Int64 = 0

    /// - Parameter driftPPM: what is known of the card's crystal.
    init(rateHz: Int, driftPPM: Double?) {
        clock = FrameClock(rateHz: rateHz, driftPPM: driftPPM)
    }

    /// Hears the stamps that came since the last call.
    /// - Parameter end: the number of the first stamp that is not to be heard yet; nil: all that are there.
    /// - Returns: frames that are known now to be missing; `clock.lossPosition` tells where.
    mutating func listen(to ring: Ring, upTo end: Int64? = nil) -> Int64 {
        var missing: Int64 = 0
        let end = end ?? ring.stampNumber
        while next < end {
            if let stamp = ring.stamp(number: next) { missing += clock.hear(stamp) }
            next += 1
        }
        return missing
    }
}

public import Takes

extension Ring {
    /// The position of the frame that was heard at `instant`; nil before the first stamp.
    ///
    /// A stamp can only be late: the card had heard at least `position` frames at its instant, never fewer, because
    /// a driver learns of frames after they came. So of the stamps around `instant` the one that puts the frame
    /// latest is the truest. Stamps beyond a loss of frames belong to another line and are left out.
    public func framePosition(at instant: Instant) -> Int64? {
        let rate = Double(format.rateHz) / 1e9
        func predicted(by stamp: Stamp) -> Int64 {
            stamp.position + Int64((Double(instant.nanoseconds - stamp.instant.nanoseconds) * rate).rounded())
        }
        var number = stampNumber - 1
        guard var nearest = stamp(number: number) else { return nil }
        // Walk back to the first stamp at or before the instant.
        while nearest.instant > instant, nearest.kind == .running, let earlier = stamp(number: number - 1) {
            number -= 1
            nearest = earlier
        }
        var best = predicted(by: nearest)
        let window = Duration.seconds(1).nanoseconds
        // Later ones on the same line.
        var later = number + 1
        while let next = stamp(number: later), next.kind == .running,
            next.instant.nanoseconds - instant.nanoseconds < window
        {
            best = max(best, predicted(by: next))
            later += 1
        }
        // Earlier ones on the same line.
        var current = nearest
        while current.kind == .running, let earlier = stamp(number: number - 1),
            instant.nanoseconds - earlier.instant.nanoseconds < window
        {
            best = max(best, predicted(by: earlier))
            number -= 1
            current = earlier
        }
        return best
    }
}

public import Takes

extension Ring {
    /// Stamps so far from an instant help to find its frame.
    private static let window = Duration.milliseconds(500)

    /// The stamp that was left last; nil before the first.
    public var lastStamp: Stamp? { stamp(number: stampNumber - 1) }

    /// The instant of a time of `CLOCK_MONOTONIC_RAW`, by the stamp that is nearest to it, or nil before the first stamp.
    public func instant(ofRaw nanoseconds: Int64) -> Instant? {
        var number = stampNumber - 1
        guard var stamp = stamp(number: number) else { return nil }
        while stamp.rawNanoseconds > nanoseconds, let earlier = self.stamp(number: number - 1) {
            number -= 1
            stamp = earlier
        }
        return stamp.instant + .nanoseconds(nanoseconds - stamp.rawNanoseconds)
    }

    /// The time of `CLOCK_MONOTONIC_RAW` at which the frame at a position was sampled, or nil before the first stamp.
    ///
    /// A stamp can only be late, as in `framePosition(at:)`: of those around the frame, on its line, the one that puts it earliest is the
    /// truest.
    public func rawNanoseconds(ofFrame position: RingPosition) -> Int64? {
        var number = stampNumber - 1
        guard var nearest = stamp(number: number) else { return nil }
        while nearest.position > position, let earlier = stamp(number: number - 1) {
            number -= 1
            nearest = earlier
        }
        func time(by stamp: Stamp) -> Int64 {
            stamp.rawNanoseconds + format.duration(ofFrames: position - stamp.position).nanoseconds
        }
        var best = time(by: nearest)
        let window = Self.window.nanoseconds
        var later = number + 1
        while let next = stamp(number: later), case .running = next.kind, next.rawNanoseconds - best < window {
            best = min(best, time(by: next))
            later += 1
        }
        var current = nearest
        while case .running = current.kind, let earlier = stamp(number: number - 1),
            nearest.rawNanoseconds - earlier.rawNanoseconds < window
        {
            best = min(best, time(by: earlier))
            number -= 1
            current = earlier
        }
        return best
    }

    /// Whether the card was started, by a stamp, since the ring was at `position`.
    public func hasStarted(since position: RingPosition) -> Bool {
        guard let stamp = lastStamp else { return false }
        return stamp.position > position || stamp.position == position && stamp.kind == .started
    }

    /// When the frame at a position was sampled, by the last stamp before it; nil before the first stamp.
    public func instant(ofFrame position: RingPosition) -> Instant? {
        var number = stampNumber - 1
        guard var stamp = stamp(number: number) else { return nil }
        while stamp.position > position, let earlier = self.stamp(number: number - 1) {
            number -= 1
            stamp = earlier
        }
        return stamp.instant + format.duration(ofFrames: position - stamp.position)
    }

    /// When the card was started that delivers from a position on; nil while it delivered nothing, and when it is too long ago.
    public func startInstant(at position: RingPosition) -> Instant? {
        var number = stampNumber - 1
        while let stamp = stamp(number: number), stamp.position >= position {
            if stamp.kind == .started, stamp.position == position { return stamp.instant }
            number -= 1
        }
        return nil
    }

    /// The position of the frame that was sampled at `instant`; nil before the first stamp.
    ///
    /// A stamp can only be late: the card had sampled at least `position` frames at its instant, never fewer, because
    /// a driver reports frames after they came. So of the stamps around `instant` the one that puts the frame
    /// latest is the truest. Stamps beyond a loss of frames belong to another line and are left out.
    public func framePosition(at instant: Instant) -> RingPosition? {
        let rate = Double(format.rateHz) / 1e9
        func predicted(by stamp: Stamp) -> RingPosition {
            stamp.position + Int64((Double(instant.nanoseconds - stamp.instant.nanoseconds) * rate).rounded())
        }
        var number = stampNumber - 1
        guard var nearest = stamp(number: number) else { return nil }
        // Walk back to the first stamp at or before the instant.
        while nearest.instant > instant, let earlier = stamp(number: number - 1) {
            number -= 1
            nearest = earlier
        }
        var best = predicted(by: nearest)
        let window = Self.window.nanoseconds
        // Later ones on the same line; where the line ends, so do its frames.
        var later = number + 1
        var limit = RingPosition(.max)
        while let next = stamp(number: later) {
            guard case .running = next.kind else {
                limit = next.position
                break
            }
            guard next.instant.nanoseconds - instant.nanoseconds < window else { break }
            best = max(best, predicted(by: next))
            later += 1
        }
        // Earlier ones on the same line.
        var current = nearest
        while case .running = current.kind, let earlier = stamp(number: number - 1),
            instant.nanoseconds - earlier.instant.nanoseconds < window
        {
            best = max(best, predicted(by: earlier))
            number -= 1
            current = earlier
        }
        return min(best, limit)
    }
}

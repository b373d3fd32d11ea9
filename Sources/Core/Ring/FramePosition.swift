public import Takes

extension Ring {
    /// Stamps within this distance of an instant help to find its frame.
    private static let window = Duration.milliseconds(500)

    /// The newest stamp, or nil before the first.
    public var lastStamp: Stamp? { stamp(number: stampNumber - 1) }

    /// Converts a time of `CLOCK_MONOTONIC_RAW` to an instant, with the last stamp at or before it. Nil before the
    /// first stamp.
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
    /// A stamp can only be late, as in `framePosition(at:)`. So the stamp on the frame's line, near the frame, that
    /// gives the earliest time is the most accurate.
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

    /// Whether a stamp shows that the card was started since the ring was at `position`.
    public func hasStarted(since position: RingPosition) -> Bool {
        guard let stamp = lastStamp else { return false }
        return stamp.position > position || stamp.position == position && stamp.kind == .started
    }

    /// The sampling time of the frame at a position, by the last stamp before it, or nil before the first stamp.
    public func instant(ofFrame position: RingPosition) -> Instant? {
        var number = stampNumber - 1
        guard var stamp = stamp(number: number) else { return nil }
        while stamp.position > position, let earlier = self.stamp(number: number - 1) {
            number -= 1
            stamp = earlier
        }
        return stamp.instant + format.duration(ofFrames: position - stamp.position)
    }

    /// The start time of the card that delivers frames from a position on. Nil while it has not delivered frames, or if
    /// the stamp was overwritten.
    public func startInstant(at position: RingPosition) -> Instant? {
        var number = stampNumber - 1
        while let stamp = stamp(number: number), stamp.position >= position {
            if stamp.kind == .started, stamp.position == position { return stamp.instant }
            number -= 1
        }
        return nil
    }

    /// The position of the frame that was sampled at `instant`, or nil before the first stamp.
    ///
    /// A stamp can only be late: at its instant the card had sampled at least `position` frames, because a driver
    /// reports frames after they arrived. So among the stamps near `instant`, the one that gives the latest frame is
    /// the most accurate. Stamps on the other side of a loss of frames belong to another line and are ignored.
    public func framePosition(at instant: Instant) -> RingPosition? {
        let rate = Double(format.rateHz) / 1e9
        func predicted(by stamp: Stamp) -> RingPosition {
            stamp.position + Int64((Double(instant.nanoseconds - stamp.instant.nanoseconds) * rate).rounded())
        }
        var number = stampNumber - 1
        guard var nearest = stamp(number: number) else { return nil }
        while nearest.instant > instant, let earlier = stamp(number: number - 1) {
            number -= 1
            nearest = earlier
        }
        var best = predicted(by: nearest)
        let window = Self.window.nanoseconds
        // Later stamps on the same line. The frames end where the line ends.
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
        // Earlier stamps on the same line.
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

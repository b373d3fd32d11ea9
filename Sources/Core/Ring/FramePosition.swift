import Synchronization
public import Takes

extension Ring {
    /// The stamps within this distance of an instant show the card's rate around it.
    private static let window = Duration.seconds(4)
    /// If they show no rate, the stamps within this distance are used with the stated rate.
    private static let nearWindow = Duration.milliseconds(500)
    /// How fast given times approach the line, as a share of the time that passes: a quarter of a frame in 10 ms.
    private static let approach = 5e-4
    /// Given times jump by more than this at once, in nanoseconds: to approach it would take more than 2 s.
    private static let leastJump: Int64 = 1_000_000

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
    /// `framePosition` leads back from this time to the same frame, however much later.
    public func rawNanoseconds(ofFrame position: RingPosition) -> Int64? {
        var number = stampNumber - 1
        guard var nearest = stamp(number: number) else { return nil }
        while nearest.position > position, let earlier = stamp(number: number - 1) {
            number -= 1
            nearest = earlier
        }
        return span(from: nearest, number).nanoseconds(at: position)
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
    /// Stamps on the other side of a loss of frames belong to another line and are ignored.
    public func framePosition(at instant: Instant) -> RingPosition? {
        var number = stampNumber - 1
        guard var nearest = stamp(number: number) else { return nil }
        while nearest.instant > instant, let earlier = stamp(number: number - 1) {
            number -= 1
            nearest = earlier
        }
        let raw = nearest.rawNanoseconds + (instant - nearest.instant).nanoseconds
        if let position = givenPosition(atRaw: raw) { return position }
        let (line, end) = line(around: raw, from: nearest, number)
        return min(line.position(atRaw: raw), end ?? RingPosition(.max))
    }

    /// The position of the frame that was sampled at a time, if times around it were given; otherwise nil.
    private func givenPosition(atRaw nanoseconds: Int64) -> RingPosition? {
        guard let number = givenTimes.withLock({ $0.lastNumber(upTo: nanoseconds) }), let stamp = stamp(number: number)
        else { return nil }
        let span = span(from: stamp, number)
        guard let end = span.end else { return span.position(atRaw: nanoseconds) }
        return nanoseconds < end.nanoseconds ? min(span.position(atRaw: nanoseconds), end.position) : nil
    }

    /// Frames between two stamps. Their times are given from now on.
    private struct Span {
        let start: RingPosition
        let nanoseconds: Int64
        let nanosecondsPerFrame: Double
        /// The next stamp and its time, or nil before there is one.
        let end: (position: RingPosition, nanoseconds: Int64)?

        func nanoseconds(at position: RingPosition) -> Int64 {
            nanoseconds + Int64((Double(position - start) * nanosecondsPerFrame).rounded())
        }

        func position(atRaw time: Int64) -> RingPosition {
            start + Int64((Double(time - nanoseconds) / nanosecondsPerFrame).rounded())
        }
    }

    private func span(from stamp: Stamp, _ number: Int64) -> Span {
        let start = givenTime(of: stamp, number)
        let nominal = 1e9 / Double(format.rateHz)
        guard let next = self.stamp(number: number + 1) else {
            return Span(start: stamp.position, nanoseconds: start, nanosecondsPerFrame: nominal, end: nil)
        }
        guard case .running = next.kind, next.position > stamp.position else {
            return Span(
                start: stamp.position, nanoseconds: start, nanosecondsPerFrame: nominal,
                end: (next.position, next.rawNanoseconds))
        }
        let end = givenTime(of: next, number + 1)
        return Span(
            start: stamp.position, nanoseconds: start,
            nanosecondsPerFrame: Double(end - start) / Double(next.position - stamp.position),
            end: (next.position, end))
    }

    /// The time that is given for the position of a stamp, from the line as the stamps show it when it is first asked
    /// for. Where a later line differs, the times approach it slowly, so that frames near each other keep their
    /// distance.
    private func givenTime(of stamp: Stamp, _ number: Int64) -> Int64 {
        let (known, before, after) = givenTimes.withLock { ($0[number], $0[number - 1], $0[number + 1]) }
        if let known { return known }
        let line = line(around: stamp.rawNanoseconds, from: stamp, number).line
        var time = line.rawNanoseconds(at: stamp.position)
        if let before, case .running = stamp.kind, let earlier = self.stamp(number: number - 1) {
            let step = time - line.rawNanoseconds(at: earlier.position)
            let error = time - step - before
            if error.magnitude < Self.leastJump.magnitude {
                let limit = Int64(Double(step) * Self.approach)
                time = before + step + min(max(error, -limit), limit)
            }
            time = max(time, before + step / 2)
        }
        // Later frames may have been asked for first.
        if let after, let later = self.stamp(number: number + 1), case .running = later.kind {
            let step = line.rawNanoseconds(at: later.position) - line.rawNanoseconds(at: stamp.position)
            time = min(time, after - step / 2)
        }
        return givenTimes.withLock { $0.keep(time, number: number) }
    }

    /// The line of the stamps around a time of `CLOCK_MONOTONIC_RAW`, and the end of its frames if some were lost there.
    /// - Parameters:
    ///   - nearest: the last stamp at or before that time. The ring may have overwritten it meanwhile.
    ///   - number: its number.
    private func line(
        around raw: Int64, from nearest: Stamp, _ number: Int64
    ) -> (line: ClockLine, end: RingPosition?) {
        var end: RingPosition?
        var later: [Stamp] = []
        while let next = stamp(number: number + 1 + Int64(later.count)) {
            guard case .running = next.kind else {
                end = next.position
                break
            }
            guard next.rawNanoseconds - raw < Self.window.nanoseconds else { break }
            later.append(next)
        }
        var earlier = [nearest]
        while case .running = earlier[earlier.count - 1].kind,
            let stamp = stamp(number: number - Int64(earlier.count)),
            raw - stamp.rawNanoseconds < Self.window.nanoseconds
        {
            earlier.append(stamp)
        }
        let stamps = earlier.reversed() + later
        if let line = ClockLine(stamps, rateHz: format.rateHz) { return (line, end) }
        let near = stamps.filter { ($0.rawNanoseconds - raw).magnitude < Self.nearWindow.nanoseconds.magnitude }
        return (ClockLine(nominal: near.isEmpty ? [nearest] : near, rateHz: format.rateHz), end)
    }
}

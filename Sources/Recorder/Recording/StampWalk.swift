import Ring
import Takes

/// Reads the stamps of one opening of the card for a take: they show where frames were lost and how many, which frame
/// of the take lies where in the ring, how fast the card's clock runs, and where the card was started again. Pure:
/// `CaptureStream` reads the ring, and writes the findings.
struct StampWalk {
    /// Looks a stamp up by its number. Nil if it does not exist yet or was overwritten.
    typealias Stamps = (_ number: Int64) -> Stamp?

    /// Frames that were lost.
    struct Loss: Hashable {
        /// The first frame that was sampled after them.
        var position: RingPosition
        /// Their number, at the ring's rate.
        var frames: Int64
        /// The silent frames of the take that replace them.
        var silence: Range<TakeFrame>
        var cause: Sidecar.Gap.Cause
    }

    /// The clock and the loss that one stamp shows.
    struct Finding: Hashable {
        var clock: [ClockMap.Finding] = []
        /// The frames that were lost just before the stamp.
        var loss: Loss?
    }

    /// Where a take ends: before a position of the ring, at an instant.
    struct End {
        var position: RingPosition
        var instant: Instant
    }

    /// Stamps from this long before a take show the card's drift.
    private static let history = Duration.seconds(60)

    private let format: StreamFormat
    private(set) var timeline: TakeTimeline
    private var clockMap: ClockMap
    /// The sample time of the take's first frame.
    private var started = Instant(nanoseconds: 0)
    /// The number of the next stamp.
    private var number: Int64 = 0
    /// The stamp before that, or nil if no stamp was read yet.
    private var last: Stamp?
    /// The part of a loss that lies after the take's end, if the take ended within the loss.
    private var rest: (position: RingPosition, frames: Int64, cause: Sidecar.Gap.Cause)?

    /// A walk that has not begun.
    /// - Parameter format: the format of the ring.
    init(format: StreamFormat, takeRateHz: Int) {
        self.format = format
        timeline = TakeTimeline(first: .start, origin: .first, rateHz: format.rateHz, takeRateHz: takeRateHz)
        clockMap = ClockMap(rateHz: takeRateHz)
    }

    /// Begins with the frame at `first`, which is the take's frame `origin`.
    /// - Parameters:
    ///   - started: the sample time of that frame.
    ///   - newest: the number of the newest stamp.
    /// - Returns: what the stamps before that frame show of the card's clock.
    mutating func begin(
        at first: RingPosition, origin: TakeFrame, started: Instant, takeRateHz: Int, newest: Int64, _ stamps: Stamps
    ) -> [ClockMap.Finding] {
        // The search for losses begins at the last stamp before the first frame on the same line, or at the oldest.
        number = max(0, newest)
        while let stamp = stamps(number),
            stamp.position > first || stamp.position == first && stamp.kind != .started, stamps(number - 1) != nil
        {
            number -= 1
        }
        return beginTake(
            at: first, origin: origin, started: started, takeRateHz: takeRateHz, after: number, stamps)
    }

    /// Continues with the frame at `first` as the first frame of another take.
    /// - Returns: what the stamps before that frame show of the card's clock.
    mutating func beginNextTake(
        at first: RingPosition, started: Instant, takeRateHz: Int, _ stamps: Stamps
    ) -> [ClockMap.Finding] {
        beginTake(at: first, origin: .first, started: started, takeRateHz: takeRateHz, after: number - 1, stamps)
    }

    /// - Parameter last: the number of the last stamp before the take.
    private mutating func beginTake(
        at first: RingPosition, origin: TakeFrame, started: Instant, takeRateHz: Int, after last: Int64,
        _ stamps: Stamps
    ) -> [ClockMap.Finding] {
        self.started = started
        timeline = TakeTimeline(first: first, origin: origin, rateHz: format.rateHz, takeRateHz: takeRateHz)
        clockMap = ClockMap(rateHz: takeRateHz)
        var line: [Stamp] = []
        var number = last
        while let stamp = stamps(number), stamp.kind == .running, started - stamp.instant < Self.history {
            if stamp.position < first { line.append(stamp) }
            number -= 1
        }
        return line.reversed().flatMap { clockMap.add($0, at: timeline.frame(of: $0.position)) }
    }

    /// Reads the next stamp.
    /// - Parameters:
    ///   - limit: later stamps stay unread.
    ///   - next: the next frame to write. Losses before it do not belong to the take.
    ///   - end: nil if there is none yet, or if no instant was ordered.
    /// - Returns: nil if there is no stamp to read, or if it belongs to another opening of the card.
    mutating func read(
        upTo limit: RingPosition, next: RingPosition, end: End?, _ stamps: Stamps
    ) -> Finding? {
        guard let stamp = stamps(number), stamp.position <= limit, !isRestart(stamp) else { return nil }
        number += 1
        defer { last = stamp }
        switch stamp.kind {
        case .started: return Finding()
        case .running:
            guard stamp.position >= timeline.first else { return Finding() }
            return Finding(clock: clockMap.add(stamp, at: timeline.frame(of: stamp.position)))
        case .xrun: return readLoss(stamp, .xrun, next, end)
        case .stall: return readLoss(stamp, .stall, next, end)
        }
    }

    /// Where the card was started again in the same ring, or nil if it was not.
    func restart(_ stamps: Stamps) -> RingPosition? {
        var number = last == nil ? number + 1 : number
        while let stamp = stamps(number) {
            if stamp.kind == .started { return stamp.position }
            number += 1
        }
        return nil
    }

    /// Continues after the end of a take.
    /// - Returns: the rest of the loss in which the take ended, or nil if it did not end within a loss.
    mutating func goOn() -> Loss? {
        guard let rest else { return nil }
        self.rest = nil
        return fill(rest.frames, before: rest.position, rest.cause)
    }

    /// Completes the clock map at the end of a take or of the card.
    mutating func finish() -> [ClockMap.Finding] { clockMap.finish() }

    /// See `ClockMap.driftPPM`.
    var driftPPM: Double? { clockMap.driftPPM }

    private func isRestart(_ stamp: Stamp) -> Bool { stamp.kind == .started && last != nil }

    private mutating func readLoss(
        _ stamp: Stamp, _ cause: Sidecar.Gap.Cause, _ next: RingPosition, _ end: End?
    ) -> Finding {
        var finding = Finding(clock: clockMap.beginLine())
        var frames = lostFrames(before: stamp)
        if stamp.position == timeline.first, next == timeline.first, !timeline.hasLosses {
            // The take begins within the loss.
            frames = min(frames, format.frames(in: stamp.instant - started))
        }
        if let end, let last, stamp.position == end.position {
            // The take ends within the loss.
            let sampled: Int64 = stamp.position - last.position
            let within = max(0, min(frames, format.frames(in: end.instant - last.instant) - sampled))
            if within < frames { rest = (stamp.position, frames - within, cause) }
            frames = within
        }
        if stamp.position >= next, frames > 0 { finding.loss = fill(frames, before: stamp.position, cause) }
        return finding
    }

    /// The number of frames that were lost before a stamp. The clock shows it if the frames were not counted.
    private func lostFrames(before stamp: Stamp) -> Int64 {
        guard stamp.lost < 0 else { return stamp.lost }
        guard let last else { return 0 }
        let elapsed = Double((stamp.instant - last.instant).nanoseconds) * Double(format.rateHz) / 1e9
        let delivered: Int64 = stamp.position - last.position
        return max(0, Int64(elapsed.rounded()) - delivered)
    }

    private mutating func fill(_ frames: Int64, before position: RingPosition, _ cause: Sidecar.Gap.Cause) -> Loss {
        let start = timeline.frame(behindLossesAt: position)
        timeline.fill(frames, before: position)
        return Loss(
            position: position, frames: frames, silence: start..<timeline.frame(behindLossesAt: position), cause: cause)
    }
}

import Filters
import Ring
import TakeFiles
import Takes

/// Adds the sound of one opening of the card to takes: reads frames from the ring, filters and measures them, and
/// appends them to a take's files, with silence for lost frames. A take whose card was lost and came back has several
/// streams; takes that follow one another without a missing frame share one.
final class CaptureStream {
    private let reader: RingReader
    private var output: TakeOutput
    private let sound: StreamSound
    /// How far the writer stays behind now, so that no frame after a stop is written before the stop is known.
    private let lag: Duration
    /// The calendar's offset, or nil if the calendar was not set.
    private let calendar: () -> ClockOffset?

    /// The next frame to write; before the stream has begun, the first frame that was held. The reader is ahead of it
    /// where frames were given up.
    private(set) var next: RingPosition
    private var phase = Phase.waiting
    private var walk: StampWalk
    /// Events that are not in the sidecar yet.
    private var events: [TakeEvent] = []

    private enum Phase {
        /// The first frame is not found yet.
        case waiting
        case running
        /// The last frame is the one sampled at `at`. `delivered`: the ring's end, and since when it has not moved; nil
        /// before the first check.
        case ending(at: Instant, delivered: (upTo: RingPosition, since: Instant)?)
        /// The stream ends before a position. `instant`: the end's instant, if an instant was ordered.
        case ended(before: RingPosition, instant: Instant?)
    }

    /// - Parameters:
    ///   - reader: must hold the first frames already.
    ///   - lag: how far to stay behind now.
    ///   - calendar: the calendar's offset, or nil if the calendar was not set.
    init(
        _ reader: RingReader, output: TakeOutput, filter: FilterDesign, keepsUnfiltered: Bool, lag: Duration,
        calendar: @escaping () -> ClockOffset?
    ) {
        self.reader = reader
        next = reader.position
        self.calendar = calendar
        self.output = output
        self.lag = lag
        let format = reader.ring.format
        sound = StreamSound(
            format, filter: filter, keepsUnfiltered: keepsUnfiltered, takeRateHz: output.sidecar.rateHz)
        walk = StampWalk(format: format, takeRateHz: output.sidecar.rateHz)
    }

    var ring: Ring { reader.ring }
    var format: StreamFormat { reader.ring.format }

    var hasBegun: Bool {
        switch phase {
        case .waiting: false
        case .running, .ending, .ended: true
        }
    }

    /// The first frame that is still held.
    var firstHeld: RingPosition {
        reader.passGivenUp()
        return reader.position
    }

    /// Whether the last frame is written.
    var isComplete: Bool { endPosition.map { next >= $0 } ?? false }

    private var endPosition: RingPosition? {
        if case .ended(let position, _) = phase { position } else { nil }
    }

    /// The take's end, or nil if there is none yet or no instant was ordered.
    private var end: StampWalk.End? {
        guard case .ended(let position, let instant?) = phase else { return nil }
        return StampWalk.End(position: position, instant: instant)
    }

    /// The sample time of the next frame to write, or nil if it is not known.
    var writtenUpTo: Instant? {
        guard hasBegun else { return nil }
        // Computed from the last written frame, because the next one may belong to another opening.
        return ring.instant(ofFrame: next - 1).map { $0 + format.duration(ofFrames: 1) }
    }

    /// The first frame that this stream added to the take.
    var firstFrame: TakeFrame { walk.timeline.origin }

    /// The take's next frame.
    var takeFrame: TakeFrame { takeFrame(of: next) }

    /// The take's next frame; after a loss, the first frame that was sampled again.
    var takeFrameBehindLosses: TakeFrame { walk.timeline.frame(behindLossesAt: next) }

    func takeFrame(of position: RingPosition) -> TakeFrame { walk.timeline.frame(of: position) }

    /// The frame of the take at an instant whose place in the ring is `position`. Within a loss, it is one of the
    /// silent frames.
    func takeFrame(at instant: Instant, _ position: RingPosition) -> TakeFrame {
        let timeline = walk.timeline
        let (start, end) = (timeline.frame(of: position), timeline.frame(behindLossesAt: position))
        guard end > start, position > timeline.first, let last = ring.instant(ofFrame: position - 1) else {
            return start
        }
        let since = instant - (last + format.duration(ofFrames: 1))
        let frames = Int64((since.inSeconds * Double(output.sidecar.rateHz)).rounded())
        return min(max(start, start + frames), end)
    }

    /// The filter in force, or the next one during a change.
    var filter: FilterDesign { sound.filter }

    /// The levels of each channel since the take began or the card came back, measured on the stored samples.
    var levels: [ChannelLevels] { sound.levels }

    /// Returns the events since the last call.
    func takeEvents() -> [TakeEvent] {
        defer { events = [] }
        return events
    }

    /// Begins with the frame at `first`, which is the take's frame `origin`.
    /// - Parameters:
    ///   - started: the sample time of that frame.
    ///   - floor: the filter does not run over frames before this.
    func begin(at first: RingPosition, started: Instant, floor: RingPosition, origin: TakeFrame) {
        note(
            walk.begin(
                at: first, origin: origin, started: started, takeRateHz: output.sidecar.rateHz,
                newest: ring.stampNumber - 1, ring.stamp(number:)))
        phase = .running
        next = first
        reader.skip(to: floor)
        warmUp(before: first)
        reader.skip(to: first)
    }

    /// Runs the filter over the frames before the take, as if it had always run, so that the take begins without the
    /// filter's overshoot.
    private func warmUp(before first: RingPosition) {
        while reader.position < first {
            let reading = unsafe reader.read(atMost: min(sound.chunkFrames, first - reader.position)) {
                unsafe sound.warmUp(on: $0)
            }
            if case .nothing = reading { return }
        }
    }

    /// Changes the filter from the next frame on.
    func change(to filter: FilterDesign) {
        sound.change(to: filter)
        events.append(.filter(Sidecar.FilterChange(filter, atFrame: takeFrame)))
    }

    /// Ends with the frame sampled at `instant`, or with the last one in the ring if nil.
    func end(at instant: Instant?) {
        if let instant {
            phase = .ending(at: instant, delivered: nil)
        } else {
            phase = .ended(before: max(delivered, next), instant: nil)
        }
    }

    /// Continues with the frame that follows the end.
    func goOn() throws {
        phase = .running
        if let rest = walk.goOn() { try appendSilence(rest) }
    }

    /// Continues with the frame that follows the end, as the first frame of another take.
    func goOn(into output: TakeOutput, started: Instant) throws {
        self.output = output
        note(
            walk.beginNextTake(
                at: next, started: started, takeRateHz: output.sidecar.rateHz, ring.stamp(number:)))
        sound.beginMeasuring(takeRateHz: output.sidecar.rateHz)
        try goOn()
    }

    /// Copies the ring's new frames to the take.
    func pump(now: Instant) throws {
        guard hasBegun else { return }
        let position = delivered
        placeEnd(now: now, position: position)
        try copy(upTo: endPosition ?? min(position, settled(at: now) ?? position))
    }

    /// The position up to which frames may be written: they are so old that a stop that is not known yet must be later.
    /// Nil without a stamp.
    private func settled(at now: Instant) -> RingPosition? {
        ring.lastStamp.map { stamp in
            let age = max(.zero, now - stamp.instant)
            return stamp.position + format.frames(in: age - lag)
        }
    }

    /// Copies all remaining frames of a card that delivers no more.
    func drain() throws {
        guard hasBegun else { return }
        let position = delivered
        if case .ending(let instant, _) = phase { place(instant, position: position) }
        try copy(upTo: endPosition ?? position)
    }

    /// Completes the measurements at the end of a take or of the card.
    func finish() {
        note(walk.finish())
        if let drift = walk.driftPPM { events.append(.drift(ppm: (drift * 10).rounded() / 10)) }
    }

    /// Releases the frames that the ring holds for this stream.
    func close() { reader.release() }

    /// The last peaks of the take, and all others that were not appended yet.
    func finishPeaks() -> [Int8] { sound.finishPeaks() }
}

// MARK: - Places in the ring

extension CaptureStream {
    /// How long to wait for a stamp after an instant before the earlier stamps must suffice. At a take's end, the time
    /// counts from the card's last delivery.
    private static let stampPatience = Duration.milliseconds(500)
    /// More stamps than a card that is back produces while it delivers its first frames.
    private static let mostStamps: Int64 = 1000

    /// The sample time of the frame at `position`, from the first stamp after it, because a card may have been open for
    /// long before it delivered anything. Nil while there is no such stamp.
    func sampled(_ position: RingPosition) -> Instant? {
        for number in max(0, ring.stampNumber - Self.mostStamps)..<ring.stampNumber {
            guard let stamp = ring.stamp(number: number), stamp.position > position else { continue }
            return stamp.instant - format.duration(ofFrames: stamp.position - position)
        }
        return nil
    }

    /// Whether all stamps that show which frame was sampled at `instant` have arrived.
    func knows(_ instant: Instant, now: Instant) -> Bool {
        hasStamp(after: instant) || now - instant > Self.stampPatience
    }

    private func hasStamp(after instant: Instant) -> Bool {
        ring.lastStamp.map { $0.instant >= instant } ?? false
    }

    /// The end of the frames that this opening of the card has delivered.
    private var delivered: RingPosition {
        // Read before the stamps, so that the stamp of every loss and every start before this position is visible.
        let position = ring.position
        return walk.restart(ring.stamp(number:)) ?? position
    }

    /// Finds the last frame: the one sampled at the end's instant. The stream waits for a late card as long as it
    /// delivers. On a busy machine the card may be seconds behind. After a stall it reports the loss only once the ring
    /// has room again.
    private func placeEnd(now: Instant, position: RingPosition) {
        guard case .ending(let instant, let before) = phase else { return }
        var delivered = before ?? (position, now)
        if delivered.upTo != position { delivered = (position, now) }
        phase = .ending(at: instant, delivered: delivered)
        guard hasStamp(after: instant) || now - delivered.since > Self.stampPatience else { return }
        place(instant, position: position)
    }

    private func place(_ instant: Instant, position: RingPosition) {
        let last = min(ring.framePosition(at: instant) ?? position, position)
        phase = .ended(before: max(last, next), instant: instant)
    }
}

// MARK: - Copying

extension CaptureStream {
    /// Writes the ring's frames up to `limit`, and silence for lost ones.
    private func copy(upTo limit: RingPosition) throws {
        while let finding = walk.read(upTo: limit, next: next, end: end, ring.stamp(number:)) {
            note(finding.clock)
            guard let loss = finding.loss else { continue }
            try append(upTo: loss.position)
            try appendSilence(loss)
        }
        try append(upTo: limit)
    }

    private func append(upTo limit: RingPosition) throws {
        while next < limit {
            let left = limit - next
            guard next == reader.position else {
                try appendSilence(insteadOf: min(left, reader.position - next))
                continue
            }
            // Safe: these frames are held, or are a copy.
            let reading = try unsafe reader.read(atMost: min(sound.chunkFrames, left)) {
                try unsafe sound.append($0, to: output)
            }
            switch reading {
            case .frames(let frames, _): next = next + frames
            case .skipped: continue
            case .nothing: return
            }
        }
    }

    /// Replaces frames before the press that were given up during a long stall of the storage.
    private func appendSilence(insteadOf frames: Int64) throws {
        let start = takeFrameBehindLosses
        next = next + frames
        try appendSilence(
            StampWalk.Loss(position: next, frames: frames, silence: start..<takeFrame, cause: .stall))
    }

    private func appendSilence(_ loss: StampWalk.Loss) throws {
        let (start, end) = (loss.silence.lowerBound, loss.silence.upperBound)
        events.append(.gap(at: start, frames: end - start, cause: loss.cause))
        // The silence would use the space of the sound that follows.
        if !output.hasRoom(forSilence: loss.frames), (try? output.beginPart(format: format, firstFrame: end)) != nil {
            return
        }
        try sound.appendSilence(loss.frames, to: output)
    }

    /// Writes silence for the time without the card, if the take continues in the same part.
    func appendTimeAway(_ frames: Int64) throws { try sound.appendSilence(frames, to: output) }

    private func note(_ findings: [ClockMap.Finding]) {
        for finding in findings {
            switch finding {
            case .point(let point):
                let utc = calendar()?.wallTime(at: point.instant).iso8601
                events.append(
                    .clock(
                        Sidecar.ClockPoint(
                            atFrame: point.frame, rawNs: point.rawNanoseconds, utc: utc,
                            errorUs: point.errorMicroseconds, monotonicNs: point.instant.nanoseconds)))
            case .loss(let loss): events.append(.suspectedLoss(loss))
            }
        }
    }
}

import Filters
import Ring
import TakeFiles
import Takes

/// What one opening of the card adds to a take: takes frames from the ring, filters and measures them, and appends them to
/// the take's files, with silence for what was lost. A take whose card went and came back has several.
final class Stretch {
    let ring: Ring
    private let output: TakeOutput
    private let signal: SignalPath
    private let unfiltered: SignalPath?
    /// How far the writer stays behind the card, so that frames from after a stop are not written before it is known.
    private let lagFrames: Int64

    /// The ring's position of the next frame; nil until the first one is found.
    private(set) var next: Int64?
    /// The first frame that the ring holds for this.
    let held: Int64
    /// When the first frame was heard.
    private var started = Instant(nanoseconds: 0)
    private var timeline: TakeTimeline
    private var frameWatch: FrameWatch
    private var stampNumber: Int64
    private var lastStamp: Stamp?

    private var endInstant: Instant?
    /// When the writer first came to look for the end.
    private var endSought: Instant?
    private var endPosition: Int64?

    private let chunkFrames: Int64 = 16384
    private var stored: [UInt8]
    private var storedUnfiltered: [UInt8]

    /// - Parameters:
    ///   - held: the first frame that the ring holds for this.
    ///   - lag: how far to stay behind the card.
    ///   - frameWatch: what has listened to the ring so far.
    init(
        _ ring: Ring, held: Int64, output: TakeOutput, filter: FilterDesign, keepsUnfiltered: Bool, lag: Duration,
        frameWatch: FrameWatch
    ) {
        self.frameWatch = frameWatch
        self.ring = ring
        self.held = held
        self.output = output
        lagFrames = ring.format.frames(in: lag)
        signal = SignalPath(format: ring.format, design: filter)
        unfiltered = keepsUnfiltered ? SignalPath(format: ring.format, design: .off(rateHz: ring.format.rateHz)) : nil
        stampNumber = max(0, ring.stampNumber - 1)
        timeline = TakeTimeline(first: 0, origin: 0, rateHz: ring.format.rateHz, takeRateHz: output.sidecar.rateHz)
        stored = [UInt8](repeating: 0, count: Int(chunkFrames) * ring.format.stored.bytesPerFrame)
        storedUnfiltered = keepsUnfiltered ? stored : []
    }

    /// Whether the last frame is written.
    var isComplete: Bool {
        guard let next, let endPosition else { return false }
        return next >= endPosition
    }

    /// When the next frame that is not written yet was heard; nil: it is not known.
    var heardUpTo: Instant? { next.flatMap(ring.instant(ofFrame:)) }

    /// The frame of the take that comes next.
    var takeFrame: Int64 { next.map { timeline.frame(of: $0) } ?? output.nextFrame }

    /// The filter in force, or coming into force.
    var filter: FilterDesign { signal.design }

    /// How much faster than it should the card ran, in millionths, to a tenth; nil: it was not heard long enough.
    var driftPPM: Double? { frameWatch.clock.driftPPM.map { ($0 * 10).rounded() / 10 } }

    /// How loud each channel was, as stored.
    var levels: [ChannelLevels] { signal.levels }

    /// The frame of the take at a position of the ring.
    func takeFrame(of position: Int64) -> Int64 { timeline.frame(of: position) }

    /// Begins with the frame at `first`, which is the take's frame `origin`.
    /// - Parameters:
    ///   - started: when it was heard.
    ///   - floor: frames before this are not for the filter to hear.
    func begin(at first: Int64, started: Instant, floor: Int64, origin: Int64) {
        // Losses are looked for from the last stamp on that lies before the first frame.
        while let stamp = ring.stamp(number: stampNumber), stamp.position >= first,
            ring.stamp(number: stampNumber - 1) != nil
        {
            stampNumber -= 1
        }
        self.started = started
        timeline = TakeTimeline(
            first: first, origin: origin, rateHz: ring.format.rateHz, takeRateHz: output.sidecar.rateHz)
        warmUp(from: max(held, floor), before: first)
        next = first
    }

    /// Filters differently from the next frame on.
    func change(to filter: FilterDesign) {
        signal.change(to: filter)
        output.sidecar.filter.append(Sidecar.FilterChange(filter, atFrame: takeFrame))
    }

    /// Ends with the frame heard at `instant`; nil: with the last one in the ring.
    func end(at instant: Instant?) {
        endInstant = instant
        if instant == nil { endPosition = max(ring.position, next ?? 0) }
    }

    /// Takes what the ring has.
    func pump(now: Instant) throws {
        guard next != nil else { return }
        // The position is read before the stamps, so that every loss before it has left its stamp already.
        let position = ring.position
        placeEnd(now: now, position: position)
        try copy(upTo: endPosition ?? position - lagFrames)
    }

    /// Takes all that a card left which delivers no more.
    func drain() throws {
        guard let next else { return }
        let position = ring.position
        if endPosition == nil, let endInstant { place(endInstant, position: position, next: next) }
        try copy(upTo: endPosition ?? position)
    }

    /// Lets go of the ring.
    func close() {
        ring.letGo()
        output.appendPeaks(signal.finishPeaks())
    }
}

// MARK: - Places in the ring

extension Stretch {
    /// How long to wait for a stamp from after an instant, before the stamps from before it must do.
    private static let stampPatience = Duration.milliseconds(500)

    /// When the ring's frame at `position` was heard, by the first stamp after it: a card may have been open for long before
    /// it delivered anything. Nil while there is no such stamp.
    func heard(_ position: Int64) -> Instant? {
        for number in max(0, ring.stampNumber - Self.mostStamps)..<ring.stampNumber {
            guard let stamp = ring.stamp(number: number), stamp.position > position else { continue }
            return stamp.instant - ring.format.duration(ofFrames: stamp.position - position)
        }
        return nil
    }

    /// More than lie in the time in which a card that is back is heard.
    private static let mostStamps: Int64 = 1000

    /// Whether all stamps are there that tell which frame was heard at `instant`.
    func knows(_ instant: Instant, now: Instant) -> Bool {
        hasStamp(after: instant) || now - instant > Self.stampPatience
    }

    private func hasStamp(after instant: Instant) -> Bool {
        ring.stamp(number: ring.stampNumber - 1).map { $0.instant >= instant } ?? false
    }

    /// Lets the filter hear what came before the take, as if it had always run: a take begins without its overshoot.
    private func warmUp(from start: Int64, before first: Int64) {
        var position = start
        while position < first {
            // Safe: these frames are held.
            let taken: Int64 = unsafe ring.withFrames(from: position, atMost: min(chunkFrames, first - position)) {
                unsafe signal.warmUp(on: $0)
                return Int64($0.count / ring.format.bytesPerFrame)
            }
            guard taken > 0 else { return }
            position += taken
        }
    }

    /// Finds the last frame: the one heard at `endInstant`. After a stall the card tells of what was lost only once the
    /// ring has room again, so it is given some time from when the writer came to look.
    private func placeEnd(now: Instant, position: Int64) {
        guard endPosition == nil, let endInstant, let next else { return }
        endSought = endSought ?? now
        guard hasStamp(after: endInstant) || now - (endSought ?? now) > Self.stampPatience else { return }
        place(endInstant, position: position, next: next)
    }

    private func place(_ endInstant: Instant, position: Int64, next: Int64) {
        let heard = min(ring.framePosition(at: endInstant) ?? position, position)
        endPosition = max(heard, next)
    }
}

// MARK: - Copying

extension Stretch {
    /// Writes the ring's frames up to `limit`, and silence where some were lost.
    private func copy(upTo limit: Int64) throws {
        while let loss = nextLoss(upTo: limit) {
            try append(upTo: loss.position)
            try appendSilence(loss)
        }
        try append(upTo: limit)
    }

    private struct Loss {
        var position: Int64
        var frames: Int64
        var cause: Sidecar.Gap.Cause
    }

    /// The next loss of frames before or at `limit`.
    private func nextLoss(upTo limit: Int64) -> Loss? {
        while let stamp = ring.stamp(number: stampNumber), let next {
            guard let cause = GapMeasure.cause(of: stamp.kind) else {
                stampNumber += 1
                lastStamp = stamp
                let missing = frameWatch.listen(to: ring, upTo: stampNumber)
                let position = frameWatch.clock.lossPosition
                // It is found long after it happened, and may be none of the take's.
                if missing > 0, isWithin(position) {
                    return Loss(position: max(next, min(position, limit)), frames: missing, cause: .driver)
                }
                continue
            }
            if stamp.position > limit { return nil }
            stampNumber += 1
            let frames = lostFrames(at: stamp)
            lastStamp = stamp
            if stamp.position >= next, frames > 0 {
                return Loss(position: stamp.position, frames: frames, cause: cause)
            }
        }
        return nil
    }

    /// Whether the take is short of frames that were lost without a word before the stamp at `position`. Where its first and
    /// its last frame were found by the same stamps, all are there.
    private func isWithin(_ position: Int64) -> Bool {
        guard ring.isPlaced(started, beforeLossAt: position) else { return false }
        if let endInstant { return !ring.isPlaced(endInstant, beforeLossAt: position) }
        return endPosition.map { position <= $0 } ?? true
    }

    /// Frames of the take that were lost before `stamp`: of a loss that the take begins or ends in, the part within.
    private func lostFrames(at stamp: Stamp) -> Int64 {
        var frames = GapMeasure.lostFrames(before: lastStamp, at: stamp, rateHz: ring.format.rateHz)
        if stamp.position == timeline.first, next == timeline.first, !timeline.hasLosses {
            frames = min(frames, ring.format.frames(in: stamp.instant - started))
        }
        if stamp.position == endPosition, let endInstant, let lastStamp {
            let heard = stamp.position - lastStamp.position
            frames = min(frames, ring.format.frames(in: endInstant - lastStamp.instant) - heard)
        }
        return frames
    }

    private func append(upTo limit: Int64) throws {
        while let first = next, first < limit {
            let count = min(chunkFrames, limit - first)
            // Safe: these frames are held, and the arrays have room for a chunk.
            let taken: Int64 = try unsafe ring.withFrames(from: first, atMost: count) { bytes in
                let taken = Int64(bytes.count / ring.format.bytesPerFrame)
                let size = unsafe stored.withUnsafeMutableBytes { unsafe signal.process(bytes, into: $0) }
                let twin = unsafe storedUnfiltered.withUnsafeMutableBytes {
                    unsafe unfiltered?.process(bytes, into: $0)
                }
                try store(size, twin)
                return taken
            }
            guard taken > 0 else { return }
            next = first + taken
            ring.release(upTo: first + taken)
        }
    }

    private func appendSilence(_ loss: Loss) throws {
        let start = takeFrame
        timeline.fill(loss.frames, before: loss.position)
        let end = timeline.frame(behindLossesAt: loss.position)
        output.sidecar.gaps.append(Sidecar.Gap(atFrame: start, frames: end - start, cause: loss.cause))
        var left = loss.frames
        while left > 0 {
            let count = min(chunkFrames, left)
            let size = unsafe stored.withUnsafeMutableBytes { unsafe signal.silence(frameCount: Int(count), into: $0) }
            let twin = unsafe storedUnfiltered.withUnsafeMutableBytes {
                unsafe unfiltered?.silence(frameCount: Int(count), into: $0)
            }
            try store(size, twin)
            left -= count
        }
    }

    private func store(_ size: Int, _ twin: Int?) throws {
        // Safe: both slices lie within what was just written.
        try unsafe stored.withUnsafeBytes { bytes in
            try unsafe storedUnfiltered.withUnsafeBytes { raw in
                try unsafe output.append(
                    UnsafeRawBufferPointer(rebasing: bytes[..<size]),
                    unfiltered: twin.map { unsafe UnsafeRawBufferPointer(rebasing: raw[..<$0]) })
            }
        }
        output.appendPeaks(signal.takePeaks())
    }
}

import Filters
import Ring
import TakeFiles
import Takes

/// A take while it is being recorded: takes frames from the ring, filters and measures them, and appends them to the
/// take's files. It waits for nothing and knows no thread; whoever owns it calls `pump` now and then.
final class Recording {
    var name: TakeName { output.name }
    private let ring: Ring
    private let output: TakeOutput
    private let signal: SignalPath
    private let unfiltered: SignalPath?
    private let pressed: Instant
    private let preRoll: Duration
    /// What was heard before this is not for the take.
    private let earliest: Instant?
    private let startedWall: WallTime
    /// How far the writer stays behind the card, so that frames from after a stop are not written before it is known.
    private let lagFrames: Int64

    /// What is known of the take so far.
    var sidecar: Sidecar { output.sidecar }
    /// Frames written, silence for lost ones included.
    var frames: Int64 { output.frames }
    /// Frames that are on the disk.
    var syncedFrames: Int64 { output.syncedFrames }
    /// Why the take will have no waveform; nil: nothing speaks against it.
    var peaksFailure: FileError? { output.peaksFailure }

    /// When the take's first frame was heard.
    private(set) var started: Instant
    /// The ring's position of the next frame; nil until the take's first frame is found.
    private var next: Int64?
    private var timeline = TakeTimeline(first: 0)
    /// Where the press is in the ring, until the take has come that far.
    private var pressPosition: Int64?
    private var stampNumber: Int64
    private var lastStamp: Stamp?

    private var endInstant: Instant?
    /// When the writer first came to look for the end.
    private var endSought: Instant?
    private var endPosition: Int64?
    private(set) var ending: Sidecar.Ending?

    /// What syncs under way will make safe: frames of the take, and when the last of them was heard.
    private var syncs: [(frames: Int64, heard: Instant)] = []
    /// Whatever of the take was heard before this instant is on the disk.
    private(set) var safeUntil: Instant

    private var pendingMarkers: [(at: Instant, note: String?)] = []
    private let chunkFrames: Int64 = 16384
    private var stored: [UInt8]
    private var storedUnfiltered: [UInt8]

    /// - Parameter held: the first frame that the ring holds for this take.
    init(
        _ order: BeginOrder, held: Int64, output: TakeOutput
    ) {
        self.output = output
        ring = order.ring
        pressed = order.pressed
        preRoll = order.preRoll
        earliest = order.earliest
        started = order.pressed - order.preRoll
        safeUntil = started
        startedWall = order.pressedWall - order.preRoll
        lagFrames = order.ring.format.frames(in: order.lag)
        signal = SignalPath(format: order.ring.format, design: order.filter)
        unfiltered =
            order.keepUnfiltered
            ? SignalPath(format: order.ring.format, design: .off(rateHz: order.filter.rateHz)) : nil
        stampNumber = max(0, order.ring.stampNumber - 1)
        let storedBytes = Int(chunkFrames) * order.ring.format.stored.bytesPerFrame
        stored = [UInt8](repeating: 0, count: storedBytes)
        storedUnfiltered = order.keepUnfiltered ? stored : []
        self.held = held
        floor = held
    }

    private let held: Int64
    /// The first of the held frames that is for the take.
    private var floor: Int64

    /// Whether the last frame of the take is written.
    var isComplete: Bool {
        guard let next, let endPosition else { return false }
        return next >= endPosition
    }

    /// Takes what the ring has.
    func pump(now: Instant) throws {
        if next == nil { begin(now: now) }
        guard next != nil else { return }
        // The position is read before the stamps, so that every loss before it has left its stamp already.
        let position = ring.position
        placeEnd(now: now, position: position)
        try copy(upTo: endPosition ?? position - lagFrames)
        placeMarkers()
        while let sync = syncs.first, sync.frames <= output.syncedFrames {
            safeUntil = sync.heard
            syncs.removeFirst()
        }
    }

    /// Drops a marker at the frame heard at `instant`.
    func mark(at instant: Instant, note: String?) {
        pendingMarkers.append((instant, note))
    }

    /// Filters differently from the next frame on.
    func change(to filter: FilterDesign) {
        signal.change(to: filter)
        output.sidecar.filter.append(Sidecar.FilterChange(filter, atFrame: frames))
    }

    /// The take ends with the frame heard at `instant`; nil: with the last one in the ring. The first end counts.
    func end(at instant: Instant?, because ending: Sidecar.Ending) {
        guard self.ending == nil else { return }
        self.ending = ending
        endInstant = instant
        if instant == nil { endPosition = max(ring.position, next ?? 0) }
    }

    /// The sync that makes safe what is written so far.
    func syncJob() throws -> SyncJob {
        let point = try output.syncPoint()
        if let next, let heard = ring.instant(ofFrame: next) { syncs.append((frames, heard)) }
        return SyncJob { try point.run() }
    }

    /// Closes the take's files under their final names.
    func finish() throws -> Sidecar {
        ring.letGo()
        close()
        return try output.finish()
    }

    /// Ends the take with what is safe, after the storage failed.
    func abandon() -> TakeRemains {
        ring.letGo()
        close()
        return output.abandon()
    }

    private func close() {
        output.appendPeaks(signal.finishPeaks())
        output.sidecar.endedBy = ending
        output.sidecar.levels = signal.levels.map {
            Sidecar.Levels(
                peakDBFS: $0.peakDBFS, rmsDBFS: $0.rmsDBFS, clippedFrames: $0.clippedFrames,
                filterClippedFrames: $0.filterClippedFrames)
        }
    }
}

// MARK: - Places in the ring

extension Recording {
    /// How long to wait for a stamp from after an instant, before the stamps from before it must do.
    private static let stampPatience = Duration.milliseconds(500)

    private func hasStamp(after instant: Instant) -> Bool {
        ring.stamp(number: ring.stampNumber - 1).map { $0.instant >= instant } ?? false
    }

    /// Finds the first frame: the one heard at the press, less the pre-roll. It is not found while the card has not told
    /// enough.
    private func begin(now: Instant) {
        let latest = max(pressed, earliest ?? pressed)
        guard hasStamp(after: latest) || now - latest > Self.stampPatience,
            let wanted = ring.framePosition(at: started), let press = ring.framePosition(at: pressed)
        else { return }
        floor = max(held, earliest.flatMap { ring.framePosition(at: $0) } ?? held)
        let first = max(wanted, floor)
        if first != wanted {
            // Not everything that was asked for is there, so the take starts later than was said.
            started = started + ring.format.duration(ofFrames: first - wanted)
            output.sidecar.started = (startedWall + (started - pressed + preRoll)).iso8601
            output.sidecar.startedMonotonicNs = started.nanoseconds
        }
        // Losses are looked for from the last stamp on that lies before the first frame.
        while let stamp = ring.stamp(number: stampNumber), stamp.position >= first,
            ring.stamp(number: stampNumber - 1) != nil
        {
            stampNumber -= 1
        }
        timeline = TakeTimeline(first: first)
        pressPosition = max(press, first)
        warmUp(before: first)
        next = first
    }

    /// Lets the filter hear what came before the take, as if it had always run: a take begins without its overshoot.
    private func warmUp(before first: Int64) {
        var position = floor
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
        let heard = min(ring.framePosition(at: endInstant) ?? position, position)
        endPosition = max(heard, next)
    }

    /// Notes the press and the markers that the take has come to; what was lost before them is known by then.
    private func placeMarkers() {
        guard let next else { return }
        if let position = pressPosition, position <= next {
            pressPosition = nil
            let preRollFrames = timeline.frame(of: position)
            if preRollFrames != sidecar.preRollFrames { output.sidecar.preRollFrames = preRollFrames }
        }
        var early: [(at: Instant, note: String?)] = []
        for marker in pendingMarkers {
            let position = ring.framePosition(at: marker.at) ?? next
            guard position <= next || isComplete else {
                early.append(marker)
                continue
            }
            let frame = min(max(0, timeline.frame(of: position)), frames)
            output.sidecar.markers.append(Sidecar.Marker(atFrame: frame, note: marker.note))
        }
        pendingMarkers = early
    }
}

// MARK: - Copying

extension Recording {
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

    /// Frames of the take that were lost before `stamp`: of a loss that the take begins or ends in, the part within.
    private func lostFrames(at stamp: Stamp) -> Int64 {
        var frames = GapMeasure.lostFrames(before: lastStamp, at: stamp, rateHz: ring.format.rateHz)
        if stamp.position == timeline.first, self.frames == 0 {
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
        output.sidecar.gaps.append(Sidecar.Gap(atFrame: frames, frames: loss.frames, cause: loss.cause))
        timeline.fill(loss.frames, before: loss.position)
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

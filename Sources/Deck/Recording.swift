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

    /// The ring's position of the next frame; nil until the take's first frame is found.
    private var next: Int64?
    private var stampNumber: Int64
    private var lastStamp: Stamp?

    private var endInstant: Instant?
    private var endPosition: Int64?
    private(set) var ending: Sidecar.Ending?

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
    }

    private let held: Int64

    /// Whether the last frame of the take is written.
    var isComplete: Bool {
        guard let next, let endPosition else { return false }
        return next >= endPosition
    }

    /// Takes what the ring has.
    func pump(now: Instant) throws {
        guard let first = try firstFrame(now: now) else { return }
        next = first
        // The position is read before the stamps, so that every loss before it has left its stamp already.
        let position = ring.position
        placeEnd(now: now, position: position)
        try copy(upTo: endPosition ?? position - lagFrames)
        placeMarkers()
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

    /// The position of the next frame; at first, of the one heard at the press less the pre-roll. Nil while the card
    /// has not told enough to find it.
    private func firstFrame(now: Instant) throws -> Int64? {
        if let next { return next }
        guard hasStamp(after: pressed) || now - pressed > Self.stampPatience,
            let wanted = ring.framePosition(at: pressed - preRoll), let press = ring.framePosition(at: pressed)
        else { return nil }
        let first = max(wanted, held)
        if first != wanted {
            // Not everything that was asked for is there, so the take starts later than was said.
            let late = ring.format.duration(ofFrames: first - wanted)
            output.sidecar.started = (startedWall + late).iso8601
            output.sidecar.startedMonotonicNs += late.nanoseconds
        }
        output.sidecar.preRollFrames = max(0, press - first)
        lastStamp = nil
        while let stamp = ring.stamp(number: stampNumber), stamp.position > first,
            let earlier = ring.stamp(number: stampNumber - 1), earlier.position >= held
        {
            stampNumber -= 1
        }
        return first
    }

    private func placeEnd(now: Instant, position: Int64) {
        guard endPosition == nil, let endInstant, let next,
            hasStamp(after: endInstant) || now - endInstant > Self.stampPatience
        else { return }
        let heard = min(ring.framePosition(at: endInstant) ?? position, position)
        endPosition = max(heard, next)
    }

    private func placeMarkers() {
        guard let next else { return }
        for marker in pendingMarkers {
            let position = ring.framePosition(at: marker.at) ?? next
            let frame = max(0, frames + position - next)
            output.sidecar.markers.append(Sidecar.Marker(atFrame: frame, note: marker.note))
        }
        pendingMarkers = []
    }
}

// MARK: - Copying

extension Recording {
    /// Writes the ring's frames up to `limit`, and silence where some were lost.
    private func copy(upTo limit: Int64) throws {
        while let first = next, first < limit {
            guard let loss = nextLoss(from: first, upTo: limit) else {
                try append(upTo: limit)
                return
            }
            try append(upTo: loss.position)
            try appendSilence(loss)
        }
    }

    private struct Loss {
        var position: Int64
        var frames: Int64
        var cause: Sidecar.Gap.Cause
    }

    /// The first loss of frames at `first` or later, and before `limit`.
    private func nextLoss(from first: Int64, upTo limit: Int64) -> Loss? {
        while let stamp = ring.stamp(number: stampNumber) {
            if let cause = GapMeasure.cause(of: stamp.kind) {
                if stamp.position >= limit { return nil }
                stampNumber += 1
                let lost = GapMeasure.lostFrames(before: lastStamp, at: stamp, rateHz: ring.format.rateHz)
                lastStamp = stamp
                if stamp.position >= first, lost > 0 {
                    return Loss(position: stamp.position, frames: lost, cause: cause)
                }
            } else {
                stampNumber += 1
                lastStamp = stamp
            }
        }
        return nil
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

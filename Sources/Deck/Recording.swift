import Filters
import Ring
import TakeFiles
import Takes

/// A take while it is being recorded: one stretch of sound, or several if its card goes and comes back. It waits for nothing
/// and knows no thread; whoever owns it calls `pump` now and then.
final class Recording {
    var name: TakeName { output.name }
    private let pressed: Instant
    private let preRoll: Duration
    /// What was heard before this is not for the take.
    private let earliest: Instant?
    private let lag: Duration
    private let keepsUnfiltered: Bool
    private let output: TakeOutput
    /// What the card that is open adds; nil while there is none.
    private var stretch: Stretch?
    /// Whether the take's first frame is found, or never will be.
    private var hasBegun = false
    /// How loud the stretches before this one were.
    private var levels = LevelSum()
    /// Frames of the stretches before this one.
    private var framesBefore: Int64 = 0
    private let startedWall: WallTime

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
    /// Where the press is in the ring, until the take has come that far.
    private var pressPosition: Int64?
    private(set) var ending: Sidecar.Ending?

    /// What syncs under way will make safe: frames of the take, and when the last of them was heard.
    private var syncs: [(frames: Int64, heard: Instant)] = []
    /// When the last frame that is written was heard, as far as was asked for.
    private var heardUpTo: Instant?
    /// Whatever of the take was heard before this instant is on the disk.
    private(set) var safeUntil: Instant
    private var pendingMarkers: [(at: Instant, note: String?)] = []

    /// - Parameter held: the first frame that the ring holds for this take.
    init(_ order: BeginOrder, held: Int64, output: TakeOutput) {
        // The ring is not kept: it is large, and goes with its stretch.
        pressed = order.pressed
        preRoll = order.preRoll
        earliest = order.earliest
        lag = order.lag
        keepsUnfiltered = order.keepUnfiltered
        self.output = output
        started = order.pressed - order.preRoll
        safeUntil = started
        startedWall = order.pressedWall - order.preRoll
        stretch = Stretch(
            order.ring, held: held, output: output, filter: order.filter, keepsUnfiltered: order.keepUnfiltered,
            lag: order.lag, frameWatch: order.frameWatch)
    }

    /// Whether the last frame of the take is written.
    var isComplete: Bool { stretch?.isComplete ?? (ending != nil) }

    /// Whether everything that is written is on the disk.
    var isSynced: Bool { output.isSynced }

    /// Takes what the ring has.
    func pump(now: Instant) throws {
        if let stretch {
            if stretch.next == nil { try begin(stretch, now: now) }
            try stretch.pump(now: now)
        }
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
        stretch?.change(to: filter)
    }

    /// The take ends with the frame heard at `instant`; nil: with the last one in the ring. The first end counts.
    func end(at instant: Instant?, because ending: Sidecar.Ending) {
        guard self.ending == nil else { return }
        self.ending = ending
        stretch?.end(at: instant)
        // A card that was opened again and not heard yet adds nothing.
        if hasBegun, let stretch, stretch.next == nil {
            close(stretch)
            self.stretch = nil
        }
    }

    /// Tells when the take truly began, once the calendar was set.
    func date(by truth: TrueStart) {
        let corrected = truth.corrected(sidecar)
        if corrected != sidecar.startedCorrected { output.sidecar.startedCorrected = corrected }
    }

    /// The card is gone: what it left in the ring ends the part, and the take waits for it to come back.
    func suspend() throws {
        guard let stretch else { return }
        if stretch.next == nil { try begin(stretch, now: nil) }
        try stretch.drain()
        placeMarkers()
        heardUpTo = stretch.heardUpTo ?? heardUpTo
        close(stretch)
        self.stretch = nil
        hasBegun = true
    }

    /// The card is back: the take goes on in another part, with the first frame that it hears.
    func resume(_ order: ResumeOrder) {
        guard stretch == nil, ending == nil else { return }
        stretch = Stretch(
            order.ring, held: order.ring.hold(from: 0), output: output, filter: order.filter,
            keepsUnfiltered: keepsUnfiltered, lag: lag, frameWatch: order.frameWatch)
    }

    /// The sync that makes safe what is written so far.
    func syncJob() throws -> SyncJob {
        let point = try output.syncPoint()
        heardUpTo = stretch?.heardUpTo ?? heardUpTo
        if let heardUpTo { syncs.append((frames, heardUpTo)) }
        return SyncJob { try point.run() }
    }

    /// Closes the take's files under their final names.
    func finish() throws -> Sidecar {
        close()
        return try output.finish()
    }

    /// Ends the take with what is safe, after the storage failed.
    func abandon() -> TakeRemains {
        close()
        return output.abandon()
    }

    private func close(_ stretch: Stretch) {
        // A card that went before the press was reached left nothing but pre-roll, or nothing at all.
        if output.sidecar.preRollFrames > frames { output.sidecar.preRollFrames = frames }
        pressPosition = nil
        stretch.close()
        output.sidecar.clockDriftPPM = stretch.driftPPM ?? sidecar.clockDriftPPM
        levels.add(stretch.levels, frames: frames - framesBefore)
        framesBefore = frames
    }

    private func close() {
        if let stretch { close(stretch) }
        stretch = nil
        output.sidecar.endedBy = ending
        output.sidecar.levels = levels.levels.map(Sidecar.Levels.init)
    }
}

// MARK: - Places in the take

extension Recording {
    /// Finds the first frame of a stretch. It is not found while the card has not told enough.
    /// - Parameter now: nil: it will not tell more.
    private func begin(_ stretch: Stretch, now: Instant?) throws {
        guard hasBegun else {
            let latest = max(pressed, earliest ?? pressed)
            if now.map({ stretch.knows(latest, now: $0) }) ?? true { locateFirstFrame(of: stretch) }
            return
        }
        // The card is back once it is heard: one that opens and stays silent would leave an empty part each time.
        let first = stretch.held
        guard stretch.ring.position > first, let back = stretch.heard(first) else { return }
        let end = output.nextFrame
        // Since the last frame before, not since the start: the crystal that counted the frames until then has a pace of its own.
        let away = back - (heardUpTo ?? started)
        let frame = end + Int64(max(0, away.inSeconds * Double(sidecar.rateHz)).rounded())
        try output.beginPart(format: stretch.ring.format, firstFrame: frame)
        if frame > end { output.sidecar.gaps.append(Sidecar.Gap(atFrame: end, frames: frame - end, cause: .cardLost)) }
        let filter = Sidecar.FilterChange(stretch.filter, atFrame: sidecar.filter.last?.atFrame ?? 0)
        stretch.begin(at: first, started: back, floor: first, origin: frame)
        if filter != sidecar.filter.last { stretch.change(to: stretch.filter) }
    }

    /// Finds the take's first frame: the one heard at the press, less the pre-roll.
    private func locateFirstFrame(of stretch: Stretch) {
        let ring = stretch.ring
        guard let wanted = ring.framePosition(at: started), let press = ring.framePosition(at: pressed) else {
            return
        }
        let floor = max(stretch.held, earliest.flatMap { ring.framePosition(at: $0) } ?? 0)
        let first = max(wanted, floor)
        if first != wanted {
            // Not everything that was asked for is there, so the take starts later than was said.
            started = started + ring.format.duration(ofFrames: first - wanted)
            output.begins(at: startedWall + (started - pressed + preRoll), started)
        }
        pressPosition = max(press, first)
        stretch.begin(at: first, started: started, floor: floor, origin: 0)
        hasBegun = true
    }

    /// Notes the press and the markers that the take has come to; what was lost before them is known by then.
    private func placeMarkers() {
        guard hasBegun else { return }
        guard let stretch, let next = stretch.next else {
            // Nothing is heard: what is marked is where the sound went away.
            for marker in pendingMarkers { place(marker.note, at: output.nextFrame) }
            pendingMarkers = []
            return
        }
        if let position = pressPosition, position <= next {
            pressPosition = nil
            let preRollFrames = stretch.takeFrame(of: position)
            if preRollFrames != sidecar.preRollFrames { output.sidecar.preRollFrames = preRollFrames }
        }
        var early: [(at: Instant, note: String?)] = []
        for marker in pendingMarkers {
            let position = stretch.ring.framePosition(at: marker.at) ?? next
            guard position <= next || isComplete else {
                early.append(marker)
                continue
            }
            place(marker.note, at: min(max(0, stretch.takeFrame(of: position)), stretch.takeFrame))
        }
        pendingMarkers = early
    }

    private func place(_ note: String?, at frame: Int64) {
        output.sidecar.markers.append(Sidecar.Marker(atFrame: frame, note: note))
    }
}

import Files
import Filters
import Ring
import TakeFiles
import Takes
import Transport

/// A take while it is being recorded: one stream of sound, or several if its card is lost and comes back. It never
/// blocks and uses no thread; its owner must call `pump` regularly.
final class RunningTake {
    var name: TakeName { output.name }
    /// Constant across takes that follow one another.
    let plan: TakePlan
    let pressed: Instant
    let preRoll: Duration
    /// Frames sampled before this do not belong to the take.
    let earliest: Instant?
    let startedWall: WallTime
    let calendar: () -> ClockOffset?
    let output: TakeOutput

    var source: Source
    /// The levels and frame count of the previous streams.
    var levels = LevelSum()

    enum Source {
        /// An open card whose first frame is not found yet.
        case opening(CaptureStream, opened: RingPosition, isFirst: Bool)
        case card(CaptureStream)
        case away
    }

    /// The sample time of the take's first frame.
    var started: Instant
    /// The press's position in the ring, until the take has reached it.
    var pressPosition: RingPosition?
    /// The ordered ends of the take, oldest first. The first one counts.
    private(set) var ends: [End] = []

    /// An end, and what follows it.
    enum End {
        case stop(at: Instant?, Sidecar.Ending, keepsTail: Bool)
        case next(at: Instant, wall: WallTime)
    }

    /// Running syncs: the frame count of the take that each makes safe, and the sample time of its last frame.
    private var syncs: [(frames: Int64, sampled: Instant)] = []
    /// The sample time of the last written frame, updated only when needed.
    var writtenUpTo: Instant?
    /// All of the take's sound that was sampled before this instant is on the disk.
    private(set) var safeUntil: Instant
    /// The last calendar that was set since the take began, or nil if none was.
    private var truth: TrueStart?
    /// The end of the listed time without the card, or nil if the card is not away or nothing is listed yet.
    var awayUpTo: TakeFrame?
    /// Frames of the take, at its rate, that were on the disk before a file lost its name.
    private var safeFrames: Int64 = 0
    /// The instant until which an ended take waits for the rescue of a removed file, or nil if it waits without a limit.
    private var rescueEnd: Instant?
    /// The markers whose instants are not placed yet.
    private var markers = Timed<Sidecar.Marker.Content>()
    /// The markers at frames that the take has not come to.
    private var markersAhead: [Sidecar.Marker] = []
    /// The previous take, which this one follows without a missing frame, and its length, or nil if there is none.
    private var past: (name: TakeName, frames: Int64)?
    /// The gains of the card that are not placed yet.
    var gains = Timed<CardGain>()
    /// Where the sound ended before the card was back, and when it was, or nil if it was never away.
    var before: (end: Instant, frame: TakeFrame, cardBack: Instant)?
    /// The card that is back, and its port, or nil if unchanged.
    var cardBack: CardPlace?
    /// The filter that was requested during the search for the first frame, or nil if none was requested.
    var pendingFilter: FilterDesign?

    /// - Parameter reader: must hold the first frames already.
    init(
        _ order: BeginOrder, reader: RingReader, output: TakeOutput, calendar: @escaping () -> ClockOffset?
    ) {
        plan = order.plan
        pressed = order.pressed
        preRoll = order.preRoll
        earliest = order.earliest
        self.output = output
        self.calendar = calendar
        started = order.pressed - order.preRoll
        safeUntil = started
        startedWall = order.pressedWall - order.preRoll
        let stream = CaptureStream(
            reader, output: output, filter: order.filter, keepsUnfiltered: plan.keepsUnfiltered, lag: plan.lag,
            calendar: calendar)
        source = .opening(stream, opened: order.opened, isFirst: true)
    }

    /// A take that continues with the frame after another take's last.
    private init(
        after take: RunningTake, stream: CaptureStream, output: TakeOutput, started: Instant, wall: WallTime
    ) throws {
        plan = take.plan
        calendar = take.calendar
        pressed = started
        preRoll = .zero
        earliest = nil
        self.output = output
        self.started = started
        safeUntil = started
        startedWall = wall
        source = .card(stream)
        ends = Array(take.ends.dropFirst())
        let past = (name: take.output.name, frames: take.output.nextFrame.count)
        self.past = past
        swap(&markers, &take.markers)
        // These frame numbers were counted from the start of the previous take.
        markers.change { $0.endFrame = $0.endFrame.map { $0 - past.frames } }
        markersAhead = take.markersAhead.map { $0.moved(by: -past.frames) }
        swap(&gains, &take.gains)
        try stream.goOn(into: output, started: started)
        applyEnd()
    }

    var sidecar: Sidecar { output.sidecar }
    /// Whether everything that was written is on the disk.
    var isSynced: Bool { output.isSynced }
    /// The reason why the take will have no waveform, or nil if it will have one.
    var peaksFailure: FileError? { output.peaksFailure }

    /// Whether the last frame of the take is written.
    var isComplete: Bool {
        switch source {
        case .opening: false
        case .card(let stream): stream.isComplete
        case .away: !ends.isEmpty
        }
    }

    func progress(lastSync: Instant?) -> RecordingProgress {
        RecordingProgress(
            started: started, rateHz: sidecar.rateHz, frames: output.takeFrames, next: next,
            syncedFrames: output.isRescuing ? safeFrames : output.syncedTakeFrames, gaps: sidecar.gapCount,
            markers: sidecar.markers.count, safeUntil: safeUntil, lastSync: lastSync, trouble: trouble)
    }

    /// Where the next frame is, in the ring and in the take, or nil while the card is away.
    private var next: TakeAnchor? {
        guard case .card(let stream) = source else { return nil }
        return TakeAnchor(position: stream.next, frame: stream.takeFrameBehindLosses)
    }

    /// The progress of a finished take: all of it is safe.
    func finalProgress(lastSync: Instant?) -> RecordingProgress {
        var progress = progress(lastSync: lastSync)
        if case .card(let stream) = source, let end = stream.writtenUpTo { progress.safeUntil = end }
        return progress
    }

    /// The fault of the storage while the take continues, or nil if nothing is wrong.
    private var trouble: Fault? {
        let failures: [(FileError?, what: String)] = [
            (output.partFailure, waiting == nil ? "the sound goes on in \(fileInUse)" : Self.waits),
            (output.draftFailure, "recording continues, and the take's notes are written later"),
        ]
        for case (let failure?, let what) in failures {
            return Fault(failure.isDiskFull ? .diskFull : .storageFailing, "record: \(failure): \(what)")
        }
        return nil
    }

    private static let waits = "the sound is in memory, and is lost unless a file can be made soon"

    /// Names the file that receives the sound while no other file can be made.
    private var fileInUse: String {
        guard let file = output.namelessFile else { return "the file that there is" }
        return "\(file), which another program moved or removed: it is saved once another file can be made"
    }

    /// Copies the ring's new frames to the take.
    func pump(now: Instant) throws {
        if case .opening = source { try begin(now: now) }
        if case .card(let stream) = source {
            try stream.pump(now: now)
            note(stream)
        }
        placeTimed()
    }

    /// Adds a marker once the take has reached its place.
    func mark(_ mark: Mark) {
        // The marker was requested before it was known that the previous take was over.
        let distance = past.map { mark.take == $0.name ? -$0.frames : 0 } ?? 0
        switch mark.place {
        case .instant(let instant):
            var content = mark.content
            content.endFrame = content.endFrame.map { $0 + distance }
            markers.append(content, at: instant)
        case .frame(let frame): markersAhead.append(Sidecar.Marker(atFrame: frame, mark.content).moved(by: distance))
        }
    }

    /// Changes the filter from the next frame on.
    func change(to filter: FilterDesign) {
        switch source {
        case .opening: pendingFilter = filter
        case .card(let stream): stream.change(to: filter)
        case .away: break
        }
    }

    /// The card has another gain, or another state of its automatic gain control, from the frame sampled at `instant`
    /// on.
    func change(to gain: CardGain, at instant: Instant) {
        gains.append(gain, at: instant)
    }

    /// Applies a filter that was requested during the search for the first frame.
    func changeToPendingFilter() {
        guard case .card(let stream) = source, let filter = pendingFilter else { return }
        pendingFilter = nil
        stream.change(to: filter)
    }

    /// Dates the take's start and its clock map by a calendar that was set.
    func date(by truth: TrueStart) {
        self.truth = truth
        output.note(.dated(by: truth))
    }

    /// Applies the same calendar again, because the start or the clock map may have changed.
    func dateAgain() {
        if let truth { output.note(.dated(by: truth)) }
    }

    func note(_ stream: CaptureStream) {
        for event in stream.takeEvents() { output.note(event) }
    }
}

// MARK: - Ends

extension RunningTake {
    /// Ends the take. If there are several ends, the first counts; those after a cut apply to the next take.
    func end(_ end: End) {
        if case .stop? = ends.last { return }
        if case .next = end, isResuming { return }
        ends.append(end)
        if ends.count == 1 { applyEnd() }
    }

    /// Cancels cuts: a take whose card is lost is not cut before the card is back.
    func dropCuts() throws {
        guard isCut else { return }
        ends.removeAll { if case .next = $0 { true } else { false } }
        guard case .card(let stream) = source else { return }
        try stream.goOn()
        applyEnd()
    }

    /// Whether the card is away, or is back and has delivered nothing yet.
    private var isResuming: Bool {
        switch source {
        case .away, .opening(_, _, isFirst: false): true
        case .opening, .card: false
        }
    }

    /// The storage failed: the take ends here, regardless of other orders.
    func fail(because ending: Sidecar.Ending) {
        if case .stop? = ends.first { return }
        ends = [.stop(at: nil, ending, keepsTail: false)]
    }

    func applyEnd() {
        guard let end = ends.first else { return }
        let instant: Instant?
        switch end {
        case .stop(let at, _, _): instant = at
        case .next(let at, _): instant = at
        }
        switch source {
        case .card(let stream): stream.end(at: instant)
        // A card that was opened again and has delivered nothing adds no part. Sound that waits may still get its part.
        case .opening(_, _, isFirst: false): if waiting == nil { close() }
        case .opening, .away: break
        }
    }

    /// The reason why the take ends, or nil if it does not end.
    var ending: Sidecar.Ending? {
        switch ends.first {
        case .stop(_, let ending, _): ending
        case .next: .next
        case nil: nil
        }
    }

    /// Closes the take's files under their final names.
    func finish() throws -> Sidecar {
        complete()
        return try output.finish(endedBy: ending ?? .unknown, levels: levelsSoFar())
    }

    /// Ends the take with its safe sound, after the storage failed.
    func abandon() -> TakeRemains {
        complete()
        return output.abandon(endedBy: ending ?? .unknown, levels: levelsSoFar())
    }

    func complete() {
        // A card that was lost before the press was reached left only pre-roll, or nothing.
        if sidecar.preRollFrames > output.frames { output.note(.preRoll(frames: output.frames)) }
        pressPosition = nil
        if awayUpTo != nil { output.note(.endedWithoutCard(at: output.nextFrame)) }
        awayUpTo = nil
        if case .card(let stream) = source { complete(stream) }
    }

    private func complete(_ stream: CaptureStream) {
        stream.finish()
        note(stream)
        output.appendPeaks(stream.finishPeaks())
    }

    /// The levels of the whole take.
    private func levelsSoFar() -> [Sidecar.Levels] {
        var sum = levels
        if case .card(let stream) = source { sum.add(stream.levels, frames: output.frames - levels.frames) }
        return sum.levels.map(Sidecar.Levels.init)
    }
}

// MARK: - After the end

extension RunningTake {
    /// Whether the sound can continue into a tail.
    var canHaveTail: Bool {
        if case .stop(_, _, keepsTail: true) = ends.first, case .card = source { true } else { false }
    }

    /// Writes the sound after the end of the finished take into a tail.
    func beginTail() throws {
        guard case .card(let stream) = source else { return }
        try output.beginTail(format: stream.format)
        ends = []
        try stream.goOn()
    }

    /// The tail becomes the next part of the take, which continues.
    func rejoin() throws {
        try output.rejoin()
        dateAgain()
    }

    func dropTail() throws {
        try output.dropTail()
    }

    /// Makes the take that begins with the frame after this one's last. The filter's state is kept.
    /// - Parameter output: the output of the next take.
    func next(_ output: TakeOutput, started: Instant, wall: WallTime) throws -> RunningTake? {
        guard case .card(let stream) = source else { return nil }
        source = .away
        return try RunningTake(after: self, stream: stream, output: output, started: started, wall: wall)
    }

    /// The next frame's filter and the card's format, or nil while the card is away.
    var running: (filter: FilterDesign, format: StreamFormat)? {
        if case .card(let stream) = source { (stream.filter, stream.format) } else { nil }
    }
}

// MARK: - Sync

extension RunningTake {
    /// The sample time of the first frame that no running sync covers, or nil if it is not known.
    var unsyncedSince: Instant? { writtenUpTo }

    /// A sync that makes everything written so far safe.
    func syncPoint() throws -> SyncPoint {
        let point = try output.syncPoint()
        if case .card(let stream) = source { writtenUpTo = stream.writtenUpTo ?? writtenUpTo }
        if let writtenUpTo { syncs.append((output.frames, writtenUpTo)) }
        return point
    }

    /// Once something else waits for the end of a take, saving a removed file may delay the end by at most this long:
    /// the ring holds a press that follows for this time. If nothing waits, a take that a person stopped has no limit,
    /// because the removed file's data lasts as long as it is open.
    private static let rescuePatience = Duration.seconds(20)
    /// The number of bytes that are copied at a sync while no sound waits.
    private static let rescuedBytes: Int64 = 8 << 20

    /// Whether the end is delayed because a removed file is still being saved.
    func awaitsRescue(now: Instant) -> Bool {
        guard case .stop(_, let ending, _)? = ends.first else { return false }
        output.rescueLastPart()
        guard output.isRescuing else { return false }
        output.rescuedBytes = Self.rescuedBytes
        if ending != .stop { hurry(now: now) }
        leaveFullRing()
        return rescueEnd.map { now < $0 } ?? true
    }

    /// Something else waits for the end of the take.
    func hurry(now: Instant) {
        if rescueEnd == nil { rescueEnd = now + Self.rescuePatience }
    }

    /// Detaches from the ring before later sound fills it. The take has all of its sound; a take that may begin needs
    /// the ring. No tail follows.
    private func leaveFullRing() {
        guard case .card(let stream) = source, stream.ring.heldShare >= Self.longestWait else { return }
        complete()
        levels.add(stream.levels, frames: output.frames - levels.frames)
        close()
    }

    /// Records the result of a sync.
    func synced(_ synced: Synced) throws {
        try output.synced(synced)
        // Until a file that lost its name is saved, a power cut would cost all of it.
        guard !output.isRescuing else { return }
        safeFrames = output.syncedTakeFrames
        while let sync = syncs.first, sync.frames <= output.syncedFrames {
            safeUntil = sync.sampled
            syncs.removeFirst()
        }
    }
}

// MARK: - Markers and gains

extension RunningTake {
    /// Which frames an instant can be mapped to.
    private enum Reach {
        /// Any frame, including the time without the card and the take's end. For points.
        case anywhere
        /// A frame that the open card delivered. For values that are in force from that frame on.
        case delivered
    }

    /// Adds the press, the markers and the gain changes that the take has reached. All losses before them are known by
    /// then.
    func placeTimed() {
        placePress()
        for (frame, content) in markers.takePlaced({ frame(at: $0, .anywhere) }) {
            // No file exists for the time without the card. It is listed as a gap from now on.
            if isResuming { noteAway(from: output.nextFrame, to: frame + 1) }
            note(Sidecar.Marker(atFrame: frame, content))
        }
        let isOver = isComplete && !isCut
        for var marker in markersAhead where isOver || marker.atFrame <= output.nextFrame {
            marker.atFrame = min(marker.atFrame, output.nextFrame)
            note(marker)
        }
        markersAhead.removeAll { isOver || $0.atFrame <= output.nextFrame }
        for (frame, gain) in gains.takePlacedInOrder({ frame(at: $0, .delivered) }) {
            output.note(.gain(Sidecar.GainChange(atFrame: frame, gainDB: gain.gainDB, agc: gain.agc)))
        }
    }

    private func note(_ marker: Sidecar.Marker) {
        var marker = marker
        marker.endRegion(before: isComplete && !isCut ? output.nextFrame : .last)
        output.note(.marker(marker))
    }

    private func placePress() {
        guard case .card(let stream) = source, let position = pressPosition, position <= stream.next else { return }
        pressPosition = nil
        output.note(.preRoll(frames: stream.takeFrame(at: pressed, position) - .first))
    }

    /// The frame of the take at an instant, or nil while the take has not reached it. A gain change after the end
    /// belongs to the tail or the next take. So does a marker if a take follows at once; otherwise the marker lies at
    /// the end.
    private func frame(at instant: Instant, _ reach: Reach) -> TakeFrame? {
        switch (source, reach) {
        case (.opening(_, _, isFirst: true), _), (.opening, .delivered), (.away, .delivered): return nil
        case (.opening, .anywhere), (.away, .anywhere):
            // Computed from the last frame before the loss, as the next part will be.
            return frame(at: instant, end: writtenUpTo ?? started, output.nextFrame)
        case (.card(let stream), _):
            // Stamps of a previous opening in the ring say nothing about this opening's frames.
            if let before, instant < before.cardBack, reach == .anywhere {
                return frame(at: instant, end: before.end, before.frame)
            }
            let position = stream.ring.framePosition(at: instant) ?? stream.next
            let frame = min(stream.takeFrame(at: instant, position), stream.takeFrameBehindLosses)
            let isWritten = position < stream.next
            switch reach {
            case .anywhere:
                let isReached = isWritten || (isComplete ? !isCut : position == stream.next)
                return isReached ? max(.first, frame) : nil
            case .delivered: return isWritten ? max(stream.firstFrame, frame) : nil
            }
        }
    }

    /// The frame of the take at an instant, extrapolated from the end of the sound.
    private func frame(at instant: Instant, end: Instant, _ frame: TakeFrame) -> TakeFrame {
        max(.first, frame + Int64(((instant - end).inSeconds * Double(sidecar.rateHz)).rounded()))
    }

    /// Lists the time without the card, except what is listed already.
    func noteAway(from start: TakeFrame, to end: TakeFrame) {
        let start = max(start, awayUpTo ?? start)
        guard end > start else { return }
        output.note(.gap(at: start, frames: end - start, cause: .cardLost))
        awayUpTo = end
    }

    private var isCut: Bool {
        if case .next = ends.first { true } else { false }
    }
}

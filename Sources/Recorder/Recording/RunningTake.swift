import Filters
import Ring
import TakeFiles
import Takes
import Transport

/// A take while it is being recorded: one stream of sound, or several if its card goes and comes back. It waits for nothing
/// and knows no thread; its owner calls `pump` now and then.
final class RunningTake {
    var name: TakeName { output.name }
    /// What does not change from one take to the next.
    let plan: TakePlan
    let pressed: Instant
    let preRoll: Duration
    /// What was sampled before this does not belong to the take.
    let earliest: Instant?
    let startedWall: WallTime
    let calendar: () -> ClockOffset?
    let output: TakeOutput

    var source: Source
    /// How loud the streams before this one were, and how many frames they had.
    var levels = LevelSum()

    /// Where the sound comes from.
    enum Source {
        /// An open card whose first frame is looked for.
        case opening(CaptureStream, opened: RingPosition, isFirst: Bool)
        case card(CaptureStream)
        /// The card is away.
        case away
    }

    /// When the take's first frame was sampled.
    var started: Instant
    /// Where the press is in the ring, until the take has come that far.
    var pressPosition: RingPosition?
    /// Where the take ends, in the order in which it was ordered; the first one counts.
    private(set) var ends: [End] = []

    /// An end, and what comes after it.
    enum End {
        case stop(at: Instant?, Sidecar.Ending, keepsTail: Bool)
        case next(at: Instant, wall: WallTime)
    }

    /// What syncs under way will make safe: frames of the take, and when the last of them was sampled.
    private var syncs: [(frames: Int64, sampled: Instant)] = []
    /// When the last frame that is written was sampled, as far as was asked for.
    var writtenUpTo: Instant?
    /// Whatever of the take was sampled before this instant is on the disk.
    private(set) var safeUntil: Instant
    /// The calendar that was set last since the take began; nil: it was not.
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
    /// The take before this one, which it follows without a missing frame, and the length of that; nil: there is none.
    private var past: (name: TakeName, frames: Int64)?
    /// The gains of the card that are not placed yet.
    var gains = Timed<CardGain>()
    /// Where the sound ended before the card was back, and when it was, or nil if it was never away.
    var before: (end: Instant, frame: TakeFrame, cardBack: Instant)?
    /// The card that is back, and where it is; nil: as before.
    var cardBack: CardPlace?
    /// The filter that was requested during the search for the first frame, or nil if none was requested.
    var pendingFilter: FilterDesign?

    /// A take whose first frame is still to be found.
    /// - Parameter reader: holds the first frames already.
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

    /// The take that goes on with the frame after another one's last.
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
        // What is counted in frames was counted in the take before.
        markers.change { $0.endFrame = $0.endFrame.map { $0 - past.frames } }
        markersAhead = take.markersAhead.map { $0.moved(by: -past.frames) }
        swap(&gains, &take.gains)
        try stream.goOn(into: output, started: started)
        applyEnd()
    }

    /// What is known of the take so far.
    var sidecar: Sidecar { output.sidecar }
    /// Whether everything that is written is on the disk.
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

    /// How far the take is.
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

    /// How far a finished take is: all of it is safe.
    func finalProgress(lastSync: Instant?) -> RecordingProgress {
        var progress = progress(lastSync: lastSync)
        if case .card(let stream) = source, let end = stream.writtenUpTo { progress.safeUntil = end }
        return progress
    }

    /// The fault of the storage while the take goes on, or nil if nothing is wrong.
    private var trouble: Fault? {
        let failures: [(FileError?, what: String)] = [
            (output.partFailure, waiting == nil ? "the sound goes on in \(fileInUse)" : Self.waits),
            (output.draftFailure, "the sound goes on, and what was noted of the take is written later"),
        ]
        for case (let failure?, let what) in failures {
            return Fault(failure.isDiskFull ? .diskFull : .storageFailing, "record: \(failure): \(what)")
        }
        return nil
    }

    private static let waits = "what the card delivers is in memory, and is lost if no file can be made soon"

    /// What takes the sound while no other file can be made.
    private var fileInUse: String {
        guard let file = output.namelessFile else { return "the file that there is" }
        return "\(file), which another program moved or removed: it is saved once another file can be made"
    }

    /// Takes what the ring has.
    func pump(now: Instant) throws {
        if case .opening = source { try begin(now: now) }
        if case .card(let stream) = source {
            try stream.pump(now: now)
            note(stream)
        }
        placeTimed()
    }

    /// Sets a marker once the take has come to its place.
    func mark(_ mark: Mark) {
        // It was asked for before it was known that the take was over.
        let distance = past.map { mark.take == $0.name ? -$0.frames : 0 } ?? 0
        switch mark.place {
        case .instant(let instant):
            var content = mark.content
            content.endFrame = content.endFrame.map { $0 + distance }
            markers.append(content, at: instant)
        case .frame(let frame): markersAhead.append(Sidecar.Marker(atFrame: frame, mark.content).moved(by: distance))
        }
    }

    /// Filters differently from the next frame on.
    func change(to filter: FilterDesign) {
        switch source {
        case .opening: pendingFilter = filter
        case .card(let stream): stream.change(to: filter)
        case .away: break
        }
    }

    /// The card has another gain, or automatic gain control, from the frame on that was sampled at `instant`.
    func change(to gain: CardGain, at instant: Instant) {
        gains.append(gain, at: instant)
    }

    /// Filters from the first frame on as was asked for while that was looked for.
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

    /// The same again: what it was dated by may have changed since.
    func dateAgain() {
        if let truth { output.note(.dated(by: truth)) }
    }

    func note(_ stream: CaptureStream) {
        for event in stream.takeEvents() { output.note(event) }
    }
}

// MARK: - Ends

extension RunningTake {
    /// The take ends. Of several ends, the first counts; what follows a cut to the next take is for that one.
    func end(_ end: End) {
        if case .stop? = ends.last { return }
        if case .next = end, isResuming { return }
        ends.append(end)
        if ends.count == 1 { applyEnd() }
    }

    /// A take whose card goes away is not cut before that is back.
    func dropCuts() throws {
        guard isCut else { return }
        ends.removeAll { if case .next = $0 { true } else { false } }
        guard case .card(let stream) = source else { return }
        try stream.goOn()
        applyEnd()
    }

    /// Whether its card is away, or is back and delivered nothing yet.
    private var isResuming: Bool {
        switch source {
        case .away, .opening(_, _, isFirst: false): true
        case .opening, .card: false
        }
    }

    /// The storage failed: the take ends here, whatever was ordered.
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
        // A card that was opened again and delivered nothing yet adds nothing; what it delivered may still get its part.
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

    /// Ends the take with what is safe, after the storage failed.
    func abandon() -> TakeRemains {
        complete()
        return output.abandon(endedBy: ending ?? .unknown, levels: levelsSoFar())
    }

    func complete() {
        // A card that went before the press was reached left nothing but pre-roll, or nothing at all.
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

    /// Of the whole take.
    private func levelsSoFar() -> [Sidecar.Levels] {
        var sum = levels
        if case .card(let stream) = source { sum.add(stream.levels, frames: output.frames - levels.frames) }
        return sum.levels.map(Sidecar.Levels.init)
    }
}

// MARK: - After the end

extension RunningTake {
    /// Whether the card's sound can run on into a tail.
    var canHaveTail: Bool {
        if case .stop(_, _, keepsTail: true) = ends.first, case .card = source { true } else { false }
    }

    /// Writes what follows the end of the finished take into a tail.
    func beginTail() throws {
        guard case .card(let stream) = source else { return }
        try output.beginTail(format: stream.format)
        ends = []
        try stream.goOn()
    }

    /// The tail becomes the next part of the take, which goes on.
    func rejoin() throws {
        try output.rejoin()
        dateAgain()
    }

    /// Removes the tail.
    func dropTail() throws {
        try output.dropTail()
    }

    /// The take that begins with the frame after this one's last. The sound's filter goes on.
    /// - Parameter output: of a take that begins at an instant.
    func next(_ output: TakeOutput, started: Instant, wall: WallTime) throws -> RunningTake? {
        guard case .card(let stream) = source else { return nil }
        source = .away
        return try RunningTake(after: self, stream: stream, output: output, started: started, wall: wall)
    }

    /// The filter of the next frame, and the format that the card delivers; nil: it is away.
    var running: (filter: FilterDesign, format: StreamFormat)? {
        if case .card(let stream) = source { (stream.filter, stream.format) } else { nil }
    }
}

// MARK: - Sync

extension RunningTake {
    /// The sample time of the first frame that no running sync covers, or nil if it is not known.
    var unsyncedSince: Instant? { writtenUpTo }

    /// The sync that makes safe what is written so far.
    func syncPoint() throws -> SyncPoint {
        let point = try output.syncPoint()
        if case .card(let stream) = source { writtenUpTo = stream.writtenUpTo ?? writtenUpTo }
        if let writtenUpTo { syncs.append((output.frames, writtenUpTo)) }
        return point
    }

    /// How long a take that has ended waits for what is saved of a removed file, once something waits for its end: no longer than the ring
    /// holds a press that follows. Without that, a take that a person stopped waits on: what the file holds lasts as long as it is open.
    private static let rescuePatience = Duration.seconds(20)
    /// How much is copied at a sync while no sound waits for it.
    private static let rescuedBytes: Int64 = 8 << 20

    /// Whether the end is put off, since a removed file is still being saved.
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

    /// The take has all of its sound: before what follows fills the ring, it is left to a take that may begin, and there is no tail.
    private func leaveFullRing() {
        guard case .card(let stream) = source, stream.ring.heldShare >= Self.longestWait else { return }
        complete()
        levels.add(stream.levels, frames: output.frames - levels.frames)
        close()
    }

    /// Takes note of what a sync made safe.
    func synced(_ synced: Synced) throws {
        try output.synced(synced)
        // While a file that lost its name is not saved, a power cut would cost all of it.
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
    /// Which frame of the take an instant can have.
    private enum Reach {
        /// Any: a point may lie in the time without the card, and at the end of the take.
        case anywhere
        /// One that the card that is open delivered: what begins there is in force from that frame on.
        case delivered
    }

    /// Notes the press, the markers and the changes of the gain that the take has come to; what was lost before them is known by then.
    func placeTimed() {
        placePress()
        for (frame, content) in markers.takePlaced({ frame(at: $0, .anywhere) }) {
            // There is no file for the time without the card, which is listed as a gap from now on.
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

    /// The frame of the take at an instant, or nil while the take has not come to it. A gain behind the end is for the tail or the next
    /// take, and so is a marker if a take follows at once; otherwise the marker lies at the end.
    private func frame(at instant: Instant, _ reach: Reach) -> TakeFrame? {
        switch (source, reach) {
        case (.opening(_, _, isFirst: true), _), (.opening, .delivered), (.away, .delivered): return nil
        case (.opening, .anywhere), (.away, .anywhere):
            // Counted from the last frame before, as the next part will be.
            return frame(at: instant, end: writtenUpTo ?? started, output.nextFrame)
        case (.card(let stream), _):
            // What the ring has of an earlier opening says nothing of this one's frames.
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

    /// The frame of the take at an instant, counted from where sound ended.
    private func frame(at instant: Instant, end: Instant, _ frame: TakeFrame) -> TakeFrame {
        max(.first, frame + Int64(((instant - end).inSeconds * Double(sidecar.rateHz)).rounded()))
    }

    /// Lists the time without its card, as far as it was not yet.
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

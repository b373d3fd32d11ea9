import Files
import Filters
import Ring
import TakeFiles
import Takes

/// Handles a take's card that is lost and comes back, and finds the first frame of its sound.
extension RunningTake {
    /// The card is lost: its remaining frames in the ring end the part, and the take waits for its return.
    func suspend() throws {
        try dropCuts()
        if case .opening = source { try begin(now: nil) }
        if case .card(let stream) = source {
            try stream.drain()
            note(stream)
            placeTimed()
            writtenUpTo = stream.writtenUpTo ?? writtenUpTo
            complete()
            levels.add(stream.levels, frames: output.frames - levels.frames)
        }
        noteLostSound()
        close()
    }

    /// Detaches from the card, and releases the frames that the ring holds.
    func close() {
        switch source {
        case .opening(let stream, _, _), .card(let stream): stream.close()
        case .away: break
        }
        source = .away
        pendingFilter = nil
    }

    /// The card is back: the take continues in another part, with the first frame that the card delivers.
    func resume(_ order: ResumeOrder) {
        guard case .away = source, ends.isEmpty else { return }
        let stream = CaptureStream(
            RingReader(holding: order.ring, from: order.opened), output: output, filter: order.filter,
            keepsUnfiltered: plan.keepsUnfiltered, lag: plan.lag, calendar: calendar)
        source = .opening(stream, opened: order.opened, isFirst: false)
        cardBack = order.card
        // The card may have lost its gain settings while it was away.
        gains = Timed()
        gains.append(order.gain, at: writtenUpTo ?? started)
    }

    /// Finds the first frame of a stream, once the card has delivered enough.
    /// - Parameter now: nil if the card will not deliver more.
    func begin(now: Instant?) throws {
        guard case .opening(let stream, let opened, let isFirst) = source, stream.ring.hasStarted(since: opened) else {
            return
        }
        if isFirst {
            let latest = max(pressed, earliest ?? pressed)
            guard now.map({ stream.knows(latest, now: $0) }) ?? true else { return }
            locateFirstFrame(of: stream, opened: opened)
        } else {
            try continueTake(with: stream)
        }
        changeToPendingFilter()
        applyEnd()
    }

    /// While a new file cannot be made, or a removed one is being saved, the take waits until this share of the ring is
    /// filled.
    static let longestWait = 0.8

    private func continueTake(with stream: CaptureStream) throws {
        guard let back = back(stream) else { return }
        let (first, end) = (stream.next, output.nextFrame)
        var frame = end + back.awayFrames(at: sidecar.rateHz)
        do throws(FileError) {
            try output.beginPart(format: stream.format, firstFrame: frame, card: cardBack)
            noteAway(from: end, to: frame)
        } catch {
            let silence = back.awayFrames(at: stream.format.rateHz)
            guard output.keepPart(format: stream.format, silence: silence) else {
                // The ring keeps the sound until the next attempt.
                if ends.isEmpty, stream.ring.heldShare < Self.longestWait { return }
                noteLostSound()
                throw error
            }
            frame = end + Sidecar.frames(silence, at: stream.format.rateHz, countedAt: sidecar.rateHz)
            noteAway(from: end, to: frame)
            try stream.appendTimeAway(silence)
        }
        awayUpTo = nil
        before = (writtenUpTo ?? started, end, back.instant)
        let filter = Sidecar.FilterChange(stream.filter, atFrame: sidecar.filter.last?.atFrame ?? .first)
        stream.begin(at: first, started: back.instant, floor: first, origin: frame)
        if filter != sidecar.filter.last { stream.change(to: stream.filter) }
        source = .card(stream)
    }

    /// When a card was back, and how long it was away.
    private struct Return {
        var instant: Instant
        var away: Duration

        func awayFrames(at rateHz: Int) -> Int64 {
            Int64(max(0, away.inSeconds * Double(rateHz)).rounded())
        }
    }

    /// Nil until the card has delivered frames. A card that opens and stays silent would otherwise leave an empty part
    /// each time.
    private func back(_ stream: CaptureStream) -> Return? {
        guard stream.ring.position > stream.next, let instant = stream.sampled(stream.next) else { return nil }
        // Measured from the last frame before, not from the start, because the crystal that counted those frames has
        // its own drift.
        return Return(instant: instant, away: instant - (writtenUpTo ?? started))
    }

    /// The stream whose sound waits because no part can be made, with the failure, or nil if no sound waits.
    var waiting: (stream: CaptureStream, failure: FileError)? {
        guard case .opening(let stream, _, isFirst: false) = source, let failure = output.partFailure,
            back(stream) != nil
        else { return nil }
        return (stream, failure)
    }

    /// Lists the sound that waits for a part as lost.
    private func noteLostSound() {
        guard let (stream, failure) = waiting, let back = back(stream) else { return }
        let end = output.nextFrame
        let frame = end + back.awayFrames(at: sidecar.rateHz)
        noteAway(from: end, to: frame)
        let held = stream.ring.position - stream.next
        let lost = frame + Sidecar.frames(held, at: stream.format.rateHz, countedAt: sidecar.rateHz)
        let start = max(frame, awayUpTo ?? frame)
        if lost > start { output.noteLoss(at: start, frames: lost - start, failure) }
        awayUpTo = max(start, lost)
    }

    /// Finds the take's first frame: the one sampled at the press, less the pre-roll.
    private func locateFirstFrame(of stream: CaptureStream, opened: RingPosition) {
        let ring = stream.ring
        guard let wanted = ring.framePosition(at: started), let press = ring.framePosition(at: pressed) else {
            return
        }
        let oldest = max(opened, earliest.flatMap { ring.framePosition(at: $0) } ?? opened)
        // The ring may have given up frames before the writer held them. Those sampled since the press become a gap.
        let floor = max(oldest, min(stream.firstHeld, max(press, oldest)))
        let first = max(wanted, floor)
        if first != wanted {
            // Some of the requested frames are missing, so the take starts later than assumed.
            started = started + ring.format.duration(ofFrames: first - wanted)
            output.note(.started(startedWall + (started - pressed + preRoll), started))
        } else if first == opened, let begun = ring.startInstant(at: opened), begun > started {
            // The stamps of a previous opening say nothing about the time in which the card was closed.
            started = begun
            output.note(.started(startedWall + (started - pressed + preRoll), started))
        }
        dateAgain()
        pressPosition = max(press, first)
        stream.begin(at: first, started: started, floor: floor, origin: .first)
        source = .card(stream)
    }
}

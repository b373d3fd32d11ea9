import Filters
import Ring
import TakeFiles
import Takes

/// The card of a take goes and comes back, and the first frame of what it delivers is found.
extension RunningTake {
    /// The card is gone: what it left in the ring ends the part, and the take waits for it to come back.
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

    /// Takes no more from the card, and frees what the ring holds.
    func close() {
        switch source {
        case .opening(let stream, _, _), .card(let stream): stream.close()
        case .away: break
        }
        source = .away
        pendingFilter = nil
    }

    /// The card is back: the take goes on in another part, with the first frame that it delivers.
    func resume(_ order: ResumeOrder) {
        guard case .away = source, ends.isEmpty else { return }
        let stream = CaptureStream(
            RingReader(holding: order.ring, from: order.opened), output: output, filter: order.filter,
            keepsUnfiltered: plan.keepsUnfiltered, lag: plan.lag, calendar: calendar)
        source = .opening(stream, opened: order.opened, isFirst: false)
        cardBack = order.card
        // The card may have lost what was set before it went away.
        gains = Timed()
        gains.append(order.gain, at: writtenUpTo ?? started)
    }

    /// Finds the first frame of a stream. It is not found before the card has delivered enough.
    /// - Parameter now: nil: it will not deliver more.
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

    /// So much of the ring may fill before the take waits no more for a file: that of a card that is back, or a removed one.
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
                // The ring keeps the sound meanwhile.
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

    /// Nil until the card has delivered: one that opens and stays silent would leave an empty part each time.
    private func back(_ stream: CaptureStream) -> Return? {
        guard stream.ring.position > stream.next, let instant = stream.sampled(stream.next) else { return nil }
        // Since the last frame before, not since the start: the crystal that counted the frames until then has a pace of its own.
        return Return(instant: instant, away: instant - (writtenUpTo ?? started))
    }

    /// The stream whose sound waits because no part can be made, with the failure, or nil if no sound waits.
    var waiting: (stream: CaptureStream, failure: FileError)? {
        guard case .opening(let stream, _, isFirst: false) = source, let failure = output.partFailure,
            back(stream) != nil
        else { return nil }
        return (stream, failure)
    }

    /// Lists what waits for a part as lost.
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
            // Not everything that was asked for is there, so the take starts later than was assumed.
            started = started + ring.format.duration(ofFrames: first - wanted)
            output.note(.started(startedWall + (started - pressed + preRoll), started))
        } else if first == opened, let begun = ring.startInstant(at: opened), begun > started {
            // The stamps of an earlier opening say nothing about the time in which the card was closed.
            started = begun
            output.note(.started(startedWall + (started - pressed + preRoll), started))
        }
        dateAgain()
        pressPosition = max(press, first)
        stream.begin(at: first, started: started, floor: floor, origin: .first)
        source = .card(stream)
    }
}

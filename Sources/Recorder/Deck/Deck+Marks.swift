import Recording
import Ring
import Takes
import Transport

// Markers that are asked for at a place of the take that is recorded.
extension Deck {
    /// The marker that a request asks for.
    /// - Throws: a refusal if its place does not lie in the take that is recorded.
    func mark(_ request: MarkRequest, now: Instant) throws(Refusal) -> Mark {
        // Without a date it is for the transport to say what becomes of it.
        if request.place == .now, request.take == nil, request.content.endFrame == nil {
            return Mark(.instant(now), request.content)
        }
        guard case .recording(let take) = transport.phase, take.stage == .running else {
            throw Refusal(.busy, "mark: nothing is being recorded: record a take first")
        }
        if let wanted = request.take, wanted != .last, !(take.name.map(wanted.names) ?? false) {
            throw Refusal(
                .notFound,
                "mark: \(wanted) is not being recorded: a finished take gets its markers from the library")
        }
        let mark = Mark(try place(request.place, in: take, now: now), request.content, of: take.name)
        try checkRegion(of: mark, now: now)
        return mark
    }

    private func place(
        _ place: MarkRequest.Place, in take: TransportState.Recording, now: Instant
    ) throws(Refusal) -> Mark.Place {
        let instant: Instant
        switch place {
        case .now: return .instant(now)
        case .frame(let frame):
            try checkReached(frame, "at_frame", now: now)
            return .frame(frame)
        case .past(let time): instant = try self.instant(of: time, for: "mark", now: now)
        }
        let started = progress?.started ?? take.since - options.preRoll
        // Half a frame before the first one is that one still.
        guard (instant - started).inSeconds * Double(rateOfTake) >= -0.5 else {
            throw Refusal(
                .badData,
                "mark: that was \(Self.figure(started - instant)) s before the take's first frame: mark what lies in the take"
            )
        }
        return .instant(instant)
    }

    /// When sound was sampled that a command is about.
    /// - Throws: a refusal if it is not sampled yet, or the card's clock is not known.
    func instant(of time: PastTime, for command: String, now: Instant) throws(Refusal) -> Instant {
        let instant: Instant
        switch time {
        case .ago(let time): instant = now - time
        case .raw(let nanoseconds):
            guard let found = card.open?.ring.instant(ofRaw: nanoseconds) else {
                throw Refusal(.busy, "\(command): raw_ns: no card is open, nor its clock known: give ago_ms instead")
            }
            instant = found
        }
        guard instant <= now else {
            throw Refusal(
                .busy,
                "\(command): that is \(Self.figure(instant - now)) s ahead of the last frame: try once it is sampled")
        }
        return instant
    }

    /// A region ends behind its begin, and not behind the last frame there is.
    private func checkRegion(of mark: Mark, now: Instant) throws(Refusal) {
        guard let end = mark.content.endFrame else { return }
        try checkReached(end, "end_frame", now: now)
        guard case .instant(let instant) = mark.place, let next = progress?.next, let ring = card.open?.ring,
            let position = ring.framePosition(at: instant)
        else { return }
        let frame = next.frame(at: position, rateHz: ring.format.rateHz, takeRateHz: rateOfTake)
        guard end >= frame else {
            throw Refusal(
                .usage, "mark: end_frame: found \(end.count), the marker is at frame \(frame.count): give a later one")
        }
    }

    private func checkReached(_ frame: TakeFrame, _ key: String, now: Instant) throws(Refusal) {
        let frames = framesNow(now)
        guard frame.count <= frames else {
            throw Refusal(
                .busy,
                "mark: \(key): found \(frame.count), the take has \(frames) frames yet: mark it once it is sampled")
        }
    }

    /// Frames of the take that is recorded, with those that the writer has not come to.
    private func framesNow(_ now: Instant) -> Int64 {
        guard let progress else { return Int64(secondsIntoTake(at: now) * Double(rateOfTake)) }
        guard let next = progress.next, let ring = card.open?.ring, ring.position >= next.position else {
            return progress.frames
        }
        return next.frame(at: ring.position, rateHz: ring.format.rateHz, takeRateHz: rateOfTake).count
    }

    /// Frames a second of the take that is recorded.
    var rateOfTake: Int { progress?.rateHz ?? card.open?.grant.format.rateHz ?? 1 }

    private static func figure(_ time: Duration) -> String {
        // Three digits, as the status has them.
        "\((time.inSeconds * 1000).rounded() / 1000)"
    }
}

import Recording
import Ring
import Takes
import Transport

// Markers with a place in the take in progress.
extension Deck {
    /// Makes a marker from a request.
    /// - Throws: a refusal if its place is not in the take in progress.
    func mark(_ request: MarkRequest, now: Instant) throws(Refusal) -> Mark {
        // A marker without a place is left to the transport, which decides in every state.
        if request.place == .now, request.take == nil, request.content.endFrame == nil {
            return Mark(.instant(now), request.content)
        }
        guard case .recording(let take) = transport.phase, take.stage == .running else {
            throw Refusal(.nothingRecorded)
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
        // Up to half a frame before the first frame rounds to that frame.
        guard (instant - started).inSeconds * Double(rateOfTake) >= -0.5 else {
            throw Refusal(
                .badData,
                "mark: that was \(Self.figure(started - instant)) s before the take's first frame: mark what lies in the take"
            )
        }
        return .instant(instant)
    }

    /// The sample time that a command refers to.
    /// - Throws: a refusal if it is in the future, or if the card's clock is not known.
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

    /// A region must end after its beginning, and not after the latest frame.
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

    /// The frames of the take in progress, including those that the writer has not processed yet.
    private func framesNow(_ now: Instant) -> Int64 {
        guard let progress else { return Int64(secondsIntoTake(at: now) * Double(rateOfTake)) }
        guard let next = progress.next, let ring = card.open?.ring, ring.position >= next.position else {
            return progress.frames
        }
        return next.frame(at: ring.position, rateHz: ring.format.rateHz, takeRateHz: rateOfTake).count
    }

    /// The frame rate of the take in progress.
    var rateOfTake: Int { progress?.rateHz ?? card.open?.grant.format.rateHz ?? 1 }

    private static func figure(_ time: Duration) -> String {
        // Three decimals, like the status.
        "\((time.inSeconds * 1000).rounded() / 1000)"
    }
}

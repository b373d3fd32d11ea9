import Ring
import TakeFiles
import Takes

/// A take during playback: keeps the card's queue filled from the take, and reports the position.
///
/// It never waits and has no thread. Its owner calls `pump` at the time that the last call returned. Every interruption
/// (a skip, a pause, a stop, another pitch or speed) takes back the frames that the card has not played yet, and fades
/// out within `fade`. Playback then continues with a fade-in from a place that is computed from the exact frame of the
/// cut, so a skip is exact to the frame. Without an interruption, the first and the last frame are played without a
/// fade.
final class PlayedTake {
    let lengths: PlayLengths
    let audio: TakeAudio
    let sink: any PlaybackSink
    private let request: (StreamFormat) -> PlaybackRequest
    var grant: PlaybackGrant
    var queue: PlayQueue
    var source: PlaySource
    var map: PlayMap
    var volume: Double
    var tuning: Tuning
    var state = State.playing
    /// The last change of the played frame of the queue, and its time.
    private var lastPlayed: (frame: Int64, at: Instant)
    /// The position at the last query.
    private var lastPosition = PlayPosition()

    enum State {
        case playing
        /// All frames are read. `end` is the first frame of the queue after them.
        case ending(end: Int64)
        /// The sound fades out, and is silent from frame `end` of the queue on.
        case pausing(end: Int64, at: PlayPosition)
        case paused(at: PlayPosition)
        case stopping(end: Int64, at: PlayPosition)
        case ended(at: PlayPosition)
    }

    /// The length of a fade at a cut.
    static let fade = Duration.milliseconds(3)
    /// The length of a volume change.
    static let volumeRamp = Duration.milliseconds(30)
    /// This much stays queued when the rest is taken back, because the card may be about to fetch it.
    static let kept = Duration.milliseconds(25)
    /// Silence after the last frame, so that a card that plays whole periods plays that frame.
    static let tail = Duration.milliseconds(100)
    /// This much of the silence must be played, because frames that a card reports as played may still be on their way.
    private static let rest = Duration.milliseconds(20)
    /// If the card plays nothing for this long, it has failed.
    private static let patience = Duration.seconds(3)

    /// Opens a take and a card for it.
    /// - Parameter request: the card request for a format.
    /// - Throws: `PlaybackError`, which says whether the take or the card failed.
    init(
        _ audio: TakeAudio, sink: any PlaybackSink, volume: Double, tuning: Tuning, now: Instant,
        request: @escaping (StreamFormat) -> PlaybackRequest
    ) throws(PlaybackError) {
        self.audio = audio
        self.sink = sink
        self.volume = volume
        self.tuning = tuning
        self.request = request
        lengths = PlayLengths(
            parts: audio.parts.map { PlayLengths.Part(frames: $0.frames, rateHz: $0.format.rateHz) })
        let grant = try Self.open(sink, request(audio.parts[0].format))
        self.grant = grant
        queue = Self.queue(for: grant, volume: volume)
        source = try PlaybackError.catching {
            try PlaySource(audio, at: PlayPosition(), card: grant.format, tuning: tuning)
        }
        map = PlayMap(
            rateHz: grant.format.rateHz, lengths: lengths,
            PlayMap.Segment(frame: 0, position: PlayPosition(), speed: tuning.speed))
        lastPlayed = (0, now)
        // Stretched sound does not begin like the take itself.
        if tuning.tempo != 1 { fadeIn() }
    }

    var cardFormat: StreamFormat { grant.format }
    var card: String { grant.card }
    var isEnded: Bool {
        if case .ended = state { true } else { false }
    }
    /// The first frame of the queue after the take's frames, or nil if more will follow.
    var end: Int64? {
        if case .ending(let end) = state { end } else { nil }
    }
    /// The number of seconds of the take that were played.
    var endSeconds: Double { lengths.seconds(at: lastPosition) }

    /// Fills the card's queue, and detects the end.
    /// - Returns: the time of the next call, or nil if there is nothing to wait for.
    func pump(now: Instant) throws -> Instant? {
        switch state {
        case .playing:
            try fill()
            if case .ending = state { return try pump(now: now) }
            try watch(now: now)
            // At that time half of the queue is left.
            return try due(now, queued: Int64(grant.bufferFrames / 2))
        case .ending(let end):
            _ = try queue.give(to: sink, upTo: queue.made)
            let over = end + grant.format.frames(in: Self.rest)
            guard try playedFrame() >= over else {
                try watch(now: now)
                return try due(now, played: over)
            }
            return try endPart(now: now)
        case .pausing(let end, let position):
            _ = try queue.give(to: sink, upTo: queue.made)
            guard try playedFrame() >= end else {
                try watch(now: now)
                return try due(now, played: end)
            }
            silence()
            state = .paused(at: position)
            return nil
        case .stopping(let end, _):
            _ = try queue.give(to: sink, upTo: queue.made)
            // A card that plays nothing is already silent.
            guard try playedFrame() >= end || isStuck(now: now) else { return try due(now, played: end) }
            close()
            return nil
        case .paused, .ended: return nil
        }
    }

    func progress(now: Instant) throws -> PlayProgress {
        switch state {
        case .playing, .ending:
            let frame = min(try playedFrame(), end ?? .max)
            map.drop(before: frame)
            lastPosition = map.position(ofFrame: frame)
            return map.progress(ofFrame: frame, end: end, now: now)
        case .pausing(_, let position), .paused(let position), .stopping(_, let position), .ended(let position):
            lastPosition = position
            let line = PlayProgress.Line(from: now, seconds: lengths.seconds(at: position), speed: 0)
            return PlayProgress(lines: [line], total: lengths.seconds)
        }
    }

    /// Stops the sound at once and closes the card.
    func close() {
        sink.close()
        switch state {
        case .stopping(_, let position), .pausing(_, let position), .paused(let position): lastPosition = position
        case .playing, .ending, .ended: break
        }
        state = .ended(at: lastPosition)
    }

    /// Called when all read frames are played. Opens the card again for a part in another format, or ends.
    private func endPart(now: Instant) throws -> Instant? {
        guard let following = source.following else {
            lastPosition = lengths.end
            close()
            return nil
        }
        try reopen(at: PlayPosition(part: following), now: now)
        return try pump(now: now)
    }

    /// Opens the card again for the part at a place, and begins there.
    func reopen(at position: PlayPosition, now: Instant) throws {
        sink.close()
        let grant = try Self.open(sink, request(audio.parts[position.part].format))
        self.grant = grant
        queue = Self.queue(for: grant, volume: volume)
        source = try PlaySource(audio, at: position, card: grant.format, tuning: tuning)
        map = PlayMap(
            rateHz: grant.format.rateHz, lengths: lengths,
            PlayMap.Segment(frame: 0, position: position, speed: tuning.speed))
        begin(now: now)
    }

    func begin(now: Instant) {
        lastPlayed = (-1, now)
        state = .playing
    }

    private func fill() throws {
        while try queue.give(to: sink, upTo: queue.made) {
            guard try source.make() else {
                state = .ending(end: queue.made)
                queue.appendSilence(Int(grant.format.frames(in: Self.tail)))
                return
            }
            let count = min(source.ready.count, PlayQueue.chunkFrames)
            queue.append(source.ready.samples, frameCount: count)
            source.ready.removeFirst(count)
        }
    }
}

// MARK: - The card

extension PlayedTake {
    private static func open(
        _ sink: any PlaybackSink, _ request: PlaybackRequest
    ) throws(PlaybackError) -> PlaybackGrant {
        do {
            return try sink.open(request)
        } catch let error as CardInUse {
            throw .cardInUse(error.description)
        } catch {
            throw .card("\(error)")
        }
    }

    private static func queue(for grant: PlaybackGrant, volume: Double) -> PlayQueue {
        PlayQueue(
            format: grant.format, bufferFrames: grant.bufferFrames,
            tailFrames: Int(grant.format.frames(in: Self.tail)), volume: volume)
    }

    /// The frame of the queue that is played now.
    private func playedFrame() throws -> Int64 {
        queue.given - Int64(try sink.queuedFrames())
    }

    private func due(_ now: Instant, queued: Int64) throws -> Instant {
        now + grant.format.duration(ofFrames: max(0, Int64(try sink.queuedFrames()) - queued))
    }

    private func due(_ now: Instant, played frame: Int64) throws -> Instant {
        now + grant.format.duration(ofFrames: max(0, frame - (try playedFrame())) + 1)
    }

    /// Throws if the card plays nothing.
    private func watch(now: Instant) throws {
        if try isStuck(now: now) {
            throw PlaybackError.card("play: \(grant.card): it played nothing for \(Self.patience.inSeconds) s")
        }
    }

    private func isStuck(now: Instant) throws -> Bool {
        let played = try playedFrame()
        if played != lastPlayed.frame { lastPlayed = (played, now) }
        return now - lastPlayed.at > Self.patience
    }

    /// Drops the silence that is still queued.
    private func silence() {
        if let queued = try? sink.queuedFrames() { queue.takeBack(Int64(queued)) }
        sink.drop()
        queue.drop(from: queue.given)
    }
}

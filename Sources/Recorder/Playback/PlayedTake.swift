import Ring
import TakeFiles
import Takes

/// A take while it is played: keeps the card's queue filled from the take, and says which place of it is played.
///
/// It waits for nothing and has no thread; its owner calls `pump` when it says so. Whatever interrupts the sound (a skip, a
/// pause, a stop, another pitch or speed) takes back what the card has not played yet, fades out within `fade`, and goes on
/// faded in from a place that is computed from the very frame of the cut. So a skip is exact to the frame. Without such an
/// interruption, the first and the last frame are played as they are.
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
    /// The frame of the queue that was played when it was last another, and when that was.
    private var lastPlayed: (frame: Int64, at: Instant)
    /// The place that was played when it was last asked for.
    private var lastPosition = PlayPosition()

    enum State {
        case playing
        /// All is read; frame `end` of the queue is the first that is not of what was read.
        case ending(end: Int64)
        /// Fading out, to be silent from frame `end` of the queue on.
        case pausing(end: Int64, at: PlayPosition)
        case paused(at: PlayPosition)
        case stopping(end: Int64, at: PlayPosition)
        case ended(at: PlayPosition)
    }

    /// How long the sound takes to fade where it is cut.
    static let fade = Duration.milliseconds(3)
    /// How long a change of the volume takes.
    static let volumeRamp = Duration.milliseconds(30)
    /// What stays queued when the rest is taken back: the card may be about to fetch it.
    static let kept = Duration.milliseconds(25)
    /// Silence that follows the last frame, so that a card that plays whole periods plays it.
    static let tail = Duration.milliseconds(100)
    /// How much of that silence is to be played: what a card calls played may not have left it yet.
    private static let rest = Duration.milliseconds(20)
    /// A card that plays nothing for so long has failed.
    private static let patience = Duration.seconds(3)

    /// Opens a take and a card for it.
    /// - Parameter request: what to ask of the card for sound of a format.
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
        // What is stretched does not begin as the take does.
        if tuning.tempo != 1 { fadeIn() }
    }

    /// What the card runs at.
    var cardFormat: StreamFormat { grant.format }
    /// The card's stable id.
    var card: String { grant.card }
    /// Whether the card is closed.
    var isEnded: Bool {
        if case .ended = state { true } else { false }
    }
    /// The queue's first frame that is of no place of the take; nil: there will be more.
    var end: Int64? {
        if case .ending(let end) = state { end } else { nil }
    }
    /// Up to which second the take was played.
    var endSeconds: Double { lengths.seconds(at: lastPosition) }

    /// Fills the card's queue, and notices the end.
    /// - Returns: when it is to be called again; nil: it waits for nothing.
    func pump(now: Instant) throws -> Instant? {
        switch state {
        case .playing:
            try fill()
            if case .ending = state { return try pump(now: now) }
            try watch(now: now)
            // Half the queue is left then.
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
            // A card that plays nothing is silent already.
            guard try playedFrame() >= end || isStuck(now: now) else { return try due(now, played: end) }
            close()
            return nil
        case .paused, .ended: return nil
        }
    }

    /// Where the playing is, and how it goes on.
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

    /// Silence at once, and the card is closed.
    func close() {
        sink.close()
        switch state {
        case .stopping(_, let position), .pausing(_, let position), .paused(let position): lastPosition = position
        case .playing, .ending, .ended: break
        }
        state = .ended(at: lastPosition)
    }

    /// All that was read is played: goes on with a part of another format on the card, which is opened again, or ends.
    private func endPart(now: Instant) throws -> Instant? {
        guard let following = source.following else {
            lastPosition = lengths.end
            close()
            return nil
        }
        try reopen(at: PlayPosition(part: following), now: now)
        return try pump(now: now)
    }

    /// Opens the card for the part of a place, and begins there.
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

    /// It plays from now on.
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

    /// Notices a card that plays nothing.
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

    /// What is still queued is silence.
    private func silence() {
        if let queued = try? sink.queuedFrames() { queue.takeBack(Int64(queued)) }
        sink.drop()
        queue.drop(from: queue.given)
    }
}

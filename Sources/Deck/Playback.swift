import Ring
import TakeFiles
import Takes

/// A take while it is being played: reads its parts, brings them to the card's rate and channels, and keeps the card's queue
/// filled. It waits for nothing and knows no thread; whoever owns it calls `pump` when it says so.
///
/// Whatever interrupts the sound (a skip, a pause, a stop) takes back what the card has not come to yet, fades out within
/// `fade`, and goes on faded in from a place that is reckoned from the very frame that it cut at: in what is heard, a skip is
/// exact to the frame. Where nobody interferes, the first and the last frame are played as they are.
final class Playback {
    let lengths: PlayLengths
    private let audio: TakeAudio
    private let sink: any PlaybackSink
    private let request: (StreamFormat) -> PlaybackRequest
    private var grant: PlaybackGrant
    private var queue: PlayQueue
    private var resampler: Resampler?
    private var map: ChannelMap
    private var volume: Double

    private var state = State.playing
    /// The next frame to be read.
    private var next = PlayPosition()
    /// Which frame of the queue is which of the take, from the last jump on.
    private var anchor: (frame: Int64, position: PlayPosition) = (0, PlayPosition())
    private var read: [Double] = []
    private var resampled: [Double]
    private var mapped: [Double]
    /// Frames of `read` that the resampler has not taken yet.
    private var unused: Range<Int> = 0..<0
    private var lastHeard: (frame: Int64, at: Instant)

    private enum State: Equatable {
        case playing
        /// All is read; frame `end` of the queue is the first that is not of what was read.
        case ending(end: Int64)
        /// Fading out, to be silent from frame `end` of the queue on.
        case pausing(end: Int64, at: PlayPosition)
        case paused(at: PlayPosition)
        case stopping(end: Int64)
        case ended
    }

    /// How long the sound takes to fade where it is cut.
    static let fade = Duration.milliseconds(3)
    /// How long a change of the volume takes.
    static let volumeRamp = Duration.milliseconds(30)
    /// What stays queued when the rest is taken back: the card may be about to fetch it.
    static let kept = Duration.milliseconds(25)
    /// Silence that follows the last frame, so that a card that plays whole periods comes to it.
    static let tail = Duration.milliseconds(100)
    /// How much of that silence is waited for: what a card says is played may not have left it yet.
    static let rest = Duration.milliseconds(20)
    /// A card that plays nothing for so long has failed.
    static let patience = Duration.seconds(3)

    /// Opens a take and a card for it.
    /// - Parameter request: what to ask of the card for sound of a format.
    /// - Throws: `PlaybackError`, which tells the take from the card.
    init(
        _ audio: TakeAudio, sink: any PlaybackSink, volume: Double, now: Instant,
        request: @escaping (StreamFormat) -> PlaybackRequest
    ) throws(PlaybackError) {
        self.audio = audio
        self.sink = sink
        self.volume = volume
        self.request = request
        lengths = PlayLengths(
            parts: audio.parts.map { PlayLengths.Part(frames: $0.frames, rateHz: $0.format.rateHz) })
        grant = try Self.open(sink, request(audio.parts[0].format))
        queue = Self.queue(for: grant, volume: volume)
        map = ChannelMap(from: audio.parts[0].format.channels, to: grant.format.channels)
        resampled = []
        mapped = []
        lastHeard = (0, now)
        try PlaybackError.catching { try prepare(part: 0) }
    }

    /// What the card runs at.
    var cardFormat: StreamFormat { grant.format }
    /// The card's stable id.
    var card: String { grant.card }
    /// Whether nothing is heard any more.
    var isEnded: Bool { state == .ended }
    /// Whether it is paused, or about to be.
    var isPaused: Bool {
        switch state {
        case .pausing, .paused: true
        case .playing, .ending, .stopping, .ended: false
        }
    }

    /// Fills the card's queue, and notices the end.
    /// - Returns: when it wants to be called again; nil: it waits for nothing.
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
            guard try heard() >= over else {
                try watch(now: now)
                return try due(now, heard: over)
            }
            return try endPart(now: now)
        case .pausing(let end, let position):
            _ = try queue.give(to: sink, upTo: queue.made)
            guard try heard() >= end else {
                try watch(now: now)
                return try due(now, heard: end)
            }
            silence()
            state = .paused(at: position)
            return nil
        case .stopping(let end):
            _ = try queue.give(to: sink, upTo: queue.made)
            // A card that plays nothing is silent already.
            guard try heard() >= end || isStuck(now: now) else { return try due(now, heard: end) }
            close()
            return nil
        case .paused, .ended: return nil
        }
    }

    /// The place that is heard now.
    func position() throws -> PlayPosition {
        switch state {
        case .playing, .ending, .stopping: return position(ofFrame: try heard())
        case .pausing(_, let position), .paused(let position): return position
        case .ended: return lengths.end
        }
    }
}

// MARK: - The transport's verbs

extension Playback {
    func pause() throws {
        switch state {
        case .playing, .ending:
            let cut = try cut()
            state = .pausing(end: cut.frame, at: cut.position)
        case .pausing, .paused, .stopping, .ended: break
        }
    }

    func resume(now: Instant) throws {
        switch state {
        case .pausing(_, let position):
            try takeBack()
            try go(to: position, now: now)
        case .paused(let position): try go(to: position, now: now)
        case .playing, .ending, .stopping, .ended: break
        }
    }

    /// Moves on by `seconds`, or back; while paused, silently.
    func skip(bySeconds seconds: Double, now: Instant) throws {
        switch state {
        case .playing, .ending:
            let cut = try cut()
            try go(to: lengths.moved(from: cut.position, by: seconds), now: now)
        case .pausing(let end, let position):
            state = .pausing(end: end, at: lengths.moved(from: position, by: seconds))
        case .paused(let position):
            state = .paused(at: lengths.moved(from: position, by: seconds))
        case .stopping, .ended: break
        }
    }

    func setVolume(_ volume: Double) throws {
        self.volume = volume
        switch state {
        case .playing, .ending:
            try takeBack()
            queue.fader.ramp(to: volume, at: queue.given, length: grant.format.frames(in: Self.volumeRamp))
        case .pausing, .paused, .stopping, .ended: break
        }
    }

    /// Ends it; `isEnded` once the sound has faded.
    func stop() throws {
        switch state {
        case .playing, .ending: state = .stopping(end: try cut().frame)
        case .pausing(let end, _): state = .stopping(end: end)
        case .paused: close()
        case .stopping, .ended: break
        }
    }

    /// Silence at once, and the card is closed.
    func close() {
        sink.close()
        state = .ended
    }
}

// MARK: - Filling the queue

extension Playback {
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

    /// Sets up rate and channels for a part, from its frame `next`.
    private func prepare(part: Int) throws {
        let format = audio.parts[part].format
        map = ChannelMap(from: format.channels, to: grant.format.channels)
        resampler = nil
        if format.rateHz != grant.format.rateHz {
            resampler = try Resampler(
                fromHz: format.rateHz, toHz: grant.format.rateHz, channels: format.channels)
        }
        unused = 0..<0
        let chunk = PlayQueue.chunkFrames
        read = [Double](repeating: 0, count: chunk * format.channels)
        resampled = [Double](repeating: 0, count: chunk * format.channels)
        mapped = [Double](repeating: 0, count: chunk * grant.format.channels)
    }

    private func fill() throws {
        while try queue.give(to: sink, upTo: queue.made) {
            guard try make() else {
                state = .ending(end: queue.made)
                queue.appendSilence(Int(grant.format.frames(in: Self.tail)))
                return
            }
        }
    }

    /// Makes some frames.
    /// - Returns: false once there are no more of this part's format.
    private func make() throws -> Bool {
        guard resampler != nil else {
            guard let count = try readOn() else { return false }
            append(read, count)
            return true
        }
        if unused.isEmpty {
            unused = try readOn().map { 0..<$0 } ?? 0..<0
        }
        let isOver = unused.isEmpty
        let (used, made) =
            try resampler?.process(
                isOver ? nil : read, first: unused.lowerBound, frameCount: unused.count, into: &resampled) ?? (0, 0)
        unused = unused.dropFirst(used)
        append(resampled, made)
        return !isOver || made > 0
    }

    /// Reads a chunk, on into the next part if that is of the same format.
    /// - Returns: how many frames; nil: there are no more.
    private func readOn() throws -> Int? {
        while true {
            let count = try read(part: next.part, at: next.frame)
            next.frame += Int64(count)
            if count > 0 { return count }
            guard let following = followingPart, audio.parts[following].format == audio.parts[next.part].format else {
                return nil
            }
            next = PlayPosition(part: following)
        }
    }

    private func read(part: Int, at frame: Int64) throws -> Int {
        var samples: [Double] = []
        swap(&samples, &read)
        defer { swap(&samples, &read) }
        var span = samples.mutableSpan
        return try audio.read(part: part, at: frame, into: &span)
    }

    private var followingPart: Int? {
        next.part + 1 < audio.parts.count ? next.part + 1 : nil
    }

    private func append(_ samples: [Double], _ frameCount: Int) {
        if map.isIdentity {
            queue.append(samples, frameCount: frameCount)
        } else {
            map.map(samples, frameCount: frameCount, into: &mapped)
            queue.append(mapped, frameCount: frameCount)
        }
    }

    /// All that was read is heard: goes on with a part of another format on the card opened anew, or ends.
    private func endPart(now: Instant) throws -> Instant? {
        guard let following = followingPart else {
            close()
            return nil
        }
        sink.close()
        grant = try Self.open(sink, request(audio.parts[following].format))
        queue = Self.queue(for: grant, volume: volume)
        begin(at: PlayPosition(part: following), now: now)
        try prepare(part: following)
        return try pump(now: now)
    }
}

// MARK: - Where it is, and jumps

extension Playback {
    /// The queue's frame that is heard now.
    private func heard() throws -> Int64 {
        queue.given - Int64(try sink.queuedFrames())
    }

    private func position(ofFrame frame: Int64) -> PlayPosition {
        let seconds = Double(max(0, frame - anchor.frame)) / Double(grant.format.rateHz)
        let position = lengths.moved(from: anchor.position, by: seconds)
        return min(position, lengths.end)
    }

    private func due(_ now: Instant, queued: Int64) throws -> Instant {
        now + grant.format.duration(ofFrames: max(0, Int64(try sink.queuedFrames()) - queued))
    }

    private func due(_ now: Instant, heard frame: Int64) throws -> Instant {
        now + grant.format.duration(ofFrames: max(0, frame - (try heard())) + 1)
    }

    /// Notices a card that plays nothing.
    private func watch(now: Instant) throws {
        if try isStuck(now: now) {
            throw PlaybackError.card("play: \(grant.card): it played nothing for \(Self.patience.inSeconds) s")
        }
    }

    private func isStuck(now: Instant) throws -> Bool {
        let heard = try heard()
        if heard != lastHeard.frame { lastHeard = (heard, now) }
        return now - lastHeard.at > Self.patience
    }

    /// Takes back whatever the card need not play.
    private func takeBack() throws {
        let kept = Int(grant.format.frames(in: Self.kept))
        let queued = try sink.queuedFrames()
        guard queued > kept else { return }
        let back = try sink.takeBack(keeping: kept)
        if back > 0 {
            queue.takeBack(Int64(back))
        } else {
            // The card cannot. What it has is dropped, and given anew as far as it is wanted.
            sink.drop()
            queue.takeBack(Int64(queued))
        }
    }

    /// Cuts the sound off, faded.
    /// - Returns: the queue's first frame, and the take's, that is not heard any more.
    private func cut() throws -> (frame: Int64, position: PlayPosition) {
        try takeBack()
        let length = min(grant.format.frames(in: Self.fade), queue.made - queue.given)
        let frame = queue.given + length
        let position = position(ofFrame: frame)
        queue.fader.ramp(to: 0, at: queue.given, length: length)
        queue.forget(from: frame)
        queue.appendSilence(Int(grant.format.frames(in: Self.tail)))
        _ = try queue.give(to: sink, upTo: frame)
        return (frame, position)
    }

    /// Plays on from a place, faded in.
    private func go(to position: PlayPosition, now: Instant) throws {
        queue.forget(from: queue.given)
        let isFormatKept = audio.parts[position.part].format == audio.parts[anchor.position.part].format
        if isFormatKept {
            begin(at: position, now: now)
            queue.fader = Fader(volume: 0)
            queue.fader.ramp(to: volume, at: queue.given, length: grant.format.frames(in: Self.fade))
        } else {
            sink.close()
            grant = try Self.open(sink, request(audio.parts[position.part].format))
            queue = Self.queue(for: grant, volume: volume)
            begin(at: position, now: now)
        }
        try prepare(part: position.part)
    }

    private func begin(at position: PlayPosition, now: Instant) {
        next = position
        anchor = (queue.given, position)
        lastHeard = (-1, now)
        state = .playing
    }

    /// What is still queued is silence.
    private func silence() {
        if let queued = try? sink.queuedFrames() { queue.takeBack(Int64(queued)) }
        sink.drop()
        queue.forget(from: queue.given)
    }
}

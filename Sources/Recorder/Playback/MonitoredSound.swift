import Filters
import Live
import Ring
import Takes

/// The sound of the capture card on its way to an open playback card: read from the ring, converted to the card's rate
/// and channels, and queued no longer than necessary.
final class MonitoredSound {
    /// The grant of the playback card.
    let grant: PlaybackGrant
    private let sink: any PlaybackSink
    private let sound: LiveSound
    private var path: PlayPath
    private var ready: Frames
    private var queue: PlayQueue
    private var level: QueueLevel
    /// The last change of the number of frames given to the card, and its time.
    private var lastGiven: (frame: Int64, at: Instant)
    private var volume: Double
    /// The number of frames still to be left out because far too many are queued.
    private var excess: Int64 = 0

    /// Frames are moved from the ring to the card at this interval.
    static let interval = Duration.milliseconds(10)
    /// The buffer of the playback card. It is filled only as far as necessary.
    static let buffer = Duration.milliseconds(90)
    /// Sound that waits for the card beyond this length is dropped.
    private static let mostWaiting = Duration.milliseconds(500)
    /// If the card takes nothing for this long, it has failed.
    private static let patience = Duration.seconds(3)

    /// - Throws: `ResamplerError`.
    init(_ request: MonitorRequest, _ sink: any PlaybackSink, _ grant: PlaybackGrant, now: Instant) throws {
        self.sink = sink
        self.grant = grant
        sound = LiveSound(request.source)
        path = try PlayPath(from: sound.format, to: grant.format, tuning: Tuning())
        ready = Frames(channels: grant.format.channels)
        queue = PlayQueue(
            format: grant.format, bufferFrames: grant.bufferFrames,
            tailFrames: Int(grant.format.frames(in: Self.mostWaiting)), volume: 0)
        level = QueueLevel(format: grant.format, now: now)
        lastGiven = (0, now)
        volume = request.volume
        fade()
    }

    /// Changes the filters or the volume.
    func change(to request: MonitorRequest) {
        sound.change(to: request.source.design)
        guard request.volume != volume else { return }
        volume = request.volume
        fade()
    }

    private func fade() {
        queue.fader.ramp(to: volume, at: queue.given, length: grant.format.frames(in: PlayedTake.volumeRamp))
    }

    /// Moves the sampled frames to the card.
    /// - Throws: the card's errors.
    func pump(now: Instant) throws {
        while try sound.read({ samples, frameCount in
            var input = Frames(channels: sound.format.channels)
            input.append(samples, frameCount: frameCount)
            try path.process(input, into: &ready)
        }) {
            if ready.count > 0 { try add(now: now) }
        }
        _ = try queue.give(to: sink, upTo: queue.made)
        if queue.given != lastGiven.frame || queue.isEmpty { lastGiven = (queue.given, now) }
        if now - lastGiven.at > Self.patience {
            throw PlaybackError.card("\(grant.card): it played nothing for \(Self.patience.components.seconds) s")
        }
    }

    private func add(now: Instant) throws {
        defer { ready.removeAll() }
        let waiting = queue.made - queue.given
        let queued = waiting + Int64(try sink.queuedFrames())
        if queued == 0 {
            // The queue has just begun, or it ran dry.
            queue.appendSilence(Int(level.target))
            level.restart(now: now)
            excess = 0
        } else {
            excess += level.add(queued: queued, now: now)
            leaveOut()
        }
        if level.missing != 0, let frame = ready.quietestStep {
            if level.missing > 0 { ready.repeatFrame(frame) } else { ready.removeFrame(frame) }
            level.corrected()
        }
        while ready.count > 0, queue.made - queue.given < grant.format.frames(in: Self.mostWaiting) {
            let count = min(ready.count, PlayQueue.chunkFrames)
            queue.append(ready.samples, frameCount: count)
            ready.removeFirst(count)
        }
        _ = try queue.give(to: sink, upTo: queue.made)
    }

    /// Leaves out excess frames that the card was not given yet.
    private func leaveOut() {
        let waiting = min(excess, queue.made - queue.given)
        queue.drop(from: queue.made - waiting)
        let new = min(excess - waiting, Int64(ready.count))
        ready.removeFirst(Int(new))
        excess -= waiting + new
    }
}

extension Frames {
    /// The frame with the least difference to the next one, or nil with fewer than two frames.
    var quietestStep: Int? {
        (0..<max(0, count - 1)).min { step(after: $0) < step(after: $1) }
    }

    private func step(after frame: Int) -> Double {
        (frame * channels..<(frame + 1) * channels).reduce(0) { $0 + abs(samples[$1 + channels] - samples[$1]) }
    }
}

import Filters
import Live
import Ring
import Takes

/// The sound of the capture card on its way to a card that is open: read from the ring, brought to the card's rate and channels,
/// and queued no longer than necessary.
final class MonitoredSound {
    /// What was granted by the card that plays.
    let grant: PlaybackGrant
    private let sink: any PlaybackSink
    private let sound: LiveSound
    private var path: PlayPath
    private var ready: Frames
    private var queue: PlayQueue
    private var level: QueueLevel
    /// How many frames the card had been given when that was last another number, and when that was.
    private var lastGiven: (frame: Int64, at: Instant)
    private var volume: Double
    /// So many of the next frames are left out, because far too many are queued.
    private var excess: Int64 = 0

    /// How often frames are moved from the ring to the card.
    static let interval = Duration.milliseconds(10)
    /// The buffer of the card that plays. It is filled only as far as necessary.
    static let buffer = Duration.milliseconds(90)
    /// What waits for the card beyond that is dropped.
    private static let mostWaiting = Duration.milliseconds(500)
    /// A card that takes nothing for so long has failed.
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

    /// Filters differently, or plays at another volume.
    func change(to request: MonitorRequest) {
        sound.change(to: request.source.design)
        guard request.volume != volume else { return }
        volume = request.volume
        fade()
    }

    private func fade() {
        queue.fader.ramp(to: volume, at: queue.given, length: grant.format.frames(in: PlayedTake.volumeRamp))
    }

    /// Moves what was sampled to the card.
    /// - Throws: what the card throws.
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

    /// Queues the frames that are ready.
    private func add(now: Instant) throws {
        defer { ready.removeAll() }
        let waiting = queue.made - queue.given
        let queued = waiting + Int64(try sink.queuedFrames())
        if queued == 0 {
            // It begins, or ran dry.
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

    /// Leaves out what the card was not given yet, as far as too much is queued.
    private func leaveOut() {
        let waiting = min(excess, queue.made - queue.given)
        queue.drop(from: queue.made - waiting)
        let new = min(excess - waiting, Int64(ready.count))
        ready.removeFirst(Int(new))
        excess -= waiting + new
    }
}

extension Frames {
    /// The frame that differs least from the one after it; nil: there are not two.
    var quietestStep: Int? {
        (0..<max(0, count - 1)).min { step(after: $0) < step(after: $1) }
    }

    private func step(after frame: Int) -> Double {
        (frame * channels..<(frame + 1) * channels).reduce(0) { $0 + abs(samples[$1 + channels] - samples[$1]) }
    }
}

public import Ring
public import Takes

/// A simulated card that discards the frames at the pace of a clock, at any rate.
public final class SilentSink: PlaybackSink {
    private let clock: any Clock
    private var grant: PlaybackGrant?
    /// The start of playback since the queue was last empty.
    private var began: Instant?
    /// Frames written since then.
    private var written: Int64 = 0
    /// How often the queue ran empty since the card was opened.
    public private(set) var underruns = 0

    /// The length of the queue, unless a latency is requested.
    static let buffer = Duration.milliseconds(500)

    public init(clock: any Clock) {
        self.clock = clock
    }

    /// Grants every request.
    public func open(_ request: PlaybackRequest) -> PlaybackGrant {
        let grant = PlaybackGrant(
            card: "simulated", name: "Simulated loudspeaker", format: request.format,
            bufferFrames: max(1, Int(request.format.frames(in: request.latency ?? Self.buffer))))
        self.grant = grant
        underruns = 0
        drop()
        return grant
    }

    /// Queues whole frames, as many as fit.
    public func write(_ frames: UnsafeRawBufferPointer) -> Int {
        guard let grant else { return 0 }
        let queued = queuedFrames()
        if began == nil || queued == 0 {
            if began != nil { underruns += 1 }
            began = clock.now()
            written = 0
        }
        let count = min(frames.count / grant.format.bytesPerFrame, grant.bufferFrames - queued)
        written += Int64(count)
        return count
    }

    public func queuedFrames() -> Int {
        guard let grant, let began else { return 0 }
        return Int(max(0, written - grant.format.frames(in: clock.now() - began)))
    }

    /// Takes back all but `frameCount` frames.
    public func takeBack(keeping frameCount: Int) -> Int {
        let count = max(0, queuedFrames() - frameCount)
        written -= Int64(count)
        return count
    }

    public func drop() {
        began = nil
        written = 0
    }

    public func close() {
        drop()
        grant = nil
    }
}

public import Ring
public import Takes

/// A card that plays into nothing, at the pace of a clock and at any rate.
public final class SilentSink: PlaybackSink {
    private let clock: any Clock
    private var grant: PlaybackGrant?
    /// When the first frame since the queue was last empty began to be played.
    private var began: Instant?
    /// Frames written since then.
    private var written: Int64 = 0
    /// How often the queue ran dry since the card was opened.
    public private(set) var underruns = 0

    /// How much can be queued, unless a latency is asked for.
    static let buffer = Duration.milliseconds(500)

    /// A sink whose frames go by with `clock`.
    public init(clock: any Clock) {
        self.clock = clock
    }

    /// Grants whatever is asked for.
    public func open(_ request: PlaybackRequest) -> PlaybackGrant {
        let grant = PlaybackGrant(
            card: "simulated", name: "Simulated loudspeaker", format: request.format,
            bufferFrames: max(1, Int(request.format.frames(in: request.latency ?? Self.buffer))))
        self.grant = grant
        underruns = 0
        drop()
        return grant
    }

    /// Queues what there is room for.
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

    /// Frames that the clock has not come to yet.
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

    /// Drops what is queued.
    public func drop() {
        began = nil
        written = 0
    }

    /// Drops what is queued.
    public func close() {
        drop()
        grant = nil
    }
}

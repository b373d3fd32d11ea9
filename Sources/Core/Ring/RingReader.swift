import Takes

/// A reader of a ring, with its own cursor. One thread at a time may use it.
///
/// One reader of a ring may hold frames. Its frames are not overwritten, and new ones are dropped when no others are
/// left. All other readers follow: the capture thread does not wait for them, and a reader that is too slow is lapped.
/// Then it skips to younger frames, and `read` returns the number of skipped frames.
public final class RingReader {
    public let ring: Ring
    /// The next frame to read.
    public private(set) var position: RingPosition
    private var isHolding: Bool
    /// The end of the frames that may be given up.
    private var spareEnd = RingPosition.start
    /// Whether this reader needs frames within one period of their sampling. If no reader of the ring needs that, they
    /// may arrive half a second later. The reader that holds frames always needs it.
    public var isPrompt = false {
        didSet {
            guard isPrompt != oldValue else { return }
            isPrompt ? ring.demand.begin() : ring.demand.end()
        }
    }

    public enum Reading<Result> {
        /// No frame is available yet.
        case nothing
        /// This many frames were read. They were intact until `body` had returned its result.
        case frames(Int64, Result)
        /// This many frames were overwritten before or during the read, or were spare and given up. The result of
        /// `body` is discarded, and the cursor is at the next frame to read.
        case skipped(Int64)
    }

    /// A reader that follows.
    /// - Parameters:
    ///   - position: the first frame to read; nil means the next one that is written.
    ///   - isPrompt: see `isPrompt`.
    public init(_ ring: Ring, from position: RingPosition? = nil, isPrompt: Bool = false) {
        self.ring = ring
        self.position = position ?? ring.position
        isHolding = false
        setPrompt(isPrompt)
    }

    /// The reader that holds all frames from its cursor on. No other reader may hold frames of the ring until this one
    /// is released.
    /// - Parameters:
    ///   - position: the first frame to hold. The property `position` is the first held frame, which is later if some
    ///     were already overwritten.
    ///   - end: frames before this are spare. The oldest are given up when there is no other room for new frames.
    public init(holding ring: Ring, from position: RingPosition, sparingBefore end: RingPosition = .start) {
        self.ring = ring
        self.position = ring.hold(from: position)
        isHolding = true
        spareEnd = end
        ring.spare(before: end)
        setPrompt(true)
    }

    deinit { release() }

    /// Stops holding frames, so that another reader may hold some, and stops needing prompt frames.
    public func release() {
        if isHolding { ring.letGo() }
        isHolding = false
        setPrompt(false)
    }

    /// Property observers do not run for a direct assignment in an initializer or deinitializer. They run in a method.
    private func setPrompt(_ isPrompt: Bool) { self.isPrompt = isPrompt }

    /// The number of written frames that were not read yet.
    public var waitingFrames: Int64 { max(0, ring.position - position) }

    /// Moves the cursor to a later frame, and frees held frames before it.
    public func skip(to position: RingPosition) {
        guard position > self.position else { return }
        self.position = position
        if isHolding { ring.release(upTo: position) }
    }

    /// Moves past frames that were given up.
    /// - Returns: the number of these frames.
    @discardableResult
    public func passGivenUp() -> Int64 {
        guard isHolding else { return 0 }
        let from = position
        position = max(position, ring.firstHeld)
        return position - from
    }

    /// Reads contiguous frames, and moves the cursor past them. If `body` throws, the cursor does not move, unless the
    /// frames were spare.
    /// - Parameters:
    ///   - atMost: the largest number of frames.
    ///   - body: called with the bytes of whole frames. For a reader that follows, it must only compute a result: the
    ///     frames may be overwritten during the call, and then the result is discarded.
    public func read<Result, Failure: Error>(
        atMost count: Int64 = .max, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Reading<Result> {
        if isHolding, position < spareEnd { return try unsafe readSpare(atMost: count, body) }
        if !isHolding, position < ring.firstIntact { return .skipped(catchUp()) }
        let waiting = min(count, waitingFrames)
        guard waiting > 0 else { return .nothing }
        var frames: Int64 = 0
        let result = try unsafe ring.withFrames(from: position, atMost: waiting) { bytes throws(Failure) in
            frames = Int64(bytes.count / ring.format.bytesPerFrame)
            return try unsafe body(bytes)
        }
        if !isHolding, position < ring.firstIntact { return .skipped(catchUp()) }
        skip(to: position + frames)
        return .frames(frames, result)
    }

    /// Reads a copy of spare frames, which may be given up during the call. So `body` may take as long as the storage
    /// does.
    private func readSpare<Result, Failure: Error>(
        atMost count: Int64, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Reading<Result> {
        var frames = passGivenUp()
        if frames > 0 { return .skipped(frames) }
        let waiting = min(count, waitingFrames, spareEnd - position)
        guard waiting > 0 else { return .nothing }
        // Safe: the copy is discarded if the frames were overwritten during the copy.
        let copy = unsafe ring.withFrames(from: position, atMost: waiting) { unsafe Array($0) }
        frames = passGivenUp()
        if frames > 0 { return .skipped(frames) }
        frames = Int64(copy.count / ring.format.bytesPerFrame)
        skip(to: position + frames)
        // Safe: the bytes of whole frames, for the time of the call.
        let result = try unsafe copy.withUnsafeBufferPointer { bytes throws(Failure) in
            try unsafe body(UnsafeRawBufferPointer(bytes))
        }
        return .frames(frames, result)
    }

    /// Moves to the middle of the ring, so that the reader is not lapped again immediately.
    /// - Returns: the number of skipped frames.
    private func catchUp() -> Int64 {
        let from = position
        position = max(position, ring.position - ring.capacityFrames / 2)
        return position - from
    }
}

extension Ring {
    /// The bytes of the last `duration`, or nil if fewer frames were written so far. `duration` should be well below
    /// the length of the ring.
    public func latest(_ duration: Duration) -> [UInt8]? {
        let count = format.frames(in: duration)
        guard position.count >= count else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(count) * format.bytesPerFrame)
        var reader = RingReader(self, from: position - count)
        var left = count
        while left > 0 {
            // Safe: the bytes are copied from the ring, and the copy is discarded if they were overwritten during the
            // copy.
            switch unsafe reader.read(atMost: left, { unsafe Array($0) }) {
            case .frames(let frames, let piece):
                bytes += piece
                left -= frames
            case .skipped, .nothing:
                bytes.removeAll(keepingCapacity: true)
                reader = RingReader(self, from: position - count)
                left = count
            }
        }
        return bytes
    }
}

import Takes

/// One reader of a ring, with a cursor of its own. To be used by one thread at a time.
///
/// One reader of a ring may hold frames: none of its frames is overwritten, and new ones are dropped when no others are left. All
/// other readers follow: the capture thread does not wait for them, and one that is too slow is lapped. It skips to younger frames
/// then, and `read` says how many it skipped.
public final class RingReader {
    /// The ring.
    public let ring: Ring
    /// The next frame to read.
    public private(set) var position: RingPosition
    private var isHolding: Bool
    /// Where the frames end that may be given up.
    private var spareEnd = RingPosition.start
    /// Whether frames are to come a period after they were sampled. If no reader of the ring asks for that, they may come half a second
    /// later. The reader that holds frames always does.
    public var isPrompt = false {
        didSet {
            guard isPrompt != oldValue else { return }
            isPrompt ? ring.demand.begin() : ring.demand.end()
        }
    }

    /// What a read gave.
    public enum Reading<Result> {
        /// There is no frame to read yet.
        case nothing
        /// So many frames were read, and were whole until `body` had returned what it made of them.
        case frames(Int64, Result)
        /// So many frames were overwritten before or while they were read, or were spare and given up. What `body` made of them is discarded, and the
        /// cursor stands at the next frame to read.
        case skipped(Int64)
    }

    /// A reader that follows.
    /// - Parameters:
    ///   - position: the first frame to read; nil: the next one that is written.
    ///   - isPrompt: see `isPrompt`.
    public init(_ ring: Ring, from position: RingPosition? = nil, isPrompt: Bool = false) {
        self.ring = ring
        self.position = position ?? ring.position
        isHolding = false
        setPrompt(isPrompt)
    }

    /// The reader that holds all frames from its cursor on. No other may hold frames of the ring until this one is released.
    /// - Parameters:
    ///   - position: the first frame to hold; `position` is the first that is held, which is later if some were
    ///     overwritten already.
    ///   - end: frames before this are spare: the oldest are given up when there is no other room for a new frame.
    public init(holding ring: Ring, from position: RingPosition, sparingBefore end: RingPosition = .start) {
        self.ring = ring
        self.position = ring.hold(from: position)
        isHolding = true
        spareEnd = end
        ring.spare(before: end)
        setPrompt(true)
    }

    deinit { release() }

    /// Holds nothing any more, so that another reader may, and waits for nothing.
    public func release() {
        if isHolding { ring.letGo() }
        isHolding = false
        setPrompt(false)
    }

    /// In an initializer and a deinitializer, observers of a property are called for a method that sets it alone.
    private func setPrompt(_ isPrompt: Bool) { self.isPrompt = isPrompt }

    /// Frames that are written and not read yet.
    public var waitingFrames: Int64 { max(0, ring.position - position) }

    /// Moves the cursor to a later frame; what is held before it is freed.
    public func skip(to position: RingPosition) {
        guard position > self.position else { return }
        self.position = position
        if isHolding { ring.release(upTo: position) }
    }

    /// Moves past frames that were given up.
    /// - Returns: how many.
    @discardableResult
    public func passGivenUp() -> Int64 {
        guard isHolding else { return 0 }
        let from = position
        position = max(position, ring.firstHeld)
        return position - from
    }

    /// Reads frames that lie in one piece, and moves the cursor past them. If `body` throws, the cursor stays, unless they were spare.
    ///
    /// - Parameters:
    ///   - atMost: so many frames at most.
    ///   - body: called with the bytes of whole frames. A reader that follows must do nothing in it but make a result: the
    ///     frames may be overwritten meanwhile, and then the result is discarded.
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

    /// Reads a copy of spare frames, so that `body` may take as long as the storage does: they may be given up meanwhile.
    private func readSpare<Result, Failure: Error>(
        atMost count: Int64, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Reading<Result> {
        var frames = passGivenUp()
        if frames > 0 { return .skipped(frames) }
        let waiting = min(count, waitingFrames, spareEnd - position)
        guard waiting > 0 else { return .nothing }
        // Safe: discarded if they were overwritten meanwhile.
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

    /// Moves to the middle of what is there, so that the reader is not lapped at once again.
    /// - Returns: how many frames it left out.
    private func catchUp() -> Int64 {
        let from = position
        position = max(position, ring.position - ring.capacityFrames / 2)
        return position - from
    }
}

extension Ring {
    /// The bytes of the last `duration`; nil: so much was not written yet. To be well below what the ring holds.
    public func latest(_ duration: Duration) -> [UInt8]? {
        let count = format.frames(in: duration)
        guard position.count >= count else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(count) * format.bytesPerFrame)
        var reader = RingReader(self, from: position - count)
        var left = count
        while left > 0 {
            // Safe: copied while they lie in the ring, and discarded if they were overwritten meanwhile.
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

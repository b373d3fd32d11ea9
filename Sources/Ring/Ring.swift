import Synchronization
public import Takes

/// The buffer in RAM between the capture thread, which writes, and one reader.
///
/// It holds the card's own bytes, in frames, and a stamp a period. A frame is named by its position: how many
/// frames were written before it since the ring was made. The writer overwrites the oldest frames, except
/// those that the reader holds: when nothing else is left, new frames are dropped and counted.
///
/// One thread may call the writer's verbs (`writableFrames`, `writable`, `commit`, `miss`, `stamp`) and one the reader's
/// (`hold`, `release`, `letGo`, `withFrames`). The stamps and the counters may be read by any thread.
@safe public final class Ring: @unchecked Sendable {
    /// What the frames are.
    public let format: StreamFormat
    /// How many frames fit.
    public let capacityFrames: Int64
    /// The most frames that one write adds.
    public let maximumWriteFrames: Int64

    private let bytesPerFrame: Int
    private let bytes: UnsafeMutableRawPointer
    private let stampCapacity: Int64
    private let stamps: UnsafeMutablePointer<Stamp>

    /// Frames written ever.
    private let head = Atomic<Int64>(0)
    /// The first frame that must not be overwritten; none is held: `Int64.max`.
    private let held = Atomic<Int64>(.max)
    private let stampCount = Atomic<Int64>(0)
    /// Frames that there was no room for, those included that no stamp tells of yet.
    private let missed = Atomic<Int64>(0)
    private let xruns = Atomic<Int64>(0)

    /// The largest ring there is, in bytes; a longer one is shortened to it.
    public static let maximumBytes = 192 << 20

    /// A ring for `duration` of sound in `format`, its memory touched so that no page fault comes later.
    ///
    /// - Parameter periodFrames: frames that the card delivers at a time; room for their stamps is kept.
    public init(format: StreamFormat, holding duration: Duration, periodFrames: Int) {
        self.format = format
        bytesPerFrame = format.bytesPerFrame
        let longest = Int64(Self.maximumBytes / bytesPerFrame)
        capacityFrames = max(Int64(2 * periodFrames), min(longest, format.frames(in: duration)))
        maximumWriteFrames = min(Int64(periodFrames), capacityFrames / 2)
        stampCapacity = 1024 + 2 * capacityFrames / Int64(max(1, periodFrames))
        let byteCount = Int(capacityFrames) * bytesPerFrame
        // Safe: allocated here with these sizes, freed in deinit, and every access below stays within them.
        unsafe bytes = .allocate(byteCount: byteCount, alignment: 64)
        unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        unsafe stamps = .allocate(capacity: Int(stampCapacity))
        unsafe stamps.initialize(
            repeating: Stamp(position: 0, instant: Instant(nanoseconds: 0)), count: Int(stampCapacity))
    }

    deinit {
        unsafe bytes.deallocate()
        unsafe stamps.deallocate()
    }

    /// How long the ring is.
    public var duration: Duration { format.duration(ofFrames: capacityFrames) }
    /// How much memory its frames take.
    public var byteCount: Int { Int(capacityFrames) * bytesPerFrame }
}

// MARK: - The capture thread's side

extension Ring {
    /// How many frames can be written now without touching a held one; at most `maximumWriteFrames`.
    @_noLocks @_noAllocation
    public func writableFrames() -> Int64 {
        let position = head.load(ordering: .relaxed)
        let first = held.load(ordering: .sequentiallyConsistent)
        if first == .max { return maximumWriteFrames }
        return max(0, min(maximumWriteFrames, first + capacityFrames - position))
    }

    /// Where the next frames go: a pointer for as many of `frameCount` frames as lie in one piece. Fill it, then `commit`.
    @_noLocks @_noAllocation
    public func writable(_ frameCount: Int64) -> UnsafeMutableRawBufferPointer {
        let offset = head.load(ordering: .relaxed) % capacityFrames
        let count = min(frameCount, capacityFrames - offset)
        // Safe: offset < capacityFrames, and offset + count ≤ capacityFrames.
        return unsafe UnsafeMutableRawBufferPointer(
            start: bytes + Int(offset) * bytesPerFrame, count: Int(count) * bytesPerFrame)
    }

    /// Makes `frameCount` frames, just written, visible to the reader.
    @_noLocks @_noAllocation
    public func commit(_ frameCount: Int64) {
        head.store(head.load(ordering: .relaxed) + frameCount, ordering: .sequentiallyConsistent)
    }

    /// Counts frames that the card delivered while there was no room for them; a stamp tells where they are missing.
    @_noLocks @_noAllocation
    public func miss(_ frameCount: Int64) {
        missed.wrappingAdd(frameCount, ordering: .relaxed)
    }

    /// Leaves a stamp. Overruns are counted.
    @_noLocks @_noAllocation
    public func stamp(_ stamp: Stamp) {
        let count = stampCount.load(ordering: .relaxed)
        // Safe: the index is below stampCapacity.
        unsafe stamps[Int(count % stampCapacity)] = stamp
        stampCount.store(count + 1, ordering: .releasing)
        switch stamp.kind {
        case .xrun: xruns.wrappingAdd(1, ordering: .relaxed)
        case .running, .started, .stall: break
        }
    }
}

// MARK: - The reader's side

extension Ring {
    /// Frames written ever: the position of the next one.
    public var position: Int64 { head.load(ordering: .sequentiallyConsistent) }
    /// Frames that the card delivered ever, whether there was room for them or not.
    public var delivered: Int64 { position + missedFrames }
    /// Frames for which there was no room, counted as it happens; a stamp tells later where they are missing.
    public var missedFrames: Int64 { missed.load(ordering: .relaxed) }
    /// Overruns of the card's buffer since the ring was made.
    public var xrunCount: Int { Int(xruns.load(ordering: .relaxed)) }

    /// Holds every frame from `first` on, or from the oldest one that is still there. Until `release(upTo:)` or
    /// `letGo`, none of them is overwritten.
    /// - Returns: the position of the first frame that is held.
    public func hold(from first: Int64) -> Int64 {
        held.store(max(0, first), ordering: .sequentiallyConsistent)
        // One write may be under way that did not see this yet; it reaches at most maximumWriteFrames beyond
        // the position that is read here, or one more write beyond if it had just been published.
        let oldest = position + 2 * maximumWriteFrames - capacityFrames
        let granted = max(0, first, min(oldest, position))
        held.store(granted, ordering: .sequentiallyConsistent)
        return granted
    }

    /// Frees the held frames before `first`.
    public func release(upTo first: Int64) {
        held.store(first, ordering: .sequentiallyConsistent)
    }

    /// Holds nothing any more.
    public func letGo() {
        held.store(.max, ordering: .sequentiallyConsistent)
    }

    /// Gives the frames from `first` on, as many of `atMost` as are there in one piece; an empty buffer if there are none.
    /// The frames must be held, or so young that they are not overwritten meanwhile.
    public func withFrames<Result, Failure: Error>(
        from first: Int64, atMost count: Int64, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let offset = first % capacityFrames
        let available = max(0, min(count, position - first, capacityFrames - offset))
        // Safe: offset < capacityFrames and offset + available ≤ capacityFrames; what lies before head is initialised
        // and, while it is held, written by nobody.
        return try unsafe body(
            UnsafeRawBufferPointer(
                start: bytes + Int(offset) * bytesPerFrame, count: Int(available) * bytesPerFrame))
    }

    /// Stamps left ever: the number of the next one.
    public var stampNumber: Int64 { stampCount.load(ordering: .acquiring) }

    /// The stamp of a number, or nil if it is not there yet or no more.
    public func stamp(number: Int64) -> Stamp? {
        let count = stampNumber
        guard number >= 0, number < count, number > count - stampCapacity else { return nil }
        // Safe: the index is below stampCapacity.
        let stamp = unsafe stamps[Int(number % stampCapacity)]
        return stampNumber - stampCapacity < number ? stamp : nil
    }
}

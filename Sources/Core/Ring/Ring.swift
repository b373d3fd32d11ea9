import Glibc
import Synchronization
public import Takes

/// The buffer in RAM between the capture thread, which writes, and any number of readers.
///
/// It holds the card's own bytes, in frames, and a stamp a period. A frame is named by its position: how many
/// frames were written before it since the ring was made. The writer overwrites the oldest frames, except
/// those that are held: when nothing else is left, new frames are dropped and counted.
///
/// One thread may call the capture thread's verbs (`writableFrames`, `writable`, `commit`, `miss`, `stamp`), and one reader may
/// hold frames. Every reader has a cursor of its own, in a `RingReader`. The stamps and the counters may be read by any thread.
@safe public final class Ring: @unchecked Sendable {
    /// What the frames are.
    public let format: StreamFormat
    /// How many frames fit.
    public let capacityFrames: Int64
    /// The most frames that one write adds.
    public let maximumWriteFrames: Int64
    /// How soon its readers need what is written.
    public let demand = Demand()

    private let bytesPerFrame: Int
    private let bytes: Pages
    private let stampCapacity: Int64
    private let stamps: UnsafeMutablePointer<Stamp>

    /// Frames written ever.
    private let head = Atomic<Int64>(0)
    /// The first frame that must not be overwritten; none is held: `Int64.max`.
    private let held = Atomic<Int64>(.max)
    /// Held frames before this one are given up when nothing else is left; none are: 0.
    private let spared = Atomic<Int64>(0)
    private let stampCount = Atomic<Int64>(0)
    /// Frames that there was no room for, including those that no stamp reports yet.
    private let missed = Atomic<Int64>(0)
    private let xruns = Atomic<Int64>(0)

    /// The largest ring on any machine, in bytes.
    public static let maximumBytes = 192 << 20

    /// Bytes of memory that the kernel manages; 0 if it does not say.
    public static var machineMemoryBytes: Int {
        max(0, sysconf(Int32(_SC_PHYS_PAGES))) * max(0, sysconf(Int32(_SC_PAGESIZE)))
    }

    /// The largest ring on a machine with `memoryBytes`: an eighth of it.
    public static func maximumBytes(ofMemory memoryBytes: Int) -> Int {
        min(maximumBytes, memoryBytes / 8)
    }

    /// How much a ring for `duration` of sound in `format` holds on a machine with `memoryBytes`.
    public static func duration(
        format: StreamFormat, holding duration: Duration, memoryBytes: Int
    ) -> Duration {
        let frames = capacity(
            format: format, holding: duration, periodFrames: 0, maximumBytes: maximumBytes(ofMemory: memoryBytes))
        return format.duration(ofFrames: frames)
    }

    /// A ring for `duration` of sound in `format`. The memory for its first second is present, `prefault` makes all of it so.
    ///
    /// - Parameters:
    ///   - periodFrames: frames that the card delivers at a time; room for their stamps is kept.
    ///   - maximumBytes: a longer ring is shortened to this, but never to less than two periods.
    public init(
        format: StreamFormat, holding duration: Duration, periodFrames: Int, maximumBytes: Int = Ring.maximumBytes
    ) {
        self.format = format
        bytesPerFrame = format.bytesPerFrame
        capacityFrames = Self.capacity(
            format: format, holding: duration, periodFrames: periodFrames, maximumBytes: maximumBytes)
        maximumWriteFrames = min(Int64(periodFrames), capacityFrames / 2)
        stampCapacity = 1024 + 2 * capacityFrames / Int64(max(1, periodFrames))
        bytes = Pages(byteCount: Int(capacityFrames) * bytesPerFrame)
        if !bytes.makePresent(0..<format.rateHz * bytesPerFrame) { bytes.clear() }
        // Safe: allocated here with this size, freed in deinit, and every access below stays within it.
        unsafe stamps = .allocate(capacity: Int(stampCapacity))
        unsafe stamps.initialize(
            repeating: Stamp(position: .start, instant: Instant(nanoseconds: 0)), count: Int(stampCapacity))
    }

    deinit {
        unsafe stamps.deallocate()
    }

    /// Makes all memory of the frames present, so that the capture thread meets no page fault. No frame changes: it may be called
    /// while the card is captured.
    public func prefault() {
        bytes.makePresent(0..<byteCount)
    }

    /// How many frames such a ring holds.
    static func capacity(
        format: StreamFormat, holding duration: Duration, periodFrames: Int, maximumBytes: Int
    ) -> Int64 {
        let longest = Int64(min(maximumBytes, Self.maximumBytes) / format.bytesPerFrame)
        return max(Int64(2 * periodFrames), min(longest, format.frames(in: duration)))
    }

    /// How long the ring is.
    public var duration: Duration { format.duration(ofFrames: capacityFrames) }
    /// How much memory its frames take.
    public var byteCount: Int { Int(capacityFrames) * bytesPerFrame }
}

// MARK: - The capture thread's side

extension Ring {
    /// How many frames can be written now without touching a held one; at most `maximumWriteFrames`. Spare ones are given up for that.
    @_noLocks @_noAllocation
    public func writableFrames() -> Int64 {
        let position = head.load(ordering: .relaxed)
        var first = held.load(ordering: .sequentiallyConsistent)
        if first == .max { return maximumWriteFrames }
        let kept = min(spared.load(ordering: .sequentiallyConsistent), position + maximumWriteFrames - capacityFrames)
        if kept > first {
            // The reader may go on meanwhile, and frees the same frames, or more.
            let (isGivenUp, now) = held.compareExchange(
                expected: first, desired: kept, ordering: .sequentiallyConsistent)
            first = isGivenUp ? kept : now
            if first == .max { return maximumWriteFrames }
        }
        return max(0, min(maximumWriteFrames, first + capacityFrames - position))
    }

    /// Where the next frames go: a pointer for as many of `frameCount` frames as lie in one piece. Fill it, then `commit`.
    /// - Parameter frameCount: at most `writableFrames()`.
    @_noLocks @_noAllocation
    public func writable(_ frameCount: Int64) -> UnsafeMutableRawBufferPointer {
        let offset = head.load(ordering: .relaxed) % capacityFrames
        let count = min(frameCount, capacityFrames - offset)
        // A reader that sees a byte of this write sees the position that the write before it left.
        atomicMemoryFence(ordering: .releasing)
        // Safe: offset < capacityFrames, and offset + count ≤ capacityFrames.
        return unsafe UnsafeMutableRawBufferPointer(
            start: bytes.start + Int(offset) * bytesPerFrame, count: Int(count) * bytesPerFrame)
    }

    /// Makes `frameCount` frames, just written, visible to the readers.
    @_noLocks @_noAllocation
    public func commit(_ frameCount: Int64) {
        head.store(head.load(ordering: .relaxed) + frameCount, ordering: .sequentiallyConsistent)
    }

    /// Counts frames that the card delivered while there was no room for them; a stamp reports where they are missing.
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

// MARK: - The readers' side

extension Ring {
    /// The position of the next frame.
    public var position: RingPosition { RingPosition(head.load(ordering: .sequentiallyConsistent)) }
    /// Frames that the card delivered ever, whether there was room for them or not.
    public var delivered: Int64 { position.count + missedFrames }
    /// Frames for which there was no room, counted as it happens; a stamp reports later where they are missing.
    public var missedFrames: Int64 { missed.load(ordering: .relaxed) }
    /// Overruns of the card's buffer since the ring was made.
    public var xrunCount: Int { Int(xruns.load(ordering: .relaxed)) }
    /// How much of the ring is held, 0 to 1: how far the reader that holds frames is behind.
    public var heldShare: Double {
        let first = held.load(ordering: .sequentiallyConsistent)
        guard first != .max else { return 0 }
        return min(1, max(0, Double(position.count - first) / Double(capacityFrames)))
    }

    /// Holds every frame from `first` on, or from the oldest one that is still there. Until `release(upTo:)` or
    /// `letGo`, none of them is overwritten.
    /// - Returns: the position of the first frame that is held.
    func hold(from first: RingPosition) -> RingPosition {
        spared.store(0, ordering: .sequentiallyConsistent)
        held.store(max(0, first.count), ordering: .sequentiallyConsistent)
        // One write may be under way that did not see this yet; it reaches at most maximumWriteFrames beyond
        // the position that is read here, or one more write beyond if it had just been published.
        let position = position.count
        let oldest = position + 2 * maximumWriteFrames - capacityFrames
        let granted = max(0, first.count, min(oldest, position))
        held.store(granted, ordering: .sequentiallyConsistent)
        return RingPosition(granted)
    }

    /// The first frame that is held.
    var firstHeld: RingPosition {
        // What was read before this call was read before the frames were given up that this tells of.
        atomicMemoryFence(ordering: .acquiring)
        return RingPosition(held.load(ordering: .sequentiallyConsistent))
    }

    /// Frees the held frames before `first`.
    func release(upTo first: RingPosition) {
        // The capture thread may have given up more.
        held.max(first.count, ordering: .sequentiallyConsistent)
    }

    /// The held frames before `first` are given up, the oldest first, when there is no other room for a new one.
    func spare(before first: RingPosition) {
        spared.store(first.count, ordering: .sequentiallyConsistent)
    }

    /// Holds nothing any more.
    func letGo() {
        spared.store(0, ordering: .sequentiallyConsistent)
        held.store(.max, ordering: .sequentiallyConsistent)
    }

    /// The first frame that no write touches, neither one that has ended nor one that is under way.
    var firstIntact: RingPosition {
        // What was read before this call was read before the position is.
        atomicMemoryFence(ordering: .acquiring)
        return RingPosition(max(0, position.count + maximumWriteFrames - capacityFrames))
    }

    /// Passes the frames from `first` on, as many of `atMost` as are there in one piece; an empty buffer if there are none.
    /// Those that are not held may be overwritten meanwhile.
    func withFrames<Result, Failure: Error>(
        from first: RingPosition, atMost count: Int64, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let offset = first.count % capacityFrames
        let available = max(0, min(count, position - first, capacityFrames - offset))
        // Safe: offset < capacityFrames and offset + available ≤ capacityFrames; all of it is initialised.
        return try unsafe body(
            UnsafeRawBufferPointer(
                start: bytes.start + Int(offset) * bytesPerFrame, count: Int(available) * bytesPerFrame))
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

import Glibc
import Synchronization
public import Takes

/// The buffer in RAM between the capture thread, which writes, and any number of readers.
///
/// It holds the card's own bytes, in frames, and a stamp for each period. The position of a frame is the number of
/// frames that were written before it since the ring was made. The writer overwrites the oldest frames, except held
/// ones. When only held frames are left, new frames are dropped and counted.
///
/// One thread may call the methods of the capture thread (`writableFrames`, `writable`, `commit`, `miss`, `stamp`), and
/// one reader may hold frames. Every reader has its own cursor, in a `RingReader`. Any thread may read the stamps and
/// the counters.
@safe public final class Ring: @unchecked Sendable {
    public let format: StreamFormat
    public let capacityFrames: Int64
    /// The most frames that one write adds.
    public let maximumWriteFrames: Int64
    /// How soon its readers need new frames.
    public let demand = Demand()

    private let bytesPerFrame: Int
    private let bytes: Pages
    private let stampCapacity: Int64
    private let stamps: UnsafeMutablePointer<Stamp>
    /// Never touched by the capture thread.
    let givenTimes: Mutex<GivenTimes>

    /// The number of frames ever written.
    private let head = Atomic<Int64>(0)
    /// The first frame that must not be overwritten, or `Int64.max` if no frame is held.
    private let held = Atomic<Int64>(.max)
    /// Held frames before this one may be given up when no other room is left. 0 means that none may.
    private let spared = Atomic<Int64>(0)
    private let stampCount = Atomic<Int64>(0)
    /// Frames that did not fit, including those that no stamp reports yet.
    private let missed = Atomic<Int64>(0)
    private let xruns = Atomic<Int64>(0)

    /// The largest ring on any machine, in bytes.
    public static let maximumBytes = 192 << 20

    /// The size of the machine's memory, or 0 if the kernel does not report it.
    public static var machineMemoryBytes: Int {
        max(0, sysconf(Int32(_SC_PHYS_PAGES))) * max(0, sysconf(Int32(_SC_PAGESIZE)))
    }

    /// The largest ring on a machine with `memoryBytes`: an eighth of it.
    public static func maximumBytes(ofMemory memoryBytes: Int) -> Int {
        min(maximumBytes, memoryBytes / 8)
    }

    /// The length of a ring for `duration` of sound in `format` on a machine with `memoryBytes`.
    public static func duration(
        format: StreamFormat, holding duration: Duration, memoryBytes: Int
    ) -> Duration {
        let frames = capacity(
            format: format, holding: duration, periodFrames: 0, maximumBytes: maximumBytes(ofMemory: memoryBytes))
        return format.duration(ofFrames: frames)
    }

    /// A ring for `duration` of sound in `format`. The memory for its first second is present; `prefault` makes the
    /// rest present.
    /// - Parameters:
    ///   - periodFrames: the frames that the card delivers at a time. There is room for their stamps.
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
        givenTimes = Mutex(GivenTimes(capacity: Int(stampCapacity)))
        bytes = Pages(byteCount: Int(capacityFrames) * bytesPerFrame)
        if !bytes.makePresent(0..<format.rateHz * bytesPerFrame) { bytes.clear() }
        // Safe: allocated here with this size and freed in deinit. Every access below stays within it.
        unsafe stamps = .allocate(capacity: Int(stampCapacity))
        unsafe stamps.initialize(
            repeating: Stamp(position: .start, instant: Instant(nanoseconds: 0)), count: Int(stampCapacity))
    }

    deinit {
        unsafe stamps.deallocate()
    }

    /// Makes all memory of the frames present, so that the capture thread meets no page fault. It may be called during
    /// the capture, because no frame changes.
    public func prefault() {
        bytes.makePresent(0..<byteCount)
    }

    static func capacity(
        format: StreamFormat, holding duration: Duration, periodFrames: Int, maximumBytes: Int
    ) -> Int64 {
        let longest = Int64(min(maximumBytes, Self.maximumBytes) / format.bytesPerFrame)
        return max(Int64(2 * periodFrames), min(longest, format.frames(in: duration)))
    }

    public var duration: Duration { format.duration(ofFrames: capacityFrames) }
    /// The memory that its frames take.
    public var byteCount: Int { Int(capacityFrames) * bytesPerFrame }
}

// MARK: - The capture thread's side

extension Ring {
    /// The number of frames that can be written now without overwriting a held one; at most `maximumWriteFrames`. Gives
    /// up spare frames if necessary.
    @_noLocks @_noAllocation
    public func writableFrames() -> Int64 {
        let position = head.load(ordering: .relaxed)
        var first = held.load(ordering: .sequentiallyConsistent)
        if first == .max { return maximumWriteFrames }
        let kept = min(spared.load(ordering: .sequentiallyConsistent), position + maximumWriteFrames - capacityFrames)
        if kept > first {
            // The reader may advance in the meantime, and free the same frames or more.
            let (isGivenUp, now) = held.compareExchange(
                expected: first, desired: kept, ordering: .sequentiallyConsistent)
            first = isGivenUp ? kept : now
            if first == .max { return maximumWriteFrames }
        }
        return max(0, min(maximumWriteFrames, first + capacityFrames - position))
    }

    /// The memory for the next frames: as many of `frameCount` frames as are contiguous. Fill it, then call `commit`.
    /// - Parameter frameCount: at most `writableFrames()`.
    @_noLocks @_noAllocation
    public func writable(_ frameCount: Int64) -> UnsafeMutableRawBufferPointer {
        let offset = head.load(ordering: .relaxed) % capacityFrames
        let count = min(frameCount, capacityFrames - offset)
        // A reader that sees a byte of this write also sees the position after the previous write.
        atomicMemoryFence(ordering: .releasing)
        // Safe: offset < capacityFrames, and offset + count ≤ capacityFrames.
        return unsafe UnsafeMutableRawBufferPointer(
            start: bytes.start + Int(offset) * bytesPerFrame, count: Int(count) * bytesPerFrame)
    }

    /// Makes `frameCount` written frames visible to the readers.
    @_noLocks @_noAllocation
    public func commit(_ frameCount: Int64) {
        head.store(head.load(ordering: .relaxed) + frameCount, ordering: .sequentiallyConsistent)
    }

    /// Counts frames that the card delivered while there was no room. A stamp reports where they are missing.
    @_noLocks @_noAllocation
    public func miss(_ frameCount: Int64) {
        missed.wrappingAdd(frameCount, ordering: .relaxed)
    }

    /// Adds a stamp, and counts overruns.
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
    /// The number of frames that the card ever delivered, including those that did not fit.
    public var delivered: Int64 { position.count + missedFrames }
    /// The number of frames that did not fit, counted immediately. A stamp reports later where they are missing.
    public var missedFrames: Int64 { missed.load(ordering: .relaxed) }
    /// Overruns of the card's buffer since the ring was made.
    public var xrunCount: Int { Int(xruns.load(ordering: .relaxed)) }
    /// The held part of the ring, 0 to 1: how far the reader that holds frames is behind.
    public var heldShare: Double {
        let first = held.load(ordering: .sequentiallyConsistent)
        guard first != .max else { return 0 }
        return min(1, max(0, Double(position.count - first) / Double(capacityFrames)))
    }

    /// Holds every frame from `first` on, or from the oldest one that still exists. Until `release(upTo:)` or `letGo`,
    /// none of them is overwritten.
    /// - Returns: the position of the first held frame.
    func hold(from first: RingPosition) -> RingPosition {
        spared.store(0, ordering: .sequentiallyConsistent)
        held.store(max(0, first.count), ordering: .sequentiallyConsistent)
        // The current write may not have seen `held` yet. It ends at most maximumWriteFrames after the position that is
        // read here, or one more write further if it had just been published.
        let position = position.count
        let oldest = position + 2 * maximumWriteFrames - capacityFrames
        let granted = max(0, first.count, min(oldest, position))
        held.store(granted, ordering: .sequentiallyConsistent)
        return RingPosition(granted)
    }

    /// The first held frame.
    var firstHeld: RingPosition {
        // Orders earlier reads of frames before the capture thread's decision to give them up.
        atomicMemoryFence(ordering: .acquiring)
        return RingPosition(held.load(ordering: .sequentiallyConsistent))
    }

    /// Frees the held frames before `first`.
    func release(upTo first: RingPosition) {
        // The capture thread may have given up more.
        held.max(first.count, ordering: .sequentiallyConsistent)
    }

    /// Allows the held frames before `first` to be given up, oldest first, when there is no other room for new frames.
    func spare(before first: RingPosition) {
        spared.store(first.count, ordering: .sequentiallyConsistent)
    }

    func letGo() {
        spared.store(0, ordering: .sequentiallyConsistent)
        held.store(.max, ordering: .sequentiallyConsistent)
    }

    /// The first frame that neither a past nor the current write overwrites.
    var firstIntact: RingPosition {
        // Orders earlier reads of frames before the read of the position.
        atomicMemoryFence(ordering: .acquiring)
        return RingPosition(max(0, position.count + maximumWriteFrames - capacityFrames))
    }

    /// The oldest frame that is not overwritten before the card has delivered `margin` more.
    public func oldestFrame(sparing margin: Duration) -> RingPosition {
        let end = position.count
        let first = end + maximumWriteFrames + format.frames(in: margin) - capacityFrames
        return RingPosition(min(end, max(0, first)))
    }

    /// Passes frames from `first` on, up to `atMost`, as far as they are contiguous. Without frames the buffer is
    /// empty. Frames that are not held may be overwritten at the same time.
    func withFrames<Result, Failure: Error>(
        from first: RingPosition, atMost count: Int64, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let offset = first.count % capacityFrames
        let available = max(0, min(count, position - first, capacityFrames - offset))
        // Safe: offset < capacityFrames and offset + available ≤ capacityFrames. All of it is initialised.
        return try unsafe body(
            UnsafeRawBufferPointer(
                start: bytes.start + Int(offset) * bytesPerFrame, count: Int(available) * bytesPerFrame))
    }

    /// The number of stamps ever added, which is the number of the next one.
    public var stampNumber: Int64 { stampCount.load(ordering: .acquiring) }

    /// The stamp with this number, or nil if it does not exist yet or was overwritten.
    public func stamp(number: Int64) -> Stamp? {
        let count = stampNumber
        guard number >= 0, number < count, number > count - stampCapacity else { return nil }
        // Safe: the index is below stampCapacity.
        let stamp = unsafe stamps[Int(number % stampCapacity)]
        return stampNumber - stampCapacity < number ? stamp : nil
    }
}

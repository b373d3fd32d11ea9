import CALSA
import Glibc
import Ring
import Synchronization
import Takes

/// What the capture thread does: wait for the card, copy its bytes into the ring, leave one stamp a wake-up.
///
/// It holds everything that it needs before it begins. One thread calls `begin` and `step`; `ending` and `requestStop` are anybody's.
@safe final class CaptureLoop: @unchecked Sendable {
    /// How a step went.
    enum Outcome {
        /// There is more to come.
        case running
        /// It was told to stop.
        case stopped
        /// It ended by itself; `ending` says why.
        case ended
    }

    /// Why a loop ended by itself, in the size of a word.
    enum Ending: UInt8 {
        case running, cardLost, read, restart, overrunAgain, silent
    }

    /// A PCM that delivers nothing for so long has failed.
    static let patienceMilliseconds: Int32 = 1500
    /// So many restarts without a frame between them are a failure.
    private static let mostRestarts = 10

    private let pcm: OpaquePointer
    private let calls: CaptureCalls
    private let bytesPerFrame: Int
    private let rateHz: Int64
    private let periodFrames: Int64
    private let bufferFrames: Int64
    /// The PCM wakes whoever waits for it when so many are there.
    private let wakeFrames: Int
    private let idleMilliseconds: Int32
    private let patience: Int32

    /// The stop event, then the PCM's.
    private let descriptors: UnsafeMutablePointer<pollfd>
    private let descriptorCount: Int
    private let stopEvent: Int32
    /// Where frames go that the ring has no room for.
    private let scratch: UnsafeMutableRawPointer

    private let endingCode = Atomic<UInt8>(0)
    private let endingStatus = Atomic<Int32>(0)

    // Touched by the capture thread alone.
    /// The ring's position.
    private var head: Int64 = 0
    private var droppedFrames: Int64 = 0
    /// When the first frame that is not read yet was heard.
    private var edge: Int64 = 0
    private var restarts = 0
    private var quietMilliseconds: Int32 = 0
    /// Frames that were there at `stampedInstant`.
    private var available: Int64 = 0
    private var stampedInstant: Int64 = 0

    /// A loop over a configured PCM, which must outlive it.
    /// - Parameter pollDescriptors: the PCM's, as `snd_pcm_poll_descriptors` gives them.
    init(
        pcm: OpaquePointer, calls: CaptureCalls = unsafe .alsa, format: StreamFormat, periodFrames: Int,
        bufferFrames: Int, pollDescriptors: [pollfd]
    ) throws(SoundCardError) {
        unsafe self.pcm = unsafe pcm
        unsafe self.calls = unsafe calls
        bytesPerFrame = format.bytesPerFrame
        rateHz = Int64(format.rateHz)
        self.periodFrames = Int64(max(1, periodFrames))
        self.bufferFrames = Int64(max(1, bufferFrames))
        wakeFrames = max(1, periodFrames / 2)
        let periodMilliseconds = Int32(clamping: self.periodFrames * 1000 / rateHz)
        idleMilliseconds = max(1, periodMilliseconds / 4)
        patience = max(Self.patienceMilliseconds, 4 * min(periodMilliseconds, .max / 4))
        stopEvent = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        descriptorCount = pollDescriptors.count + 1
        // Safe: both are allocated here with these sizes, which every access below keeps to, and freed in deinit.
        unsafe descriptors = .allocate(capacity: descriptorCount)
        unsafe descriptors.initialize(to: pollfd(fd: stopEvent, events: Int16(POLLIN), revents: 0))
        for (index, descriptor) in pollDescriptors.enumerated() {
            unsafe (descriptors + index + 1).initialize(to: descriptor)
        }
        let scratchBytes = Int(self.periodFrames) * bytesPerFrame
        unsafe scratch = .allocate(byteCount: scratchBytes, alignment: 64)
        unsafe scratch.initializeMemory(as: UInt8.self, repeating: 0, count: scratchBytes)
        if stopEvent < 0 {
            throw SoundCardError("event", "create", status: -errno)
        }
    }

    deinit {
        unsafe descriptors.deallocate()
        unsafe scratch.deallocate()
        if stopEvent >= 0 { close(stopEvent) }
    }

    /// Has the step that is under way, or the next one, return `.stopped`.
    func requestStop() {
        eventfd_write(stopEvent, 1)
    }

    /// Why it ended by itself, with ALSA's negative code where there is one.
    var ending: (why: Ending, status: Int32) {
        let why = Ending(rawValue: endingCode.load(ordering: .acquiring)) ?? .running
        return (why, endingStatus.load(ordering: .relaxed))
    }
}

// MARK: - The capture thread

extension CaptureLoop {
    /// Steps until it is told to stop or ends by itself.
    @_noLocks @_noAllocation
    func run(into ring: Ring) -> Outcome {
        var outcome = Outcome.running
        while outcome == .running {
            outcome = step(into: ring)
        }
        return outcome
    }

    /// Leaves the first stamp, for a PCM that was started just now.
    func begin(_ ring: Ring) {
        head = ring.position
        edge = now()
        leaveStamp(.started, at: head, edge, ring)
    }

    /// Waits for the card once, and copies what is there.
    @_noLocks @_noAllocation
    func step(into ring: Ring) -> Outcome {
        let ready = wait(descriptorCount, patience)
        guard ready >= 0 else {
            return ready == -EINTR ? .running : end(.read, ready, ring)
        }
        if isStopRequested() {
            return stop(ring)
        }
        if ready > 0 {
            guard events() != 0 else { return idle(ring) }
        }
        let status = timestamp()
        guard status >= 0 else { return recover(status, ring) }
        // A PCM that says it is ready and not how much it has is asked for a period.
        let stamped = min(available, bufferFrames)
        let result = read(stamped > 0 ? stamped : periodFrames, stamped, stampedInstant, ring)
        guard result >= 0 else { return recover(Int32(truncatingIfNeeded: result), ring) }
        guard result > 0 else {
            return ready > 0 ? idle(ring) : quiet(patience, ring)
        }
        // What was too little to wake for in all that time is the last that came before the card fell silent.
        if ready == 0 {
            guard result >= wakeFrames else { return quiet(patience, ring) }
        }
        restarts = 0
        quietMilliseconds = 0
        return .running
    }

    /// Reads `wanted` frames into the ring, or past it where it is full.
    /// - Returns: how many came, or a negative error code.
    @_noLocks @_noAllocation
    private func read(_ wanted: Int64, _ stamped: Int64, _ heard: Int64, _ ring: Ring) -> Int {
        let start = head
        var done: Int64 = 0
        var lossless = droppedFrames == 0
        var interrupted = 0
        edge = heard - nanoseconds(of: stamped)
        while done < wanted {
            let room = min(ring.writableFrames(), wanted - done)
            let count: Int
            if room > 0 {
                let piece = unsafe ring.writable(room)
                count = unsafe readFrames(piece.baseAddress!, piece.count / bytesPerFrame)
            } else {
                count = unsafe readFrames(scratch, Int(min(periodFrames, wanted - done)))
            }
            if count == -Int(EINTR) && interrupted < 8 {
                interrupted += 1
                continue
            }
            if count == 0 || count == -Int(EAGAIN) || count == -Int(EINTR) { break }
            guard count > 0 else { return count }
            if room > 0 {
                // Before the frames that follow the loss: who sees those sees this.
                flushDropped(ring)
                ring.commit(Int64(count))
                head += Int64(count)
            } else {
                droppedFrames += Int64(count)
                ring.miss(Int64(count))
                lossless = false
            }
            done += Int64(count)
            edge = heard - nanoseconds(of: stamped - done)
        }
        if lossless && done > 0 {
            leaveStamp(.running, at: start + stamped, heard, ring)
        }
        return Int(done)
    }

    /// Tells of the frames that were dropped just before the ring's next one.
    @_noLocks @_noAllocation
    private func flushDropped(_ ring: Ring) {
        guard droppedFrames > 0 else { return }
        leaveStamp(.stall, at: head, edge, lost: droppedFrames, ring)
        droppedFrames = 0
    }

    @_noLocks @_noAllocation
    private func recover(_ status: Int32, _ ring: Ring) -> Outcome {
        switch -status {
        case EAGAIN, EINTR:
            return .running
        case ENODEV, ENOENT, ENXIO, ESHUTDOWN:
            return end(.cardLost, status, ring)
        case ESTRPIPE:
            // Suspended with the machine: until it is awake there is nothing to do.
            if resume() == -EAGAIN {
                return idle(ring)
            }
            return restart(status, ring)
        case EPIPE:
            return restart(status, ring)
        default:
            if isGone() {
                return end(.cardLost, status, ring)
            }
            return status == -EBADFD ? restart(status, ring) : end(.read, status, ring)
        }
    }

    /// After an overrun: some drivers need both prepare and start.
    @_noLocks @_noAllocation
    private func restart(_ cause: Int32, _ ring: Ring) -> Outcome {
        restarts += 1
        guard restarts <= Self.mostRestarts else { return end(.overrunAgain, cause, ring) }
        var status = prepare()
        if status >= 0 {
            status = start()
        }
        if status == -EPIPE || status == -EINTR || status == -EAGAIN {
            return idle(ring)
        }
        guard status >= 0 else {
            return end(isGone() ? .cardLost : .restart, status, ring)
        }
        flushDropped(ring)
        edge = now()
        leaveStamp(.xrun, at: head, edge, lost: -1, ring)
        return .running
    }

    /// Waits a little for nothing but stop: a PCM that is ready and has nothing must not take the processor from the rest.
    @_noLocks @_noAllocation
    private func idle(_ ring: Ring) -> Outcome {
        let ready = wait(1, idleMilliseconds)
        if ready > 0 {
            return stop(ring)
        }
        return quiet(idleMilliseconds, ring)
    }

    /// Counts time waited in vain: not by the clock, which runs on while the process is stopped.
    @_noLocks @_noAllocation
    private func quiet(_ milliseconds: Int32, _ ring: Ring) -> Outcome {
        quietMilliseconds += milliseconds
        return quietMilliseconds >= patience ? end(.silent, 0, ring) : .running
    }

    @_noLocks @_noAllocation
    private func stop(_ ring: Ring) -> Outcome {
        flushDropped(ring)
        return .stopped
    }

    @_noLocks @_noAllocation
    private func end(_ why: Ending, _ status: Int32, _ ring: Ring) -> Outcome {
        flushDropped(ring)
        endingStatus.store(status, ordering: .relaxed)
        endingCode.store(why.rawValue, ordering: .releasing)
        return .ended
    }
}

// MARK: - Calls

// Each copies what it needs first, so that the call itself holds no reference.
extension CaptureLoop {
    @_noLocks @_noAllocation
    private func wait(_ count: Int, _ milliseconds: Int32) -> Int32 {
        let (call, pcm, descriptors) = unsafe (calls.wait, pcm, descriptors)
        unsafe descriptors[0].revents = 0
        return unsafe _unsafePerformance { unsafe call(pcm, descriptors, count, milliseconds) }
    }

    @_noLocks @_noAllocation
    private func isStopRequested() -> Bool {
        unsafe descriptors[0].revents != 0
    }

    @_noLocks @_noAllocation
    private func events() -> Int32 {
        let (call, pcm, descriptors, count) = unsafe (calls.events, pcm, descriptors + 1, descriptorCount - 1)
        return unsafe _unsafePerformance { unsafe call(pcm, descriptors, count) }
    }

    @_noLocks @_noAllocation
    private func timestamp() -> Int32 {
        let (call, pcm) = unsafe (calls.timestamp, pcm)
        var frames = 0
        var time = timespec()
        let status = unsafe _unsafePerformance { unsafe call(pcm, &frames, &time) }
        available = Int64(frames)
        stampedInstant = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        guard status >= 0 else { return status }
        if stampedInstant <= 0 { stampedInstant = now() }
        return status
    }

    @_noLocks @_noAllocation
    private func readFrames(_ bytes: UnsafeMutableRawPointer, _ frames: Int) -> Int {
        let (call, pcm) = unsafe (calls.read, pcm)
        return unsafe _unsafePerformance { unsafe call(pcm, bytes, frames) }
    }

    @_noLocks @_noAllocation
    private func prepare() -> Int32 {
        let (call, pcm) = unsafe (calls.prepare, pcm)
        return unsafe _unsafePerformance { unsafe call(pcm) }
    }

    @_noLocks @_noAllocation
    private func start() -> Int32 {
        let (call, pcm) = unsafe (calls.start, pcm)
        return unsafe _unsafePerformance { unsafe call(pcm) }
    }

    @_noLocks @_noAllocation
    private func resume() -> Int32 {
        let (call, pcm) = unsafe (calls.resume, pcm)
        return unsafe _unsafePerformance { unsafe call(pcm) }
    }

    @_noLocks @_noAllocation
    private func isGone() -> Bool {
        let (call, pcm) = unsafe (calls.isGone, pcm)
        return unsafe _unsafePerformance { unsafe call(pcm) }
    }

    @_noLocks @_noAllocation
    private func now() -> Int64 {
        let (call, pcm) = unsafe (calls.now, pcm)
        return unsafe _unsafePerformance { unsafe call(pcm) }
    }

    @_noLocks @_noAllocation
    private func rawLead() -> Int64 {
        let (call, pcm) = unsafe (calls.rawLead, pcm)
        return unsafe _unsafePerformance { unsafe call(pcm) }
    }

    @_noLocks @_noAllocation
    private func leaveStamp(
        _ kind: Stamp.Kind, at position: Int64, _ instant: Int64, lost: Int64 = 0, _ ring: Ring
    ) {
        let raw = instant + rawLead()
        let stamp = unsafe _unsafePerformance {
            Stamp(
                position: position, instant: Instant(nanoseconds: instant), rawNanoseconds: raw, kind: kind, lost: lost)
        }
        ring.stamp(stamp)
    }

    @_noLocks @_noAllocation
    private func nanoseconds(of frames: Int64) -> Int64 {
        frames * 1_000_000_000 / rateHz
    }
}

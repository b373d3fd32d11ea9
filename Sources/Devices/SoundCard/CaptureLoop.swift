import CALSA
import Glibc
import Ring
import Synchronization
import Takes

/// What the capture thread does: wait for the card, copy its bytes into the ring, leave one stamp a wake-up.
///
/// Everything that it needs is allocated before it begins. One thread calls `begin`, `step` and `run`; any thread may read
/// `ending` and call `requestStop`.
@safe final class CaptureLoop: @unchecked Sendable {
    /// How a step went.
    enum Outcome {
        /// More frames will come.
        case running
        /// A stop was requested.
        case stopped
        /// It ended by itself; `ending` is the reason.
        case ended
    }

    /// Why a loop ended by itself. One byte, so that it can be atomic.
    enum Ending: UInt8 {
        case running, cardLost, read, restart, overrunAgain, silent
    }

    /// What the next frame follows.
    private enum Flow {
        /// The frame before it.
        case continuous
        /// The start of the card.
        case started
        /// The start of the card after an overrun.
        case restarted
    }

    /// A PCM that delivers nothing for so long has failed.
    static let patienceMilliseconds: Int32 = 1500
    /// How often a PCM that was started just now is asked for its first frames, which are there long before its first period is over.
    static let firstLookMilliseconds: Int32 = 10
    /// How long frames may wait in the card while no reader waits for them.
    static let restMilliseconds: Int64 = 500
    /// So many restarts or resumptions without a frame between them are a failure.
    private static let mostRestarts = 10

    private let device: CaptureDevice
    private let pick: ChannelPick
    /// Of a frame in the ring.
    private let bytesPerFrame: Int
    private let rateHz: Int64
    private let periodFrames: Int64
    private let bufferFrames: Int64
    /// The PCM wakes the thread that waits for it when so many are there, while a reader waits for them.
    private let wakeFrames: Int
    private let idleMilliseconds: Int32
    private let patience: Int32

    /// The stop event, the event of the ring's demand, then the PCM's.
    private let descriptors: UnsafeMutablePointer<pollfd>
    private let descriptorCount: Int
    private let stopEvent: Int32
    /// Where frames of the card go that the ring has no room for, or keeps some channels of.
    private let scratch: UnsafeMutableRawPointer

    private let endingCode = Atomic<UInt8>(0)
    private let endingStatus = Atomic<Int32>(0)

    // Touched by the capture thread alone.
    /// The ring's position.
    private var head: Int64 = 0
    private var droppedFrames: Int64 = 0
    /// What the next frame follows.
    private var flow = Flow.continuous
    /// When the first frame that is not read yet was sampled.
    private var edge: Int64 = 0
    private var restarts = 0
    private var quietMilliseconds: Int32 = 0
    /// So many frames wake this thread while no reader waits for them.
    private var restFrames: Int
    /// So many do now.
    private var wakesAt: Int

    /// A loop over a configured PCM, which must outlive it.
    /// - Parameters:
    ///   - format: of the channels that are kept.
    ///   - layout: the channels that are kept of those that the PCM delivers.
    ///   - pollDescriptors: the PCM's, as `snd_pcm_poll_descriptors` gives them.
    init(
        device: CaptureDevice, format: StreamFormat, layout: ChannelLayout, periodFrames: Int, bufferFrames: Int,
        pollDescriptors: [pollfd]
    ) throws(SoundCardError) {
        self.device = device
        pick = ChannelPick(layout, format.sampleFormat)
        bytesPerFrame = format.bytesPerFrame
        rateHz = Int64(format.rateHz)
        self.periodFrames = Int64(max(1, periodFrames))
        self.bufferFrames = Int64(max(1, bufferFrames))
        wakeFrames = max(1, periodFrames / 2)
        // Whole periods, and an eighth of the buffer at most. The last of them is half there as well.
        let rest = min(rateHz * Self.restMilliseconds / 1000, self.bufferFrames / 8) / self.periodFrames
        restFrames = rest < 2 ? wakeFrames : Int(rest * self.periodFrames - self.periodFrames / 2)
        wakesAt = wakeFrames
        let periodMilliseconds = Int32(clamping: self.periodFrames * 1000 / rateHz)
        idleMilliseconds = max(1, periodMilliseconds / 4)
        patience = max(Self.patienceMilliseconds, 4 * min(periodMilliseconds, .max / 4))
        stopEvent = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        descriptorCount = pollDescriptors.count + 2
        // Safe: both are allocated here with these sizes, which every access below keeps to, and freed in deinit.
        unsafe descriptors = .allocate(capacity: descriptorCount)
        unsafe descriptors.initialize(to: pollfd(fd: stopEvent, events: Int16(POLLIN), revents: 0))
        unsafe (descriptors + 1).initialize(to: pollfd(fd: -1, events: Int16(POLLIN), revents: 0))
        for (index, descriptor) in pollDescriptors.enumerated() {
            unsafe (descriptors + index + 2).initialize(to: descriptor)
        }
        let scratchBytes = Int(self.periodFrames) * pick.cardBytesPerFrame
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
    /// Steps until a stop is requested or it ends by itself.
    @_noLocks @_noAllocation
    func run(into ring: Ring) -> Outcome {
        var outcome = Outcome.running
        while outcome == .running {
            outcome = step(into: ring)
        }
        return outcome
    }

    /// Prepares for a PCM that was started just now.
    func begin(_ ring: Ring) {
        head = ring.position.count
        flow = .started
        unsafe descriptors[1].fd = ring.demand.fileDescriptor
    }

    /// Waits for the card once, and copies what is there.
    @_noLocks @_noAllocation
    func step(into ring: Ring) -> Outcome {
        let isFirst = flow == .started
        let longest = isFirst ? Self.firstLookMilliseconds : patience
        let ready = unsafe device.wait(descriptors, descriptorCount, longest)
        guard ready >= 0 else {
            return ready == -EINTR ? .running : end(.read, ready, ring)
        }
        if unsafe descriptors[0].revents != 0 {
            return stop(ring)
        }
        if unsafe descriptors[1].revents != 0 {
            return hurry(ring)
        }
        if ready > 0 {
            guard unsafe device.events(descriptors + 2, descriptorCount - 2) != 0 else { return idle(ring) }
        } else if isFirst {
            device.sync()
        }
        var available: Int64 = 0
        var instant: Int64 = 0
        let status = device.timestamp(&available, &instant)
        guard status >= 0 else { return recover(status, ring) }
        guard available > 0 || ready > 0 || !isFirst else { return quiet(longest, ring) }
        // A PCM that is ready and does not know how much it has is asked for a period.
        let stamped = min(available, bufferFrames)
        let result = read(stamped > 0 ? stamped : periodFrames, stamped, instant, ring)
        guard result >= 0 else { return recover(Int32(truncatingIfNeeded: result), ring) }
        guard result > 0 else {
            return ready > 0 ? idle(ring) : quiet(patience, ring)
        }
        // If less came in all that time than the PCM wakes for, these are the last frames before the card stopped.
        if ready == 0, !isFirst {
            guard result >= wakeFrames else { return quiet(patience, ring) }
        }
        restarts = 0
        quietMilliseconds = 0
        settlePace(ring)
        return .running
    }

    /// A reader has come that waits for frames: it gets what the card has from the next step on, and all that follows soon.
    @_noLocks @_noAllocation
    private func hurry(_ ring: Ring) -> Outcome {
        ring.demand.clear()
        unsafe descriptors[1].revents = 0
        settlePace(ring)
        return .running
    }

    /// Has the PCM wake this thread as soon as the readers need it. If a PCM refuses to wait for longer, it is not asked again.
    @_noLocks @_noAllocation
    private func settlePace(_ ring: Ring) {
        let frames = ring.demand.isPrompt() ? wakeFrames : restFrames
        guard frames != wakesAt else { return }
        if device.wake(atFrames: frames) >= 0 {
            wakesAt = frames
        } else {
            restFrames = wakeFrames
        }
    }

    /// Reads `wanted` frames into the ring, or past it where it is full.
    /// - Parameters:
    ///   - stamped: how many frames were there at `instant`.
    ///   - instant: the card's own time, in nanoseconds.
    /// - Returns: how many frames came, or a negative error code.
    @_noLocks @_noAllocation
    private func read(_ wanted: Int64, _ stamped: Int64, _ instant: Int64, _ ring: Ring) -> Int {
        let start = head
        var done: Int64 = 0
        var lossless = droppedFrames == 0
        var interrupted = 0
        edge = instant - nanoseconds(of: stamped)
        while done < wanted {
            let room = min(ring.writableFrames(), wanted - done)
            let count: Int
            if room > 0 {
                let piece = unsafe ring.writable(room)
                count = unsafe readKept(into: piece)
            } else {
                count = unsafe device.read(scratch, Int(min(periodFrames, wanted - done)))
            }
            if count == -Int(EINTR) && interrupted < 8 {
                interrupted += 1
                continue
            }
            if count == 0 || count == -Int(EAGAIN) || count == -Int(EINTR) { break }
            guard count > 0 else { return count }
            // Both stamps come before the frames that they are for: a reader that sees those frames sees the stamps.
            stampStart(ring)
            if room > 0 {
                stampDropped(ring)
                ring.commit(Int64(count))
                head += Int64(count)
            } else {
                droppedFrames += Int64(count)
                ring.miss(Int64(count))
                lossless = false
            }
            done += Int64(count)
            edge = instant - nanoseconds(of: stamped - done)
        }
        if lossless && done > 0 {
            leaveStamp(.running, at: start + stamped, instant, ring)
        }
        return Int(done)
    }

    /// Reads what is kept of the card's next frames.
    @_noLocks @_noAllocation
    private func readKept(into piece: UnsafeMutableRawBufferPointer) -> Int {
        let wanted = piece.count / bytesPerFrame
        guard !pick.isWhole else { return unsafe device.read(piece.baseAddress!, wanted) }
        let count = unsafe device.read(scratch, min(wanted, Int(periodFrames)))
        if count > 0 { unsafe pick.copy(scratch, count: count, to: piece.baseAddress!) }
        return count
    }

    @_noLocks @_noAllocation
    private func recover(_ status: Int32, _ ring: Ring) -> Outcome {
        switch -status {
        case EAGAIN, EINTR:
            return .running
        case ENODEV, ENOENT, ENXIO, ESHUTDOWN:
            return end(.cardLost, status, ring)
        case ESTRPIPE:
            // The machine slept. The card may still be suspended.
            let resumed = device.resume()
            if resumed == -EAGAIN {
                return idle(ring)
            }
            // A card that resumes goes on by itself; most cannot (ENOSYS).
            return resumed >= 0 ? retry(status, ring) : restart(status, ring)
        case EPIPE:
            return restart(status, ring)
        default:
            if device.isGone() {
                return end(.cardLost, status, ring)
            }
            return status == -EBADFD ? restart(status, ring) : end(.read, status, ring)
        }
    }

    /// After an overrun: some drivers need both prepare and start.
    @_noLocks @_noAllocation
    private func restart(_ cause: Int32, _ ring: Ring) -> Outcome {
        guard retry(cause, ring) == .running else { return .ended }
        var status = device.prepare()
        if status >= 0 {
            status = device.start()
        }
        if status == -EPIPE || status == -EINTR || status == -EAGAIN {
            return idle(ring)
        }
        guard status >= 0 else {
            return end(device.isGone() ? .cardLost : .restart, status, ring)
        }
        stampDropped(ring)
        // If no frame has come since the first start, none is lost.
        if flow == .continuous { flow = .restarted }
        return .running
    }

    /// Counts attempts to go on without a frame between them.
    @_noLocks @_noAllocation
    private func retry(_ cause: Int32, _ ring: Ring) -> Outcome {
        restarts += 1
        return restarts <= Self.mostRestarts ? .running : end(.overrunAgain, cause, ring)
    }

    /// Waits a little for a stop request alone: a PCM that is ready and has no frames must not keep the processor busy.
    @_noLocks @_noAllocation
    private func idle(_ ring: Ring) -> Outcome {
        let ready = unsafe device.wait(descriptors, 1, idleMilliseconds)
        if ready > 0 {
            return stop(ring)
        }
        return quiet(idleMilliseconds, ring)
    }

    /// Counts the time waited without a frame: not by the clock, which runs on while the process is stopped.
    @_noLocks @_noAllocation
    private func quiet(_ milliseconds: Int32, _ ring: Ring) -> Outcome {
        quietMilliseconds += milliseconds
        return quietMilliseconds >= patience ? end(.silent, 0, ring) : .running
    }

    @_noLocks @_noAllocation
    private func stop(_ ring: Ring) -> Outcome {
        stampDropped(ring)
        return .stopped
    }

    @_noLocks @_noAllocation
    private func end(_ why: Ending, _ status: Int32, _ ring: Ring) -> Outcome {
        stampDropped(ring)
        endingStatus.store(status, ordering: .relaxed)
        endingCode.store(why.rawValue, ordering: .releasing)
        return .ended
    }
}

// MARK: - Stamps

extension CaptureLoop {
    /// Leaves the stamp of a start, dated to the first frame that came since: a card begins to sample some time after it was
    /// asked to start.
    @_noLocks @_noAllocation
    private func stampStart(_ ring: Ring) {
        switch flow {
        case .continuous: return
        case .started: leaveStamp(.started, at: head, edge, ring)
        case .restarted: leaveStamp(.xrun, at: head, edge, lost: -1, ring)
        }
        flow = .continuous
    }

    /// Leaves the stamp of the frames that were dropped just before the ring's next one.
    @_noLocks @_noAllocation
    private func stampDropped(_ ring: Ring) {
        guard droppedFrames > 0 else { return }
        leaveStamp(.stall, at: head, edge, lost: droppedFrames, ring)
        droppedFrames = 0
    }

    @_noLocks @_noAllocation
    private func leaveStamp(
        _ kind: Stamp.Kind, at position: Int64, _ instant: Int64, lost: Int64 = 0, _ ring: Ring
    ) {
        let raw = instant + device.rawLead()
        let stamp = unsafe _unsafePerformance {
            Stamp(
                position: RingPosition(position), instant: Instant(nanoseconds: instant), rawNanoseconds: raw,
                kind: kind, lost: lost)
        }
        ring.stamp(stamp)
    }

    @_noLocks @_noAllocation
    private func nanoseconds(of frames: Int64) -> Int64 {
        frames * 1_000_000_000 / rateHz
    }
}

import CALSA
import Glibc
import Ring
import Synchronization
import Takes

/// The loop of the capture thread: it waits for the card, copies its bytes into the ring, and leaves one stamp for each
/// wake-up.
///
/// Everything that it needs is allocated in `init`. One thread calls `begin`, `step` and `run`; any thread may read
/// `ending` and call `requestStop`.
@safe final class CaptureLoop: @unchecked Sendable {
    enum Outcome {
        case running
        case stopped
        /// The loop ended by itself; `ending` is the reason.
        case ended
    }

    /// Why a loop ended by itself. The raw value is one byte, so that it can be atomic.
    enum Ending: UInt8 {
        case running, cardLost, read, restart, overrunAgain, silent
    }

    /// The event that precedes the next frame.
    private enum Flow {
        case continuous
        case started
        case restarted
    }

    /// A PCM that delivers nothing for this long has failed.
    static let patienceMilliseconds: Int32 = 1500
    /// The interval at which a PCM that has just started is polled for its first frames, which are available long
    /// before the end of its first period.
    static let firstLookMilliseconds: Int32 = 10
    /// How long frames may wait in the card while no reader waits for them.
    static let restMilliseconds: Int64 = 500
    /// The capture fails after more than this number of restarts or resumes without a frame between them.
    private static let mostRestarts = 10

    private let device: CaptureDevice
    private let pick: ChannelPick
    /// Bytes of a frame in the ring.
    private let bytesPerFrame: Int
    private let rateHz: Int64
    private let periodFrames: Int64
    private let bufferFrames: Int64
    /// The PCM wakes the capture thread at this number of frames while a reader waits for them.
    private let wakeFrames: Int
    private let idleMilliseconds: Int32
    private let patience: Int32

    /// The stop event, the event of the ring's demand, then the PCM's descriptors.
    private let descriptors: UnsafeMutablePointer<pollfd>
    private let descriptorCount: Int
    private let stopEvent: Int32
    /// Receives the card's frames if the ring is full, or if only some of the channels are kept.
    private let scratch: UnsafeMutableRawPointer

    private let endingCode = Atomic<UInt8>(0)
    private let endingStatus = Atomic<Int32>(0)

    // Only the capture thread uses the properties below.
    private var head: Int64 = 0
    private var droppedFrames: Int64 = 0
    private var flow = Flow.continuous
    /// When the first unread frame was sampled, in nanoseconds.
    private var edge: Int64 = 0
    private var restarts = 0
    private var quietMilliseconds: Int32 = 0
    /// The PCM wakes the capture thread at this number of frames while no reader waits for them.
    private var restFrames: Int
    /// The number of frames now in force.
    private var wakesAt: Int

    /// A loop over a configured PCM, which must outlive the loop.
    /// - Parameters:
    ///   - format: the format of the kept channels.
    ///   - layout: the kept channels among those of the PCM.
    ///   - pollDescriptors: the PCM's descriptors, as `snd_pcm_poll_descriptors` returns them.
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
        // Whole periods, and at most an eighth of the buffer. Half a period is subtracted, as in
        // `CapturePCM.configure`.
        let rest = min(rateHz * Self.restMilliseconds / 1000, self.bufferFrames / 8) / self.periodFrames
        restFrames = rest < 2 ? wakeFrames : Int(rest * self.periodFrames - self.periodFrames / 2)
        wakesAt = wakeFrames
        let periodMilliseconds = Int32(clamping: self.periodFrames * 1000 / rateHz)
        idleMilliseconds = max(1, periodMilliseconds / 4)
        patience = max(Self.patienceMilliseconds, 4 * min(periodMilliseconds, .max / 4))
        stopEvent = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        descriptorCount = pollDescriptors.count + 2
        // Safe: both are allocated here and freed in deinit, and every access below stays within these sizes.
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

    /// Makes the current step, or the next one, return `.stopped`.
    func requestStop() {
        eventfd_write(stopEvent, 1)
    }

    /// Why the loop ended by itself, and ALSA's negative error code or 0.
    var ending: (why: Ending, status: Int32) {
        let why = Ending(rawValue: endingCode.load(ordering: .acquiring)) ?? .running
        return (why, endingStatus.load(ordering: .relaxed))
    }
}

// MARK: - The capture thread

extension CaptureLoop {
    /// Steps until a stop is requested or the loop ends by itself.
    @_noLocks @_noAllocation
    func run(into ring: Ring) -> Outcome {
        var outcome = Outcome.running
        while outcome == .running {
            outcome = step(into: ring)
        }
        return outcome
    }

    /// Prepares the loop for a PCM that has just been started.
    func begin(_ ring: Ring) {
        head = ring.position.count
        flow = .started
        unsafe descriptors[1].fd = ring.demand.fileDescriptor
    }

    /// Waits once for the card, and copies the available frames.
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
        // If the PCM is ready but reports no available frames, the loop asks for one period.
        let stamped = min(available, bufferFrames)
        let result = read(stamped > 0 ? stamped : periodFrames, stamped, instant, ring)
        guard result >= 0 else { return recover(Int32(truncatingIfNeeded: result), ring) }
        guard result > 0 else {
            return ready > 0 ? idle(ring) : quiet(patience, ring)
        }
        // If fewer frames came in all that time than the PCM wakes for, these are the last frames before the card
        // stopped.
        if ready == 0, !isFirst {
            guard result >= wakeFrames else { return quiet(patience, ring) }
        }
        restarts = 0
        quietMilliseconds = 0
        settlePace(ring)
        return .running
    }

    /// A reader that waits for frames has come. The next step delivers the frames in the card, and later frames come
    /// promptly.
    @_noLocks @_noAllocation
    private func hurry(_ ring: Ring) -> Outcome {
        ring.demand.clear()
        unsafe descriptors[1].revents = 0
        settlePace(ring)
        return .running
    }

    /// Sets the wake-up size that the readers need. A PCM that refuses the longer one is not asked for it again.
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

    /// Reads `wanted` frames into the ring, or discards them if the ring is full.
    /// - Parameters:
    ///   - stamped: how many frames were available at `instant`.
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
            // Each stamp precedes the frames that it describes, so that a reader that sees the frames also sees the
            // stamp.
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

    /// Reads the kept channels of the card's next frames.
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
            // The system slept. The card may still be suspended.
            let resumed = device.resume()
            if resumed == -EAGAIN {
                return idle(ring)
            }
            // A card that resumes continues by itself; most cards cannot (ENOSYS).
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

    /// Restarts the card after an overrun: some drivers need both prepare and start.
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

    /// Counts the attempts to continue without a frame between them.
    @_noLocks @_noAllocation
    private func retry(_ cause: Int32, _ ring: Ring) -> Outcome {
        restarts += 1
        return restarts <= Self.mostRestarts ? .running : end(.overrunAgain, cause, ring)
    }

    /// Waits briefly for a stop request only, because a PCM that is ready without frames must not keep the processor
    /// busy.
    @_noLocks @_noAllocation
    private func idle(_ ring: Ring) -> Outcome {
        let ready = unsafe device.wait(descriptors, 1, idleMilliseconds)
        if ready > 0 {
            return stop(ring)
        }
        return quiet(idleMilliseconds, ring)
    }

    /// Adds up the time waited without a frame. The clock is not used, because it continues while the process is
    /// stopped.
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
    /// Leaves the stamp of a start. Its time is that of the first frame after the start, because a card begins to
    /// sample some time after the start request.
    @_noLocks @_noAllocation
    private func stampStart(_ ring: Ring) {
        switch flow {
        case .continuous: return
        case .started: leaveStamp(.started, at: head, edge, ring)
        case .restarted: leaveStamp(.xrun, at: head, edge, lost: -1, ring)
        }
        flow = .continuous
    }

    /// Leaves the stamp of the frames that were dropped just before the ring's next frame.
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

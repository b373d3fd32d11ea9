import CALSA
import Glibc

/// A PCM as the capture thread uses it. The calls are C functions: ALSA's, or those of a scripted card in tests.
@safe struct CaptureDevice {
    let pcm: OpaquePointer
    /// Polls the descriptors for at most the given number of milliseconds. Returns how many are ready, or a negative
    /// error code.
    var waitCall: @convention(c) (OpaquePointer, UnsafeMutablePointer<pollfd>, Int, Int32) -> Int32
    /// Translates the events of the PCM's descriptors (`snd_pcm_poll_descriptors_revents`).
    var eventsCall: @convention(c) (OpaquePointer, UnsafeMutablePointer<pollfd>, Int) -> Int32
    /// The available frames and their time on `CLOCK_MONOTONIC`. Returns 0 or a negative error code.
    var timestampCall:
        @convention(c) (OpaquePointer, UnsafeMutablePointer<Int>, UnsafeMutablePointer<timespec>) -> Int32
    /// Updates the card's position, which otherwise changes only at its interrupts. Returns 0 or a negative error code.
    var syncCall: @convention(c) (OpaquePointer) -> Int32
    /// Reads at most the given number of frames. Returns how many were read, or a negative error code.
    var readCall: @convention(c) (OpaquePointer, UnsafeMutableRawPointer, Int) -> Int
    /// Sets how many frames must be available until the PCM is ready. Returns 0 or a negative error code.
    var wakeCall: @convention(c) (OpaquePointer, Int) -> Int32
    /// Prepares the PCM for a start. Returns 0 or a negative error code.
    var prepareCall: @convention(c) (OpaquePointer) -> Int32
    /// Starts the PCM. Returns 0 or a negative error code.
    var startCall: @convention(c) (OpaquePointer) -> Int32
    /// Resumes the PCM after a system sleep. Returns 0 or a negative error code.
    var resumeCall: @convention(c) (OpaquePointer) -> Int32
    /// Whether the card behind the PCM has been disconnected.
    var isGoneCall: @convention(c) (OpaquePointer) -> Bool
    /// The time on `CLOCK_MONOTONIC` in nanoseconds.
    var nowCall: @convention(c) (OpaquePointer) -> Int64
    /// How far `CLOCK_MONOTONIC_RAW` is ahead of `CLOCK_MONOTONIC` now, in nanoseconds.
    var rawLeadCall: @convention(c) (OpaquePointer) -> Int64

    static func alsa(_ pcm: OpaquePointer) -> CaptureDevice {
        unsafe CaptureDevice(
            pcm: pcm,
            waitCall: { _, descriptors, count, milliseconds in
                let ready = unsafe poll(descriptors, nfds_t(count), milliseconds)
                return ready < 0 ? -errno : ready
            },
            eventsCall: { pcm, descriptors, count in
                var events: UInt16 = 0
                let status = unsafe snd_pcm_poll_descriptors_revents(pcm, descriptors, UInt32(count), &events)
                return status < 0 ? status : Int32(events)
            },
            timestampCall: { pcm, available, time in
                var frames: snd_pcm_uframes_t = 0
                let status = unsafe snd_pcm_htimestamp(pcm, &frames, time)
                unsafe available.pointee = Int(frames)
                return status
            },
            syncCall: { unsafe snd_pcm_hwsync($0) },
            readCall: { unsafe snd_pcm_readi($0, $1, snd_pcm_uframes_t($2)) },
            wakeCall: { unsafe calsa_wake_at($0, snd_pcm_uframes_t($1)) },
            prepareCall: { unsafe snd_pcm_prepare($0) },
            startCall: { unsafe snd_pcm_start($0) },
            resumeCall: { unsafe snd_pcm_resume($0) },
            isGoneCall: { unsafe snd_pcm_state($0) == SND_PCM_STATE_DISCONNECTED },
            nowCall: { _ in
                var time = timespec()
                unsafe clock_gettime(CLOCK_MONOTONIC, &time)
                return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
            },
            rawLeadCall: { _ in
                // In this order, an interruption between the two calls makes the time late, as a stamp's may be, and
                // never early.
                var time = timespec()
                var raw = timespec()
                unsafe clock_gettime(CLOCK_MONOTONIC, &time)
                unsafe clock_gettime(CLOCK_MONOTONIC_RAW, &raw)
                return Int64(raw.tv_sec - time.tv_sec) * 1_000_000_000 + Int64(raw.tv_nsec - time.tv_nsec)
            })
    }
}

// No call here allocates or takes a lock. Each method first copies what it needs, so that the call itself holds no
// reference.
extension CaptureDevice {
    /// Waits for the first `count` of the descriptors. The first descriptor is the stop event.
    @_noLocks @_noAllocation
    func wait(_ descriptors: UnsafeMutablePointer<pollfd>, _ count: Int, _ milliseconds: Int32) -> Int32 {
        let (call, pcm) = unsafe (waitCall, pcm)
        unsafe descriptors[0].revents = 0
        return unsafe _unsafePerformance { unsafe call(pcm, descriptors, count, milliseconds) }
    }

    @_noLocks @_noAllocation
    func events(_ descriptors: UnsafeMutablePointer<pollfd>, _ count: Int) -> Int32 {
        let (call, pcm) = unsafe (eventsCall, pcm)
        return unsafe _unsafePerformance { unsafe call(pcm, descriptors, count) }
    }

    /// The available frames and their time in nanoseconds. If the card gives no time, the current time is used.
    @_noLocks @_noAllocation
    func timestamp(_ available: inout Int64, _ instant: inout Int64) -> Int32 {
        let (call, pcm) = unsafe (timestampCall, pcm)
        var frames = 0
        var time = timespec()
        let status = unsafe _unsafePerformance { unsafe call(pcm, &frames, &time) }
        available = Int64(frames)
        instant = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        guard status >= 0 else { return status }
        if instant <= 0 { instant = now() }
        return status
    }

    /// Updates the card's position. Errors are ignored, because `timestamp` reports them again.
    @_noLocks @_noAllocation
    func sync() {
        let (call, pcm) = unsafe (syncCall, pcm)
        _ = unsafe _unsafePerformance { unsafe call(pcm) }
    }

    @_noLocks @_noAllocation
    func read(_ bytes: UnsafeMutableRawPointer, _ frames: Int) -> Int {
        let (call, pcm) = unsafe (readCall, pcm)
        return unsafe _unsafePerformance { unsafe call(pcm, bytes, frames) }
    }

    @_noLocks @_noAllocation
    func wake(atFrames frames: Int) -> Int32 {
        let (call, pcm) = unsafe (wakeCall, pcm)
        return unsafe _unsafePerformance { unsafe call(pcm, frames) }
    }

    @_noLocks @_noAllocation
    func prepare() -> Int32 {
        let (call, pcm) = unsafe (prepareCall, pcm)
        return unsafe _unsafePerformance { unsafe call(pcm) }
    }

    @_noLocks @_noAllocation
    func start() -> Int32 {
        let (call, pcm) = unsafe (startCall, pcm)
        return unsafe _unsafePerformance { unsafe call(pcm) }
    }

    @_noLocks @_noAllocation
    func resume() -> Int32 {
        let (call, pcm) = unsafe (resumeCall, pcm)
        return unsafe _unsafePerformance { unsafe call(pcm) }
    }

    @_noLocks @_noAllocation
    func isGone() -> Bool {
        let (call, pcm) = unsafe (isGoneCall, pcm)
        return unsafe _unsafePerformance { unsafe call(pcm) }
    }

    @_noLocks @_noAllocation
    func now() -> Int64 {
        let (call, pcm) = unsafe (nowCall, pcm)
        return unsafe _unsafePerformance { unsafe call(pcm) }
    }

    @_noLocks @_noAllocation
    func rawLead() -> Int64 {
        let (call, pcm) = unsafe (rawLeadCall, pcm)
        return unsafe _unsafePerformance { unsafe call(pcm) }
    }
}

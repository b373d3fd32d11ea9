import CALSA
import Glibc

/// The calls that the capture loop makes, as C functions: ALSA's, or in a test those of a card that fails as told.
@unsafe struct CaptureCalls: Sendable {
    /// Waits for the descriptors, at most so many milliseconds: how many are ready, or a negative error code.
    var wait: @convention(c) (OpaquePointer, UnsafeMutablePointer<pollfd>, Int, Int32) -> Int32
    /// What the PCM makes of its descriptors' events.
    var events: @convention(c) (OpaquePointer, UnsafeMutablePointer<pollfd>, Int) -> Int32
    /// Frames that are there, and when that was so on `CLOCK_MONOTONIC`: 0, or a negative error code.
    var timestamp: @convention(c) (OpaquePointer, UnsafeMutablePointer<Int>, UnsafeMutablePointer<timespec>) -> Int32
    /// Reads up to so many frames: how many, or a negative error code.
    var read: @convention(c) (OpaquePointer, UnsafeMutableRawPointer, Int) -> Int
    /// Makes the PCM ready to start: 0, or a negative error code.
    var prepare: @convention(c) (OpaquePointer) -> Int32
    /// Starts the PCM: 0, or a negative error code.
    var start: @convention(c) (OpaquePointer) -> Int32
    /// Wakes the PCM from a system sleep: 0, or a negative error code.
    var resume: @convention(c) (OpaquePointer) -> Int32
    /// Whether the card behind the PCM is gone.
    var isGone: @convention(c) (OpaquePointer) -> Bool
    /// Now, on `CLOCK_MONOTONIC`, in nanoseconds.
    var now: @convention(c) (OpaquePointer) -> Int64
    /// How far `CLOCK_MONOTONIC_RAW` is ahead of `CLOCK_MONOTONIC` now, in nanoseconds.
    var rawLead: @convention(c) (OpaquePointer) -> Int64

    /// ALSA's.
    static let alsa = unsafe CaptureCalls(
        wait: { _, descriptors, count, milliseconds in
            let ready = unsafe poll(descriptors, nfds_t(count), milliseconds)
            return ready < 0 ? -errno : ready
        },
        events: { pcm, descriptors, count in
            var events: UInt16 = 0
            let status = unsafe snd_pcm_poll_descriptors_revents(pcm, descriptors, UInt32(count), &events)
            return status < 0 ? status : Int32(events)
        },
        timestamp: { pcm, available, time in
            var frames: snd_pcm_uframes_t = 0
            let status = unsafe snd_pcm_htimestamp(pcm, &frames, time)
            unsafe available.pointee = Int(frames)
            return status
        },
        read: { unsafe snd_pcm_readi($0, $1, snd_pcm_uframes_t($2)) },
        prepare: { unsafe snd_pcm_prepare($0) },
        start: { unsafe snd_pcm_start($0) },
        resume: { unsafe snd_pcm_resume($0) },
        isGone: { unsafe snd_pcm_state($0) == SND_PCM_STATE_DISCONNECTED },
        now: { _ in
            var time = timespec()
            unsafe clock_gettime(CLOCK_MONOTONIC, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        },
        rawLead: { _ in
            // In this order: whoever is interrupted between the two dates late, as stamps may be, and never early.
            var time = timespec()
            var raw = timespec()
            unsafe clock_gettime(CLOCK_MONOTONIC, &time)
            unsafe clock_gettime(CLOCK_MONOTONIC_RAW, &raw)
            return Int64(raw.tv_sec - time.tv_sec) * 1_000_000_000 + Int64(raw.tv_nsec - time.tv_nsec)
        })
}

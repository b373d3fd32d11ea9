import CALSA

/// The calls of the playback queue, as C functions: ALSA's, or those of a scripted card in tests.
@unsafe struct PlaybackCalls: Sendable {
    /// Writes at most the given number of frames. Returns how many were written, or a negative error code.
    var write: @convention(c) (OpaquePointer, UnsafeRawPointer, Int) -> Int
    /// The frames that are written and not yet played. Returns 0 or a negative error code.
    var delay: @convention(c) (OpaquePointer, UnsafeMutablePointer<Int>) -> Int32
    /// How many of the last written frames can be taken back, or a negative error code.
    var rewindable: @convention(c) (OpaquePointer) -> Int
    /// Takes frames back. Returns how many, or a negative error code.
    var rewind: @convention(c) (OpaquePointer, Int) -> Int
    /// Prepares the PCM for a start. Returns 0 or a negative error code.
    var prepare: @convention(c) (OpaquePointer) -> Int32
    /// Resumes the PCM after a system sleep. Returns 0 or a negative error code.
    var resume: @convention(c) (OpaquePointer) -> Int32
    /// Stops the PCM at once. Returns 0 or a negative error code.
    var drop: @convention(c) (OpaquePointer) -> Int32
    /// Whether the card behind the PCM has been disconnected.
    var isGone: @convention(c) (OpaquePointer) -> Bool

    static let alsa = unsafe PlaybackCalls(
        write: { unsafe snd_pcm_writei($0, $1, snd_pcm_uframes_t($2)) },
        delay: { pcm, frames in
            let status = unsafe snd_pcm_hwsync(pcm)
            return status < 0 ? status : unsafe snd_pcm_delay(pcm, frames)
        },
        rewindable: { unsafe snd_pcm_rewindable($0) },
        rewind: { unsafe snd_pcm_rewind($0, snd_pcm_uframes_t($1)) },
        prepare: { unsafe snd_pcm_prepare($0) },
        resume: { unsafe snd_pcm_resume($0) },
        drop: { unsafe snd_pcm_drop($0) },
        isGone: { unsafe snd_pcm_state($0) == SND_PCM_STATE_DISCONNECTED })
}

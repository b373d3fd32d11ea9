import CALSA

/// When a configured PCM starts, stops and wakes the thread that waits for it (`snd_pcm_sw_params_t`).
@safe struct SoftwareParameters: ~Copyable {
    private let pointer: OpaquePointer
    private let pcm: OpaquePointer
    private let subject: String
    private let direction: PCMDirection

    /// The current parameters of a PCM.
    init(of pcm: OpaquePointer, _ subject: String, _ direction: PCMDirection) throws(SoundCardError) {
        var allocated: OpaquePointer?
        // Some hundred bytes. If these cannot be allocated, the process could not continue anyway.
        guard unsafe snd_pcm_sw_params_malloc(&allocated) == 0, let pointer = unsafe allocated else {
            fatalError("out of memory")
        }
        unsafe self.pcm = unsafe pcm
        unsafe self.pointer = unsafe pointer
        self.subject = subject
        self.direction = direction
        try check("read its software parameters") { unsafe snd_pcm_sw_params_current(pcm, pointer) }
    }

    deinit {
        unsafe snd_pcm_sw_params_free(pointer)
    }

    /// Wakes the waiting thread as soon as this number of frames can be read or written.
    func wake(atFrames frames: Int) throws(SoundCardError) {
        try check("set its period") {
            unsafe snd_pcm_sw_params_set_avail_min(pcm, pointer, snd_pcm_uframes_t(max(1, frames)))
        }
    }

    /// Makes the PCM start at the first read or write.
    func startAtOnce() throws(SoundCardError) {
        try check("set its start threshold") { unsafe snd_pcm_sw_params_set_start_threshold(pcm, pointer, 1) }
    }

    /// Makes the PCM stop when the whole buffer has been played. Played frames are overwritten with silence, so that
    /// hardware that continues to the end of its period plays nothing twice.
    func stopWhenDry(bufferFrames: Int) throws(SoundCardError) {
        try check("set its stop threshold") {
            unsafe snd_pcm_sw_params_set_stop_threshold(pcm, pointer, snd_pcm_uframes_t(bufferFrames))
        }
        var boundary: snd_pcm_uframes_t = 0
        try check("read its boundary") { unsafe snd_pcm_sw_params_get_boundary(pointer, &boundary) }
        try check("set its silence threshold") { unsafe snd_pcm_sw_params_set_silence_threshold(pcm, pointer, 0) }
        try check("have played frames silenced") { unsafe snd_pcm_sw_params_set_silence_size(pcm, pointer, boundary) }
    }

    /// Sets `CLOCK_MONOTONIC` as the clock of the timestamps.
    func dateMonotonically() throws(SoundCardError) {
        try check("switch timestamps on") {
            unsafe snd_pcm_sw_params_set_tstamp_mode(pcm, pointer, SND_PCM_TSTAMP_ENABLE)
        }
        try check("set the clock of its timestamps") {
            unsafe snd_pcm_sw_params_set_tstamp_type(pcm, pointer, SND_PCM_TSTAMP_TYPE_MONOTONIC)
        }
    }

    func install() throws(SoundCardError) {
        try check("set its software parameters") { unsafe snd_pcm_sw_params(pcm, pointer) }
    }

    private func check(_ operation: String, _ call: () -> Int32) throws(SoundCardError) {
        try SoundCard.check(subject, operation, direction, call)
    }
}

import CALSA

/// The calls that configure the hardware parameters of a PCM, as C functions: ALSA's, or those of a scripted card in
/// tests.
@unsafe struct ParameterCalls: Sendable {
    /// Applies the parameters (`snd_pcm_hw_params`). Returns 0 or a negative error code.
    var install: @convention(c) (OpaquePointer, OpaquePointer) -> Int32
    /// The number of bits that carry signal in a sample (`snd_pcm_hw_params_get_sbits`); 0 or a negative error code if
    /// unknown.
    var significantBits: @convention(c) (OpaquePointer, OpaquePointer) -> Int32

    /// ALSA's calls. A plug-in's report about its samples does not describe a converter, so it counts as unknown.
    static let alsa = unsafe ParameterCalls(
        install: { unsafe snd_pcm_hw_params($0, $1) },
        significantBits: { pcm, parameters in
            guard unsafe snd_pcm_type(pcm) == SND_PCM_TYPE_HW, unsafe snd_pcm_stream(pcm) == SND_PCM_STREAM_CAPTURE
            else { return 0 }
            return unsafe snd_pcm_hw_params_get_sbits(parameters)
        })
}

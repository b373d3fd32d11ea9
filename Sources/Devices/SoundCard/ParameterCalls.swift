import CALSA

/// The calls that settle the hardware parameters of a PCM, as C functions: ALSA's, or in a test those of a scripted card.
@unsafe struct ParameterCalls: Sendable {
    /// Puts the parameters into force (`snd_pcm_hw_params`): 0, or a negative error code.
    var install: @convention(c) (OpaquePointer, OpaquePointer) -> Int32
    /// How many bits of a sample carry signal (`snd_pcm_hw_params_get_sbits`); 0 or a negative error code: it is not known.
    var significantBits: @convention(c) (OpaquePointer, OpaquePointer) -> Int32

    /// ALSA's. What a plug-in reports of its samples does not describe a converter.
    static let alsa = unsafe ParameterCalls(
        install: { unsafe snd_pcm_hw_params($0, $1) },
        significantBits: { pcm, parameters in
            guard unsafe snd_pcm_type(pcm) == SND_PCM_TYPE_HW, unsafe snd_pcm_stream(pcm) == SND_PCM_STREAM_CAPTURE
            else { return 0 }
            return unsafe snd_pcm_hw_params_get_sbits(parameters)
        })
}

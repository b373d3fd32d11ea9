import CALSA
import Takes

/// A set of hardware parameters: a space of configurations that narrows with each choice (`snd_pcm_hw_params_t`).
@safe struct HardwareParameters: ~Copyable {
    let pointer: OpaquePointer
    private let pcm: OpaquePointer
    private let subject: String
    private let direction: PCMDirection

    /// All configurations of a PCM with interleaved frames and without ALSA's resampling.
    init(
        all pcm: OpaquePointer, of subject: String, _ direction: PCMDirection
    ) throws(SoundCardError) {
        unsafe self.pcm = unsafe pcm
        self.subject = subject
        self.direction = direction
        unsafe pointer = unsafe Self.allocate()
        try check("read its parameters") { unsafe snd_pcm_hw_params_any(pcm, pointer) }
        try check("switch resampling off") { unsafe snd_pcm_hw_params_set_rate_resample(pcm, pointer, 0) }
        try check(direction == .capture ? "read interleaved frames" : "write interleaved frames") {
            unsafe snd_pcm_hw_params_set_access(pcm, pointer, SND_PCM_ACCESS_RW_INTERLEAVED)
        }
    }

    /// A copy for trying a choice.
    init(copying other: borrowing HardwareParameters) {
        unsafe pcm = unsafe other.pcm
        subject = other.subject
        direction = other.direction
        unsafe pointer = unsafe Self.allocate()
        unsafe snd_pcm_hw_params_copy(pointer, other.pointer)
    }

    deinit {
        unsafe snd_pcm_hw_params_free(pointer)
    }

    private static func allocate() -> OpaquePointer {
        var pointer: OpaquePointer?
        // Some hundred bytes. If these cannot be allocated, the process could not continue anyway.
        guard unsafe snd_pcm_hw_params_malloc(&pointer) == 0, let pointer = unsafe pointer else {
            fatalError("out of memory")
        }
        return unsafe pointer
    }

    private func check(_ operation: String, _ call: () -> Int32) throws(SoundCardError) {
        try SoundCard.check(subject, operation, direction, call)
    }

    // MARK: Narrowing

    /// Narrows the parameters to this format.
    /// - Returns: whether the format was still possible.
    func choose(_ format: SampleFormat) -> Bool {
        unsafe snd_pcm_hw_params_set_format(pcm, pointer, format.alsa) == 0
    }

    /// Narrows the parameters to this channel count.
    /// - Returns: whether the count was still possible.
    func choose(channels: Int) -> Bool {
        unsafe snd_pcm_hw_params_set_channels(pcm, pointer, UInt32(channels)) == 0
    }

    func has(rateHz: Int) -> Bool {
        unsafe snd_pcm_hw_params_test_rate(pcm, pointer, UInt32(rateHz), 0) == 0
    }

    /// Whether format, channels and rate are still possible together. They are tried in the same order as in
    /// `OpenPCM.offers`, and the parameters are narrowed.
    func offer(_ format: StreamFormat) -> Bool {
        choose(format.sampleFormat) && choose(channels: format.channels) && has(rateHz: format.rateHz)
    }

    /// Sets rate, channels and format, which must be possible together.
    func settle(_ format: StreamFormat) throws(SoundCardError) {
        try check("set \(format.sampleFormat.rawValue)") {
            unsafe snd_pcm_hw_params_set_format(pcm, pointer, format.sampleFormat.alsa)
        }
        try check("set \(format.channels) channels") {
            unsafe snd_pcm_hw_params_set_channels(pcm, pointer, UInt32(format.channels))
        }
        try check("set \(format.rateHz) Hz") {
            unsafe snd_pcm_hw_params_set_rate(pcm, pointer, UInt32(format.rateHz), 0)
        }
    }

    /// Sets a period near `periodFrames`, or a shorter one if the card's buffer holds too few such periods, and the
    /// largest buffer of at most `bufferFrames`. Errors are ignored, because the granted sizes are read back later.
    func settleBuffer(periodFrames: Int, bufferFrames: Int) {
        var largest: snd_pcm_uframes_t = 0
        unsafe snd_pcm_hw_params_get_buffer_size_max(pointer, &largest)
        let most = largest > 0 ? min(bufferFrames, Int(clamping: largest)) : bufferFrames
        // Whole periods in the buffer, if possible: some drivers drift otherwise.
        unsafe snd_pcm_hw_params_set_periods_integer(pcm, pointer)
        var period = snd_pcm_uframes_t(min(periodFrames, max(1, most / 3)))
        var direction: Int32 = 0
        unsafe snd_pcm_hw_params_set_period_size_near(pcm, pointer, &period, &direction)
        var buffer = snd_pcm_uframes_t(most)
        unsafe snd_pcm_hw_params_set_buffer_size_near(pcm, pointer, &buffer)
    }

    // MARK: Reading

    /// The smallest and the largest channel count that are still possible.
    var channelRange: ClosedRange<Int> {
        var least: UInt32 = 1
        var most: UInt32 = 1
        unsafe snd_pcm_hw_params_get_channels_min(pointer, &least)
        unsafe snd_pcm_hw_params_get_channels_max(pointer, &most)
        return Int(least)...Int(max(least, most))
    }

    /// The limits of the rates that are still possible. A limit need not be an exact rate.
    var rateRange: ClosedRange<Int> {
        var least: UInt32 = 1
        var most: UInt32 = 1
        var direction: Int32 = 0
        unsafe snd_pcm_hw_params_get_rate_min(pointer, &least, &direction)
        unsafe snd_pcm_hw_params_get_rate_max(pointer, &most, &direction)
        return Int(least)...Int(max(least, most))
    }

    /// The format that the hardware grants after configuration, or nil for a format that `SampleFormat` does not have.
    func granted(_ calls: ParameterCalls) -> StreamFormat? {
        var rate: UInt32 = 0
        var direction: Int32 = 0
        var channels: UInt32 = 0
        var format = SND_PCM_FORMAT_UNKNOWN
        guard unsafe snd_pcm_hw_params_get_rate(pointer, &rate, &direction) == 0,
            unsafe snd_pcm_hw_params_get_channels(pointer, &channels) == 0,
            unsafe snd_pcm_hw_params_get_format(pointer, &format) == 0, rate > 0, channels > 0,
            let sampleFormat = SampleFormat.allCases.first(where: { $0.alsa == format })
        else { return nil }
        return StreamFormat(
            rateHz: Int(rate), channels: Int(channels), sampleFormat: sampleFormat,
            significantBits: unsafe sampleFormat.significantBits(reported: calls.significantBits(pcm, pointer)))
    }

    /// Frames of a period and of the buffer after configuration.
    var sizes: (periodFrames: Int, bufferFrames: Int) {
        var period: snd_pcm_uframes_t = 0
        var buffer: snd_pcm_uframes_t = 0
        var direction: Int32 = 0
        unsafe snd_pcm_hw_params_get_period_size(pointer, &period, &direction)
        unsafe snd_pcm_hw_params_get_buffer_size(pointer, &buffer)
        return (Int(period), Int(buffer))
    }

    /// Whether the hardware's position moves by whole periods, after configuration.
    var isBatch: Bool {
        unsafe snd_pcm_hw_params_is_batch(pointer) == 1
    }
}

extension SampleFormat {
    /// The number of bits that carry signal in a sample, from the card's report (`msbits` of `snd_pcm_hw_params`): all
    /// bits if the card reports none or an impossible number.
    func significantBits(reported bits: Int32) -> Int {
        switch self {
        case .float: significantBits
        case .s16, .s24Packed, .s24, .s32: (1...significantBits).contains(Int(bits)) ? Int(bits) : significantBits
        }
    }

    var alsa: snd_pcm_format_t {
        switch self {
        case .s16: SND_PCM_FORMAT_S16_LE
        case .s24Packed: SND_PCM_FORMAT_S24_3LE
        case .s24: SND_PCM_FORMAT_S24_LE
        case .s32: SND_PCM_FORMAT_S32_LE
        case .float: SND_PCM_FORMAT_FLOAT_LE
        }
    }
}

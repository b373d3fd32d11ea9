import CALSA
import Takes

/// A set of hardware parameters: a space of configurations that narrows with each choice (`snd_pcm_hw_params_t`).
@safe struct HardwareParameters: ~Copyable {
    let pointer: OpaquePointer
    private let pcm: OpaquePointer
    private let subject: String
    private let direction: PCMDirection

    /// All that a PCM can do with interleaved frames, ALSA's own resampling off.
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

    /// A copy, to try something on.
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
        // Some hundred bytes: where these are not to be had, the process could not go on anyway.
        guard unsafe snd_pcm_hw_params_malloc(&pointer) == 0, let pointer = unsafe pointer else {
            fatalError("out of memory")
        }
        return unsafe pointer
    }

    private func check(_ operation: String, _ call: () -> Int32) throws(SoundCardError) {
        try SoundCard.check(subject, operation, direction, call)
    }

    // MARK: Narrowing

    /// Whether the format was still possible; if so, it is the only one now.
    func choose(_ format: SampleFormat) -> Bool {
        unsafe snd_pcm_hw_params_set_format(pcm, pointer, format.alsa) == 0
    }

    /// Whether the count was still possible; if so, it is the only one now.
    func choose(channels: Int) -> Bool {
        unsafe snd_pcm_hw_params_set_channels(pcm, pointer, UInt32(channels)) == 0
    }

    /// Whether the rate is still possible.
    func has(rateHz: Int) -> Bool {
        unsafe snd_pcm_hw_params_test_rate(pcm, pointer, UInt32(rateHz), 0) == 0
    }

    /// Whether format, channels and rate are still possible together, tried in the order in which `OpenPCM.offers` tries them. The
    /// parameters are narrowed by it.
    func offer(_ format: StreamFormat) -> Bool {
        choose(format.sampleFormat) && choose(channels: format.channels) && has(rateHz: format.rateHz)
    }

    /// Settles rate, channels and format, which must go together.
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

    /// Settles a period near `periodFrames`, shorter where the card's buffer holds too few of them, and the largest buffer
    /// of at most `bufferFrames`. What comes of it is read back later: a card that refuses either is taken as it is.
    func settleBuffer(periodFrames: Int, bufferFrames: Int) {
        var largest: snd_pcm_uframes_t = 0
        unsafe snd_pcm_hw_params_get_buffer_size_max(pointer, &largest)
        let most = largest > 0 ? min(bufferFrames, Int(clamping: largest)) : bufferFrames
        // Whole periods in the buffer, where that can be had: some drivers drift otherwise.
        unsafe snd_pcm_hw_params_set_periods_integer(pcm, pointer)
        var period = snd_pcm_uframes_t(min(periodFrames, max(1, most / 3)))
        var direction: Int32 = 0
        unsafe snd_pcm_hw_params_set_period_size_near(pcm, pointer, &period, &direction)
        var buffer = snd_pcm_uframes_t(most)
        unsafe snd_pcm_hw_params_set_buffer_size_near(pcm, pointer, &buffer)
    }

    // MARK: Reading

    /// The least and the most channels that are still possible.
    var channelRange: ClosedRange<Int> {
        var least: UInt32 = 1
        var most: UInt32 = 1
        unsafe snd_pcm_hw_params_get_channels_min(pointer, &least)
        unsafe snd_pcm_hw_params_get_channels_max(pointer, &most)
        return Int(least)...Int(max(least, most))
    }

    /// The ends of what rates are still possible; they need not be exact.
    var rateRange: ClosedRange<Int> {
        var least: UInt32 = 1
        var most: UInt32 = 1
        var direction: Int32 = 0
        unsafe snd_pcm_hw_params_get_rate_min(pointer, &least, &direction)
        unsafe snd_pcm_hw_params_get_rate_max(pointer, &most, &direction)
        return Int(least)...Int(max(least, most))
    }

    /// What the hardware runs at, once everything is settled; nil for a format that is not one of `SampleFormat`.
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

    /// Frames of a period and of the buffer, once everything is settled.
    var sizes: (periodFrames: Int, bufferFrames: Int) {
        var period: snd_pcm_uframes_t = 0
        var buffer: snd_pcm_uframes_t = 0
        var direction: Int32 = 0
        unsafe snd_pcm_hw_params_get_period_size(pointer, &period, &direction)
        unsafe snd_pcm_hw_params_get_buffer_size(pointer, &buffer)
        return (Int(period), Int(buffer))
    }

    /// Whether the hardware's position moves a period at a time, once everything is settled.
    var isBatch: Bool {
        unsafe snd_pcm_hw_params_is_batch(pointer) == 1
    }
}

extension SampleFormat {
    /// How many bits of a sample carry signal, by what a card reports (`msbits` of `snd_pcm_hw_params`): all, where it does not
    /// know or reports what cannot be.
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

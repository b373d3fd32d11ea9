import CALSA
import Glibc
import Takes

/// An open PCM in the capture direction. Closed when it goes out of scope.
@safe struct CapturePCM: ~Copyable {
    let handle: OpaquePointer
    /// The name that it was opened by.
    let name: String

    /// Opens a PCM without waiting for it.
    /// - Parameters:
    ///   - name: ALSA's name of it, such as `hw:CARD=Mic`.
    ///   - automatic: whether plug-ins may convert formats and channels on the way. They never resample.
    init(opening name: String, automatic: Bool = false) throws(SoundCardError) {
        var mode = SND_PCM_NONBLOCK | Int32(SND_PCM_NO_AUTO_RESAMPLE)
        if !automatic { mode |= Int32(SND_PCM_NO_AUTO_CHANNELS | SND_PCM_NO_AUTO_FORMAT) }
        var handle: OpaquePointer?
        try check(name, "open") { unsafe snd_pcm_open(&handle, name, SND_PCM_STREAM_CAPTURE, mode) }
        unsafe self.handle = unsafe handle!
        self.name = name
    }

    deinit {
        unsafe snd_pcm_close(handle)
    }

    /// Whether this is the hardware itself, not a plug-in.
    var isHardware: Bool {
        unsafe snd_pcm_type(handle) == SND_PCM_TYPE_HW
    }

    /// The index of the card behind it, where there is one.
    var cardIndex: Int? {
        var info: OpaquePointer?
        guard unsafe snd_pcm_info_malloc(&info) == 0 else { return nil }
        defer { unsafe snd_pcm_info_free(info) }
        guard unsafe snd_pcm_info(handle, info) == 0 else { return nil }
        let index = unsafe snd_pcm_info_get_card(info)
        return index >= 0 ? Int(index) : nil
    }

    /// What it offers: each sample format, with each channel count, with each rate, tried together.
    func offers() throws(SoundCardError) -> Offers {
        let all = try unsafe HardwareParameters(all: handle, of: name)
        let mostChannels = isHardware ? Offers.mostChannels : Offers.mostPluginChannels
        var combinations: [Offers.Combination] = []
        for format in SampleFormat.allCases {
            let ofFormat = HardwareParameters(copying: all)
            guard ofFormat.choose(format) else { continue }
            let counts = ofFormat.channelRange
            for count in counts.lowerBound...max(counts.lowerBound, min(counts.upperBound, mostChannels)) {
                let ofCount = HardwareParameters(copying: ofFormat)
                guard ofCount.choose(channels: count) else { continue }
                let range = ofCount.rateRange
                var rates = Offers.triedRatesHz.filter { range.contains($0) && ofCount.has(rateHz: $0) }
                if rates.isEmpty {
                    rates = Set([range.lowerBound, range.upperBound]).filter { ofCount.has(rateHz: $0) }.sorted()
                }
                guard !rates.isEmpty else { continue }
                let last = combinations.count - 1
                if last >= 0, combinations[last].format == format, combinations[last].ratesHz == rates {
                    combinations[last].channels.append(count)
                } else {
                    combinations.append(.init(format: format, channels: [count], ratesHz: rates))
                }
            }
        }
        return Offers(combinations, isHardware: isHardware)
    }

    /// What a PCM was settled to.
    struct Grant {
        var format: StreamFormat
        var periodFrames: Int
        var bufferFrames: Int
    }

    /// Frames between two wake-ups, as a time: with what the recorder does besides, fewer than 12 wake-ups a second.
    static let period = Duration.milliseconds(120)
    /// The buffer is as large as the card allows, within reason.
    static let longestBuffer = Duration.seconds(30)
    /// A plug-in may offer gigabytes, and one that is not paced by hardware always has a full buffer ready.
    static let longestPluginBuffer = Duration.seconds(1)

    /// Settles the PCM to `format`, with long periods and the largest buffer, and reads back what it runs at. Its timestamps
    /// are on `CLOCK_MONOTONIC` from then on.
    func configure(_ format: StreamFormat) throws(SoundCardError) -> Grant {
        let parameters = try unsafe HardwareParameters(all: handle, of: name)
        try parameters.settle(format)
        parameters.settleBuffer(
            periodFrames: Int(format.frames(in: Self.period)),
            bufferFrames: Int(format.frames(in: isHardware ? Self.longestBuffer : Self.longestPluginBuffer)))
        try check(name, "set \(format.summary)") { unsafe snd_pcm_hw_params(handle, parameters.pointer) }
        let sizes = parameters.sizes
        guard let granted = parameters.granted, sizes.periodFrames > 0, sizes.bufferFrames > 0 else {
            throw SoundCardError(name, "set \(format.summary)", reason: "it grants something unknown")
        }
        try setSoftwareParameters(periodFrames: sizes.periodFrames)
        return Grant(format: granted, periodFrames: sizes.periodFrames, bufferFrames: sizes.bufferFrames)
    }

    private func setSoftwareParameters(periodFrames: Int) throws(SoundCardError) {
        var parameters: OpaquePointer?
        // Some hundred bytes: without them Swift's own allocations would have ended the process as well.
        guard unsafe snd_pcm_sw_params_malloc(&parameters) == 0 else { fatalError("out of memory") }
        defer { unsafe snd_pcm_sw_params_free(parameters) }
        let pcm = unsafe handle
        try check(name, "read its software parameters") { unsafe snd_pcm_sw_params_current(pcm, parameters) }
        // Half a period: a read that comes late takes some of the next period with it, and what is left of that one must
        // still be enough to wake for, or every other period is waited for in vain.
        try check(name, "set its period") {
            unsafe snd_pcm_sw_params_set_avail_min(pcm, parameters, snd_pcm_uframes_t(max(1, periodFrames / 2)))
        }
        try check(name, "set its start threshold") {
            unsafe snd_pcm_sw_params_set_start_threshold(pcm, parameters, 1)
        }
        try check(name, "switch timestamps on") {
            unsafe snd_pcm_sw_params_set_tstamp_mode(pcm, parameters, SND_PCM_TSTAMP_ENABLE)
        }
        try check(name, "set the clock of its timestamps") {
            unsafe snd_pcm_sw_params_set_tstamp_type(pcm, parameters, SND_PCM_TSTAMP_TYPE_MONOTONIC)
        }
        try check(name, "set its software parameters") { unsafe snd_pcm_sw_params(pcm, parameters) }
    }

    /// What to poll for it.
    func pollDescriptors() throws(SoundCardError) -> [pollfd] {
        let count = try check(name, "count what to poll") { unsafe snd_pcm_poll_descriptors_count(handle) }
        var descriptors = [pollfd](repeating: pollfd(), count: Int(count))
        let pcm = unsafe handle
        let filled = try check(name, "find what to poll") {
            // Safe: the length is the array's.
            unsafe descriptors.withUnsafeMutableBufferPointer {
                unsafe snd_pcm_poll_descriptors(pcm, $0.baseAddress, UInt32($0.count))
            }
        }
        return Array(descriptors.prefix(Int(filled)))
    }

    /// Makes it ready and starts it.
    func start() throws(SoundCardError) {
        try check(name, "prepare") { unsafe snd_pcm_prepare(handle) }
        try check(name, "start") { unsafe snd_pcm_start(handle) }
    }

    /// Stops it at once.
    func drop() {
        unsafe snd_pcm_drop(handle)
    }
}

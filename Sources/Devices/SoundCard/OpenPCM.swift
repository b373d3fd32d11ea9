import CALSA
import Glibc
import Takes

/// An open PCM of either direction. It is closed when it goes out of scope.
@safe struct OpenPCM: ~Copyable {
    let handle: OpaquePointer
    /// The name under which it was opened.
    let name: String
    let direction: PCMDirection

    /// Opens a PCM in non-blocking mode.
    /// - Parameters:
    ///   - name: ALSA's PCM name, such as `hw:CARD=Mic`.
    ///   - automatic: whether plug-ins may convert formats and channels. They never resample.
    init(opening name: String, _ direction: PCMDirection, automatic: Bool) throws(SoundCardError) {
        var mode = SND_PCM_NONBLOCK | Int32(SND_PCM_NO_AUTO_RESAMPLE)
        if !automatic { mode |= Int32(SND_PCM_NO_AUTO_CHANNELS | SND_PCM_NO_AUTO_FORMAT) }
        let stream = direction == .capture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK
        var handle: OpaquePointer?
        try check(name, "open", direction) { unsafe snd_pcm_open(&handle, name, stream, mode) }
        unsafe self.handle = unsafe handle!
        self.name = name
        self.direction = direction
    }

    deinit {
        unsafe snd_pcm_close(handle)
    }

    var isHardware: Bool {
        unsafe snd_pcm_type(handle) == SND_PCM_TYPE_HW
    }

    /// The index of the card behind the PCM, or nil if it has no card.
    var cardIndex: Int? { place?.card }

    /// The numbers of the card and the device behind the PCM, or nil if it has no card.
    private var place: (card: Int, device: Int)? {
        var info: OpaquePointer?
        guard unsafe snd_pcm_info_malloc(&info) == 0 else { return nil }
        defer { unsafe snd_pcm_info_free(info) }
        guard unsafe snd_pcm_info(handle, info) == 0 else { return nil }
        let index = unsafe snd_pcm_info_get_card(info)
        return index >= 0 ? (Int(index), Int(unsafe snd_pcm_info_get_device(info))) : nil
    }

    private var statedRates: Set<Int> { place.map { StatedRates.of(card: $0.card, device: $0.device) } ?? [] }

    /// The PCM's offers: each sample format is tried with each channel count and each rate.
    /// - Parameter asked: a rate that is also tried, or nil.
    func offers(asked: Int? = nil) throws(SoundCardError) -> Offers {
        let all = try unsafe HardwareParameters(all: handle, of: name, direction)
        let isHardware = isHardware
        let search = RateSearch(stated: isHardware ? statedRates : [], asked: asked)
        var combinations: [Offers.Combination] = []
        for format in SampleFormat.allCases {
            let ofFormat = HardwareParameters(copying: all)
            guard ofFormat.choose(format) else { continue }
            for count in triedChannels(ofFormat) {
                let ofCount = HardwareParameters(copying: ofFormat)
                guard ofCount.choose(channels: count) else { continue }
                let rates = search.rates(in: ofCount.rateRange, isHardware: isHardware) { ofCount.has(rateHz: $0) }
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

    /// Whether the PCM offers `format`. No other combination is tried.
    func offers(_ format: StreamFormat) throws(SoundCardError) -> Bool {
        try unsafe HardwareParameters(all: handle, of: name, direction).offer(format)
    }

    /// The first candidate of a negotiation, found without trying all combinations, or nil if only `offers` can find
    /// it.
    func first(of negotiation: Negotiation) throws(SoundCardError) -> StreamFormat? {
        let all = try unsafe HardwareParameters(all: handle, of: name, direction)
        return negotiation.first { format in
            let ofFormat = HardwareParameters(copying: all)
            return ofFormat.choose(format) ? triedChannels(ofFormat) : nil
        } isOffered: { format in
            HardwareParameters(copying: all).offer(format)
        }
    }

    private func triedChannels(_ parameters: borrowing HardwareParameters) -> ClosedRange<Int> {
        let range = parameters.channelRange
        let most = isHardware ? Offers.mostChannels : Offers.mostPluginChannels
        return range.lowerBound...max(range.lowerBound, min(range.upperBound, most))
    }

    /// The result of configuring a PCM.
    struct Grant {
        var format: StreamFormat
        var periodFrames: Int
        var bufferFrames: Int
        /// Whether the position moves by whole periods, so that frames counted as queued may already have left the
        /// buffer.
        var movesByPeriods: Bool
    }

    /// The shortest buffer that `configure` tries if the kernel refuses longer ones.
    static let shortestBuffer = Duration.milliseconds(500)

    /// Configures the hardware for `format`, with a period and a buffer near the requested ones, and reads back the
    /// granted values. The software parameters must still be set.
    ///
    /// The kernel limits the memory for the buffers of a card (32 MiB, unless `snd.max_alloc_per_card` changes it). If
    /// it refuses with ENOMEM, the buffer is halved until it fits.
    func configure(
        _ format: StreamFormat, period: Duration, buffer: Duration, calls: ParameterCalls = unsafe .alsa
    ) throws(SoundCardError) -> Grant {
        let shortest = Int(format.frames(in: Self.shortestBuffer))
        var bufferFrames = Int(format.frames(in: buffer))
        var refusal: SoundCardError?
        while true {
            let parameters = try unsafe HardwareParameters(all: handle, of: name, direction)
            try parameters.settle(format)
            parameters.settleBuffer(periodFrames: Int(format.frames(in: period)), bufferFrames: bufferFrames)
            let asked = parameters.sizes.bufferFrames
            do throws(SoundCardError) {
                return try unsafe install(parameters, format, calls)
            } catch {
                guard error.code == ENOMEM else { throw error }
                let first = refusal ?? error
                refusal = first
                if asked > 0 { bufferFrames = min(bufferFrames, asked) }
                guard bufferFrames > shortest else { throw first }
                bufferFrames = max(shortest, bufferFrames / 2)
            }
        }
    }

    private func install(
        _ parameters: borrowing HardwareParameters, _ format: StreamFormat, _ calls: ParameterCalls
    ) throws(SoundCardError) -> Grant {
        let pointer = unsafe parameters.pointer
        try check(name, "set \(format.summary)", direction) { unsafe calls.install(handle, pointer) }
        let sizes = parameters.sizes
        guard let granted = unsafe parameters.granted(calls), sizes.periodFrames > 0, sizes.bufferFrames > 0 else {
            throw SoundCardError(
                name, "set \(format.summary)", reason: "it grants something unknown", direction: direction)
        }
        return Grant(
            format: granted, periodFrames: sizes.periodFrames, bufferFrames: sizes.bufferFrames,
            movesByPeriods: parameters.isBatch)
    }

    /// Configures the first of the candidates that the card accepts. Some cards refuse formats that they offer, because
    /// the bus has too little bandwidth left.
    /// - Returns: the result of `configure`, the accepted candidate, and why the first candidate was refused.
    func settle(
        _ candidates: [StreamFormat], with configure: (StreamFormat) throws(SoundCardError) -> Grant
    ) throws(SoundCardError) -> (grant: Grant, candidate: StreamFormat, refusal: SoundCardError?) {
        var first: SoundCardError?
        for candidate in candidates.prefix(64) {
            do throws(SoundCardError) {
                return (try configure(candidate), candidate, first)
            } catch {
                if SoundCardError.lostCodes.contains(error.code) { throw error }
                first = first ?? error
            }
        }
        throw first
            ?? SoundCardError(name, direction.verb, reason: "it takes none of its formats", direction: direction)
    }

    /// The current software parameters, which can then be changed.
    func softwareParameters() throws(SoundCardError) -> SoftwareParameters {
        try unsafe SoftwareParameters(of: handle, name, direction)
    }

    /// Stops the PCM at once.
    func drop() {
        unsafe snd_pcm_drop(handle)
    }
}

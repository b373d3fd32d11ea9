import CALSA
import Glibc
import Takes

/// An open PCM of either direction. Closed when it goes out of scope.
@safe struct OpenPCM: ~Copyable {
    let handle: OpaquePointer
    /// The name that it was opened by.
    let name: String
    let direction: PCMDirection

    /// Opens a PCM without waiting for it.
    /// - Parameters:
    ///   - name: ALSA's name of it, such as `hw:CARD=Mic`.
    ///   - automatic: whether plug-ins may convert formats and channels on the way. They never resample.
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

    /// Whether this is the hardware itself, not a plug-in.
    var isHardware: Bool {
        unsafe snd_pcm_type(handle) == SND_PCM_TYPE_HW
    }

    /// The index of the card behind it, where there is one.
    var cardIndex: Int? { place?.card }

    /// The numbers of the card behind it and of its device, where there is one.
    private var place: (card: Int, device: Int)? {
        var info: OpaquePointer?
        guard unsafe snd_pcm_info_malloc(&info) == 0 else { return nil }
        defer { unsafe snd_pcm_info_free(info) }
        guard unsafe snd_pcm_info(handle, info) == 0 else { return nil }
        let index = unsafe snd_pcm_info_get_card(info)
        return index >= 0 ? (Int(index), Int(unsafe snd_pcm_info_get_device(info))) : nil
    }

    /// The rates that its driver lists.
    private var statedRates: Set<Int> { place.map { StatedRates.of(card: $0.card, device: $0.device) } ?? [] }

    /// What it offers: each sample format, with each channel count, with each rate, tried together.
    /// - Parameter asked: a rate that is tried as well; nil: none.
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

    /// Whether it offers `format`, without trying all else.
    func offers(_ format: StreamFormat) throws(SoundCardError) -> Bool {
        try unsafe HardwareParameters(all: handle, of: name, direction).offer(format)
    }

    /// The first candidate of a negotiation, found without trying all combinations; nil: only `offers` shows it.
    func first(of negotiation: Negotiation) throws(SoundCardError) -> StreamFormat? {
        let all = try unsafe HardwareParameters(all: handle, of: name, direction)
        return negotiation.first { format in
            let ofFormat = HardwareParameters(copying: all)
            return ofFormat.choose(format) ? triedChannels(ofFormat) : nil
        } isOffered: { format in
            HardwareParameters(copying: all).offer(format)
        }
    }

    /// The channel counts that are tried.
    private func triedChannels(_ parameters: borrowing HardwareParameters) -> ClosedRange<Int> {
        let range = parameters.channelRange
        let most = isHardware ? Offers.mostChannels : Offers.mostPluginChannels
        return range.lowerBound...max(range.lowerBound, min(range.upperBound, most))
    }

    /// What a PCM was settled to.
    struct Grant {
        var format: StreamFormat
        var periodFrames: Int
        var bufferFrames: Int
        /// Whether its position moves a period at a time: what seems to be queued may have left the buffer already.
        var movesByPeriods: Bool
    }

    /// A buffer that is too large for the kernel is not made shorter than this.
    static let shortestBuffer = Duration.milliseconds(500)

    /// Settles the hardware to `format`, with a period and a buffer near those that are asked for, and reads back what it
    /// runs at. Its software parameters are still to be set.
    ///
    /// The kernel has so much memory for the buffers of a card (32 MiB, unless `snd.max_alloc_per_card` says otherwise): where
    /// it refuses (ENOMEM), the buffer is halved until it fits.
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

    /// Settles the first of the candidates that the card accepts: some cards offer what they cannot run, because the bus has too
    /// little bandwidth left.
    /// - Returns: what `configure` granted, which candidate it was, and why the first was refused.
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

    /// Its software parameters as they are, to be changed.
    func softwareParameters() throws(SoundCardError) -> SoftwareParameters {
        try unsafe SoftwareParameters(of: handle, name, direction)
    }

    /// Stops it at once.
    func drop() {
        unsafe snd_pcm_drop(handle)
    }
}

public import Ring
public import Takes
import Workers

/// A sound card opened for recording as hardware, without plug-ins, at its native rate. A dedicated thread reads it.
///
/// `open`, `start`, `step`, `setGain` and `stop` must be called by one thread at a time; `end` and
/// `endedFileDescriptor` by any thread at any time.
///
/// Blocking times:
/// - `open` asks the device for its parameters, its mixer and its clock. The kernel waits at most 5 s for each answer
///   of a USB device, and there are some dozens of answers. Finding the live channels takes one more second of capture.
/// - `start` waits for two or three answers.
/// - `setGain` reads the device's controls, and sets two or three.
/// - `stop` waits for the capture thread, for at most `patience`, then for the kernel to stop the stream, about 1 s on
///   USB. If the thread hangs in the driver for longer, `stop` abandons it: the card stays open until the thread
///   returns and closes it. Until then, opening the card again fails as busy.
public final class CaptureCard: CaptureSource {
    private enum State {
        case closed
        case open(OpenCapture)
        /// `step` reads the card.
        case stepping(OpenCapture, CaptureLoop, Ring)
        /// A thread reads the card, and posts to `returned` after its loop. `receivedBefore` is the ring's delivered
        /// count before the start.
        case running(OpenCapture, CaptureLoop, Ring, receivedBefore: Int64, Thread, returned: Mailbox<Void>)
    }

    static let patience = Duration.seconds(10)

    private let cards: SoundCards
    private let sampleFormat: SampleFormat?
    /// Makes the meter that finds the live channels, or nil to keep all channels.
    private let meter: ((StreamFormat) -> any ChannelMeter)?
    private let patience: Duration
    private let signal = CaptureEndSignal()
    private var state = State.closed
    /// The card that `auto` opened last, or nil if the settings named the card.
    private var automatic: CardDescription?
    private var neighbours = CardNeighbours()
    /// The live channels that were found last, or nil if none were found.
    private var live: LiveChannels?

    /// - Parameters:
    ///   - sampleFormat: the layout to ask for, or nil for the widest. Used for plug-ins, which accept any layout.
    ///   - meter: makes the meter that finds the live channels, or nil to keep all channels.
    public convenience init(sampleFormat: SampleFormat?, meter: ((StreamFormat) -> any ChannelMeter)?) {
        self.init(cards: SoundCards(), sampleFormat: sampleFormat, meter: meter, patience: Self.patience)
    }

    init(
        cards: SoundCards, sampleFormat: SampleFormat?, meter: ((StreamFormat) -> any ChannelMeter)?,
        patience: Duration
    ) {
        self.cards = cards
        self.sampleFormat = sampleFormat
        self.meter = meter
        self.patience = patience
    }

    deinit {
        stop()
    }

    /// Readable (for `poll`) from the time when a capture ends by itself until `stop`.
    public var endedFileDescriptor: Int32 { signal.fileDescriptor }
    /// How the last capture ended by itself, or nil while it runs and after `open`.
    public var end: CaptureEnd? { signal.end }

    /// Opens the card, configures its native or the requested format, and sets its gain.
    ///
    /// With `auto`, a card that cannot be opened is skipped with a warning, and the next card is tried.
    /// - Throws: the `SoundCardError` of the best card. The card is then closed.
    public func open(_ request: CaptureRequest) throws -> CaptureGrant {
        stop()
        signal.follow(nil)
        if case .pcm(let name) = request.card { return try open(request, nil, name: name, among: []) }
        let present = cards.list()
        SoundCards.refusals.withLock { $0.update(present) }
        let candidates = try candidates(request, among: present)
        var errors: [CardStay: any Error] = [:]
        for card in candidates {
            do {
                let name = card.hardwareName(device: card.captureDevice ?? 0)
                var grant = try open(request, card, name: name, among: present)
                grant.warnings += passedOver(for: card, of: candidates, errors).map {
                    "\($0): \(grant.card) is recorded instead"
                }
                return grant
            } catch {
                errors[card.stay] = error
                if request.card == .automatic { refuse(card, because: "\(error)") }
            }
        }
        let best = candidates.min { CardChoice.prefers($0, to: $1) }
        throw best.flatMap { errors[$0.stay] } ?? CardChoice.absence(of: request.card, among: present)
    }

    private func open(
        _ request: CaptureRequest, _ card: CardDescription?, name: String, among present: [CardDescription]
    ) throws -> CaptureGrant {
        let pcm = try openPCM(name, card)
        let negotiation = Negotiation(
            rateHz: request.rateHz, channels: request.channels, sampleFormat: sampleFormat)
        var warnings: [String] = []
        let settled = try settle(pcm, negotiation, card, period: request.period, &warnings)
        let mixer = mixer(of: pcm, card)
        let gain = gain(of: mixer, name, request, &warnings)
        warnings += RealTime.enter()
        let references = card?.references ?? [request.card]
        var format = settled.format
        let layout = request.channels?.layout(ofCard: format.channels)
        format.channels = layout?.kept.count ?? format.channels
        let grant = CaptureGrant(
            card: references[0].description, references: references, name: card?.name ?? name,
            format: format, layout: layout, periodFrames: settled.periodFrames, bufferFrames: settled.bufferFrames,
            gain: gain, warnings: warnings)
        let capture = OpenCapture(name: name, mixer: mixer, card: card, grant: grant, pcm: pcm)
        if request.channels == .live { try keepLiveChannels(of: capture, card) }
        state = .open(capture)
        automatic = request.card == .automatic ? card : nil
        let before = request.expected.isEmpty ? CardNeighbours() : neighbours
        neighbours = card.map { CardNeighbours(of: $0, among: present, before: before) } ?? CardNeighbours()
        return capture.grant
    }

    /// Starts the card, and a thread that reads it into `ring`.
    /// - Throws: `SoundCardError` or `ThreadError`; the card then stays open.
    public func start(into ring: Ring) throws {
        let received = ring.delivered
        let (capture, loop): (OpenCapture, CaptureLoop)
        do throws(SoundCardError) {
            (capture, loop) = try begin(ring)
        } catch {
            if let automatic { refuse(automatic, because: "\(error)") }
            throw error
        }
        // A plug-in that the hardware does not pace would occupy the whole processor at a real-time priority.
        let isHardware = capture.pcm.pcm.isHardware
        let returned = Mailbox<Void>()
        do throws(ThreadError) {
            let thread = try Thread(name: "capture") { [signal] in
                if isHardware { RealTime.enterThread() }
                if loop.run(into: ring) == .ended { signal.raise(for: loop) }
                // The card must stay open until the loop has returned.
                withExtendedLifetime(capture) { returned.post(()) }
            }
            state = .running(capture, loop, ring, receivedBefore: received, thread, returned: returned)
        } catch {
            capture.halt()
            signal.follow(nil)
            throw error
        }
    }

    /// Locks the process in memory, and surveys everything that the card offers. `SoundCards.reports` needs this
    /// because it cannot open a card that is in use.
    public func complete() {
        switch state {
        case .running(let capture, _, _, receivedBefore: _, _, returned: _):
            RealTime.lockTouchedMemory()
            capture.survey()
        case .closed, .open, .stepping: break
        }
    }

    /// Starts the card without a thread: the caller reads it with `step`.
    /// - Throws: `SoundCardError`; the card then stays open.
    public func startInSteps(into ring: Ring) throws {
        let (capture, loop) = try begin(ring)
        state = .stepping(capture, loop, ring)
    }

    /// After `startInSteps`, waits once for the card and reads the available frames.
    /// - Returns: whether more frames will come.
    public func step() -> Bool {
        guard case .stepping(_, let loop, let ring) = state else { return false }
        return loop.step(into: ring) == .running
    }

    /// Sets the gain in the mixer of the open card. The capture thread does not use the mixer.
    public func setGain(gainDB: Double?, agc: Bool?) throws(GainError) -> CardGain? {
        let capture: OpenCapture
        switch state {
        case .closed: return nil
        case .open(let open), .stepping(let open, _, _), .running(let open, _, _, receivedBefore: _, _, returned: _):
            capture = open
        }
        guard let name = capture.mixer else {
            guard gainDB != nil || agc == true else { return CardGain() }
            throw GainError(.noControl, Self.noMixer(capture.name))
        }
        let controls: GainControls
        do throws(SoundCardError) {
            controls = try GainControls(opening: name)
        } catch {
            throw GainError(.failed, error.description)
        }
        return try controls.set(gainDB: gainDB, agc: agc)
    }

    /// Updates the list of present cards, and reports whether a better one than the open card is among them.
    public func look() -> BetterCard {
        switch state {
        case .closed: return .none
        case .open, .stepping, .running:
            guard end == nil else { return .none }
            let present = cards.list(mayOpen: false)
            neighbours.update(present)
            judge()
            guard let automatic else { return .none }
            let refusals = SoundCards.refusals.withLock {
                $0.update(present)
                return $0
            }
            return cards.better(than: automatic.kind, among: present, after: refusals)
        }
    }

    public func stop() {
        switch state {
        case .closed, .open: break
        case .stepping(_, let loop, let ring):
            loop.requestStop()
            // The loop then leaves the stamp of the frames that were dropped last.
            _ = loop.step(into: ring)
        case .running(_, let loop, _, receivedBefore: _, let thread, returned: let returned):
            judge()
            loop.requestStop()
            if waits(for: returned) { thread.join() } else { signal.follow(nil) }
        }
        state = .closed
        signal.lower()
    }
}

extension CaptureCard {
    /// The cards to try, in order. There is more than one only if the settings leave the choice to the recorder.
    private func candidates(
        _ request: CaptureRequest, among present: [CardDescription]
    ) throws(SoundCardError) -> [CardDescription] {
        if request.card == .automatic, request.expected.isEmpty {
            let refusals = SoundCards.refusals.withLock { $0 }
            let candidates = CardChoice.candidates(among: present, after: refusals)
            if !candidates.isEmpty { return candidates }
        }
        let card = CardChoice.choose(
            request.card, expecting: request.expected, besides: neighbours, among: present)
        if let card { return [card] }
        throw CardChoice.absence(
            of: request.card, expecting: request.expected, besides: neighbours, among: present)
    }

    /// Leaves out the channels without a signal. The same card in the same format keeps the channels of the last
    /// measurement.
    private func keepLiveChannels(of capture: OpenCapture, _ card: CardDescription?) throws(SoundCardError) {
        let stay = card?.stay
        if live?.name != capture.name || live?.stay != stay || live?.format != capture.grant.format {
            let format = capture.grant.format
            let numbers = if let meter { try capture.liveChannels(by: meter) } else { nil as [Int]? }
            live = numbers.map { LiveChannels(name: capture.name, stay: stay, format: format, numbers: $0) }
        }
        if let live { capture.keep(live.numbers) }
    }

    /// The reason why each candidate that `auto` prefers to `card` could not record.
    private func passedOver(
        for card: CardDescription, of candidates: [CardDescription], _ errors: [CardStay: any Error]
    ) -> [String] {
        let refusals = SoundCards.refusals.withLock { $0 }
        return candidates.filter { CardChoice.prefers($0, to: card) }.compactMap { other in
            errors[other.stay].map { "\($0)" } ?? refusals.reason(of: other.stay)
        }
    }

    /// Notes whether the card that `auto` chose has delivered frames since its start.
    private func judge() {
        guard let automatic, case .running(_, _, let ring, receivedBefore: let received, _, returned: _) = state else {
            return
        }
        if ring.delivered > received {
            SoundCards.refusals.withLock { $0.accept(automatic.stay) }
        } else if case .failed(let reason) = end {
            refuse(automatic, because: reason)
        }
    }

    /// Notes that a card could not record. A card that another program holds is not noted: it can be opened once it is
    /// free.
    private func refuse(_ card: CardDescription, because reason: String) {
        guard isOpen || cards.isFree(card) else { return }
        SoundCards.refusals.withLock { $0.refuse(card.stay, because: reason) }
    }

    private var isOpen: Bool {
        switch state {
        case .closed: false
        case .open, .stepping, .running: true
        }
    }

    private func openPCM(_ name: String, _ card: CardDescription?) throws(SoundCardError) -> CapturePCM {
        do throws(SoundCardError) {
            return try cards.open(card, .capture) { () throws(SoundCardError) in
                try CapturePCM(opening: name, automatic: card == nil)
            }
        } catch {
            if let card, let device = card.captureDevice { throw cards.explain(error, card: card, device: device) }
            throw cards.explain(error)
        }
    }

    /// Configures the first of the candidates that the card accepts, with a warning if it is not the best. All
    /// combinations are tried only if the quick search finds no best candidate, or the card refuses it.
    private func settle(
        _ pcm: borrowing CapturePCM, _ negotiation: Negotiation, _ card: CardDescription?, period: Duration?,
        _ warnings: inout [String]
    ) throws(SoundCardError) -> OpenPCM.Grant {
        let name = pcm.pcm.name
        let settled: (grant: OpenPCM.Grant, candidate: StreamFormat, refusal: SoundCardError?)
        if let best = try pcm.pcm.first(of: negotiation), let only = try pcm.settleIfAccepted(best, period: period) {
            settled = (only, best, nil)
        } else {
            let offers = try pcm.pcm.offers(asked: negotiation.rateHz)
            if let card { SoundCards.remember(offers, of: card, for: .capture) }
            settled = try pcm.settle(negotiation.candidates(from: offers, of: name), period: period)
        }
        let format = settled.grant.format
        if let refusal = settled.refusal { warnings.append("\(refusal): recording \(format.summary) instead") }
        if let warning = Negotiation.warning(asked: settled.candidate, granted: format, by: name) {
            warnings.append(warning)
        }
        return settled.grant
    }

    /// ALSA's control name of the card behind a PCM, or nil if a plug-in has no card.
    private func mixer(of pcm: borrowing CapturePCM, _ card: CardDescription?) -> String? {
        pcm.pcm.cardIndex.map { index in card.map { "hw:CARD=\($0.alsaID)" } ?? "hw:\(index)" }
    }

    private func gain(
        of mixer: String?, _ name: String, _ request: CaptureRequest, _ warnings: inout [String]
    ) -> CardGain {
        let isAsked = request.gainDB != nil || request.agc == true
        guard let mixer else {
            if isAsked { warnings.append(Self.noMixer(name)) }
            return CardGain()
        }
        do throws(SoundCardError) {
            let applied = try GainControls(opening: mixer).apply(gainDB: request.gainDB, agc: request.agc)
            warnings += applied.warnings
            return applied.gain
        } catch {
            if isAsked { warnings.append(error.description) }
            return CardGain()
        }
    }

    private static func noMixer(_ name: String) -> String {
        "capture: \(name): cannot set gain or automatic gain control: it has no mixer"
    }

    private func begin(_ ring: Ring) throws(SoundCardError) -> (OpenCapture, CaptureLoop) {
        guard case .open(let capture) = state else {
            throw SoundCardError("card", "start", reason: "it is not open, or runs already")
        }
        let loop = try capture.begin(into: ring)
        signal.follow(loop, name: capture.name)
        return (capture, loop)
    }

    /// - Returns: whether the capture thread returned from its loop within `patience`.
    private func waits(for returned: Mailbox<Void>) -> Bool {
        let clock = SystemClock()
        let deadline = clock.now() + patience
        while returned.take().isEmpty {
            let left = deadline - clock.now()
            guard left > .zero else { return false }
            returned.wait(nanoseconds: left.nanoseconds)
        }
        return true
    }
}

/// The channels of a card that have a signal.
private struct LiveChannels {
    var name: String
    /// Nil if the settings name a PCM.
    var stay: CardStay?
    /// The format with all channels of the card.
    var format: StreamFormat
    var numbers: [Int]
}

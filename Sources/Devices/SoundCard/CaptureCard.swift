public import Ring
public import Takes
import Workers

/// A sound card that is recorded from: opened as hardware, without plug-ins, at its native rate, and read by a thread of its own.
///
/// `open`, `start`, `step`, `setGain` and `stop` are called by one thread at a time; `end` and `endedFileDescriptor` by any at any time.
///
/// What may block, and for how long:
/// - `open` asks the device for its parameters, its mixer and its clock. The kernel waits 5 s at most for each answer of a USB
///   device, and there are some dozens of them. To find the live channels, it captures for a second.
/// - `start` waits for two or three answers.
/// - `setGain` asks the device for its controls, and sets two or three.
/// - `stop` waits for the capture thread, `patience` at most, then for the kernel to stop the stream, about 1 s on USB.
///   A thread that hangs in the driver for longer is given up: the card stays open until the thread returns, which then
///   closes it. Until then, opening it again fails as busy.
public final class CaptureCard: CaptureSource {
    private enum State {
        case closed
        case open(OpenCapture)
        /// Read by `step`.
        case stepping(OpenCapture, CaptureLoop, Ring)
        /// Read by a thread, which posts once its loop has returned. `receivedBefore`: what the ring had received then.
        case running(OpenCapture, CaptureLoop, Ring, receivedBefore: Int64, Thread, returned: Mailbox<Void>)
    }

    /// How long `stop` waits for the capture thread.
    static let patience = Duration.seconds(10)

    private let cards: SoundCards
    private let sampleFormat: SampleFormat?
    /// Makes the meter that finds the live channels; nil: all are kept.
    private let meter: ((StreamFormat) -> any ChannelMeter)?
    private let patience: Duration
    private let signal = CaptureEndSignal()
    private var state = State.closed
    /// The card that was opened last, or nil if the settings named that card.
    private var automatic: CardDescription?
    private var neighbours = CardNeighbours()
    /// The live channels that were found last, or nil if that card had none.
    private var live: LiveChannels?

    /// A card that is not open yet.
    /// - Parameters:
    ///   - sampleFormat: the layout to ask for; nil: the widest. For plug-ins, which accept any layout.
    ///   - meter: makes the meter that finds the live channels; nil: all are kept.
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

    /// Readable (for `poll`) once a capture has ended by itself, until `stop`.
    public var endedFileDescriptor: Int32 { signal.fileDescriptor }
    /// The last capture's end by itself; nil while it runs, and from `open` on.
    public var end: CaptureEnd? { signal.end }

    /// Opens the card, settles it to its native format or to what is asked, and sets its gain.
    ///
    /// With `auto` a card that cannot be opened is passed over for the next one, which is a warning.
    /// - Throws: `SoundCardError`, the best card's. The card is closed then.
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
    /// - Throws: `SoundCardError`, or `ThreadError`; the card stays open.
    public func start(into ring: Ring) throws {
        let received = ring.delivered
        let (capture, loop): (OpenCapture, CaptureLoop)
        do throws(SoundCardError) {
            (capture, loop) = try begin(ring)
        } catch {
            if let automatic { refuse(automatic, because: "\(error)") }
            throw error
        }
        // A plug-in that is not paced by hardware would take the whole processor at a real-time priority.
        let isHardware = capture.pcm.pcm.isHardware
        let returned = Mailbox<Void>()
        do throws(ThreadError) {
            let thread = try Thread(name: "capture") { [signal] in
                if isHardware { RealTime.enterThread() }
                if loop.run(into: ring) == .ended { signal.raise(for: loop) }
                // The loop reads the open card to its end.
                withExtendedLifetime(capture) { returned.post(()) }
            }
            state = .running(capture, loop, ring, receivedBefore: received, thread, returned: returned)
        } catch {
            capture.halt()
            signal.follow(nil)
            throw error
        }
    }

    /// Locks the process in memory, and finds out all that the card offers, for `SoundCards.reports`, which cannot open it meanwhile.
    public func complete() {
        switch state {
        case .running(let capture, _, _, receivedBefore: _, _, returned: _):
            RealTime.lockTouchedMemory()
            capture.survey()
        case .closed, .open, .stepping: break
        }
    }

    /// Starts the card without a thread: `step` reads it.
    /// - Throws: `SoundCardError`; the card stays open.
    public func startInSteps(into ring: Ring) throws {
        let (capture, loop) = try begin(ring)
        state = .stepping(capture, loop, ring)
    }

    /// Waits for the card once and reads what is there, after `startInSteps`.
    /// - Returns: whether more frames will come.
    public func step() -> Bool {
        guard case .stepping(_, let loop, let ring) = state else { return false }
        return loop.step(into: ring) == .running
    }

    /// Sets the gain in the mixer of the open card, which the capture does not use.
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

    /// Takes note of which cards are there.
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

    /// Stops the thread and closes the card. Does nothing if it is closed.
    public func stop() {
        switch state {
        case .closed, .open: break
        case .stepping(_, let loop, let ring):
            loop.requestStop()
            // It leaves the stamp of the frames that were dropped last.
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
    /// The cards to try, in order. Only where the settings leave the choice is there more than one.
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

    /// Leaves out the channels without a signal: the same as before, while it is the same card that runs as before.
    private func keepLiveChannels(of capture: OpenCapture, _ card: CardDescription?) throws(SoundCardError) {
        let stay = card?.stay
        if live?.name != capture.name || live?.stay != stay || live?.format != capture.grant.format {
            let format = capture.grant.format
            let numbers = if let meter { try capture.liveChannels(by: meter) } else { nil as [Int]? }
            live = numbers.map { LiveChannels(name: capture.name, stay: stay, format: format, numbers: $0) }
        }
        if let live { capture.keep(live.numbers) }
    }

    /// Why each candidate that `auto` prefers to a card could not be recorded from.
    private func passedOver(
        for card: CardDescription, of candidates: [CardDescription], _ errors: [CardStay: any Error]
    ) -> [String] {
        let refusals = SoundCards.refusals.withLock { $0 }
        return candidates.filter { CardChoice.prefers($0, to: card) }.compactMap { other in
            errors[other.stay].map { "\($0)" } ?? refusals.reason(of: other.stay)
        }
    }

    /// Takes note of whether the card that was chosen delivered anything since it was started.
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

    /// Takes note that a card could not be recorded from, unless another program holds it: it can be opened once it is free.
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

    /// Settles the first of the candidates that the card accepts, with a warning where it is not the best of them. All combinations
    /// are tried only where the best is not found without, or is refused.
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

    /// ALSA's control name of the card behind a PCM; nil: it has none.
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

    /// Waits until the capture thread has returned from its loop.
    /// - Returns: whether it did.
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

/// Which channels of a card have a signal.
private struct LiveChannels {
    var name: String
    /// Nil: the settings name a PCM.
    var stay: CardStay?
    /// With all channels.
    var format: StreamFormat
    var numbers: [Int]
}

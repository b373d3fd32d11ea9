public import Ring
public import Takes
import Workers

/// A sound card that is recorded from: opened as hardware, without plug-ins, at its native rate, and read by a thread of its own.
///
/// `open`, `start`, `step`, `setGain` and `stop` are called by one thread at a time; `end` and `endedFileDescriptor` by any at any time.
///
/// What may block, and for how long:
/// - `open` asks the device for its parameters, its mixer and its clock. The kernel waits 5 s at most for each answer of a USB
///   device, and there are some dozens of them.
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
        /// Read by a thread, which posts once its loop has returned.
        case running(OpenCapture, CaptureLoop, Thread, returned: Mailbox<Void>)
    }

    /// How long `stop` waits for the capture thread.
    static let patience = Duration.seconds(10)

    private let cards: SoundCards
    private let sampleFormat: SampleFormat?
    private let patience: Duration
    private let signal = CaptureEndSignal()
    private var state = State.closed

    /// A card that is not open yet.
    /// - Parameter sampleFormat: the layout to ask for; nil: the widest. For plug-ins, which accept any layout.
    public convenience init(cards: SoundCards = SoundCards(), sampleFormat: SampleFormat? = nil) {
        self.init(cards: cards, sampleFormat: sampleFormat, patience: Self.patience)
    }

    init(cards: SoundCards = SoundCards(), sampleFormat: SampleFormat?, patience: Duration) {
        self.cards = cards
        self.sampleFormat = sampleFormat
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
    /// - Throws: `SoundCardError`. The card is closed then.
    public func open(_ request: CaptureRequest) throws -> CaptureGrant {
        stop()
        signal.follow(nil)
        let card: CardDescription?
        let name: String
        if case .pcm(let given) = request.card {
            card = nil
            name = given
        } else {
            let found = try cards.find(request.card, expecting: request.expected)
            card = found
            name = found.hardwareName(device: found.captureDevice ?? 0)
        }
        let pcm = try openPCM(name, card)
        let negotiation = Negotiation(
            rateHz: request.rateHz, channels: request.channels, sampleFormat: sampleFormat)
        var warnings: [String] = []
        let settled = try settle(pcm, negotiation, card, period: request.period, &warnings)
        let mixer = mixer(of: pcm, card)
        let gain = gain(of: mixer, name, request, &warnings)
        warnings += RealTime.enter()
        let references = card?.references ?? [request.card]
        let grant = CaptureGrant(
            card: references[0].description, references: references, name: card?.name ?? name,
            format: settled.format, periodFrames: settled.periodFrames, bufferFrames: settled.bufferFrames,
            gain: gain, warnings: warnings)
        state = .open(OpenCapture(name: name, mixer: mixer, card: card, grant: grant, pcm: pcm))
        return grant
    }

    /// Starts the card, and a thread that reads it into `ring`.
    /// - Throws: `SoundCardError`, or `ThreadError`; the card stays open.
    public func start(into ring: Ring) throws {
        let (capture, loop) = try begin(ring)
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
            state = .running(capture, loop, thread, returned: returned)
        } catch {
            capture.halt()
            signal.follow(nil)
            throw error
        }
    }

    /// Locks the process in memory, and finds out all that the card offers, for `SoundCards.reports`, which cannot open it meanwhile.
    public func complete() {
        switch state {
        case .running(let capture, _, _, returned: _):
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
        case .open(let open), .stepping(let open, _, _), .running(let open, _, _, returned: _): capture = open
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

    /// Stops the thread and closes the card. Does nothing if it is closed.
    public func stop() {
        switch state {
        case .closed, .open: break
        case .stepping(_, let loop, let ring):
            loop.requestStop()
            // It leaves the stamp of the frames that were dropped last.
            _ = loop.step(into: ring)
        case .running(_, let loop, let thread, let returned):
            loop.requestStop()
            if waits(for: returned) { thread.join() } else { signal.follow(nil) }
        }
        state = .closed
        signal.lower()
    }
}

extension CaptureCard {
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

import CALSA
import Glibc
public import Ring
public import Takes

/// A sound card that is recorded from: opened as the hardware it is, at its native rate, and read by a thread of its own.
///
/// Its methods are for one ordinary thread at a time.
public final class CaptureCard: CaptureSource {
    /// Readable (for `poll`) once a capture has ended by itself, until `stop`.
    public let endedFileDescriptor: Int32
    /// The last capture's end by itself; nil while it runs, and from `open` on.
    public var end: CaptureEnd? {
        guard let loop, let name else { return nil }
        return Self.end(loop.ending, of: name)
    }

    private let cards: SoundCards
    private let sampleFormat: SampleFormat?
    private var pcm: CapturePCM?
    private var grant: CaptureGrant?
    private var name: String?
    private var loop: CaptureLoop?
    private var thread: Thread?
    private var ring: Ring?

    /// A card that is not open yet.
    /// - Parameter sampleFormat: the layout to ask for; nil: the widest. For plug-ins, which take any and so say nothing.
    public init(cards: SoundCards = SoundCards(), sampleFormat: SampleFormat? = nil) {
        self.cards = cards
        self.sampleFormat = sampleFormat
        endedFileDescriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    }

    deinit {
        stop()
        if endedFileDescriptor >= 0 { close(endedFileDescriptor) }
    }

    /// Opens the card, settles it to its native format or to what is asked, and sets its gain.
    /// - Throws: `SoundCardError`. The card is closed then.
    public func open(_ request: CaptureRequest) throws -> CaptureGrant {
        stop()
        loop = nil
        let card: CardDescription?
        let name: String
        if case .pcm(let given) = request.card {
            card = nil
            name = given
        } else {
            let found = try cards.find(request.card)
            card = found
            name = found.hardwareName(device: found.captureDevice ?? 0)
        }
        self.name = name
        let pcm = try openPCM(name, card)
        let offers = try pcm.pcm.offers()
        if let card { SoundCards.remember(offers, of: card, for: .capture) }
        let negotiation = Negotiation(
            rateHz: request.rateHz, channels: request.channels, sampleFormat: sampleFormat)
        var warnings: [String] = []
        let settled = try settle(pcm, negotiation.candidates(from: offers, of: name), name, &warnings)
        let levels = levels(of: pcm, card, request, &warnings)
        warnings += RealTime.enter()
        let grant = CaptureGrant(
            card: card?.stableID.description ?? request.card.description, name: card?.name ?? name,
            format: settled.format, periodFrames: settled.periodFrames, bufferFrames: settled.bufferFrames,
            gainDB: levels.gainDB, agc: levels.agc, warnings: warnings)
        self.grant = grant
        self.pcm = consume pcm
        return grant
    }

    /// Starts the card, and a thread that reads it into `ring`.
    /// - Throws: `SoundCardError`, or `ThreadError`; the card stays open.
    public func start(into ring: Ring) throws {
        let loop = try begin(ring)
        // A plug-in that is not paced by hardware would take the whole processor at a real-time priority.
        let isHardware = pcm?.pcm.isHardware ?? false
        let ended = endedFileDescriptor
        do throws(ThreadError) {
            thread = try Thread(name: "capture") {
                if isHardware { RealTime.enterThread() }
                if loop.run(into: ring) == .ended { eventfd_write(ended, 1) }
            }
        } catch {
            pcm?.pcm.drop()
            self.ring = nil
            throw error
        }
    }

    /// Starts the card without a thread: `step` reads it.
    /// - Throws: `SoundCardError`; the card stays open.
    public func startInSteps(into ring: Ring) throws {
        _ = try begin(ring)
    }

    /// Waits for the card once and reads what is there, after `startInSteps`.
    /// - Returns: whether there is more to come.
    public func step() -> Bool {
        guard let loop, let ring, thread == nil else { return false }
        return loop.step(into: ring) == .running
    }

    /// Stops the thread and closes the card. Does nothing if it is closed.
    public func stop() {
        if let loop, let ring {
            loop.requestStop()
            // Without a thread this tells of frames that were dropped last.
            if let thread { thread.join() } else { _ = loop.step(into: ring) }
        }
        thread = nil
        ring = nil
        pcm?.pcm.drop()
        pcm = nil
        grant = nil
        var count: eventfd_t = 0
        unsafe eventfd_read(endedFileDescriptor, &count)
    }
}

extension CaptureCard {
    private func openPCM(_ name: String, _ card: CardDescription?) throws(SoundCardError) -> CapturePCM {
        do throws(SoundCardError) {
            return try CapturePCM(opening: name, automatic: card == nil)
        } catch {
            if let card, let device = card.captureDevice { throw cards.explain(error, card: card, device: device) }
            throw cards.explain(error)
        }
    }

    /// Settles the first of the candidates that the card takes, and says so where it is not the best of them.
    private func settle(
        _ pcm: borrowing CapturePCM, _ candidates: [StreamFormat], _ name: String, _ warnings: inout [String]
    ) throws(SoundCardError) -> OpenPCM.Grant {
        let settled = try pcm.settle(candidates)
        let format = settled.grant.format
        if let refusal = settled.refusal { warnings.append("\(refusal): recording \(format.summary) instead") }
        if let warning = Negotiation.warning(asked: settled.candidate, granted: format, by: name) {
            warnings.append(warning)
        }
        return settled.grant
    }

    private func levels(
        of pcm: borrowing CapturePCM, _ card: CardDescription?, _ request: CaptureRequest, _ warnings: inout [String]
    ) -> CardMixer.Levels {
        guard let index = pcm.pcm.cardIndex else {
            if request.gainDB != nil || request.agc == true {
                warnings.append("capture: \(pcm.pcm.name): cannot set gain or automatic gain control: it has no mixer")
            }
            return CardMixer.Levels()
        }
        let mixer = card.map { "hw:CARD=\($0.alsaID)" } ?? "hw:\(index)"
        do throws(SoundCardError) {
            let levels = try CardMixer(opening: mixer).apply(gainDB: request.gainDB, agc: request.agc)
            warnings += levels.warnings
            return levels
        } catch {
            if request.gainDB != nil || request.agc == true { warnings.append(error.description) }
            return CardMixer.Levels()
        }
    }

    private func begin(_ ring: Ring) throws(SoundCardError) -> CaptureLoop {
        guard let grant, self.ring == nil, let name else {
            throw SoundCardError(name ?? "card", "start", reason: "it is not open, or runs already")
        }
        guard ring.format == grant.format else {
            throw SoundCardError(
                name, "start",
                reason: "the ring is for \(ring.format.summary), the card runs at \(grant.format.summary)")
        }
        let loop = try makeLoop(grant)
        loop.begin(ring)
        self.loop = loop
        self.ring = ring
        return loop
    }

    private func makeLoop(_ grant: CaptureGrant) throws(SoundCardError) -> CaptureLoop {
        guard let descriptors = try pcm?.pollDescriptors(), let handle = unsafe pcm?.pcm.handle else {
            throw SoundCardError(name ?? "card", "start", reason: "it is not open")
        }
        let loop = try unsafe CaptureLoop(
            pcm: handle, format: grant.format, periodFrames: grant.periodFrames, bufferFrames: grant.bufferFrames,
            pollDescriptors: descriptors)
        try pcm?.start()
        return loop
    }

    /// A loop's word on its end, as a sentence.
    static func end(_ ending: (why: CaptureLoop.Ending, status: Int32), of name: String) -> CaptureEnd? {
        let error = { SoundCardError(name, $0, status: ending.status) }
        switch ending.why {
        case .running: return nil
        case .cardLost: return .cardLost(error(nil).description)
        case .read: return .failed(error("read").description)
        case .restart: return .failed(error("start it again after an overrun").description)
        case .overrunAgain: return .failed("capture: \(name): overran again and again, with no frame between")
        case .silent: return .failed("capture: \(name): delivered nothing for 1.5 s (unplug it and plug it in again)")
        }
    }
}

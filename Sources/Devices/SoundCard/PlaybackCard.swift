import Glibc
public import Ring
import Takes

/// A sound card that plays takes. It is opened as hardware, without plug-ins, and at the take's own rate if the card
/// supports it.
///
/// Its methods must be called by one thread at a time, and not by a real-time thread. `open` and `close` may block
/// while the kernel waits for the device (at most 5 s for each answer of a USB device); the others do not block.
public final class PlaybackCard: PlaybackSink {
    private let cards: SoundCards
    private var name = "card"
    private var pcm: PlaybackPCM?
    private var queue: PlaybackQueue?
    /// How often the queue ran empty since the card was opened last.
    public private(set) var underruns = 0

    public init(cards: SoundCards = SoundCards()) {
        self.cards = cards
    }

    /// Opens the card, and configures the take's own format or the best substitute. With a latency, the buffer has that
    /// length and at least three periods of at most 20 ms each. The grant contains the granted values.
    /// - Throws: `SoundCardError` or `CardInUse`. The card is then closed.
    public func open(_ request: PlaybackRequest) throws -> PlaybackGrant {
        close()
        underruns = 0
        do throws(SoundCardError) {
            return try openCard(request)
        } catch {
            throw mayBeBlockedByCompanion(error, request) ? CardInUse(error) : error
        }
    }

    private func openCard(_ request: PlaybackRequest) throws(SoundCardError) -> PlaybackGrant {
        let card: CardDescription?
        if case .pcm(let given) = request.card {
            card = nil
            name = given
        } else {
            let found = try cards.find(request.card, for: .playback, beside: request.companion)
            card = found
            name = found.hardwareName(device: found.playbackDevice ?? 0)
        }
        let pcm = try openPCM(card)
        let settled = try settle(pcm, request, card)
        queue = unsafe PlaybackQueue(
            pcm: pcm.pcm.handle, name: name, grant: settled, canTakeBack: pcm.pcm.isHardware)
        self.pcm = consume pcm
        return PlaybackGrant(
            card: card?.stableID.description ?? request.card.description, name: card?.name ?? name,
            format: settled.format, bufferFrames: settled.bufferFrames)
    }

    /// Queues whole frames, as many as fit. The first frames are played at once.
    /// - Throws: `SoundCardError`.
    public func write(_ frames: UnsafeRawBufferPointer) throws -> Int {
        guard queue != nil else { throw notOpen() }
        defer { underruns = queue?.underruns ?? underruns }
        return try unsafe queue?.write(frames) ?? 0
    }

    /// Frames that are queued and not yet played, or 0 when the queue ran empty.
    /// - Throws: `SoundCardError`.
    public func queuedFrames() throws -> Int {
        guard let queue else { throw notOpen() }
        return try queue.queuedFrames()
    }

    /// Takes back the last queued frames, if this is hardware that supports it. A few frames always stay queued,
    /// because the hardware may be fetching them.
    /// - Throws: `SoundCardError`.
    public func takeBack(keeping frameCount: Int) throws -> Int {
        guard let queue else { throw notOpen() }
        return try queue.takeBack(keeping: frameCount)
    }

    /// Stops playback at once. The next `write` starts the card again.
    public func drop() {
        queue?.drop()
    }

    public func close() {
        // In this order, because the queue uses the PCM.
        queue = nil
        pcm = nil
    }
}

extension PlaybackCard {
    /// Whether the error may come from a card that cannot record and play at once, or not at two rates, or not over
    /// this USB port. An error with a detail is excluded, because then another process holds the card.
    private func mayBeBlockedByCompanion(_ error: SoundCardError, _ request: PlaybackRequest) -> Bool {
        guard [EBUSY, EINVAL, ENOSPC].contains(error.code), error.detail == nil, let companion = request.companion
        else {
            return false
        }
        return cards.list().contains { $0.matches(companion) && name.hasPrefix("hw:CARD=\($0.alsaID)") }
    }

    private func openPCM(_ card: CardDescription?) throws(SoundCardError) -> PlaybackPCM {
        do throws(SoundCardError) {
            return try cards.open(card, .playback) { () throws(SoundCardError) in
                try PlaybackPCM(opening: name, automatic: card == nil)
            }
        } catch {
            if let card, let device = card.playbackDevice {
                throw cards.explain(error, card: card, device: device)
            }
            throw cards.explain(error)
        }
    }

    /// Configures the take's own format if the card supports it. Trying all other formats would take time while a
    /// person waits.
    private func settle(
        _ pcm: borrowing PlaybackPCM, _ request: PlaybackRequest, _ card: CardDescription?
    ) throws(SoundCardError) -> OpenPCM.Grant {
        let take = request.format
        if try pcm.pcm.offers(take), let settled = try? pcm.configure(take, latency: request.latency) { return settled }
        let offers = try pcm.pcm.offers(asked: take.rateHz)
        if let card { SoundCards.remember(offers, of: card, for: .playback) }
        let candidates = try PlaybackNegotiation(take: take).candidates(from: offers, of: name)
        return try pcm.settle(candidates, latency: request.latency).grant
    }

    private func notOpen() -> SoundCardError {
        SoundCardError(name, "play", reason: "it is not open", direction: .playback)
    }
}

import Glibc
public import Ring
import Takes

/// A sound card that takes are heard on: opened as the hardware it is, at the take's own rate if it has that.
///
/// Its methods are for one ordinary thread at a time.
public final class PlaybackCard: PlaybackSink {
    private let cards: SoundCards
    private var name = "card"
    private var pcm: PlaybackPCM?
    private var queue: PlaybackQueue?
    /// How often the queue ran dry since the card was opened last.
    public private(set) var underruns = 0

    /// A card that is not open yet.
    public init(cards: SoundCards = SoundCards()) {
        self.cards = cards
    }

    /// Opens the card, and settles it to the take's own format, or to what serves the take best.
    /// - Throws: `SoundCardError`, or `CardInUse`. The card is closed then.
    public func open(_ request: PlaybackRequest) throws -> PlaybackGrant {
        close()
        underruns = 0
        do throws(SoundCardError) {
            return try openCard(request)
        } catch {
            throw isInOwnWay(error, request) ? CardInUse(error) : error
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
        let settled = try settle(pcm, request.format, card)
        queue = unsafe PlaybackQueue(
            pcm: pcm.pcm.handle, name: name, grant: settled, canTakeBack: pcm.pcm.isHardware)
        self.pcm = consume pcm
        return PlaybackGrant(
            card: card?.stableID.description ?? request.card.description, name: card?.name ?? name,
            format: settled.format, bufferFrames: settled.bufferFrames)
    }

    /// Queues as many whole frames as there is room for. The first are heard at once.
    /// - Throws: `SoundCardError`.
    public func write(_ frames: UnsafeRawBufferPointer) throws -> Int {
        guard queue != nil else { throw notOpen() }
        defer { underruns = queue?.underruns ?? underruns }
        return try unsafe queue?.write(frames) ?? 0
    }

    /// Frames that are queued and not heard yet; 0 when the queue ran dry.
    /// - Throws: `SoundCardError`.
    public func queuedFrames() throws -> Int {
        guard let queue else { throw notOpen() }
        return try queue.queuedFrames()
    }

    /// Takes the last queued frames back, where this is hardware that gives them back. A little always stays queued that may be
    /// on its way to be heard.
    /// - Throws: `SoundCardError`.
    public func takeBack(keeping frameCount: Int) throws -> Int {
        guard let queue else { throw notOpen() }
        return try queue.takeBack(keeping: frameCount)
    }

    /// Silence at once. The next `write` begins anew.
    public func drop() {
        queue?.drop()
    }

    /// Closes the card.
    public func close() {
        // In this order: the queue must not outlive its PCM.
        queue = nil
        pcm = nil
    }
}

extension PlaybackCard {
    /// What a card says that cannot record and play at once, or not at two rates, or not over this USB port. A card that another
    /// process holds says who that is.
    private func isInOwnWay(_ error: SoundCardError, _ request: PlaybackRequest) -> Bool {
        guard [EBUSY, EINVAL, ENOSPC].contains(error.code), error.detail == nil, let companion = request.companion
        else {
            return false
        }
        return cards.list().contains { $0.matches(companion) && name.hasPrefix("hw:CARD=\($0.alsaID)") }
    }

    private func openPCM(_ card: CardDescription?) throws(SoundCardError) -> PlaybackPCM {
        do throws(SoundCardError) {
            return try PlaybackPCM(opening: name, automatic: card == nil)
        } catch {
            if let card, let device = card.playbackDevice {
                throw cards.explain(error, card: card, device: device)
            }
            throw cards.explain(error)
        }
    }

    /// Settles the PCM to the take's own format if it has that: to try all else takes time, and somebody is waiting.
    private func settle(
        _ pcm: borrowing PlaybackPCM, _ take: StreamFormat, _ card: CardDescription?
    ) throws(SoundCardError) -> OpenPCM.Grant {
        if try pcm.pcm.offers(take), let settled = try? pcm.configure(take) { return settled }
        let offers = try pcm.pcm.offers()
        if let card { SoundCards.remember(offers, of: card, for: .playback) }
        return try pcm.settle(PlaybackNegotiation(take: take).candidates(from: offers, of: name)).grant
    }

    private func notOpen() -> SoundCardError {
        SoundCardError(name, "play", reason: "it is not open", direction: .playback)
    }
}

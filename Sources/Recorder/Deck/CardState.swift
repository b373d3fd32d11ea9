import Ring
import Takes
import Transport

/// Whether and how the capture card is open. Pure: the deck has the card's worker carry the actions out.
struct CardState {
    private(set) var state = State.closed
    let wanted: CaptureRequest
    /// Frames that the card delivered in its earlier openings.
    private var deliveredBefore: Int64 = 0
    /// The grant of the only card that may continue the take in progress, or nil without a take.
    private(set) var awaitedBy: CaptureGrant?
    /// The previous opening of the card of the waiting take.
    private(set) var past: PastOpening?
    /// The card that the open one replaced, until the open one delivers.
    private var replaced: CaptureGrant?
    /// The card to open again after the better one could not be opened or delivered nothing. If nil, the settings
    /// choose.
    private var kept: CaptureGrant?
    /// The last time that a card came or went. A card's parts appear one after the other, and are accessible only once
    /// udev has set their group.
    private var changedAt: Instant?

    enum State {
        /// It is closed on purpose, because nothing needs it.
        case closed
        /// It was closed so that the player can use it.
        case closedForPlayer
        /// The worker is opening it.
        case opening(since: Instant, after: Trouble?, Attempt)
        /// It is open, and has delivered nothing yet.
        case starting(OpenCard, after: Trouble?)
        case listening(OpenCard)
        /// It is open, and has stopped delivering.
        case stalled(OpenCard, message: String)
        /// It cannot be opened, or the capture ended by itself. The deck retries.
        case away(Trouble, since: Instant)
    }

    enum Attempt: Hashable {
        /// As the settings say, or, for an expected card, as it ran before.
        case asWanted
        /// Opens the expected card with its current channels, at the settings' rate.
        case asItIs
        /// Opens the expected card with its current channels and rate.
        case atAnyRate
        /// Opens another card in place of the one that had this grant.
        case better(than: CaptureGrant)
    }

    struct Trouble: Hashable {
        var message: String
        var kind: Kind
        /// Whether the card is absent, or present but failing.
        enum Kind: Hashable { case absent, failing }
    }

    enum Action: Hashable {
        case open(CaptureRequest)
        case close
        /// The worker answered an order: the card is open or cannot be opened. A better card must deliver first.
        case answered
        /// The capture ended by itself.
        case lost
        /// The better card failed for this reason, and the previous one is opened again.
        case kept(CaptureGrant, because: String)
        /// It delivers for the first time since it was opened.
        case delivers
    }

    /// The delay between a failure and the next attempt.
    static let retry = Duration.seconds(2)
    /// The delay before the next attempt if the capture ended by itself after more than `retry`.
    static let quickRetry = Duration.milliseconds(100)
    /// For this long after a card came or went, a failed opening is retried every `quickRetry`.
    static let changing = Duration.seconds(2)
    /// For this long after a card came, it may refuse a format that it accepts later. Other formats are tried only
    /// after that.
    static let settling = Duration.milliseconds(500)
    /// A started card is checked at this interval until it delivers. Before that the kit is not armed.
    static let startCheck = Duration.milliseconds(10)
    /// A card that takes longer than this to open or to deliver is a fault.
    static let patience = Duration.seconds(2)
    /// A better card that takes longer than this to deliver is a fault. If it delivers nothing, the capture ends sooner
    /// by itself.
    static let trial = Duration.seconds(3)
    /// One second more than `patience` if the live channels must be found first.
    private var openingPatience: Duration { Self.patience + .seconds(wanted.channels == .live ? 1 : 0) }

    init(wanted: CaptureRequest) {
        self.wanted = wanted
    }

    var open: OpenCard? {
        switch state {
        case .starting(let card, _), .listening(let card), .stalled(let card, _): card
        case .closed, .closedForPlayer, .opening, .away: nil
        }
    }

    /// Whether the open card has other channels than the take in progress, so that this take cannot continue.
    var hasOtherChannels: Bool {
        guard let open, let awaitedBy else { return false }
        return open.grant.layout.kept != awaitedBy.layout.kept
    }

    /// Whether the given opening is still the current one.
    func isOpen(since opening: OpenCard) -> Bool {
        open.map { $0.ring === opening.ring && $0.start == opening.start } ?? false
    }

    /// Whether a better card is being opened, or has delivered nothing yet. If it fails, the previous one is opened
    /// again.
    var isTrying: Bool { replaced != nil }

    var isListening: Bool {
        if case .listening = state { true } else { false }
    }

    /// Frames delivered, kept or not. Nil while the card is absent or closed on purpose. If a present card delivers
    /// nothing, the count stands still, however often the card is opened.
    var position: Int64? {
        switch state {
        case .starting(let card, _), .listening(let card), .stalled(let card, _): deliveredBefore + card.delivered
        case .opening(_, let trouble, _): trouble?.kind == .failing ? deliveredBefore : nil
        case .away(let trouble, _): trouble.kind == .failing ? deliveredBefore : nil
        case .closed, .closedForPlayer: nil
        }
    }

    func fault(now: Instant) -> Fault? {
        switch state {
        case .closed, .closedForPlayer, .listening: nil
        case .opening(let since, nil, _):
            now - since < openingPatience
                ? nil : Fault(.noCard, "capture: \(wanted.card): does not answer when it is opened")
        case .starting(let card, nil):
            now - card.openedAt < (isTrying ? Self.trial : Self.patience) ? nil : Fault(.noCard, card.deliversNothing)
        case .opening(_, let trouble?, _), .starting(_, let trouble?), .away(let trouble, _):
            Fault(.noCard, trouble.message)
        case .stalled(_, let message): Fault(.noCard, message)
        }
    }

    /// Returns why no take can begin with the card, or nil if one can.
    func obstacle(now: Instant) -> Refusal? {
        switch state {
        case .starting where !isTrying, .listening: nil
        case .closed, .closedForPlayer, .opening, .starting, .stalled, .away:
            fault(now: now).map { Refusal(.cardUnusable(message: $0.message)) }
                ?? Refusal(.cardOpening(card: "\(wanted.card)"))
        }
    }

    /// The time of the next action, or nil if none is due before the next event.
    func deadline(now: Instant) -> Instant? {
        switch state {
        case .away(_, let since): since + Self.retry
        case .opening(let since, nil, _): since + openingPatience
        case .starting(let card, _): now + (now - card.openedAt < Self.patience ? Self.startCheck : Self.quickRetry)
        case .closed, .closedForPlayer, .opening, .listening, .stalled: nil
        }
    }
}

struct OpenCard {
    var grant: CaptureGrant
    var ring: Ring
    /// The ring's position when the card was opened. A ring may outlive its card.
    var start: RingPosition
    var openedAt: Instant
    /// The frames that the ring had received before.
    private let receivedBefore: Int64
    /// The gains before that of `grant`, in order, each with the instant of its replacement.
    private var gainsBefore: [(gain: CardGain, until: Instant)] = []
    /// The delivered frames at the last progress, and the time of it.
    var progress: (delivered: Int64, at: Instant)

    init(grant: CaptureGrant, ring: Ring, start: RingPosition, receivedBefore: Int64, openedAt: Instant) {
        self.start = start
        self.grant = grant
        self.ring = ring
        self.receivedBefore = receivedBefore
        self.openedAt = openedAt
        progress = (0, openedAt)
    }

    /// Frames that the card delivered since it was opened, kept or not.
    var delivered: Int64 { ring.delivered - receivedBefore }

    /// An instant shortly before the first frame, or nil if that was too long ago. The margin is there because the
    /// opening is noticed after that frame.
    var beforeFirstFrame: Instant? { ring.startInstant(at: start).map { $0 - .milliseconds(100) } }

    /// A take may begin before at most this many gain changes.
    private static let mostGainsBefore = 100

    mutating func note(_ gain: CardGain, at instant: Instant) {
        gainsBefore.append((grant.gain, instant))
        if gainsBefore.count > Self.mostGainsBefore { gainsBefore.removeFirst() }
        grant.gain = gain
    }

    /// The gain changes from an instant on, and the gain before them.
    func gains(since instant: Instant) -> (first: CardGain, changes: [(gain: CardGain, at: Instant)]) {
        let later = gainsBefore.filter { $0.until > instant }
        let gains = later.map(\.gain) + [grant.gain]
        return (gains[0], zip(gains.dropFirst(), later.map(\.until)).map { ($0, $1) })
    }

    fileprivate var deliversNothing: String {
        "capture: \(grant.card): delivers nothing: unplug it and plug it in again"
    }
}

// MARK: - Events

extension CardState {
    mutating func need(now: Instant) -> [Action] {
        switch state {
        case .closed, .closedForPlayer: begin(now: now, after: nil)
        case .opening, .starting, .listening, .stalled, .away: []
        }
    }

    /// A card came or went. A card that could not be opened is retried at once, and then every `quickRetry` for a
    /// while.
    mutating func cardsChanged(now: Instant) -> [Action] {
        changedAt = now
        return retry(now: now)
    }

    /// Retries at once a card that could not be opened.
    mutating func retry(now: Instant) -> [Action] {
        guard case .away(let trouble, _) = state else { return need(now: now) }
        return begin(now: now, after: trouble)
    }

    /// The deck no longer needs the card.
    mutating func release(forPlayer isForPlayer: Bool = false) -> [Action] {
        if let open { deliveredBefore += open.delivered }
        kept = replaced ?? kept
        replaced = nil
        defer { state = isForPlayer ? .closedForPlayer : .closed }
        switch state {
        case .closed, .closedForPlayer, .away: return isForPlayer ? [.close] : []
        case .opening, .starting, .listening, .stalled: return [.close]
        }
    }

    /// Replaces the open card with a better one. If that one cannot be opened or delivers nothing, the old card is
    /// opened again.
    mutating func move(to better: [CardReference], now: Instant) -> [Action] {
        guard let open, awaitedBy == nil else { return [] }
        deliveredBefore += open.delivered
        (replaced, kept) = (open.grant, nil)
        state = .opening(since: now, after: nil, .better(than: open.grant))
        return [.close, .open(wanted.expecting(better))]
    }

    /// Sets the grant of the only card that may continue the take in progress. With nil no take is in progress.
    mutating func expect(_ grant: CaptureGrant?) {
        if awaitedBy == nil { past = nil }
        awaitedBy = grant
    }

    mutating func opened(
        _ grant: CaptureGrant, _ ring: Ring, from start: RingPosition, receivedBefore: Int64, now: Instant
    ) -> [Action] {
        guard case .opening(_, let trouble, _) = state else { return [] }
        state = .starting(
            OpenCard(
                grant: grant, ring: ring, start: start, receivedBefore: receivedBefore, openedAt: now), after: trouble)
        // A waiting take begins only with a card that delivers: this one or the previous one.
        return isTrying ? [] : [.answered]
    }

    mutating func failed(_ message: String, now: Instant) -> [Action] {
        guard case .opening(_, let before, let attempt) = state else { return [] }
        if case .better(let grant) = attempt { return goBack(to: grant, because: message, now: now) }
        var trouble = Trouble(message: message, kind: .absent)
        // The fault must still name what the take needs.
        if attempt != .asWanted, let before { trouble = before }
        if let grant = awaitedBy {
            switch attempt {
            // The card may be busy for a moment only. Another format is tried only if the card keeps refusing this one.
            case .asWanted where before?.message == message && !hasChanged(within: Self.settling, now):
                state = .opening(since: now, after: trouble, .asItIs)
                return [.open(wanted.expecting(grant.references))]
            case .asItIs where wanted.rateHz != nil:
                state = .opening(since: now, after: trouble, .atAnyRate)
                return [.open(wanted.atAnyRate(grant))]
            case .asWanted, .asItIs, .atAnyRate, .better: break
            }
        }
        kept = nil
        let isSoon = hasChanged(within: Self.changing, now)
        state = .away(trouble, since: isSoon ? now + Self.quickRetry - Self.retry : now)
        return [.answered]
    }

    /// The better card failed: opens the previous one again.
    private mutating func goBack(to grant: CaptureGrant, because message: String, now: Instant) -> [Action] {
        (replaced, kept) = (nil, grant)
        state = .opening(since: now, after: nil, .asWanted)
        return [.kept(grant, because: message), .open(wanted.expecting(grant.references))]
    }

    /// The open card's mixer confirmed a gain.
    mutating func confirmed(_ gain: CardGain, at instant: Instant) {
        switch state {
        case .starting(var card, let trouble):
            card.note(gain, at: instant)
            state = .starting(card, after: trouble)
        case .listening(var card):
            card.note(gain, at: instant)
            state = .listening(card)
        case .stalled(var card, let message):
            card.note(gain, at: instant)
            state = .stalled(card, message: message)
        case .closed, .closedForPlayer, .opening, .away: break
        }
    }

    /// The capture ended by itself.
    mutating func ended(_ end: CaptureEnd, now: Instant) -> [Action] {
        guard let open else { return [] }
        deliveredBefore += open.delivered
        if open.delivered > 0 || past?.opening == nil { past = PastOpening(open) }
        let trouble =
            switch end {
            case .cardLost(let message): Trouble(message: message, kind: .absent)
            case .failed(let message): Trouble(message: message, kind: .failing)
            }
        if let replaced {
            return [.close] + goBack(to: replaced, because: trouble.message, now: now)
        }
        // Retry soon. But if the card was opened only just now, wait, so that the lamps can show the fault.
        let isFresh = now - open.openedAt < Self.retry
        state = .away(trouble, since: isFresh ? now : now + Self.quickRetry - Self.retry)
        return [.close, .lost]
    }

    /// Checks the progress of the card, and retries when that is due.
    mutating func tick(now: Instant) -> [Action] {
        switch state {
        case .away(let trouble, let since):
            return now - since >= Self.retry ? begin(now: now, after: trouble) : []
        case .starting(let card, _):
            guard card.delivered > 0 else { return [] }
            var card = card
            card.progress = (card.delivered, now)
            state = .listening(card)
            defer { replaced = nil }
            return isTrying ? [.delivers, .answered] : [.delivers]
        case .listening(var card):
            let delivered = card.delivered
            if delivered != card.progress.delivered {
                card.progress = (delivered, now)
                state = .listening(card)
            } else if now - card.progress.at >= Self.patience {
                state = .stalled(card, message: card.deliversNothing)
            }
            return []
        case .stalled(var card, _):
            let delivered = card.delivered
            guard delivered != card.progress.delivered else { return [] }
            card.progress = (delivered, now)
            state = .listening(card)
            return []
        case .closed, .closedForPlayer, .opening: return []
        }
    }

    private func hasChanged(within time: Duration, _ now: Instant) -> Bool {
        changedAt.map { now - $0 < time } ?? false
    }

    private mutating func begin(now: Instant, after trouble: Trouble?) -> [Action] {
        state = .opening(since: now, after: trouble, .asWanted)
        return [.open(awaitedBy.map(wanted.again) ?? kept.map { wanted.expecting($0.references) } ?? wanted)]
    }
}

extension CaptureRequest {
    /// The card of an earlier grant, at any rate, with the channels that the settings name, or all its current
    /// channels.
    fileprivate func atAnyRate(_ grant: CaptureGrant) -> CaptureRequest {
        var request = expecting(grant.references)
        request.rateHz = nil
        return request
    }

    /// Only the card with these names.
    fileprivate func expecting(_ names: [CardReference]) -> CaptureRequest {
        var request = self
        request.expected = names
        return request
    }
}

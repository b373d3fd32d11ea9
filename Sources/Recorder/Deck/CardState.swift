import Ring
import Takes
import Transport

/// Whether and how the capture card is open. Pure: the deck carries the actions out on the worker of the card.
struct CardState {
    private(set) var state = State.closed
    /// The request of the settings.
    let wanted: CaptureRequest
    /// Frames that the card delivered while it was open before.
    private var deliveredBefore: Int64 = 0
    /// The take that waits for its card.
    private(set) var awaitedBy: CaptureGrant?
    /// The opening before, with which the take that waits was recorded.
    private(set) var past: PastOpening?
    /// The card whose place the open one took, until that delivers.
    private var replaced: CaptureGrant?
    /// The card that is opened again because the better one could not be opened, or delivered nothing. Without one the settings choose.
    private var kept: CaptureGrant?
    /// When a card came or went last. Its parts appear one after the other, and become accessible when udev has given them their group.
    private var changedAt: Instant?

    enum State {
        /// It is rightly closed: nothing needs it.
        case closed
        /// It was closed so that the player can have it.
        case closedForPlayer
        /// The worker opens it.
        case opening(since: Instant, after: Trouble?, Attempt)
        /// It is open, and delivered nothing yet.
        case starting(OpenCard, after: Trouble?)
        /// It is open and delivers.
        case listening(OpenCard)
        /// It is open and ceased to deliver.
        case stalled(OpenCard, message: String)
        /// It cannot be opened, or ended by itself; it is opened again.
        case away(Trouble, since: Instant)
    }

    /// A request to the card's worker.
    enum Attempt: Hashable {
        /// By the settings; of a card that is expected back, as it ran before.
        case asWanted
        /// Opens the expected card with the channels that it has now, at the settings' rate.
        case asItIs
        /// Opens the expected card with the channels and the rate that it has now.
        case atAnyRate
        /// Another card, in place of the one that was open with this grant.
        case better(than: CaptureGrant)
    }

    /// Why the card was not there.
    struct Trouble: Hashable {
        var message: String
        var kind: Kind
        /// Whether the card is there and fails, or is not there.
        enum Kind: Hashable { case absent, failing }
    }

    enum Action: Hashable {
        case open(CaptureRequest)
        case close
        /// The worker's answer to an order was that the card is open, or cannot be; a better card delivers as well.
        case answered
        /// The capture ended by itself.
        case lost
        /// The better card could not be opened or delivered nothing, for this reason; the one before is opened again.
        case kept(CaptureGrant, because: String)
        /// It delivers for the first time since it was opened.
        case delivers
    }

    /// How long after a failure the card is tried again.
    static let retry = Duration.seconds(2)
    /// How soon a card that ended by itself is tried again, if it had run for longer than `retry`.
    static let quickRetry = Duration.milliseconds(100)
    /// How long after a card came or went one that cannot be opened is tried each `quickRetry`.
    static let changing = Duration.seconds(2)
    /// How long after a card came it may refuse what it takes later: another format is asked for after that.
    static let settling = Duration.milliseconds(500)
    /// How often a card that was started just now is asked whether it delivers: before that the kit is not armed.
    static let startCheck = Duration.milliseconds(10)
    /// How long a card may take to be opened, or to deliver, before that is a fault.
    static let patience = Duration.seconds(2)
    /// How long a better card may take to deliver before that is a fault: the capture of one that delivers nothing ends sooner.
    static let trial = Duration.seconds(3)
    /// The patience, and a second more where the live channels are found first.
    private var openingPatience: Duration { Self.patience + .seconds(wanted.channels == .live ? 1 : 0) }

    init(wanted: CaptureRequest) {
        self.wanted = wanted
    }

    /// The card that is open; nil: none is.
    var open: OpenCard? {
        switch state {
        case .starting(let card, _), .listening(let card), .stalled(let card, _): card
        case .closed, .closedForPlayer, .opening, .away: nil
        }
    }

    /// Returns true if it is open with other channels than the take that waits for it has, which cannot go on then.
    var hasOtherChannels: Bool {
        guard let open, let awaitedBy else { return false }
        return open.grant.layout.kept != awaitedBy.layout.kept
    }

    /// Whether an opening is still the one that goes on.
    func isOpen(since opening: OpenCard) -> Bool {
        open.map { $0.ring === opening.ring && $0.start == opening.start } ?? false
    }

    /// Whether a better card is being opened, or is open and delivered nothing yet: if it fails, the one before is opened again.
    var isTrying: Bool { replaced != nil }

    /// Whether it is open and delivers.
    var isListening: Bool {
        if case .listening = state { true } else { false }
    }

    /// Frames that were delivered, kept or not; nil while it is rightly closed or not there. A card that is there and delivers
    /// nothing, however often it is opened, stands still.
    var position: Int64? {
        switch state {
        case .starting(let card, _), .listening(let card), .stalled(let card, _): deliveredBefore + card.delivered
        case .opening(_, let trouble, _): trouble?.kind == .failing ? deliveredBefore : nil
        case .away(let trouble, _): trouble.kind == .failing ? deliveredBefore : nil
        case .closed, .closedForPlayer: nil
        }
    }

    /// Returns the fault of the card, or nil if nothing is wrong.
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

    /// Returns the reason why no take can begin with the card, or nil if it is open.
    func obstacle(now: Instant) -> Refusal? {
        switch state {
        case .starting where !isTrying, .listening: nil
        case .closed, .closedForPlayer, .opening, .starting, .stalled, .away:
            Refusal(.io, fault(now: now)?.message ?? "capture: \(wanted.card): the card is being opened")
        }
    }

    /// Returns the instant at which something is due, or nil if nothing is due before the next event.
    func deadline(now: Instant) -> Instant? {
        switch state {
        case .away(_, let since): since + Self.retry
        case .opening(let since, nil, _): since + openingPatience
        case .starting(let card, _): now + (now - card.openedAt < Self.patience ? Self.startCheck : Self.quickRetry)
        case .closed, .closedForPlayer, .opening, .listening, .stalled: nil
        }
    }
}

/// A card that is open.
struct OpenCard {
    var grant: CaptureGrant
    var ring: Ring
    /// The position of the ring when the card was opened: a ring outlives its card.
    var start: RingPosition
    var openedAt: Instant
    /// What the ring had received then.
    private let receivedBefore: Int64
    /// The gains before the one of `grant`, in order, each with the instant at which it was replaced.
    private var gainsBefore: [(gain: CardGain, until: Instant)] = []
    /// How far it was when it last went on, and when that was.
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

    /// A moment before its first frame was sampled, or nil if that is too long ago: it is noticed a moment after that frame.
    var beforeFirstFrame: Instant? { ring.startInstant(at: start).map { $0 - .milliseconds(100) } }

    /// As many changes of the gain are remembered as a take may begin before.
    private static let mostGainsBefore = 100

    /// The mixer confirmed a gain at an instant.
    mutating func note(_ gain: CardGain, at instant: Instant) {
        gainsBefore.append((grant.gain, instant))
        if gainsBefore.count > Self.mostGainsBefore { gainsBefore.removeFirst() }
        grant.gain = gain
    }

    /// The changes of the gain from an instant on, and the gain before them.
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
    /// The deck needs the card.
    mutating func need(now: Instant) -> [Action] {
        switch state {
        case .closed, .closedForPlayer: begin(now: now, after: nil)
        case .opening, .starting, .listening, .stalled, .away: []
        }
    }

    /// A card came or went: one that could not be opened is tried again at once, and each `quickRetry` for a while.
    mutating func cardsChanged(now: Instant) -> [Action] {
        changedAt = now
        return retry(now: now)
    }

    /// Tries a card that could not be opened again at once.
    mutating func retry(now: Instant) -> [Action] {
        guard case .away(let trouble, _) = state else { return need(now: now) }
        return begin(now: now, after: trouble)
    }

    /// The deck does not need the card any more.
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

    /// A better card takes the place of the open one, which is opened again if that one cannot be, or delivers nothing.
    mutating func move(to better: [CardReference], now: Instant) -> [Action] {
        guard let open, awaitedBy == nil else { return [] }
        deliveredBefore += open.delivered
        (replaced, kept) = (open.grant, nil)
        state = .opening(since: now, after: nil, .better(than: open.grant))
        return [.close, .open(wanted.expecting(better))]
    }

    /// A take that is recorded is to go on with the card of that grant and no other; nil: no take waits.
    mutating func expect(_ grant: CaptureGrant?) {
        if awaitedBy == nil { past = nil }
        awaitedBy = grant
    }

    /// The worker opened the card.
    mutating func opened(
        _ grant: CaptureGrant, _ ring: Ring, from start: RingPosition, receivedBefore: Int64, now: Instant
    ) -> [Action] {
        guard case .opening(_, let trouble, _) = state else { return [] }
        state = .starting(
            OpenCard(
                grant: grant, ring: ring, start: start, receivedBefore: receivedBefore, openedAt: now), after: trouble)
        // A take that waits begins with the card that delivers: this one, or the one before.
        return isTrying ? [] : [.answered]
    }

    /// The worker could not open the card.
    mutating func failed(_ message: String, now: Instant) -> [Action] {
        guard case .opening(_, let before, let attempt) = state else { return [] }
        if case .better(let grant) = attempt { return goBack(to: grant, because: message, now: now) }
        var trouble = Trouble(message: message, kind: .absent)
        // The fault goes on to name what the take needs.
        if attempt != .asWanted, let before { trouble = before }
        if let grant = awaitedBy {
            switch attempt {
            // It may only be busy for a moment: another format is for a card that goes on refusing this one.
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

    /// The card that is there is not good: the one before is opened again.
    private mutating func goBack(to grant: CaptureGrant, because message: String, now: Instant) -> [Action] {
        (replaced, kept) = (nil, grant)
        state = .opening(since: now, after: nil, .asWanted)
        return [.kept(grant, because: message), .open(wanted.expecting(grant.references))]
    }

    /// The mixer of the open card confirmed a gain at an instant.
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
        // Soon, unless that was just done: the lamps are to show it first.
        let isFresh = now - open.openedAt < Self.retry
        state = .away(trouble, since: isFresh ? now : now + Self.quickRetry - Self.retry)
        return [.close, .lost]
    }

    /// Time passed: compares what was delivered, and tries again what is due.
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

    /// Returns true for some time after a card came or went.
    private func hasChanged(within time: Duration, _ now: Instant) -> Bool {
        changedAt.map { now - $0 < time } ?? false
    }

    private mutating func begin(now: Instant, after trouble: Trouble?) -> [Action] {
        state = .opening(since: now, after: trouble, .asWanted)
        return [.open(awaitedBy.map(wanted.again) ?? kept.map { wanted.expecting($0.references) } ?? wanted)]
    }
}

extension CaptureRequest {
    /// The card that granted something before, at any rate, and with the channels that the settings name, or all that it has now.
    fileprivate func atAnyRate(_ grant: CaptureGrant) -> CaptureRequest {
        var request = expecting(grant.references)
        request.rateHz = nil
        return request
    }

    /// The card with these names and no other.
    fileprivate func expecting(_ names: [CardReference]) -> CaptureRequest {
        var request = self
        request.expected = names
        return request
    }
}

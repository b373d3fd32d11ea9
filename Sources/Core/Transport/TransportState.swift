public import Takes

/// The state of the kit's transport, and its reaction to events: a pure function from state and event to state and
/// effects.
///
/// It does not use a clock, file, card or thread. The present and the necessary facts come with each event, and the
/// deck carries the effects out. Presses and commands during the end of a take wait, and are handled in their order.
public struct TransportState: Hashable, Sendable {
    public internal(set) var phase = Phase.idle
    /// The sound after the take that was stopped last.
    public internal(set) var tail = Tail.none
    public internal(set) var lock = Lock.unlocked
    /// When stop was last pressed while the transport was idle.
    var idleStop: Instant?
    let rules: TransportRules

    public init(rules: TransportRules) {
        self.rules = rules
    }

    /// The current activity, with its data.
    public enum Phase: Hashable, Sendable {
        case idle
        /// The kit will switch off. The card stays closed until this instant, in case the power stays on.
        case resting(until: Instant)
        /// A take was requested, and waits for card or storage.
        case arming(Arming)
        case recording(Recording)
        case playing(Playing)
        /// The sound after the last take is being dropped, before the deck rests.
        case finishing(Finish, restUntil: Instant)
    }

    /// The sound after a stopped take. It is written for a while, so that the take can continue.
    public enum Tail: Hashable, Sendable {
        case none
        /// The limits of the take count from `since`.
        case running(behind: TakeName, since: Instant, until: Instant)
        /// The take should continue with this sound, unless the writer has ended it.
        case rejoining(Request)
        case dropping
    }

    /// Whether the buttons act.
    public enum Lock: Hashable, Sendable {
        case unlocked, locked
    }

    public struct Request: Hashable, Sendable {
        var at: Instant
        var by: TakeInitiator
        var asker: Asker?
        var card = Card.anyOpen
        /// The sampling time of the first frame, or nil for the pre-roll of the settings.
        var from: Instant?

        enum Card: Hashable, Sendable {
            case anyOpen
            /// The card of the previous take, which may be disconnected.
            case same
        }
    }

    /// A take that waits for answers.
    public struct Arming: Hashable, Sendable {
        enum Answer: Hashable { case card, storage }
        var request: Request
        var awaited: Set<Answer>
        var deadline: Instant
        var waiting: [TransportEvent] = []
    }

    public struct Recording: Hashable, Sendable {
        /// Nil until its files exist.
        public internal(set) var name: TakeName?
        /// When the button was pressed. The limits count from here, even if the take was stopped and continued.
        public internal(set) var since: Instant
        public internal(set) var card = Card.delivers
        public internal(set) var stage = Stage.running
        var whenBegun: [Asker] = []

        public enum Card: Hashable, Sendable {
            case delivers
            case away(since: Instant)
        }
    }

    public struct Playing: Hashable, Sendable {
        public internal(set) var name: TakeName
        public internal(set) var motion = Motion.running
        public internal(set) var sound = Sound.opening(changes: [])
        public internal(set) var stage = Stage.running
        var card = Card.own
        var whenBegun: [Asker] = []
        /// The clients that wait for the ordered changes, in order.
        var whenChanged: [Asker?] = []
        /// The sound that only a press of play started. It is stopped again if that press becomes a hold.
        var sounding = Sounding.asBefore

        public enum Motion: Hashable, Sendable { case running, paused }
        /// Whether the take is open. Earlier changes are kept.
        public enum Sound: Hashable, Sendable {
            case opening(changes: [PlayChange])
            case open
        }
        /// Whether the capture card was closed for it.
        enum Card: Hashable, Sendable { case own, closedForPlayer }
        /// The effect of the last press of play, with its instant.
        enum Sounding: Hashable, Sendable {
            /// The press paused it, or nothing was pressed.
            case asBefore
            case begun(by: Instant)
            case resumed(by: Instant)
        }
    }

    /// Whether the current activity was ordered to end.
    public enum Stage: Hashable, Sendable {
        case running
        case ending(Finish)
    }

    /// The plan for the time after an ending.
    public struct Finish: Hashable, Sendable {
        /// The events since the order, which are handled afterwards.
        var waiting: [TransportEvent] = []
        /// The clients that wait for the end.
        var askers: [Asker] = []
        var then = Then.goOn

        enum Then: Hashable, Sendable {
            case goOn
            /// Another take begins with the same card, and handles the waiting events.
            case another(Request)
            case rest, powerOff
        }

        /// Whether nothing may be recorded or played afterwards.
        var endsAll: Bool {
            switch then {
            case .goOn: false
            case .another: waiting.contains(where: \.endsAll)
            case .rest, .powerOff: true
            }
        }
    }

    /// Whether an event waits for a take to end.
    public var isEndAwaited: Bool {
        guard case .recording(let recording) = phase else { return false }
        let finish = recording.stage.finish
        return !finish.waiting.isEmpty || finish.then != .goOn
    }

    /// Whether a take is ending and no event waits for it. Then the card's current frames do not belong to a take.
    public var endsAlone: Bool {
        guard case .recording(let recording) = phase, case .ending = recording.stage else { return false }
        return !isEndAwaited
    }

    /// The kit's state for the status.
    /// - Parameter isBlocked: whether a take cannot begin.
    public func deckState(isBlocked: Bool) -> DeckState {
        switch phase {
        case .recording: .recording
        case .playing(let playing):
            switch playing.motion {
            case .running: .playing
            case .paused: .paused
            }
        case .idle, .resting, .arming, .finishing: isBlocked ? .fault : .idle
        }
    }

    /// How long `record` still continues the take that was stopped last, or nil if it would begin a new take.
    public func rejoinLeft(now: Instant) -> Duration? {
        switch phase {
        case .idle, .resting: break
        case .arming, .recording, .playing, .finishing: return nil
        }
        guard case .running(_, let since, let until) = tail, now < until, !rules.isFull(now - since) else { return nil }
        return until - now
    }

    /// When the passage of time changes the state next, or nil if it does not.
    public var nextDeadline: Instant? {
        var deadlines: [Instant] = []
        switch phase {
        case .idle, .finishing, .playing: break
        case .resting(let until): deadlines.append(until)
        case .arming(let arming): deadlines.append(arming.deadline)
        case .recording(let recording):
            guard recording.stage == .running else { break }
            if case .away(let since) = recording.card { deadlines.append(since + TransportRules.cardPatience) }
            if rules.longest > .zero { deadlines.append(recording.since + rules.longest) }
            if rules.newTakeEvery > .zero {
                deadlines.append(recording.since + rules.newTakeEvery + TransportRules.followDelay)
            }
        }
        if case .running(_, _, let until) = tail { deadlines.append(until) }
        return deadlines.min()
    }
}

extension TransportState {
    /// Handles an event.
    /// - Returns: the effects, in their order.
    public mutating func handle(_ event: TransportEvent, _ facts: TransportFacts) -> [TransportEffect] {
        if lock == .locked, let refusal = event.refusalWhileLocked { return [.refuse(refusal)] }
        switch event {
        case .lock:
            lock = lock == .locked ? .unlocked : .locked
            return [.lockChanged(isLocked: lock == .locked)]
        case .tailEnded: return tailEnded(facts)
        case .pair(let pressed): return pair(pressed)
        case .openAccess: return openAccess()
        case .adoptStick(let pressed): return adoptStick(pressed)
        default: break
        }
        switch phase {
        case .idle, .resting: return handleIdle(event, facts)
        case .arming(let arming): return handle(event, arming, facts)
        case .recording(let recording): return handle(event, recording, facts)
        case .playing(let playing): return handle(event, playing, facts)
        case .finishing: return event.refused(Self.shuttingDown)
        }
    }

    static let shuttingDown = Refusal(.shuttingDown)

    /// Handles the events that waited, in their order.
    mutating func handle(_ waiting: [TransportEvent], _ facts: TransportFacts) -> [TransportEffect] {
        waiting.flatMap { handle($0, facts) }
    }

    /// The activity has ended. Carries out the plan for the time after it.
    mutating func conclude(_ finish: Finish, take: TakeName?, _ facts: TransportFacts) -> [TransportEffect] {
        phase = .idle
        switch finish.then {
        case .goOn, .another: break
        case .rest, .powerOff:
            let dropped = dropTail()
            if tail == .dropping {
                phase = .finishing(finish, restUntil: facts.now + TransportRules.rest)
                return dropped
            }
        }
        let replies = finish.askers.map { TransportEffect.reply($0, .take(take)) }
        switch finish.then {
        case .goOn: return replies + handle(finish.waiting, facts)
        case .another(let request): return replies + begin(request) + handle(finish.waiting, facts)
        case .rest: return rest(facts) + replies
        case .powerOff: return rest(facts) + replies + [.powerOff]
        }
    }

    mutating func rest(_ facts: TransportFacts) -> [TransportEffect] {
        phase = .resting(until: facts.now + TransportRules.rest)
        return [.closeCard]
    }

    private mutating func tailEnded(_ facts: TransportFacts) -> [TransportEffect] {
        let before = tail
        tail = .none
        if case .rejoining(let request) = before { return beginInstead(request, facts) }
        guard case .finishing(let finish, let until) = phase else { return [] }
        phase = .resting(until: until)
        let replies = finish.askers.map { TransportEffect.reply($0, .done) }
        return [.closeCard] + replies + (finish.then == .powerOff ? [.powerOff] : [])
    }
}

extension TransportEvent {
    /// The refusal of a locked panel, or nil if the event does not come from the panel.
    var refusalWhileLocked: Refusal? {
        switch self {
        case .press(let button, _):
            Refusal(.busy, "\(button.rawValue): the panel is locked: hold back and stop together to unlock it")
        case .eject: Refusal(.busy, "eject: the panel is locked: hold back and stop together to unlock it")
        case .shutdown(_, .hold):
            Refusal(.busy, "power off: the panel is locked: hold back and stop together to unlock it")
        case .openAccess:
            Refusal(.busy, "access point: the panel is locked: hold back and stop together to unlock it")
        case .adoptStick: Refusal(.busy, "stick: the panel is locked: hold back and stop together to unlock it")
        case .pair: Refusal(.busy, "pair: the panel is locked: hold back and stop together to unlock it")
        default: nil
        }
    }

    /// The client that waits for the outcome, or nil if the event is not a command.
    var asker: Asker? {
        switch self {
        case .record(_, let asker, _, _), .stop(_, let asker), .mark(_, let asker), .play(_, let asker),
            .change(_, let asker), .finish(let asker):
            asker
        default: nil
        }
    }

    /// The effects of refusing the event: a button shows the refusal, a command gets it as a reply. Other events have
    /// no effects.
    func refused(_ refusal: Refusal) -> [TransportEffect] {
        if let asker { return [.reply(asker, .refused(refusal))] }
        if case .press = self { return [.refuse(refusal)] }
        return []
    }
}

extension TransportState {
    /// The required state of the capture card.
    public enum CardNeed: Hashable, Sendable {
        /// The card must be open.
        case open
        /// The card must be as the settings define for the time between takes.
        case standby
        /// The card must not change.
        case unchanged
        /// The card must be closed.
        case closed
    }

    public var cardNeed: CardNeed {
        switch phase {
        case .idle: tail == .none ? .standby : .open
        case .arming, .recording: .open
        case .playing(let playing): playing.card == .closedForPlayer ? .unchanged : .standby
        case .finishing: .unchanged
        case .resting: .closed
        }
    }

    /// Whether no take is awaited, recorded or played.
    public var isFree: Bool {
        switch phase {
        case .idle, .resting, .finishing: true
        case .arming, .recording, .playing: false
        }
    }

    /// The take that is being recorded, or nil if no take is, or its files do not exist yet.
    public var recordedTake: TakeName? {
        if case .recording(let recording) = phase { recording.name } else { nil }
    }
}

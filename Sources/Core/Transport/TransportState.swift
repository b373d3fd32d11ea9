public import Takes

/// What the kit is doing, and what it does about what happens: a pure function from state and event to state and effects.
///
/// It knows no clock, file, card or thread: the present and what must be known of the rest come in with each event, and the
/// deck carries the effects out. What is pressed and asked for while a take ends waits, and is handled in its order.
public struct TransportState: Hashable, Sendable {
    /// What goes on.
    public internal(set) var phase = Phase.idle
    /// The sound behind the take that was stopped last.
    public internal(set) var tail = Tail.none
    /// Whether buttons act.
    public internal(set) var lock = Lock.unlocked
    /// When stop was last pressed while nothing went on.
    var idleStop: Instant?
    let rules: TransportRules

    /// Nothing goes on.
    public init(rules: TransportRules) {
        self.rules = rules
    }

    /// What goes on, and what matters only meanwhile.
    public enum Phase: Hashable, Sendable {
        case idle
        /// The kit is to be switched off: the card stays closed until then, should the power stay on.
        case resting(until: Instant)
        /// A take was asked for, and waits for card or storage.
        case arming(Arming)
        case recording(Recording)
        case playing(Playing)
        /// Nothing goes on but that the sound behind the last take is dropped, before the deck rests.
        case finishing(Finish, restUntil: Instant)
    }

    /// The sound behind a take that was stopped: it is written for a while, so that the take can go on.
    public enum Tail: Hashable, Sendable {
        case none
        /// `since`: when the take's limits began to count.
        case running(behind: TakeName, since: Instant, until: Instant)
        /// The take is to go on with it, if the writer still has it.
        case rejoining(Request)
        case dropping
    }

    /// Whether the buttons act.
    public enum Lock: Hashable, Sendable {
        case unlocked, locked
    }

    /// A request for a take.
    public struct Request: Hashable, Sendable {
        var at: Instant
        var by: TakeInitiator
        var asker: Asker?
        var card = Card.anyOpen
        /// When the first frame was sampled, or nil for the pre-roll of the settings.
        var from: Instant?

        enum Card: Hashable, Sendable {
            case anyOpen
            /// The card of the take before, which may be away.
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

    /// A take that is being recorded.
    public struct Recording: Hashable, Sendable {
        /// nil: its files are not there yet.
        public internal(set) var name: TakeName?
        /// When it was pressed: its limits count from here, also if it was stopped and went on.
        public internal(set) var since: Instant
        /// Whether its card is there.
        public internal(set) var card = Card.delivers
        /// Whether it was ordered to end.
        public internal(set) var stage = Stage.running
        var whenBegun: [Asker] = []

        /// The take's card.
        public enum Card: Hashable, Sendable {
            case delivers
            case away(since: Instant)
        }
    }

    /// A take that is being played.
    public struct Playing: Hashable, Sendable {
        /// The take.
        public internal(set) var name: TakeName
        /// Whether its position moves.
        public internal(set) var motion = Motion.running
        /// Whether it is open.
        public internal(set) var sound = Sound.opening(changes: [])
        /// Whether it was ordered to end.
        public internal(set) var stage = Stage.running
        var card = Card.own
        var whenBegun: [Asker] = []
        /// Who waits for the changes that the player was given, in their order.
        var whenChanged: [Asker?] = []
        /// What sounds by a press of play alone, and is silent again if that press goes on to open pairing.
        var sounding = Sounding.asBefore

        /// Whether the position moves.
        public enum Motion: Hashable, Sendable { case running, paused }
        /// Whether the take is open; what was changed before that is kept.
        public enum Sound: Hashable, Sendable {
            case opening(changes: [PlayChange])
            case open
        }
        /// Whether the capture card was closed for it.
        enum Card: Hashable, Sendable { case own, closedForPlayer }
        /// What the press of play at an instant did.
        enum Sounding: Hashable, Sendable {
            /// It paused, or nothing was pressed.
            case asBefore
            case begun(by: Instant)
            case resumed(by: Instant)
        }
    }

    /// Whether what goes on was ordered to end.
    public enum Stage: Hashable, Sendable {
        case running
        case ending(Finish)
    }

    /// What is to be done once something has ended.
    public struct Finish: Hashable, Sendable {
        /// What happened since then, to be handled afterwards.
        var waiting: [TransportEvent] = []
        /// Who waits for the end.
        var askers: [Asker] = []
        var then = Then.goOn

        /// What follows the end.
        enum Then: Hashable, Sendable {
            case goOn
            /// Another take begins with the same card. What waits is for that one.
            case another(Request)
            case rest, powerOff
        }

        /// Whether nothing is to be recorded or played afterwards.
        var endsAll: Bool {
            switch then {
            case .goOn: false
            case .another: waiting.contains(where: \.endsAll)
            case .rest, .powerOff: true
            }
        }
    }

    /// Whether something waits for a take to end.
    public var isEndAwaited: Bool {
        guard case .recording(let recording) = phase else { return false }
        let finish = recording.stage.finish
        return !finish.waiting.isEmpty || finish.then != .goOn
    }

    /// Whether a take ends, and nothing waits for that: no take has what the card delivers now.
    public var endsAlone: Bool {
        guard case .recording(let recording) = phase, case .ending = recording.stage else { return false }
        return !isEndAwaited
    }

    /// What the kit is doing, as the status says.
    /// - Parameter isBlocked: whether no take could begin.
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

    /// When time alone changes something next; nil: never.
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
    /// - Returns: what is to be done about it, in this order.
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

    static let shuttingDown = Refusal(.busy, "the kit is shutting down")

    /// Handles what waited, in its order.
    mutating func handle(_ waiting: [TransportEvent], _ facts: TransportFacts) -> [TransportEffect] {
        waiting.flatMap { handle($0, facts) }
    }

    /// Nothing goes on any more: does what was to follow.
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
    /// What a locked panel says to it; nil: it is none of the panel's.
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

    /// Who waits for its outcome; nil: it is no command.
    var asker: Asker? {
        switch self {
        case .record(_, let asker, _, _), .stop(_, let asker), .mark(_, let asker), .play(_, let asker),
            .change(_, let asker), .finish(let asker):
            asker
        default: nil
        }
    }

    /// What is to be done where it is refused: buttons show it, commands are answered, the rest is not lost on anybody.
    func refused(_ refusal: Refusal) -> [TransportEffect] {
        if let asker { return [.reply(asker, .refused(refusal))] }
        if case .press = self { return [.refuse(refusal)] }
        return []
    }
}

extension TransportState {
    /// What the transport needs of the capture card.
    public enum CardNeed: Hashable, Sendable {
        /// It is to be open.
        case open
        /// It is to be as the settings have it between takes.
        case standby
        /// It stays as it is.
        case unchanged
        /// It is to be closed.
        case closed
    }

    /// What is needed of the capture card now.
    public var cardNeed: CardNeed {
        switch phase {
        case .idle: tail == .none ? .standby : .open
        case .arming, .recording: .open
        case .playing(let playing): playing.card == .closedForPlayer ? .unchanged : .standby
        case .finishing: .unchanged
        case .resting: .closed
        }
    }

    /// Whether no take is waited for, recorded or played.
    public var isFree: Bool {
        switch phase {
        case .idle, .resting, .finishing: true
        case .arming, .recording, .playing: false
        }
    }

    /// The take that is recorded; nil: none is, or its files are not there yet.
    public var recordedTake: TakeName? {
        if case .recording(let recording) = phase { recording.name } else { nil }
    }
}

import SeededRandom
import Takes
import Transport

/// A simpler model of the kit. It has no effects, only conditions that must hold after each event.
///
/// It includes the workers, which answer the transport's orders some events later, in the order of the orders.
struct TransportModel {
    enum Mode: Hashable { case idle, resting, arming, recording, ending, playing, silencing, finishing }

    var transport: TransportState
    var now = Instant(nanoseconds: 1_000_000_000)
    var cardObstacle: Refusal?
    var storageObstacle: Refusal?
    private var nextNumber = 1
    private var nextAsker = 1

    /// The answers that the workers still owe.
    private(set) var pending: [TransportEvent] = []
    /// The clients that still wait for an answer.
    private(set) var open: Set<Asker> = []
    /// The writer's state according to the orders.
    private(set) var writer = WriterMode.free
    /// The player's state according to the orders.
    private(set) var player = PlayerMode.free
    private(set) var isCardWithPlayer = false
    private(set) var powerOffs = 0
    private(set) var problems: [String] = []
    private(set) var takes = 0
    private(set) var rejoins = 0
    private(set) var lateRejoins = 0
    /// The number of takes that continued another one, for example after the card returned with other channels.
    private(set) var others = 0
    private(set) var pairings = 0
    /// The number of times that pairing stopped the sound that its press had started or resumed.
    private(set) var silenced = 0
    private var playPressed = Instant(nanoseconds: 0)
    private var sounding = Sounding.byOthers

    /// The origin of the current sound: the last press of play, whether it acted or not, or something else. Unknown if
    /// a waiting event started it.
    enum Sounding: Hashable { case byPress, byOthers, unknown }

    enum WriterMode: Hashable { case free, recording(Int), ending(Int), tail(Int) }
    enum PlayerMode: Hashable { case free, playing, stopping }

    init(rules: TransportRules) {
        transport = TransportState(rules: rules)
    }

    var facts: TransportFacts {
        TransportFacts(
            now: now, cardObstacle: cardObstacle, storageObstacle: storageObstacle, playObstacle: nil,
            isCardOpen: cardObstacle == nil, selected: takes > 0 ? Self.name(takes) : nil)
    }

    static func name(_ number: Int) -> TakeName {
        TakeName(kit: "k", number: number, started: WallTime(microseconds: 0))
    }

    /// A client, which must get exactly one answer.
    mutating func asker() -> Asker {
        defer { nextAsker += 1 }
        open.insert(Asker(nextAsker))
        return Asker(nextAsker)
    }

    mutating func handle(_ event: TransportEvent) {
        let before = transport
        let effects = transport.handle(event, facts)
        // The same event in the same state must have the same effects.
        var again = before
        if again.handle(event, facts) != effects || again != transport { problems.append("not a function: \(event)") }
        for effect in effects { carryOut(effect) }
        note(event, effects)
        check(event)
    }

    /// Play was held since its last press.
    mutating func holdPlay() {
        let sounding = sounding
        let isLocked = transport.lock == .locked
        let before = transport
        let effects = transport.handle(.pair(pressed: playPressed), facts)
        for effect in effects { carryOut(effect) }
        check(.pair(pressed: playPressed))
        guard effects.contains(.pair) else {
            if isLocked == effects.isEmpty { problems.append("locked \(isLocked), and pairing: \(effects)") }
            if transport != before { problems.append("pairing is not opened, and changes \(before)") }
            return
        }
        pairings += 1
        if isLocked { problems.append("a locked panel opens pairing") }
        let others = effects.filter { $0 != .pair }
        if !others.isEmpty { silenced += 1 }
        if !others.isEmpty, others != [.stopPlaying], others != [.change(.pause)] {
            problems.append("pairing: \(effects)")
        }
        if sounding == .byOthers, !others.isEmpty {
            problems.append("pairing has ended what its press did not begin: \(effects)")
        }
        if sounding == .byPress, player == .playing, case .playing(let playing) = transport.phase,
            playing.motion == .running
        {
            problems.append("what the press has made sound still does")
        }
    }

    private mutating func note(_ event: TransportEvent, _ effects: [TransportEffect]) {
        var isPress = false
        if case .press(.play, let instant) = event {
            playPressed = instant
            isPress = true
            // The press may have no effect, for example on a locked panel.
            if sounding == .byPress { sounding = .byOthers }
        }
        for effect in effects {
            switch effect {
            case .play:
                if case .play = event { sounding = .byOthers } else { sounding = isPress ? .byPress : .unknown }
            case .change(.resume) where isPress: sounding = .byPress
            case .change(.pause) where isPress, .stopPlaying: sounding = .byOthers
            // A command changed the sound that a press may have started.
            case .change(.pause), .change(.resume): if sounding == .byPress { sounding = .unknown }
            default: break
            }
        }
    }

    /// A worker answers its oldest order.
    mutating func answer() {
        guard !pending.isEmpty else { return }
        handle(pending.removeFirst())
    }

    // MARK: The workers

    private mutating func carryOut(_ effect: TransportEffect) {
        switch effect {
        case .openCard: pending.append(.cardAnswered)
        case .checkStorage: pending.append(.storageAnswered)
        case .closeForPlayer:
            isCardWithPlayer = true
            pending.append(.cardClosed)
        case .reopenCard: isCardWithPlayer = false
        case .closeCard: isCardWithPlayer = false
        case .eject, .pair, .openAccess, .adoptStick: break
        case .begin, .beginOther:
            if case .beginOther = effect { others += 1 }
            if writer != .free { problems.append("begin while the writer is \(writer)") }
            writer = .recording(nextNumber)
            pending.append(.takeBegan(Self.name(nextNumber)))
            nextNumber += 1
        case .mark, .suspend, .resumeTake:
            if hasEndedTail { return }
            if case .free = writer { problems.append("\(effect) while the writer is free") }
        case .end(_, _, let keepsTail):
            if hasEndedTail { return }
            guard case .recording(let number) = writer else {
                return problems.append("end while the writer is \(writer)")
            }
            writer = .ending(number)
            pending.append(.takeFinished(Self.name(number), hasTail: keepsTail))
        case .follow:
            if hasEndedTail { return }
            guard case .recording = writer else { return problems.append("follow while the writer is \(writer)") }
            writer = .recording(nextNumber)
            takes = nextNumber - 1
            pending.append(.takeFollowed(by: Self.name(nextNumber)))
            nextNumber += 1
        case .rejoin:
            if hasEndedTail { return }
            guard case .tail(let number) = writer else {
                return problems.append("rejoin while the writer is \(writer)")
            }
            // Sometimes the tail ended while the order was on its way.
            guard (rejoins + lateRejoins) % 4 != 3 else {
                lateRejoins += 1
                return endTail()
            }
            writer = .recording(number)
            rejoins += 1
            pending.append(.takeRejoined(Self.name(number)))
        case .dropTail:
            // Orders are carried out in sequence, so the next order finds the writer free.
            if hasEndedTail { return }
            guard case .tail = writer else { return problems.append("dropTail while the writer is \(writer)") }
            writer = .free
            pending.append(.tailEnded)
        case .play:
            if player != .free { problems.append("play while the player is \(player)") }
            player = .playing
            pending.append(.playBegan)
        case .change:
            if player == .playing { pending.append(.playChanged) }
        case .stopPlaying:
            if player != .playing { problems.append("stop while the player is \(player)") }
            player = .stopping
            pending.append(.playEnded(failure: nil))
        case .reply(let asker, _):
            if open.remove(asker) == nil { problems.append("a second reply to \(asker)") }
        case .powerOff: powerOffs += 1
        case .select, .refuse, .lockChanged, .takeOver: break
        }
    }

    /// The workers change their state before the transport receives the report.
    mutating func workerActs(on event: TransportEvent) {
        switch event {
        case .takeFinished(let name, let hasTail):
            takes = max(takes, name.number)
            writer = hasTail ? .tail(name.number) : .free
        case .takeFailed: writer = .free
        case .playEnded, .playBlocked: player = .free
        default: break
        }
    }

    mutating func answerNext() {
        guard let event = pending.first else { return }
        workerActs(on: event)
        answer()
    }

    /// The take fails instead of carrying out its orders.
    mutating func failTake() {
        guard writer != .free else { return }
        if case .tail = writer { return }
        pending.removeAll { event in
            switch event {
            case .takeBegan, .takeFinished, .takeFollowed, .takeRejoined: true
            default: false
            }
        }
        writer = .free
        var isRunning = false
        if case .recording(let take) = transport.phase { isRunning = take.stage == .running }
        handle(.takeFailed(Refusal(.io, "record: it failed")))
        // Every second time its sound continues in another folder.
        if isRunning, nextNumber % 2 == 0 { handle(.goOn(at: now, startedBy: .command)) }
    }

    /// The writer ended a tail without an order, and the transport does not know it yet. Its orders about the take have
    /// no effect.
    private var hasEndedTail: Bool { writer == .free && pending.contains(.tailEnded) }

    /// The writer ends its tail without an order, because the storage no longer accepts it.
    mutating func endTail() {
        guard case .tail = writer else { return }
        writer = .free
        pending.append(.tailEnded)
    }

    /// The player ends or fails before it has carried out its orders.
    mutating func endPlaying(_ failure: Refusal?) {
        guard player != .free else { return }
        pending.removeAll { event in
            switch event {
            case .playBegan, .playChanged, .playEnded: true
            default: false
            }
        }
        player = .free
        handle(.playEnded(failure: failure))
    }

    // MARK: Conditions

    private mutating func check(_ event: TransportEvent) {
        let isRecording: Bool
        if case .recording = transport.phase { isRecording = true } else { isRecording = false }
        switch writer {
        case .recording, .ending:
            if !isRecording { problems.append("the writer records and the transport does not: \(event)") }
        case .free, .tail:
            if isRecording, !pending.contains(where: \.isOfTake), !hasEndedTail {
                problems.append("recording without a writer: \(event)")
            }
        }
        let isPlaying: Bool
        if case .playing = transport.phase { isPlaying = true } else { isPlaying = false }
        if player != .free, !isPlaying { problems.append("the player plays and the transport does not: \(event)") }
        if isRecording, player != .free { problems.append("recording and playing at once: \(event)") }
        if case .running = transport.tail, case .tail = writer {
        } else if case .running = transport.tail, !hasEndedTail {
            problems.append("a tail without a writer that writes it: \(event)")
        }
        if case .resting = transport.phase, transport.tail != .none {
            problems.append("a tail while the kit rests: \(event)")
        }
    }
}

extension TransportEvent {
    fileprivate var isOfTake: Bool {
        switch self {
        case .takeBegan, .takeFinished, .takeFollowed, .takeRejoined, .takeFailed: true
        default: false
        }
    }
}

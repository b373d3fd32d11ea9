public import Takes

/// Who waits for the outcome of a command.
public struct Asker: Hashable, Sendable {
    /// Each command has its own.
    public var id: Int

    /// The one with a number.
    public init(_ id: Int) { self.id = id }
}

/// What asked for a take.
public enum TakeInitiator: Hashable, Sendable {
    case button, command, schedule
}

/// A change of what is being played.
public enum PlayChange: Hashable, Sendable {
    case pause, resume
    /// Moves the position by seconds of the take; negative: back.
    case skip(seconds: Double)
    /// A factor of the samples' values, 0 to 1.
    case volume(Double)
    /// 100 to a semitone.
    case pitch(cents: Int)
    /// Seconds of the take for each second; whether the pitch follows.
    case speed(factor: Double, expands: Bool)

    /// The command that asks for it.
    public var command: String {
        switch self {
        case .pause: "pause"
        case .resume: "play"
        case .skip: "skip"
        case .volume: "volume"
        case .pitch: "pitch"
        case .speed: "speed"
        }
    }
}

/// What happens to the transport: what people ask for, and what the workers report.
public enum TransportEvent: Hashable, Sendable {
    /// A button went down, at its first edge, or repeats while it is held. It acts at once; there is no double tap.
    case press(Button, at: Instant)
    /// Back and stop were held together: the panel is locked, or unlocked if it was.
    case lock(at: Instant)
    /// Stop was held on for a while, since this press of it: the stick is to be pulled.
    case eject(pressed: Instant)
    /// Stop was held on, or the battery is nearly empty: switch off.
    case shutdown(at: Instant, because: ShutdownReason = .hold)
    /// Play was held on for a while, since this press of it: phones are to be paired.
    case pair(pressed: Instant)
    /// Back and forward were held together: the kit is to be reached without a known network.
    case openAccess(at: Instant)
    /// Stop and play were held together, since this press of play: takes are to be sent to the stick that is in.
    case adoptStick(pressed: Instant)

    /// `startedBy`: what first asked for this sound. `from`: when its first frame was sampled, or nil for the pre-roll of the settings.
    case record(at: Instant, by: Asker, startedBy: TakeInitiator = .command, from: Instant? = nil)
    /// The storage failed a take: its sound goes on, from an instant on, in another one, with the card of that take and no other.
    case goOn(at: Instant, startedBy: TakeInitiator)
    case stop(at: Instant, by: Asker)
    case mark(Mark, by: Asker)
    /// Plays a take; nil: the selected one.
    case play(TakeName?, by: Asker)
    case change(PlayChange, by: Asker)
    /// End what goes on, as before the process ends.
    case finish(by: Asker)

    /// The card was opened, or could not be: the facts say which.
    case cardAnswered
    /// The storage was checked: the facts say what came of it.
    case storageAnswered
    /// The capture ended by itself.
    case cardLost
    /// The card of the take that is recorded delivers again.
    case cardReturned
    /// The card of the take that is recorded delivers again, since an instant, with other channels than that has.
    case cardChanged(at: Instant, startedBy: TakeInitiator)
    /// The capture card was closed for the player.
    case cardClosed

    /// The take's files are there.
    case takeBegan(TakeName)
    /// The take is committed.
    case takeFinished(TakeName, hasTail: Bool)
    /// The take was followed by another without a missing frame.
    case takeFollowed(by: TakeName)
    /// The take ended without being committed, or never began.
    case takeFailed(Refusal)
    /// The sound behind the last take belongs to it now.
    case takeRejoined(TakeName)
    /// The sound behind the last take was dropped.
    case tailEnded

    /// The take is open and its first frames are queued.
    case playBegan
    /// The next change of what is played was carried out.
    case playChanged
    /// Nothing sounds any more. `failure`: why it ended early.
    case playEnded(failure: Refusal?)
    /// It could not begin, since the card that records may be in the way.
    case playBlocked(Refusal)

    /// Time passed.
    case tick
}

/// What the transport must know of the rest of the kit to decide.
public struct TransportFacts: Hashable, Sendable {
    /// The present.
    public var now: Instant
    /// The reason why no take can begin with the card, or nil if the card is open and delivers.
    public var cardObstacle: Refusal?
    /// The reason why no take can be written, or nil if the storage accepts takes.
    public var storageObstacle: Refusal?
    /// The reason why nothing can be played, or nil if the takes can be read.
    public var playObstacle: Refusal?
    /// The reason why the recorded take accepts no further marker, or nil if it accepts one.
    public var markObstacle: Refusal?
    /// What is said when there is no take to play.
    public var noTake = Refusal(.notFound, "play: there is no take yet")
    /// Whether the capture card is open, and so may be in the player's way.
    public var isCardOpen: Bool
    /// The take that play would play.
    public var selected: TakeName?

    /// The facts at an instant.
    public init(
        now: Instant, cardObstacle: Refusal? = nil, storageObstacle: Refusal? = nil, playObstacle: Refusal? = nil,
        isCardOpen: Bool = true, selected: TakeName? = nil
    ) {
        self.now = now
        self.cardObstacle = cardObstacle
        self.storageObstacle = storageObstacle
        self.playObstacle = playObstacle
        self.isCardOpen = isCardOpen
        self.selected = selected
    }
}

/// What the deck must do about an event. Effects are carried out in their order.
public enum TransportEffect: Hashable, Sendable {
    // The card and the storage.
    case openCard
    case checkStorage
    /// Close the capture card, so that the player can have it; `cardClosed` follows.
    case closeForPlayer
    /// Open the capture card again.
    case reopenCard
    /// The kit rests: close the card.
    case closeCard

    // The writer.
    /// `from`: when the first frame was sampled, or nil for the pre-roll of the settings.
    case begin(at: Instant, by: TakeInitiator, from: Instant? = nil)
    /// Begin the take that goes on for the one before, with what its card delivers since an instant, also if that card has gone.
    case beginOther(at: Instant, by: TakeInitiator)
    case mark(Mark)
    case suspend
    case resumeTake(after: Duration)
    /// nil: with the last frame that there is.
    case end(at: Instant?, because: TakeEnding, keepsTail: Bool)
    /// Go on in a new take from this instant.
    case follow(at: Instant)
    case rejoin(at: Instant, by: TakeInitiator), dropTail

    // The player.
    case play(TakeName)
    case change(PlayChange)
    case stopPlaying

    // The panel and the log.
    /// Select the take so many steps further on.
    case select(steps: Int)
    /// The lamps show that the button is refused, and the log says why.
    case refuse(Refusal)
    case lockChanged(isLocked: Bool)
    /// What the deck was asked for has ended in this way.
    case reply(Asker, TransportReply)
    /// The take came to its end: what had to wait for that is due.
    case takeOver
    /// Give the stick back.
    case eject
    /// Allow phones to be paired for a while.
    case pair
    /// Ask for the kit's own access point.
    case openAccess
    /// Have takes sent to the stick that is in.
    case adoptStick
    case powerOff
}

/// Why the kit is to be switched off.
public enum ShutdownReason: Hashable, Sendable {
    /// Stop was held.
    case hold
    case battery
    /// Nothing is to be recorded for a while.
    case schedule
}

/// Why the transport ends a take.
public enum TakeEnding: Hashable, Sendable {
    case stop, shutdown, limit, cardLost
}

/// The outcome of a command.
public enum TransportReply: Hashable, Sendable {
    case done
    /// A marker was set.
    case marked(at: Mark.Place)
    /// The take that the command ended.
    case take(TakeName?)
    case refused(Refusal)
}

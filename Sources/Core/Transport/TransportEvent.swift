public import Takes

/// A client that waits for the outcome of one command.
public struct Asker: Hashable, Sendable {
    /// Each command has its own number.
    public var id: Int

    public init(_ id: Int) { self.id = id }
}

public enum TakeInitiator: Hashable, Sendable {
    case button, command, schedule
}

public enum PlayChange: Hashable, Sendable {
    case pause, resume
    /// Moves the position by seconds of the take; negative values move it back.
    case skip(seconds: Double)
    /// A factor of the samples' values, 0 to 1.
    case volume(Double)
    /// 100 cents are a semitone.
    case pitch(cents: Int)
    /// The seconds of the take that are played in one second, and whether the pitch follows.
    case speed(factor: Double, expands: Bool)

    /// The name of the command that requests the change.
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

/// An event for the transport: a request of a person, or a report of a worker.
public enum TransportEvent: Hashable, Sendable {
    /// A button went down, dated to its first edge, or repeats while it is held. It acts at once; there is no double
    /// tap.
    case press(Button, at: Instant)
    /// Back and stop were held together. The panel is locked, or unlocked if it was locked.
    case lock(at: Instant)
    /// Stop was held for a while since this press, to eject the stick.
    case eject(pressed: Instant)
    /// Stop was held long enough, the battery is nearly empty, or the schedule pauses. The kit must switch off.
    case shutdown(at: Instant, because: ShutdownReason = .hold)
    /// Play was held for a while since this press, to pair phones.
    case pair(pressed: Instant)
    /// Back and forward were held together, to reach the kit without a known network.
    case openAccess(at: Instant)
    /// Stop and play were held together, to send takes to the inserted stick. `pressed` is the press of play.
    case adoptStick(pressed: Instant)

    /// `startedBy` is the first request for this sound. `from` is the sampling time of the first frame, or nil for the
    /// pre-roll of the settings.
    case record(at: Instant, by: Asker, startedBy: TakeInitiator = .command, from: Instant? = nil)
    /// The storage failed during a take. Its sound continues from an instant on in another take, with the card of the
    /// failed take and no other.
    case goOn(at: Instant, startedBy: TakeInitiator)
    case stop(at: Instant, by: Asker)
    case mark(Mark, by: Asker)
    /// Plays a take, or the selected take if nil.
    case play(TakeName?, by: Asker)
    case change(PlayChange, by: Asker)
    /// End the current activity, for example before the process ends.
    case finish(by: Asker)

    /// The card was opened, or could not be. The facts contain the result.
    case cardAnswered
    /// The storage was checked. The facts contain the result.
    case storageAnswered
    /// The capture ended without `stop`.
    case cardLost
    /// The card of the take that is being recorded delivers again.
    case cardReturned
    /// The card of the take that is being recorded delivers again, since an instant, with other channels than the take.
    case cardChanged(at: Instant, startedBy: TakeInitiator)
    /// The capture card was closed for the player.
    case cardClosed

    /// The take's files exist.
    case takeBegan(TakeName)
    /// The take is committed.
    case takeFinished(TakeName, hasTail: Bool)
    /// Another take followed without a missing frame.
    case takeFollowed(by: TakeName)
    /// The take ended without a commit, or never began.
    case takeFailed(Refusal)
    /// The sound after the last take now belongs to it.
    case takeRejoined(TakeName)
    /// The sound after the last take was dropped.
    case tailEnded

    /// The take is open and its first frames are queued.
    case playBegan
    /// The next change of playback was carried out.
    case playChanged
    /// Playback is silent. `failure` is the reason why it ended early.
    case playEnded(failure: Refusal?)
    /// Playback could not begin, possibly because the capture card is open.
    case playBlocked(Refusal)

    /// Time passed.
    case tick
}

/// The state of the rest of the kit, as far as the transport's decisions depend on it.
public struct TransportFacts: Hashable, Sendable {
    public var now: Instant
    /// The reason why no take can begin with the card, or nil if the card is open and delivers.
    public var cardObstacle: Refusal?
    /// The reason why no take can be written, or nil if the storage accepts takes.
    public var storageObstacle: Refusal?
    /// The reason why nothing can be played, or nil if the takes can be read.
    public var playObstacle: Refusal?
    /// The reason why the recorded take accepts no further marker, or nil if it accepts one.
    public var markObstacle: Refusal?
    /// The refusal when no take can be played because none exists.
    public var noTake = Refusal(.notFound, "play: no take yet")
    /// Whether the capture card is open, which may prevent playback.
    public var isCardOpen: Bool
    /// The take that play would play.
    public var selected: TakeName?

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

/// An action of the deck in response to an event. Effects are carried out in their order.
public enum TransportEffect: Hashable, Sendable {
    // The card and the storage.
    case openCard
    case checkStorage
    /// Close the capture card, so that the player can open it. `cardClosed` follows.
    case closeForPlayer
    case reopenCard
    /// Close the card, because the kit rests.
    case closeCard

    // The writer.
    /// `from` is the sampling time of the first frame, or nil for the pre-roll of the settings.
    case begin(at: Instant, by: TakeInitiator, from: Instant? = nil)
    /// Begin a take that continues the previous one, with the frames of its card since an instant, even if that card
    /// has disappeared.
    case beginOther(at: Instant, by: TakeInitiator)
    case mark(Mark)
    case suspend
    case resumeTake(after: Duration)
    /// Nil ends the take with the last available frame.
    case end(at: Instant?, because: TakeEnding, keepsTail: Bool)
    /// Continue in a new take from this instant.
    case follow(at: Instant)
    case rejoin(at: Instant, by: TakeInitiator), dropTail

    // The player.
    case play(TakeName)
    case change(PlayChange)
    case stopPlaying

    // The panel and the log.
    /// Select the take this many steps further on.
    case select(steps: Int)
    /// Show the refusal on the lamps, and log its reason.
    case refuse(Refusal)
    case lockChanged(isLocked: Bool)
    /// A command to the deck ended with this reply.
    case reply(Asker, TransportReply)
    /// The take has ended. Work that had to wait for that is due.
    case takeOver
    case eject
    /// Allow phones to be paired for a while.
    case pair
    /// Request the kit's own access point.
    case openAccess
    /// Send takes to the inserted stick.
    case adoptStick
    case powerOff
}

/// The reason for switching the kit off.
public enum ShutdownReason: Hashable, Sendable {
    /// Stop was held.
    case hold
    case battery
    /// The schedule records nothing for a while.
    case schedule
}

public enum TakeEnding: Hashable, Sendable {
    case stop, shutdown, limit, cardLost
}

public enum TransportReply: Hashable, Sendable {
    case done
    case marked(at: Mark.Place)
    /// The take that the command ended.
    case take(TakeName?)
    case refused(Refusal)
}

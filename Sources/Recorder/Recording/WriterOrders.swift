package import Filters
package import Ring
package import TakeFiles
package import Takes
package import Transport

/// What does not change from one take to the next: where and how takes are written.
package struct TakePlan: Sendable {
    var grant: CaptureGrant
    var directory: TakesDirectory
    var kit: String
    var clock: ClockOrigin
    var bootID: String
    /// How far to stay behind now: a stop may be that much older than the moment it is known.
    var lag: Duration
    var keepsUnfiltered: Bool
    /// The most sound that may be missing on disk while the storage answers.
    var syncPromise: Duration
    var splitBytes: Int64
    var reserveBytes: Int64
    /// What the take is to be converted to once it is finished.
    var pendingFormat: String?
    var startedBy: Sidecar.Start
    var version: String
    /// Whether the fingerprints of the sound are computed; `deploy/bench` measures what they cost.
    var hasFingerprint: Bool
    /// The clock by which the take is named.
    var nameTime: NameTime

    /// Where and how takes are written.
    package init(
        grant: CaptureGrant, directory: TakesDirectory, kit: String, clock: ClockOrigin, bootID: String, lag: Duration,
        keepsUnfiltered: Bool, syncPromise: Duration, splitBytes: Int64, reserveBytes: Int64, pendingFormat: String?,
        startedBy: Sidecar.Start, version: String, hasFingerprint: Bool = true,
        nameTime: NameTime = .utc
    ) {
        self.grant = grant
        self.directory = directory
        self.kit = kit
        self.clock = clock
        self.bootID = bootID
        self.lag = lag
        self.keepsUnfiltered = keepsUnfiltered
        self.syncPromise = syncPromise
        self.splitBytes = splitBytes
        self.reserveBytes = reserveBytes
        self.pendingFormat = pendingFormat
        self.startedBy = startedBy
        self.version = version
        self.hasFingerprint = hasFingerprint
        self.nameTime = nameTime
    }
}

/// What the writer needs to know to begin a take.
package struct BeginOrder: Sendable {
    var ring: Ring
    /// The ring's position when the card was opened: frames before it belong to an earlier opening.
    var opened: RingPosition
    /// The press, or the command.
    var pressed: Instant
    /// The same by the calendar.
    var pressedWall: WallTime
    /// Nothing from before this belongs to the take; nil: all that there is.
    var earliest: Instant?
    var preRoll: Duration
    var filter: FilterDesign
    var plan: TakePlan

    /// A take whose first frame is the one sampled at `pressed`, less the pre-roll.
    package init(
        ring: Ring, opened: RingPosition = .start, pressed: Instant, pressedWall: WallTime, earliest: Instant?,
        preRoll: Duration, filter: FilterDesign, plan: TakePlan
    ) {
        self.ring = ring
        self.opened = opened
        self.pressed = pressed
        self.pressedWall = pressedWall
        self.earliest = earliest
        self.preRoll = preRoll
        self.filter = filter
        self.plan = plan
    }
}

/// What the writer needs to know to go on with a take whose card is back.
package struct ResumeOrder: Sendable {
    var ring: Ring
    /// The ring's position when the card was opened again.
    var opened: RingPosition
    var filter: FilterDesign
    /// What the card granted then.
    var gain: CardGain
    /// The card, and where it is; nil: as before.
    var card: CardPlace?

    /// The take goes on with the first frame from `opened` on.
    package init(
        ring: Ring, opened: RingPosition = .start, filter: FilterDesign, gain: CardGain = CardGain(),
        card: CardPlace? = nil
    ) {
        self.card = card
        self.ring = ring
        self.opened = opened
        self.filter = filter
        self.gain = gain
    }
}

/// What the deck asks of the writer.
package enum WriterOrder: Sendable {
    case begin(BeginOrder)
    case mark(Mark)
    case filter(FilterDesign)
    /// The card's mixer confirmed at an instant that this is its gain.
    case gain(CardGain, at: Instant)
    /// The card is gone: what it left in the ring is taken, and the take waits.
    case suspend
    /// The card is back.
    case resume(ResumeOrder)
    /// The calendar was set: the take is dated by it.
    case date(TrueStart)
    /// End with the frame sampled at an instant; nil: with the last one in the ring. The sound may run on into a tail.
    case end(at: Instant?, Sidecar.Ending, keepsTail: Bool)
    /// Something else waits for the end: what cannot be saved soon is given up.
    case hurry
    /// Cut to another take at an instant, without a missing frame.
    case next(at: Instant, pressedWall: WallTime)
    /// The finished take goes on: its tail becomes its next part.
    case rejoin
    /// The finished take stays as it is.
    case dropTail
}

/// What the writer reports to the deck.
package enum WriterOutcome: Sendable {
    /// The take's files are there.
    case began(TakeName)
    case progress(RecordingProgress)
    /// Something of the take failed that it can do without.
    case warned(String)
    /// Something happened to the take's files, and the take goes on.
    case troubled(Fault)
    /// The take is committed. `failure`: why it ended early, or is less than it should be. `hasTail`: its sound runs on.
    case finished(TakeName, Sidecar, failure: Fault?, hasTail: Bool)
    /// A take is committed, and another one goes on with the next frame.
    case next(finished: TakeName, Sidecar, began: TakeName)
    /// Another take goes on with the next frame, and the storage did not let the one before be finished: recovery finishes it.
    case leftBehind(TakeName, Fault, began: TakeName)
    /// The finished take is recorded again.
    case rejoined(TakeName)
    /// There is no tail any more.
    case tailEnded(TakeName, TailEnd)
    /// There is no take, or only what recovery can make of it.
    case failed(String, isDiskFull: Bool)
}

/// Why a finished take cannot go on any more.
package enum TailEnd: Hashable, Sendable {
    /// As ordered: its tail is removed.
    case dropped
    /// Its tail is removed, for this reason.
    case givenUp(String)
    /// The storage failed, as one sentence says; recovery removes what is left of the tail.
    case storageFailed(String)
}

/// How far a take is.
package struct RecordingProgress: Hashable, Sendable {
    /// When the take's first frame was sampled.
    package var started: Instant
    /// Frames a second of the take.
    package var rateHz: Int
    /// Frames that are written, silence for lost ones included.
    package var frames: Int64
    /// Where the next frame to be written is in the ring of its card, and in the take, or nil while the card is away.
    package var next: TakeAnchor?
    /// Frames that are on the disk.
    package var syncedFrames: Int64
    package var gaps: Int
    /// Markers that are noted.
    package var markers: Int
    /// Whatever of the take was sampled before this instant is on the disk.
    package var safeUntil: Instant
    /// The instant at which the writer learned that the last sync of the take had succeeded, or nil before the first one.
    package var lastSync: Instant?
    /// The fault of the storage while the take goes on, or nil if nothing is wrong.
    package var trouble: Fault?
}

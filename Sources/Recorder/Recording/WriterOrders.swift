package import Filters
package import Ring
package import TakeFiles
package import Takes
package import Transport

/// Where and how takes are written. It is constant across takes that follow one another.
package struct TakePlan: Sendable {
    var grant: CaptureGrant
    var directory: TakesDirectory
    var kit: String
    var clock: ClockOrigin
    var bootID: String
    /// How far to stay behind now: a stop may be this much older than the moment at which it becomes known.
    var lag: Duration
    var keepsUnfiltered: Bool
    /// The most sound that may be missing on disk while the storage answers.
    var syncPromise: Duration
    var splitBytes: Int64
    var reserveBytes: Int64
    /// The target of the conversion after the take is finished.
    var pendingFormat: String?
    var startedBy: Sidecar.Start
    var version: String
    /// Whether the fingerprints of the sound are computed. `deploy/bench` measures their cost.
    var hasFingerprint: Bool
    /// The clock that names the take.
    var nameTime: NameTime

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

package struct BeginOrder: Sendable {
    var ring: Ring
    /// The ring's position when the card was opened: frames before it belong to a previous opening.
    var opened: RingPosition
    /// The instant of the press or the command.
    var pressed: Instant
    /// The same instant by the calendar.
    var pressedWall: WallTime
    /// Frames sampled before this do not belong to the take; nil for no limit.
    var earliest: Instant?
    var preRoll: Duration
    var filter: FilterDesign
    var plan: TakePlan

    /// The take's first frame is the one sampled at `pressed`, less the pre-roll.
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

/// The order to continue a take whose card is back.
package struct ResumeOrder: Sendable {
    var ring: Ring
    /// The ring's position when the card was opened again.
    var opened: RingPosition
    var filter: FilterDesign
    /// The gain that the card granted then.
    var gain: CardGain
    /// The card and its port, or nil if unchanged.
    var card: CardPlace?

    /// The take continues with the first frame from `opened` on.
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

package enum WriterOrder: Sendable {
    case begin(BeginOrder)
    case mark(Mark)
    case filter(FilterDesign)
    /// The card's mixer confirmed this gain at an instant.
    case gain(CardGain, at: Instant)
    /// The card is lost: the writer takes the remaining frames from the ring, and the take waits.
    case suspend
    case resume(ResumeOrder)
    /// The calendar was set: the take is dated by it.
    case date(TrueStart)
    /// End with the frame sampled at an instant, or with the last one in the ring if nil. The sound may continue into a
    /// tail.
    case end(at: Instant?, Sidecar.Ending, keepsTail: Bool)
    /// Something else waits for the end: data that cannot be saved soon is given up.
    case hurry
    /// Cut to another take at an instant, without a missing frame.
    case next(at: Instant, pressedWall: WallTime)
    /// The finished take continues: its tail becomes its next part.
    case rejoin
    case dropTail
}

package enum WriterOutcome: Sendable {
    /// The take's files exist.
    case began(TakeName)
    case progress(RecordingProgress)
    /// An optional part of the take failed.
    case warned(String)
    /// Another program changed the take's files, or the storage failed in part; the take continues.
    case troubled(Fault)
    /// The take is committed. `failure`: why it ended early or is incomplete. `hasTail`: its sound continues.
    case finished(TakeName, Sidecar, failure: Fault?, hasTail: Bool)
    /// A take is committed, and another one continues with the next frame.
    case next(finished: TakeName, Sidecar, began: TakeName)
    /// Another take continues with the next frame. The storage failed while the previous take was finished, so recovery
    /// finishes it.
    case leftBehind(TakeName, Fault, began: TakeName)
    case rejoined(TakeName)
    /// There is no tail any more.
    case tailEnded(TakeName, TailEnd)
    /// There is no take, or only what recovery can make of it.
    case failed(String, isDiskFull: Bool)
}

/// Why a finished take cannot continue any more.
package enum TailEnd: Hashable, Sendable {
    /// The tail was removed as ordered.
    case dropped
    /// The tail was removed for this reason.
    case givenUp(String)
    /// The storage failed, with its message. Recovery removes the remains of the tail.
    case storageFailed(String)
}

package struct RecordingProgress: Hashable, Sendable {
    /// The sample time of the take's first frame.
    package var started: Instant
    /// The frame rate of the take.
    package var rateHz: Int
    /// Written frames, including silence for lost ones.
    package var frames: Int64
    /// Where the next frame to be written is in the ring of its card, and in the take, or nil while the card is away.
    package var next: TakeAnchor?
    /// Frames that are on the disk.
    package var syncedFrames: Int64
    package var gaps: Int
    package var markers: Int
    /// All of the take's sound that was sampled before this instant is on the disk.
    package var safeUntil: Instant
    /// The instant at which the writer learned that the last sync of the take had succeeded, or nil before the first one.
    package var lastSync: Instant?
    /// The fault of the storage while the take continues, or nil if nothing is wrong.
    package var trouble: Fault?
}

package import Filters
package import Ring
package import TakeFiles
package import Takes
package import Transport

/// What the writer needs to know to begin a take.
package struct BeginOrder: Sendable {
    var ring: Ring
    var grant: CaptureGrant
    var directory: TakesDirectory
    var kit: String
    /// The press, or the command.
    var pressed: Instant
    /// The same by the calendar.
    var pressedWall: WallTime
    /// Nothing from before this belongs to the take; nil: whatever there is.
    var earliest: Instant?
    var clock: ClockOrigin
    var bootID: String
    var preRoll: Duration
    /// How far to stay behind the card: a stop may be that much older than the moment it is known.
    var lag: Duration
    var filter: FilterDesign
    /// What has listened to the ring so far.
    var frameWatch: FrameWatch
    var keepUnfiltered: Bool
    /// The most sound that may be missing on disk while the storage answers.
    var syncPromise: Duration
    var splitBytes: Int64
    var reserveBytes: Int64
    /// What the take is to be converted to once it is finished.
    var pendingFormat: String?
    var version: String

    package init(
        ring: Ring, grant: CaptureGrant, directory: TakesDirectory, kit: String, pressed: Instant,
        pressedWall: WallTime, earliest: Instant?, clock: ClockOrigin, bootID: String, preRoll: Duration,
        lag: Duration, filter: FilterDesign, keepUnfiltered: Bool, syncPromise: Duration, splitBytes: Int64,
        reserveBytes: Int64, pendingFormat: String?, version: String
    ) {
        self.ring = ring
        self.grant = grant
        self.directory = directory
        self.kit = kit
        self.pressed = pressed
        self.pressedWall = pressedWall
        self.earliest = earliest
        self.clock = clock
        self.bootID = bootID
        self.preRoll = preRoll
        self.lag = lag
        self.filter = filter
        frameWatch = FrameWatch(rateHz: ring.format.rateHz, driftPPM: nil)
        self.keepUnfiltered = keepUnfiltered
        self.syncPromise = syncPromise
        self.splitBytes = splitBytes
        self.reserveBytes = reserveBytes
        self.pendingFormat = pendingFormat
        self.version = version
    }
}

/// What the writer needs to know to go on with a take whose card is back.
package struct ResumeOrder: Sendable {
    var ring: Ring
    var filter: FilterDesign
    /// What has listened to the ring so far.
    var frameWatch: FrameWatch
}

/// What the deck asks of the writer.
package enum Order: Sendable {
    case begin(BeginOrder)
    case mark(at: Instant, note: String?)
    case filter(FilterDesign)
    /// The card is gone: what it left in the ring is taken, and the take waits.
    case suspend
    /// The card is back.
    case resume(ResumeOrder)
    /// The calendar was set: the take is dated by it.
    case date(TrueStart)
    /// End with the frame heard at an instant; nil: with the last one in the ring.
    case end(at: Instant?, Sidecar.Ending)
    case quit
}

/// What the writer tells the deck.
package enum Outcome: Sendable {
    /// The take's files are there.
    case began(TakeName)
    /// A sync ended well.
    case synced
    /// Something of the take failed that it can do without.
    case warned(String)
    /// The take is committed. `failure`: why it ended early, or is less than it should be.
    case finished(TakeName, Sidecar, failure: Fault?)
    /// There is no take, or only what recovery can make of it.
    case failed(String, isDiskFull: Bool)
}

/// How far a take is.
struct Progress: Sendable {
    /// When the take's first frame was heard.
    var started: Instant
    /// Frames a second of the take.
    var rateHz: Int
    var frames: Int64 = 0
    var syncedFrames: Int64 = 0
    var gaps = 0
    /// Whatever of the take was heard before this instant is on the disk.
    var safeUntil: Instant
}

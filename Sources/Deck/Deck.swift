import Filters
public import Panel
public import Ring
import TakeFiles
public import Takes
public import Transport

/// The transport: decides what buttons and commands do, keeps a card armed, and says truthfully what goes on.
///
/// Everything of it runs on the thread of the loop. Sound goes its own way, from the capture thread through the ring
/// to the writer; the deck only tells them what to do.
public final class Deck {
    let options: DeckOptions
    /// Where sound comes from.
    public let card: any CaptureSource
    let clock: any Clock
    let writer: Writer
    let player: Player
    let archivist: Archivist
    let originOfClock: (_ newestTake: String?) -> ClockOrigin
    let report: (Report) -> Void
    let files: FileSystem
    private let writerThread: WriterThread?
    private let playerThread: PlayerThread?
    private let archivistThread: ArchivistThread?

    var phase = Phase.idle
    var input: OpenInput?
    var directory: TakesDirectory?
    var selection = Selection()
    var faults = FaultBoard()
    var filter: FilterRequest
    var volume: Double
    /// What the ring holds from before this was played by the kit itself: no take may have any of it.
    var silentSince: Instant?
    /// Whether the card that records was closed so that it can play.
    var isCardLent = false
    var nextTick: Instant
    /// When the deck last heard that a sync of this take ended well.
    var lastSync: Instant?
    var answer: Indication.Answer?
    var freeBytes: Int64?
    var lossesSeen = 0
    /// Frames that the open card lost without a word while a take was recorded.
    var missingFrames: Int64 = 0
    /// Told to finish: nothing new begins.
    var isFinishing = false
    /// Frames that cards delivered before the one that is open was opened.
    var deliveredBefore: Int64 = 0
    /// Whether the card, when last heard, was there and had ceased to deliver.
    var isStalled = false
    /// What is known of crystals: the card, and how much faster than it should it runs, in millionths.
    var knownDrift: [String: Double] = [:]
    /// The card that was said to be off by more than a crystal can.
    var cardSaidOff: String?
    /// When the card was last opened.
    var lastArmed: Instant?
    /// Whether a card that is closed while idle was there when it was last looked for.
    var wasProbed = false
    /// Whether the last look at the storage failed.
    var isStorageUnreadable = false {
        didSet { if oldValue, !isStorageUnreadable { retryLeftovers() } }
    }
    /// Whether the storage failed a take and has not taken anything since.
    var isStorageSuspect = false {
        didSet { if oldValue, !isStorageSuspect { retryLeftovers() } }
    }
    /// Whether something is still to be recovered, once the storage takes it.
    var hasLeftovers = false
    /// Why things could not be recovered, as it was told since the storage was last found to have changed.
    var unrecovered: Set<String> = []
    /// Why takes ended that the storage did not let be finished.
    var abandoned: [TakeName: Sidecar.Ending] = [:]
    /// Whether the archivist was asked to see if it does.
    var isProbing = false
    /// Whether the takes were on a storage of their own, such as a card: in its absence there is nothing to record to.
    var isOnOwnStorage = false
    /// Whether the date was set while a take was recorded.
    var isDatingDue = false
    /// Who waits for a take to be removed.
    var discards: [TakeName: [Completion]] = [:]
    /// After it was told to finish, the deck does not arm by itself before this: the kit is being switched off.
    var restsUntil: Instant?

    /// What the outbox does, as the library says.
    public var upload = Indication.Upload.idle {
        didSet { onChange() }
    }
    /// Readable while there is something for `hearWriter`.
    public var writerFileDescriptor: Int32 { writer.outcomes.fileDescriptor }
    /// Readable while there is something for `hearPlayer`.
    public var playerFileDescriptor: Int32 { player.outcomes.fileDescriptor }
    /// Readable while there is something for `hearArchivist`.
    public var archivistFileDescriptor: Int32 { archivist.outcomes.fileDescriptor }
    /// Called when a person asks for the kit to be shut down, once no take is being recorded any more.
    public var onPowerOff: () -> Void = {}
    /// Called after anything that the lamps or the status show may have changed.
    public var onChange: () -> Void = {}

    /// What the deck is doing, and what only matters meanwhile.
    enum Phase {
        case idle
        case recording(OpenTake)
        case playing(OpenPlay)
    }

    /// A take that is being recorded.
    struct OpenTake {
        var name: TakeName?
        var pressed: Instant
        /// What its card granted.
        var grant: CaptureGrant
        /// Since when the card has been away; nil: it is there.
        var awaySince: Instant?
        /// Set once it was told to end: presses from then on are for the next take.
        var isEnding = false
        /// What was pressed and asked for since then, to be done once it is finished.
        var waiting: [Waiting] = []
        var whenBegun: [Completion] = []
        var whenFinished: [Completion] = []
    }

    /// What is to be done once something has ended.
    struct Waiting {
        var work: () -> Void
        /// Who is told if it never is.
        var completion: Completion
    }

    /// A take that is being played.
    struct OpenPlay {
        var name: TakeName
        /// Known once it is open.
        var facts: PlayFacts?
        var isPaused = false
        /// Set once it was told to end: presses from then on are for what comes after it.
        var isEnding = false
        /// What was pressed and asked for since then, to be done once it has ended.
        var waiting: [Waiting] = []
        var whenBegun: [Completion] = []
        /// What the player was told before it was known whether it can play.
        var ordersSinceBegin: [PlayOrder] = []
        /// Who waits for what the player was told since, in that order.
        var whenDone: [Completion] = []
        var whenEnded: [Completion] = []
    }

    /// A card that is open and heard.
    struct OpenInput {
        var grant: CaptureGrant
        var ring: Ring
        var filter: FilterDesign
        var signal: SignalWatch
        var frames: FrameWatch
    }

    /// How a command's outcome is told, at once or later.
    public typealias Completion = (Result<Status, Refusal>) -> Void

    /// How long a take waits for its card to come back.
    static let cardPatience = Duration.seconds(600)
    /// How often a card that was just opened is looked at.
    static let frameLook = Duration.milliseconds(100)
    /// How often absent cards are looked for, and the signal and the disk are checked.
    public static let tick = Duration.seconds(2)
    /// How long a deck that finished stays closed, should the power stay on.
    static let rest = Duration.seconds(60)
    /// How long it is told why a take ended early, when what is free now does not show it.
    static let endShown = Duration.seconds(60)
    /// What a card may still be heard to play, after it was stopped.
    static let afterglow = Duration.milliseconds(10)
    /// How long lost frames are told of.
    static let overloadShown = Duration.seconds(30)

    /// A deck whose writer and player run on threads of their own.
    /// - Throws: `ThreadError`.
    public convenience init(
        options: DeckOptions, card: any CaptureSource, sink: any PlaybackSink, clock: any Clock,
        originOfClock: @escaping (_ newestTake: String?) -> ClockOrigin, report: @escaping (Report) -> Void
    ) throws {
        let writer = Writer(clock: clock, sync: try SyncThread())
        let player = Player(sink: sink, clock: clock)
        let archivist = Archivist(reserveBytes: options.reserveBytes)
        self.init(
            options: options, card: card, clock: clock, writer: writer, player: player, archivist: archivist,
            writerThread: try WriterThread(writer, clock: clock), playerThread: try PlayerThread(player, clock: clock),
            archivistThread: try ArchivistThread(archivist), originOfClock: originOfClock, report: report)
    }

    init(
        options: DeckOptions, card: any CaptureSource, clock: any Clock, writer: Writer, player: Player,
        archivist: Archivist, writerThread: WriterThread? = nil, playerThread: PlayerThread? = nil,
        archivistThread: ArchivistThread? = nil,
        files: FileSystem = FileSystem(), originOfClock: @escaping (_ newestTake: String?) -> ClockOrigin,
        report: @escaping (Report) -> Void
    ) {
        self.files = files
        self.options = options
        self.card = card
        self.clock = clock
        self.writer = writer
        self.originOfClock = originOfClock
        self.report = report
        self.player = player
        self.archivist = archivist
        self.archivistThread = archivistThread
        self.writerThread = writerThread
        self.playerThread = playerThread
        filter = options.filter
        volume = options.volume
        faults.standing = options.faults
        nextTick = clock.now()
    }
}

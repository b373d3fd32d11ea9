import Filters
public import Live
import Panel
import Playback
import Recording
public import Ring
import TakeFiles
public import Takes
public import Transport
import Workers

/// Joins the transport to the kit: passes events to it, carries out what it decides, and reports the state.
///
/// All of it runs on the thread of the loop, and nothing of it waits: workers handle cards, storage, takes and sound. They get
/// orders and report outcomes.
public final class Deck {
    let options: DeckOptions
    let clock: any Clock
    let originOfClock: (_ newestTake: String?) -> ClockOrigin
    let report: (Report) -> Void
    let workers: DeckWorkers

    var transport: TransportState
    var card: CardState
    var search = CardSearch()
    var storage: StorageState
    var stick = StickState()
    var input: InputWatch?
    var selection = Selection()
    var recovery = RecoveryState()
    var binAskers = BinAskers()
    var faults = FaultBoard()
    /// The filter that is asked for.
    var filter: FilterRequest
    /// What the next take is played with.
    var playing: PlaySettings
    /// What asked for the take that is recorded.
    var initiator = TakeInitiator.command
    /// The folder for takes that the take is in which is recorded, or was recorded last.
    var recordedIn = ""
    /// How far the take that is recorded is.
    var progress: RecordingProgress?
    /// When the writer reported that.
    var progressAt: Instant?
    var stall = StorageStall()
    /// How far the take that is played is.
    var played: PlayedSoFar?
    /// What the player monitors.
    var monitored: MonitorRequest?
    /// What the ring holds from before this was played by the kit itself: no take may have any of it.
    var silentSince: Instant?
    /// When the calendar was set, while the take that is recorded was.
    var dateSetAt: Instant?
    /// Markers that the writer was given for the take that is recorded.
    var markersGiven = 0
    var answer: Indication.Answer?
    var pairing = PairingWindow()
    /// Whether the archivist may write much.
    var burden = Burden.allowed
    /// Whether takes are being recovered, dated, discarded or converted.
    var archiving = ArchiveActivity.idle
    /// Whether a card that is closed while idle is to be opened once, to see whether it is there.
    var probe = Probe.due
    /// The change of the list of cards that was not looked at, since no card was open.
    var cardNews = CardNews.none
    /// True while a check-up listens to the card. The recorder sets it in each turn.
    public var isExamined = false
    /// The openings of the card with whose sound another take begins once the one before has ended, in order. Empty if none is to begin.
    var changed: [OpenCard] = []
    /// What the card granted when it was last opened, as the log has it.
    var lastGrant: CaptureGrant?
    /// The take that is to be converted once the sound behind it is dropped.
    var conversionAfterTail: TakeName?
    var nextCheck: Instant
    private var askers = Askers()

    /// What the outbox does, as the library says.
    public var upload = UploadState.idle {
        didSet { showFaults() }
    }
    /// The sentence of the library about damaged takes, or nil if none is damaged.
    public var damagedTakes: String? {
        didSet { showFaults() }
    }
    /// The hours in which the kit records by itself, as the schedule says.
    public var scheduled: Status.Hours? {
        didSet { if scheduled != oldValue { onChange() } }
    }
    /// What is wrong with the panel's lines, as the panel says.
    private(set) var panelFaults: [Fault] = []
    /// The buttons whose presses cannot be seen, as the panel says.
    private(set) var closedButtons: Set<Button> = []
    /// Called when a person asks for the kit to be shut down, once no take is being recorded any more.
    public var onPowerOff: () -> Void = {}
    /// Called when a person wants to pull the stick, once its folder is closed.
    public var onEject: () -> Void = {}
    /// Called when a person asks for the kit's own access point.
    public var onOpenAccess: () -> Void = {}
    /// Called when a take is asked for or is to be played, before anything is done for it.
    public var onTake: () -> Void = {}
    /// Called when a take was finished, revised or deleted on the disk.
    public var onTakeChange: (TakeChange) -> Void = { _ in }
    /// Which frames of the ring the take has that is recorded, or had, or nil before the first one.
    var liveTake: LiveTake?
    /// Called when it is known which frames of the ring a take has, when that changes, and when the take has ended.
    public var onLiveTake: (LiveTake) -> Void = { _ in }
    /// Called with what a person asks for at the buttons that the library has to do.
    public var onPanelWish: (PanelWish) -> Void = { _ in }
    /// Called with what the kit's history keeps.
    public var onEvent: (DeckEvent) -> Void = { _ in }
    /// Called after anything that the lamps or the status show may have changed.
    public var onChange: () -> Void = {}

    /// How a command's outcome is reported, at once or later.
    public typealias Completion = (Result<Status, Refusal>) -> Void

    enum Probe { case due, done }
    enum CardNews { case none, missed }
    enum Burden { case allowed, held }

    /// How often the card's progress is compared.
    public static let tick = Duration.seconds(1)
    /// How often storage, signal and clock are checked.
    static let checkInterval = Duration.seconds(2)
    /// While a take waits for the storage with more of the ring than this, nothing else writes much.
    static let leastHeldShare = 0.1
    /// How long a card may still sound after it was stopped.
    static let afterglow = Duration.milliseconds(10)

    /// A deck whose workers have threads of their own.
    /// - Throws: `ThreadError`.
    public convenience init(
        options: DeckOptions, card: any CaptureSource, sink: any PlaybackSink, clock: any Clock,
        originOfClock: @escaping (_ newestTake: String?) -> ClockOrigin, report: @escaping (Report) -> Void
    ) throws {
        let workers = DeckWorkers(card: card, sink: sink, options: options, clock: clock)
        try workers.start()
        self.init(options: options, workers: workers, clock: clock, originOfClock: originOfClock, report: report)
    }

    init(
        options: DeckOptions, workers: DeckWorkers, clock: any Clock,
        originOfClock: @escaping (_ newestTake: String?) -> ClockOrigin, report: @escaping (Report) -> Void
    ) {
        self.options = options
        self.workers = workers
        self.clock = clock
        self.originOfClock = originOfClock
        self.report = report
        transport = TransportState(rules: options.rules)
        card = CardState(wanted: options.captureRequest)
        storage = StorageState(path: options.directory)
        filter = options.filter
        playing = PlaySettings(volume: options.volume, tuning: options.tuning)
        faults.standing = options.faults
        nextCheck = clock.now()
    }
}

// MARK: - Events and effects

extension Deck {
    /// The panel says what is wrong with its lines, and which buttons do not open.
    public func panel(has faults: [Fault], closed: Set<Button> = []) {
        panelFaults = faults
        closedButtons = closed
        showFaults()
    }

    /// Ends what goes on, as for switching off, and calls `done` once it is on disk.
    public func finish(_ done: @escaping () -> Void) {
        handle(.finish(by: asker { _ in done() }))
    }

    /// Hands an event to the transport, such as a press, and carries out what it decides.
    public func handle(_ event: TransportEvent) {
        if let press = event.press { onEvent(.pressed(press)) }
        collect()
        decide(event)
        onChange()
    }

    func decide(_ event: TransportEvent) {
        let (wasFree, wasAwaited) = (transport.isFree, transport.isEndAwaited)
        let effects = transport.handle(event, facts)
        if wasFree, !transport.isFree { onTake() }
        for effect in effects { carryOut(effect) }
        if !wasAwaited, transport.isEndAwaited { workers.writer.post(.hurry) }
    }

    /// A new asker, who waits for the outcome of a command.
    func asker(_ completion: @escaping Completion) -> Asker { askers.add(completion) }

    func reply(_ asker: Asker, _ result: Result<Status, Refusal>) { askers.remove(asker)?(result) }

    /// What the transport must know to decide.
    private var facts: TransportFacts {
        let now = clock.now()
        var facts = TransportFacts(now: now, isCardOpen: card.open != nil, selected: selected)
        facts.cardObstacle = card.obstacle(now: now)
        facts.noTake = Refusal(.notFound, "play: there is no take yet in \(storage.path)")
        facts.storageObstacle = storage.obstacle(now: now).map { Refusal(.io, $0.message) }
        if storage.directory == nil { facts.playObstacle = facts.storageObstacle }
        if max(markersGiven, progress?.markers ?? 0) >= SidecarLedger.mostMarkers {
            facts.markObstacle = Refusal(
                .busy, "mark: the take has \(SidecarLedger.mostMarkers) markers, and keeps no more: begin another take")
        }
        return facts
    }

    private var selected: TakeName? {
        selection.selected.flatMap { recovery.isDiscarded($0) ? nil : $0 }
    }
}

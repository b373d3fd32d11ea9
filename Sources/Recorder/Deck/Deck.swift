import Filters
import Panel
import Playback
import Recording
public import Ring
import TakeFiles
public import Takes
public import Transport
import Workers

/// Connects the transport to the kit: passes events to it, carries out its decisions, and reports the state.
///
/// The deck runs on the thread of the loop and never waits. Workers handle cards, storage, takes and sound. They get
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
    /// In the order of their requests.
    var seekers: [Seeker] = []
    var faults = FaultBoard()
    var filter: FilterRequest
    /// The volume and tuning of the next playback.
    var playing: PlaySettings
    /// The take in progress, or the last one while it may still continue. Nil otherwise.
    var recorded: RecordedTake?
    var stall = StorageStall()
    /// The take that sounds, or nil while none does.
    var played: Played?
    var monitored: MonitorRequest?
    /// The ring's sound from before this instant may contain the kit's own playback, so no take may contain it.
    var silentSince: Instant?
    var answer: Indication.Answer?
    var pairing = PairingWindow()
    var burden = Burden.allowed
    var archiving = ArchiveActivity.idle
    /// Whether a card that is closed while idle must be opened once, to check that it is present.
    var probe = Probe.due
    /// Whether a change of the cards was missed because no card was open.
    var cardNews = CardNews.none
    /// True while a check-up listens to the card. The check-up sets it.
    public var isExamined = false
    /// The openings of the card, in order, whose sound goes into another take once the current one has ended. Empty if
    /// no such take must begin.
    var changed: [OpenCard] = []
    /// The last grant that was logged.
    var lastGrant: CaptureGrant?
    /// The take to convert once the sound after it is dropped.
    var conversionAfterTail: TakeName?
    var nextCheck: Instant
    private var askers = Askers()

    /// The state of the outbox, set from the library.
    public var upload = UploadState.idle {
        didSet { showFaults() }
    }
    /// The library's sentence about damaged takes, or nil if none is damaged.
    public var damagedTakes: String? {
        didSet { showFaults() }
    }
    /// The hours of scheduled recording.
    public var scheduled: Status.Hours? {
        didSet { if scheduled != oldValue { announce(.changed) } }
    }
    /// The faults of the panel's lines, as reported by the panel.
    private(set) var panelFaults: [Fault] = []
    /// The buttons whose presses cannot be seen, as reported by the panel.
    private(set) var closedButtons: Set<Button> = []
    var outlet = EventOutlet.waiting([])

    /// Reports a command's outcome, at once or later.
    public typealias Completion = (Result<Status, Refusal>) -> Void

    enum Probe { case due, done }
    enum CardNews { case none, missed }
    enum Burden { case allowed, held }

    /// The interval at which the card's progress is checked.
    public static let tick = Duration.seconds(1)
    /// The interval at which storage, signal and clock are checked.
    static let checkInterval = Duration.seconds(2)
    /// If the recorded take waits for the storage with more of the ring than this, all other heavy writing is held
    /// back.
    static let leastHeldShare = 0.1
    /// A card may still sound for this long after it was stopped.
    static let afterglow = Duration.milliseconds(10)

    /// A deck whose workers have their own threads.
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
    /// The panel reports the faults of its lines, and which buttons do not open.
    public func panel(has faults: [Fault], closed: Set<Button> = []) {
        panelFaults = faults
        closedButtons = closed
        showFaults()
    }

    /// Ends recording or playback, for example before power-off, and calls `done` once all is on disk.
    public func finish(_ done: @escaping () -> Void) {
        handle(.finish(by: asker { _ in done() }))
    }

    /// Passes an event, such as a press, to the transport, and carries out its effects.
    public func handle(_ event: TransportEvent) {
        if let press = event.press { announce(.happened(.pressed(press))) }
        collect()
        decide(event)
        announce(.changed)
    }

    func decide(_ event: TransportEvent) {
        let (wasFree, wasAwaited) = (transport.isFree, transport.isEndAwaited)
        let effects = transport.handle(event, facts)
        if wasFree, !transport.isFree { announce(.takeAhead) }
        for effect in effects { carryOut(effect) }
        if !wasAwaited, transport.isEndAwaited { workers.writer.post(.hurry) }
    }

    /// Registers a caller that waits for the outcome of a command.
    func asker(_ completion: @escaping Completion) -> Asker { askers.add(completion) }

    func reply(_ asker: Asker, _ result: Result<Status, Refusal>) { askers.remove(asker)?(result) }

    /// The facts that the transport needs for its decisions.
    private var facts: TransportFacts {
        let now = clock.now()
        var facts = TransportFacts(now: now, isCardOpen: card.open != nil, selected: selected)
        facts.cardObstacle = card.obstacle(now: now)
        facts.noTake = Refusal(.noTakeYet(folder: storage.path))
        facts.storageObstacle = storage.obstacle(now: now).map { Refusal(storage: $0) }
        if storage.directory == nil { facts.playObstacle = facts.storageObstacle }
        if let recorded, recorded.markers >= SidecarLedger.mostMarkers {
            facts.markObstacle = Refusal(.tooManyMarkers(most: SidecarLedger.mostMarkers))
        }
        return facts
    }

    private var selected: TakeName? {
        selection.selected.flatMap { recovery.isDiscarded($0) ? nil : $0 }
    }
}

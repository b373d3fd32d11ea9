import Control
import Deck
import Doctor
import Glibc
import Panel
import Ring
public import Settings
import SoundCard
import Takes
import Transport

/// The recorder service: builds the parts, joins them to one loop, and runs it until a signal ends it.
public final class Recorder {
    private let clock = SystemClock()
    private let loop: Loop
    private let log: Log
    private let deck: Deck
    private let panel: any FrontPanel
    private var server: ControlServer?
    private let handler: RecorderHandler
    private let checkUp: CheckUp
    private let kitClock: KitClock
    private let clockSetting: ClockSetting
    private let cardEvents = CardEvents()
    private let signals: Signals
    private var supervisor: Supervisor
    private var nextLevels: Instant?
    private var isQuitting = false

    /// How often levels are published while somebody watches.
    private static let levelInterval = Duration.milliseconds(100)

    /// Builds the recorder. Whatever is missing (a card, a line, the folder for takes) is reported, and it goes on with
    /// the rest.
    ///
    /// - Parameters:
    ///   - settings: those that are in force.
    ///   - problems: what is wrong with the settings file, a sentence each.
    ///   - isSimulated: whether it runs on a simulated board.
    /// - Throws: if the machine grants no threads, or another recorder answers at the control socket.
    public init(settings: Settings, problems: [String], isSimulated: Bool = false, log: Log = Log()) throws {
        // Before anything else starts a thread: all threads leave the signals to this one. SIGHUP: the terminal is gone.
        signals = Signals([SIGTERM, SIGINT, SIGHUP])
        let board =
            isSimulated ? Board.simulated(settings, clock: clock, log: log) : .real(settings, log: log)
        let log = board.log
        self.log = log
        supervisor = Supervisor(now: clock.now(), log: log)
        loop = Loop(clock: clock)
        var options = DeckOptions(settings: settings, version: fieldfareVersion)
        options.capture.card = board.captureCard
        options.playbackCard = board.playbackCard
        options.faults =
            problems.first.map { first in
                [Fault(.settings, problems.count == 1 ? first : "\(first) (and \(problems.count - 1) more)")]
            } ?? []
        for problem in problems { log.write(Report(.error, problem)) }
        let kitClock = KitClock(clock: clock) { log.write($0) }
        self.kitClock = kitClock
        clockSetting = ClockSetting(clock: clock) { log.write($0) }
        deck = try Deck(
            options: options, card: board.card, sink: board.sink, clock: clock,
            originOfClock: { kitClock.origin(newestTake: $0) }, report: { log.write($0) })
        let panel = board.panel
        self.panel = panel
        var inForce = settings
        inForce.capture.card = board.captureCard
        checkUp = CheckUp(
            deck: deck, settings: inForce, problems: problems, clock: clock, newCard: board.newCard,
            openLines: { panel.openLines })
        handler = RecorderHandler(
            deck: deck, checkUp: checkUp, clockSetting: clockSetting, lamps: panel.lamps, log: log)
        do {
            server = try ControlServer(path: settings.control.socket, handler: handler)
        } catch {
            guard error.cause != .taken else { throw error }
            log.write(Report(.error, "\(error)"))
        }
    }

    /// Runs until SIGTERM, SIGINT or SIGHUP; a take that is being recorded is ended cleanly first.
    public func run() {
        deck.onChange = { [unowned self] in publish() }
        deck.onPowerOff = { [unowned self] in requestPowerOff() }
        clockSetting.onSet = { [unowned self] in
            kitClock.wasSetByHand()
            heedClock(clock.now())
        }
        loop.watch(kitClock.fileDescriptor) {}
        loop.watch(deck.writerFileDescriptor) { [unowned self] in deck.hearWriter() }
        loop.watch(deck.playerFileDescriptor) { [unowned self] in deck.hearPlayer() }
        loop.watch(deck.archivistFileDescriptor) { [unowned self] in deck.hearArchivist() }
        loop.watch(deck.card.endedFileDescriptor) { [unowned self] in deck.hearCard() }
        loop.watch(checkUp.fileDescriptor) { [unowned self] in checkUp.hear() }
        if let server { loop.watch(server.fileDescriptor) { [unowned self] in server.serve(clock.now()) } }
        if let cardEvents {
            loop.watch(cardEvents.fileDescriptor) { [unowned self] in
                if cardEvents.drain() { deck.rescan() }
            }
        }
        panel.watch(on: loop, of: deck) { [unowned self] in quit() }
        loop.watch(signals.fileDescriptor) { [unowned self] in
            if signals.take() != nil { quit() }
        }
        loop.run { [unowned self] now in turn(now) }
        panel.goDark()
    }

    /// Ends what goes on in good order, then the loop; that it is asked for again changes nothing.
    private func quit() {
        guard !isQuitting else { return }
        isQuitting = true
        supervisor.ending()
        deck.finish { [unowned self] in loop.stop() }
    }

    private func turn(_ now: Instant) -> Instant? {
        for gesture in panel.gestures(at: now) {
            switch gesture {
            case .press(.record, _), .press(.play, _): checkUp.giveWay()
            case .press, .repeat, .shutdown: break
            }
            deck.handle(gesture)
        }
        var deadlines = [heedClock(now)]
        if let next = clockSetting.turn(now: now) { deadlines.append(next) }
        if let next = checkUp.turn(now: now) { deadlines.append(next) }
        if deck.isRecording || deck.isPlaying { handler.lampRound.stop() }
        if let next = handler.lampRound.turn(now: now) { deadlines.append(next) }
        panel.litAlone = handler.lampRound.lit
        if let next = publishLevels(now) { deadlines.append(next) }
        if let next = server?.turn(now) { deadlines.append(next) }
        if let next = panel.show(deck.indication, at: now) { deadlines.append(next) }
        if let next = panel.nextGesture { deadlines.append(next) }
        if let next = supervisor.turn(now, position: deck.capturePosition, summary: deck.summary) {
            deadlines.append(next)
        }
        return deadlines.min()
    }

    /// Tells the deck if the date was set, and lets it do what is due.
    @discardableResult
    private func heedClock(_ now: Instant) -> Instant {
        if kitClock.hasChanged() { deck.clockChanged() }
        return deck.turn(now: now)
    }

    private func publish() {
        guard let server, server.hasWatchers else { return }
        server.publish(deck.status)
    }

    private func publishLevels(_ now: Instant) -> Instant? {
        guard let server, server.hasWatchers else {
            nextLevels = nil
            return nil
        }
        guard let due = nextLevels, due > now else {
            server.publish(levels: deck.status)
            nextLevels = now + Self.levelInterval
            return nextLevels
        }
        return due
    }

    /// Asks the unit that may switch the machine off; it watches for this file.
    private func requestPowerOff() {
        let path = "/run/fieldfare/power-off"
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o640)
        if file >= 0 {
            close(file)
            log.write(Report(.notice, "power off: asked for through \(path)"))
        } else {
            let reason = unsafe String(cString: strerror(errno))
            log.write(Report(.error, "power off: \(path): cannot ask: \(reason)"))
        }
    }
}

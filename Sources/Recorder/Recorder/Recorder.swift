import Control
import Deck
import Doctor
import Filters
import Glibc
import History
import Listening
import Live
import Panel
import Ring
public import Settings
import Simulation
import SoundCard
import Takes
import Transport
import Workers

/// The recorder service: builds the parts, attaches them to one loop, and runs it until a signal ends it.
public final class Recorder {
    private let clock = SystemClock()
    private let isSimulated: Bool
    private let loop: Loop
    private let log: Log
    private let deck: Deck
    private let panel: any FrontPanel
    private var server: ControlServer?
    private var listening: ListenServer?
    /// The source that `listening` streams.
    private var liveSource: LiveSource?
    private let handler: RecorderHandler
    private let checkUp: CheckUp
    private let listings: Listings
    private let kitClock: KitClock
    private let clockSetting: ClockSetting
    private let flightRecorder: FlightRecorder?
    /// Nil if the settings have no recording hours.
    private let schedule: ScheduleKeeper?
    /// Nil if the settings name no battery input.
    private let battery: BatteryWatch?
    private let cardEvents = CardEvents()
    private let signals: Signals
    private var supervisor: Supervisor
    private var nextLevels: Instant?
    private var phase = Phase.running
    /// The cause that the history records for the end.
    private var endedBy = HistoryEvent.RecorderEnd.Cause.signal

    private enum Phase { case running, ending }

    /// How often levels are published while a client watches them.
    private static let levelInterval = Duration.milliseconds(100)

    /// Builds the recorder. A missing card, line or folder for takes is reported, and the recorder works without it.
    ///
    /// - Parameters:
    ///   - problems: the problems of the settings file, one message each.
    ///   - isSimulated: whether it runs on a simulated board.
    /// - Throws: if the machine grants no threads, or another recorder answers at the control socket.
    public init(settings: Settings, problems: [String], isSimulated: Bool = false, log: Log = Log()) throws {
        // Must precede the first thread, so that all threads leave the signals to this one. SIGHUP means that the
        // terminal is gone.
        signals = Signals([SIGTERM, SIGINT, SIGHUP])
        let board =
            isSimulated ? Board.simulated(settings, clock: clock, log: log) : .real(settings, clock: clock, log: log)
        let log = board.log
        self.log = log
        self.isSimulated = isSimulated
        supervisor = Supervisor(now: clock.now(), log: log)
        loop = Loop(clock: clock)
        var options = DeckOptions(settings: settings, version: fieldfareVersion)
        options.capture.card = board.captureCard
        options.playbackCard = board.playbackCard
        // A demonstration must not use up a kit's take numbers, and may run where nothing is kept.
        if !isSimulated {
            options.stateFolder = Machine.stateFolder
            options.reportsVolatileStorage = true
        }
        options.faults =
            problems.first.map { first in
                [Fault(.settings, problems.count == 1 ? first : "\(first) (and \(problems.count - 1) more)")]
            } ?? []
        for problem in problems { log.write(Report(.error, problem)) }
        if let warning = settings.kitNameWarning { log.write(Report(.warning, "settings: \(warning)")) }
        let kitClock = KitClock(clock: clock) { log.write($0) }
        self.kitClock = kitClock
        clockSetting = ClockSetting(clock: clock) { log.write($0) }
        deck = try Deck(
            options: options, card: board.card, sink: board.sink, clock: clock,
            originOfClock: { kitClock.origin(newestTake: $0) }, report: { log.write($0) })
        let (bootID, clock) = (options.bootID, clock)
        flightRecorder = try options.stateFolder.map { folder in
            try FlightRecorder(
                HistoryFolder(state: folder), sensors: Sensors(supply: SupplyVoltage(settings.power)),
                version: fieldfareVersion, bootID: bootID, clock: clock
            ) { log.write($0) }
        }
        battery = isSimulated ? nil : try BatteryWatch(settings.power, clock: clock) { log.write($0) }
        let schedule = ScheduleKeeper(settings.schedule, isSimulated: isSimulated, deck: deck, clock: clock) {
            log.write($0)
        }
        self.schedule = schedule
        // Orders card and storage to be opened. The workers do that while the rest is built here.
        _ = deck.turn(now: clock.now())
        let panel = board.panel()
        self.panel = panel
        var inForce = settings
        inForce.capture.card = board.captureCard
        listings = Listings(clock: clock)
        checkUp = CheckUp(
            deck: deck, settings: inForce, problems: problems, cards: listings.cards, clock: clock,
            newCard: board.newCard, openLines: { panel.openLines })
        handler = RecorderHandler(
            deck: deck, checkUp: checkUp, listings: listings, clockSetting: isSimulated ? nil : clockSetting,
            lamps: panel.lamps,
            log: log)
        handler.onRequest = { schedule?.use() }
        do {
            server = try ControlServer(path: settings.control.socket, handler: handler)
        } catch {
            guard error.cause != .taken(by: .recorder) else { throw error }
            log.write(Report(.error, "\(error): the recorder works without it, by its buttons alone"))
        }
        do {
            let control = settings.control.socket
            listening = try ListenServer(
                path: Self.socket("listen.sock", beside: control), framed: Self.socket("sound.sock", beside: control),
                clock: clock)
            if let failure = listening?.framedFailure {
                log.write(Report(.error, "\(failure): programs get no live sound"))
            }
        } catch {
            log.write(Report(.error, "\(error): live sound is not streamed"))
        }
        try panel.start()
    }

    private static func socket(_ name: String, beside control: String) -> String {
        (control.lastIndex(of: "/").map { control[...$0] } ?? "") + name
    }

    /// Runs until SIGTERM, SIGINT or SIGHUP. A take that is being recorded is ended cleanly first.
    public func run() {
        deck.deliverEvents { [unowned self] in take($0) }
        schedule?.onLeave = { [unowned self] in endedBy = .schedule }
        clockSetting.onSet = { [unowned self] in
            kitClock.wasSetByHand()
            checkClock(clock.now())
        }
        if let flightRecorder {
            loop.watch(flightRecorder.fileDescriptor) { flightRecorder.collect() }
        }
        if let battery {
            battery.onLow = { [unowned self] in
                endedBy = .battery
                deck.handle(.shutdown(at: clock.now(), because: .battery))
            }
            loop.watch(battery.fileDescriptor) { battery.collect() }
        }
        loop.watch(kitClock.fileDescriptor) { [kitClock] in kitClock.drain() }
        for descriptor in deck.fileDescriptors { loop.watch(descriptor) { [unowned self] in deck.receive() } }
        loop.watch(checkUp.fileDescriptor) { [unowned self] in checkUp.collect() }
        loop.watch(listings.cards.fileDescriptor) { [unowned self] in listings.cards.collect() }
        loop.watch(listings.lines.fileDescriptor) { [unowned self] in listings.lines.collect() }
        if let server { loop.watch(server.fileDescriptor) { [unowned self] in server.serve(clock.now()) } }
        if let cardEvents {
            loop.watch(cardEvents.fileDescriptor) { [unowned self] in
                if cardEvents.drain() { deck.rescan() }
            }
        }
        loop.watch(panel.fileDescriptor) { [unowned self] in panel.deliver(to: deck, at: clock.now()) }
        loop.watch(signals.fileDescriptor) { [unowned self] in
            if signals.take() != nil { quit() }
        }
        loop.run { [unowned self] now in turn(now) }
        panel.goDark()
        flightRecorder?.end(by: endedBy)
    }

    private func take(_ event: DeckEvent) {
        switch event {
        case .changed: publish()
        case .takeAhead: checkUp.stopForTake()
        case .takeChanged(let change): server?.publish(change)
        case .live(let take):
            // The take's ring must be announced first.
            handOverLiveSource()
            listening?.note(take)
        case .wish(let wish): server?.publish(wish)
        case .eject: request("eject", "eject")
        case .openAccess: request("access point", "access-point")
        case .powerOff:
            if endedBy == .signal { endedBy = .person }
            guard endedBy == .battery, let schedule else { return request("power off", "power-off") }
            schedule.prepareForEmptyBattery { [unowned self] in request("power off", "power-off") }
        case .happened(let event):
            flightRecorder?.note(event)
            schedule?.note(event)
        }
    }

    /// Ends the take that is recorded or played, then the loop. A second call does nothing.
    private func quit() {
        switch phase {
        case .running:
            phase = .ending
            supervisor.ending()
            deck.finish { [unowned self] in loop.stop() }
        case .ending: break
        }
    }

    private func turn(_ now: Instant) -> Instant? {
        deck.isExamined = checkUp.isUnderWay
        var deadlines = [checkClock(now)]
        handOverLiveSource()
        flightRecorder?.turn(now, freeBytes: deck.status.freeBytes)
        if let next = schedule?.turn(now, isWatched: server?.hasLevelWatchers ?? false) { deadlines.append(next) }
        if let next = clockSetting.turn(now: now) { deadlines.append(next) }
        if let next = listings.turn(now: now) { deadlines.append(next) }
        if let next = checkUp.turn(now: now) { deadlines.append(next) }
        if deck.isRecording || deck.isPlaying { handler.lampRound.stop() }
        if let next = handler.lampRound.turn(now: now) { deadlines.append(next) }
        panel.litAlone = handler.lampRound.lit
        if let next = publishLevels(now) { deadlines.append(next) }
        if let next = server?.turn(now) { deadlines.append(next) }
        if let next = panel.show(deck.indication, at: now, readout: { PanelReadout(deck.status) }) {
            deadlines.append(next)
        }
        let summary = server == nil ? "\(deck.summary), without its control socket" : deck.summary
        if let next = supervisor.turn(now, position: deck.capturePosition, summary: summary) {
            deadlines.append(next)
        }
        return deadlines.min()
    }

    /// Informs the deck if the date was set, and advances the deck.
    @discardableResult
    private func checkClock(_ now: Instant) -> Instant {
        if kitClock.hasChanged() {
            deck.clockChanged()
            flightRecorder?.note(deck.status.clock)
        }
        return deck.turn(now: now)
    }

    /// Makes the listen socket stream the sound that the card delivers now.
    private func handOverLiveSource() {
        let source = deck.liveSource
        guard let listening, source != liveSource else { return }
        liveSource = source
        listening.stream(source)
    }

    private func publish() {
        guard let server, server.hasWatchers else { return }
        server.publish(deck.status)
    }

    private func publishLevels(_ now: Instant) -> Instant? {
        guard let server, server.hasLevelWatchers else {
            nextLevels = nil
            listening?.draw(false)
            return nil
        }
        guard let due = nextLevels, due > now else {
            server.publish(levels: deck.status)
            publishPeaks(server)
            nextLevels = now + Self.levelInterval
            return nextLevels
        }
        return due
    }

    private func publishPeaks(_ server: ControlServer) {
        listening?.draw(server.hasPeakWatchers)
        guard let (format, first, data) = listening?.takePixels() else { return }
        server.publish(
            PeaksEvent(
                rateHz: format.rateHz, channels: format.channels, framesPerPixel: SignalPath.framesPerPixel,
                firstPixel: first, data: data))
    }

    /// Asks a privileged unit by creating the file that it watches. `/run` is in memory, so this does not block.
    private func request(_ what: String, _ name: String) {
        guard !isSimulated else { return log.write(Report(.notice, "\(what): not done on a simulated board")) }
        let path = "/run/fieldfare/\(name)"
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o640)
        if file >= 0 {
            close(file)
            log.write(Report(.notice, "\(what): requested through \(path)"))
        } else {
            let reason = unsafe String(cString: strerror(errno))
            log.write(Report(.error, "\(what): \(path): cannot request it: \(reason)"))
        }
    }
}

import Control
import Deck
import Doctor
import Glibc
import History
import Kit
import Listening
import Ring
public import Settings
import Takes
import Transport
import Workers

/// The recorder service: builds the parts, joins them to one loop, and runs it until a signal ends it.
public final class Recorder {
    private let isSimulated: Bool
    private let log: Log
    private let loop: Loop
    private let parts: [any LoopPart]
    private let panel: any FrontPanel
    private let socket: ControlSocket?
    private let liveSound: LiveSound?
    private let checkUp: CheckUp
    private let flightRecorder: FlightRecorder?
    /// Nil if the settings have no recording hours.
    private let schedule: ScheduleKeeper?
    /// The cause that the history records for the end.
    private var endedBy = HistoryEvent.RecorderEnd.Cause.signal

    /// Builds the recorder. A missing card, line or folder for takes is reported, and the recorder works without it.
    ///
    /// - Parameters:
    ///   - problems: the problems of the settings file, one message each.
    ///   - isSimulated: whether it runs on a simulated board.
    /// - Throws: if the machine grants no threads, or another recorder answers at the control socket.
    public init(settings: Settings, problems: [String], isSimulated: Bool = false, log: Log = Log()) throws {
        // Must precede the first thread, so that all threads leave the signals to this one. SIGHUP means that the
        // terminal is gone.
        let signals = Signals([SIGTERM, SIGINT, SIGHUP])
        let clock = SystemClock()
        let board =
            isSimulated ? Board.simulated(settings, clock: clock, log: log) : .real(settings, clock: clock, log: log)
        let log = board.log
        let supervisor = Supervisor(now: clock.now(), log: log)
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
        let deck = try Deck(
            options: options, card: board.card, sink: board.sink, clock: clock,
            originOfClock: { kitClock.origin(newestTake: $0) }, report: { log.write($0) })
        let bootID = options.bootID
        let flightRecorder = try options.stateFolder.map { folder in
            try FlightRecorder(
                HistoryFolder(state: folder), sensors: Sensors(supply: SupplyVoltage(settings.power)),
                version: fieldfareVersion, bootID: bootID, clock: clock, freeBytes: { deck.status.freeBytes }
            ) { log.write($0) }
        }
        let battery = isSimulated ? nil : try BatteryWatch(settings.power, clock: clock) { log.write($0) }
        let schedule = ScheduleKeeper(settings.schedule, isSimulated: isSimulated, deck: deck, clock: clock) {
            log.write($0)
        }
        // Orders card and storage to be opened. The workers do that while the rest is built here.
        _ = deck.turn(now: clock.now())
        let panel = board.panel()
        var inForce = settings
        inForce.capture.card = board.captureCard
        let dateChanges = DateChanges(kitClock, deck, flightRecorder)
        let clockSetting = ClockSetting(clock: clock) { log.write($0) }
        clockSetting.onSet = { dateChanges.wasSetByHand(now: clock.now()) }
        let listings = Listings(clock: clock)
        let checkUp = CheckUp(
            deck: deck, settings: inForce, problems: problems, cards: listings.cards, clock: clock,
            newCard: board.newCard, openLines: { panel.openLines })
        let handler = RecorderHandler(
            deck: deck, checkUp: checkUp, listings: listings, clockSetting: isSimulated ? nil : clockSetting,
            lamps: panel.lamps, log: log)
        handler.onRequest = { schedule?.use() }
        let server = try Self.server(at: settings.control.socket, handler, log)
        let listening = Self.listening(beside: settings.control.socket, clock, log)
        let loop = Loop(clock: clock)
        let liveSound = listening.map { LiveSound($0, deck) }
        let socket = server.map { ControlSocket($0, deck, listening, schedule) }
        // In the order of their turns.
        let parts: [(any LoopPart)?] = [
            dateChanges, deck, liveSound, flightRecorder, battery, schedule, clockSetting, listings.cards,
            listings.lines, checkUp, CardArrivals(deck), PanelPart(panel, deck, handler), socket,
            ServiceLife(
                signals, supervisor, loop, deck, note: socket == nil ? ", without its control socket" : ""),
        ]
        self.parts = parts.compactMap(\.self)
        (self.isSimulated, self.log, self.loop, self.panel) = (isSimulated, log, loop, panel)
        (self.socket, self.liveSound, self.checkUp) = (socket, liveSound, checkUp)
        (self.flightRecorder, self.schedule) = (flightRecorder, schedule)
        schedule?.onLeave = { [unowned self] in endedBy = .schedule }
        battery?.onLow = { [unowned self] in
            endedBy = .battery
            deck.handle(.shutdown(at: clock.now(), because: .battery))
        }
        deck.deliverEvents { [unowned self] in take($0) }
        try panel.start()
    }

    /// The control socket, or nil if it cannot be made.
    private static func server(at path: String, _ handler: RecorderHandler, _ log: Log) throws -> ControlServer? {
        do {
            return try ControlServer(path: path, handler: handler)
        } catch {
            guard error.cause != .taken(by: .recorder) else { throw error }
            log.write(Report(.error, "\(error): the recorder works without it, by its buttons alone"))
            return nil
        }
    }

    /// The sockets for live sound in the folder of the control socket, or nil if they cannot be made.
    private static func listening(beside control: String, _ clock: any Clock, _ log: Log) -> ListenServer? {
        let folder = control.lastIndex(of: "/").map { control[...$0] } ?? ""
        do {
            let server = try ListenServer(path: folder + "listen.sock", framed: folder + "sound.sock", clock: clock)
            if let failure = server.framedFailure {
                log.write(Report(.error, "\(failure): programs get no live sound"))
            }
            return server
        } catch {
            log.write(Report(.error, "\(error): live sound is not streamed"))
            return nil
        }
    }

    /// Runs until SIGTERM, SIGINT or SIGHUP. A take that is being recorded is ended cleanly first.
    public func run() {
        loop.run(parts)
        panel.goDark()
        flightRecorder?.end(by: endedBy)
    }

    private func take(_ event: DeckEvent) {
        switch event {
        case .changed: socket?.publishStatus()
        case .takeAhead: checkUp.stopForTake()
        case .takeChanged(let change): socket?.publish(change)
        case .live(let take): liveSound?.note(take)
        case .wish(let wish): socket?.publish(wish)
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

    /// Asks a privileged unit by creating the file that it watches. `/run` is in memory, so this does not block.
    private func request(_ what: String, _ name: String) {
        guard !isSimulated else { return log.write(Report(.notice, "\(what): not done on a simulated board")) }
        let path = "/run/fieldfare/\(name)"
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o640)
        if file >= 0 {
            close(file)
            log.write(Report(.notice, "\(what): requested through \(path)"))
        } else {
            log.write(Report(.error, "\(what): \(path): cannot request it: \(SystemError(errno))"))
        }
    }
}

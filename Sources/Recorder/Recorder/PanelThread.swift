import Deck
import Doctor
import Lines
import Panel
import Settings
import Simulation
import Takes
import Transport
import Workers

/// Buttons and lamps on their own thread: they work while the core is busy. When the core does not answer, the lamps
/// show that instead of the last posted indication.
final class PanelThread: FrontPanel {
    let lamps: [Lamp]
    private let link: Link
    private let clock: any Clock
    private var posted: Indication?
    private var life: Life

    private enum Life {
        case opened(Body)
        case running(Thread)
        case ended
    }

    private final class Link: Sendable {
        let toCore = Mailbox<ToCore>()
        let toPanel = Mailbox<ToPanel>()
        let ended = Mailbox<Void>()
        let heartbeat: Heartbeat
        /// As of the thread's last turn.
        let openLines = Locked<OpenLines?>(nil)

        init(start: Instant) {
            heartbeat = Heartbeat(start: start)
        }
    }

    private enum ToCore: Sendable {
        case event(TransportEvent)
        /// The panel's lines have exactly these faults from now on. `closed`: the buttons whose contacts do not open.
        case faults([Fault], closed: Set<Button>)
        /// The core has not beaten for a while and must answer.
        case ask
    }

    private enum ToPanel: Sendable {
        case show(Indication)
        case lightAlone(Lamp?)
        /// The core was asked, and has beaten.
        case answer
        case end
    }

    /// Opens the lines that the settings name. A line that cannot be opened is reported, and the panel works without
    /// it.
    init(settings: Settings.Panel, clock: any Clock, log: Log, ledDirectory: String = "/sys/class/leds") {
        let body = Body(settings: settings, clock: clock, log: log, ledDirectory: ledDirectory)
        lamps = body.lamps
        link = body.link
        life = .opened(body)
        self.clock = clock
    }

    deinit {
        goDark()
    }

    func start() throws(ThreadError) {
        guard case .opened(let body) = life else { return }
        link.heartbeat.beat(at: clock.now())
        life = .running(try Thread(name: "panel") { body.run() })
    }

    var fileDescriptor: Int32 { link.toCore.fileDescriptor }

    func deliver(to deck: Deck, at now: Instant) {
        for message in link.toCore.take() {
            switch message {
            case .event(let event): deck.handle(event)
            case .faults(let faults, let closed): deck.panel(has: faults, closed: closed)
            case .ask:
                link.heartbeat.beat(at: now)
                link.toPanel.post(.answer)
            }
        }
    }

    func show(_ indication: Indication, at now: Instant, readout: () -> PanelReadout) -> Instant? {
        link.heartbeat.beat(at: now)
        if indication != posted {
            posted = indication
            link.toPanel.post(.show(indication))
        }
        return nil
    }

    var litAlone: Lamp? {
        didSet {
            if litAlone != oldValue { link.toPanel.post(.lightAlone(litAlone)) }
        }
    }

    var openLines: OpenLines? { link.openLines.withLock { $0 } }

    func goDark() {
        guard case .running(let thread) = life else { return }
        life = .ended
        link.toPanel.post(.end)
        // A lamp's driver may not return. The thread then ends with the process.
        link.ended.wait(nanoseconds: 1_000_000_000)
        if !link.ended.take().isEmpty { thread.join() }
    }
}

extension PanelThread {
    /// The thread's side: turns edges into transport events, and an indication into lit lamps. Once the thread is
    /// started, only the thread uses it.
    private final class Body: @unchecked Sendable {
        let lamps: [Lamp]
        let link: Link
        private let clock: any Clock
        private let log: Log
        private let loop: Loop
        /// One per button, in the order of `Button.allCases`.
        private var buttonLines: ButtonLines
        /// The address of each button's line.
        private let addresses: [String]
        private var lampLines: LampLines
        private var lines: LineWatch
        private var input: PanelInput
        private var display: Display
        private var watch: CoreWatch
        private var indication = Indication()
        private var shown: Indication?
        private var alone: Lamp?
        private var muted: [Button] = []
        private var closed: Set<Button> = []

        init(settings: Settings.Panel, clock: any Clock, log: Log, ledDirectory: String) {
            self.clock = clock
            self.log = log
            var errors: [LineError] = []
            let inputs = Button.allCases.map { InputLine(settings.buttons[$0]) }
            addresses = inputs.map { $0.map { "\($0.address)" } ?? "" }
            buttonLines = ButtonLines(opening: inputs, errors: &errors)
            let outputs = LampLines.wired(by: settings.leds)
            lamps = outputs.map(\.lamp)
            lampLines = LampLines(opening: outputs.map(\.output), errors: &errors, ledDirectory: ledDirectory)
            lines = LineWatch(isWired: !lamps.isEmpty || inputs.contains { $0 != nil })
            display = Display(lamps: Set(lamps))
            var down: Set<Button> = []
            for (index, button) in Button.allCases.enumerated() where buttonLines.isActive(index) ?? false {
                down.insert(button)
            }
            input = PanelInput(
                timing: PanelTiming(
                    debounce: settings.debounce, hold: settings.hold, ejectHold: .milliseconds(1500),
                    shutdownHold: settings.shutdownHold, lockHold: settings.lock ? .seconds(2) : nil), down: down)
            loop = Loop(clock: clock)
            let now = clock.now()
            watch = CoreWatch(start: now)
            link = Link(start: now)
            log.write(lines.news(errors))
            for button in Button.allCases where down.contains(button) { reportHeldDown(button) }
            postOpenLines()
        }

        func run() {
            // Edges are read in each turn.
            loop.watch(buttonLines.fileDescriptor) {}
            loop.watch(link.toPanel.fileDescriptor) { [unowned self] in receive() }
            loop.watch(link.heartbeat.fileDescriptor) { [link] in link.heartbeat.drain() }
            loop.run { [unowned self] now in turn(now) }
            light([])
            link.ended.post(())
        }

        private func receive() {
            for message in link.toPanel.take() {
                switch message {
                case .show(let posted): indication = posted
                case .lightAlone(let lamp): alone = lamp
                case .answer: break
                case .end: loop.stop()
                }
            }
        }

        private func turn(_ now: Instant) -> Instant? {
            if lines.awake(at: now, decision: input.nextDeadline) == .check { checkLines() }
            if buttonLines.fileDescriptor >= 0 { readButtons(now) }
            if lines.missing(missing, at: now) == .open { openMissing() }
            postFaults(now)
            watchCore(now)
            let change = showLamps(now)
            postOpenLines()
            return [input.nextDeadline, change, watchDeadline, lines.deadline].compactMap(\.self).min()
        }

        // MARK: Lines and lamps that come and go

        private var missing: [LineWatch.Line] {
            buttonLines.missing.map { .button(Button.allCases[$0]) } + lampLines.missing.map { .lamp(lamps[$0]) }
        }

        private func checkLines() {
            lose(buttonLines.check())
            log.write(lampLines.check())
        }

        /// Gestures in progress on a line that went away are cancelled.
        private func lose(_ errors: [LineError]) {
            log.write(errors)
            for index in errors.flatMap(\.indices) { input.reset(Button.allCases[index], isDown: false) }
        }

        private func openMissing() {
            let errors = buttonLines.openMissing() + lampLines.openMissing()
            let outcome = lines.tried(missing: missing, errors)
            log.write(outcome.news)
            guard !outcome.opened.isEmpty else { return }
            let names = outcome.opened.map { "\($0)" }.joined(separator: ", ")
            log.write(Report(.notice, "panel: open again: \(names)"))
            for case .button(let button) in outcome.opened {
                let isDown = buttonLines.isActive(button.index) ?? false
                input.reset(button, isDown: isDown)
                if isDown { reportHeldDown(button) }
            }
        }

        private func reportHeldDown(_ button: Button) {
            log.write(
                Report(
                    .warning,
                    "buttons: \(button.rawValue): held down when its line was opened: ignored until it is released"))
        }

        // MARK: Buttons

        private func readButtons(_ now: Instant) {
            let (edges, errors) = buttonLines.readEdges()
            for edge in edges {
                let button = Button.allCases[edge.index]
                guard input.edge(button, isDown: edge.isActive, at: edge.at) else { continue }
                buttonLines.mute(edge.index)
                log.write(Report(.error, stormFault(button).message))
            }
            lose(errors)
            for button in input.checks(by: now) { checkMuted(button, at: now) }
            for event in input.advance(to: now, reading: { [self] in buttonLines.isActive($0.index) }) {
                link.toCore.post(.event(event))
            }
        }

        /// Posts the faults of the buttons' lines when they change.
        private func postFaults(_ now: Instant) {
            let (muted, closed) = (input.muted, input.closed(at: now))
            guard muted != self.muted || closed != self.closed else { return }
            (self.muted, self.closed) = (muted, closed)
            let ofClosed = Button.allCases.filter(closed.contains).map { closedFault($0) }
            link.toCore.post(.faults(ofClosed + muted.map { stormFault($0) }, closed: closed))
        }

        private func closedFault(_ button: Button) -> Fault {
            Fault(
                .settings,
                "buttons: \(button.rawValue): line \(addresses[button.index]) is closed and does not open: no press is seen until "
                    + "it does: release it, check its wire, active_low and pull")
        }

        private func checkMuted(_ button: Button, at now: Instant) {
            let hasMoved = buttonLines.discardEdges(button.index)
            let listens = input.check(
                button, hasMoved: hasMoved, isDown: { [self] in buttonLines.isActive(button.index) ?? false }, at: now)
            guard listens else { return }
            if let error = buttonLines.listen(button.index) { log.write([error]) }
            log.write(Report(.notice, "buttons: \(button.rawValue): the line is at rest again"))
        }

        private func stormFault(_ button: Button) -> Fault {
            Fault(
                .settings,
                "buttons: \(button.rawValue): line \(addresses[button.index]) gave \(Debouncer.stormEdges) edges within a "
                    + "second: it is ignored until it is at rest for \(Int(Debouncer.rest.inSeconds)) s: check its wire and "
                    + "its pull")
        }

        // MARK: Lamps

        /// - Returns: when the pattern changes next.
        private func showLamps(_ now: Instant) -> Instant? {
            let wanted = watch.isSilent ? indication.ofSilentCore : indication
            if wanted != shown {
                shown = wanted
                display.show(wanted, at: now)
            }
            if let alone, !watch.isSilent { light([alone]) } else { light(display.lit(at: now)) }
            return display.nextChange(after: now)
        }

        private func light(_ wanted: Set<Lamp>) {
            for (index, lamp) in lamps.enumerated() {
                if let error = lampLines.set(index, wanted.contains(lamp)) { log.write([error]) }
            }
        }

        // MARK: The core

        /// Publishes the state of the open lines for a check-up.
        private func postOpenLines() {
            let open = OpenLines(
                buttons: Button.allCases.map { buttonLines.isOpen($0.index) ? input.isDown($0) : nil },
                lamps: Set(lamps.indices.filter { lampLines.works($0) }.map { lamps[$0] }))
            link.openLines.withLock { $0 = open }
        }

        /// Until the core is asked, the heartbeat's timer wakes this thread, and only when a beat is late.
        private var watchDeadline: Instant? {
            link.heartbeat.fileDescriptor >= 0 && watch.isAnswering ? nil : watch.deadline
        }

        private func watchCore(_ now: Instant) {
            switch watch.turn(lastBeat: link.heartbeat.last, at: now) {
            case .ask: link.toCore.post(.ask)
            case .silent:
                let fault = indication.ofSilentCore.faults.map { "\($0.rawValue)" }.joined()
                log.write(
                    Report(
                        .error,
                        "panel: the recorder has not answered for 3 s: the fault lamp shows \(fault) until it does"))
            case .answered: log.write(Report(.notice, "panel: the recorder answers again"))
            case nil: break
            }
        }
    }
}

extension Button {
    /// The index of its line among those of all buttons.
    fileprivate var index: Int { Button.allCases.firstIndex(of: self) ?? 0 }
}

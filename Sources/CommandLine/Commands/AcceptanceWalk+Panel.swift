import Control
import Doctor
import Files
import Lines
import Panel
import Settings
import Takes
import Transport

extension AcceptanceWalk {
    // MARK: Buttons

    /// Asks for a press of each wired button.
    func askForButtons() throws {
        let wired = Button.allCases.filter { settings.panel.buttons[$0] != nil }
        guard !wired.isEmpty else {
            return try note(AcceptanceCheck(.buttons, "all", .skipped, "the settings wire none"))
        }
        let source: any PressSource
        if client == nil {
            source = session.access.acceptance.openButtons(settings)
        } else {
            do throws(FileError) {
                source = try HistoryPresses(session.access.history, at: session.clock.now())
            } catch {
                let reason =
                    "the recorder holds the lines, and where it notes presses cannot be read (\(error.fact)): run this as root, or "
                    + "stop the recorder first ('systemctl stop fieldfare-recorder')"
                for button in wired { try note(ButtonTrial.skipped(reason).check(button, line: line(of: button))) }
                return
            }
            say("buttons: the recorder carries out each press: a short take is recorded and played")
        }
        do {
            try askForPresses(of: wired, from: source)
        } catch {
            // If the person gives up, end the take. Otherwise it would be recorded until the storage is full.
            try? endTake()
            throw error
        }
        try endTake()
    }

    private func askForPresses(of wired: [Button], from source: any PressSource) throws {
        var last: Button?
        for button in wired {
            let trial = try ask(for: button, from: source, after: last)
            switch trial {
            case .seen: last = button
            case .other(let other): last = other
            case .unseen, .heldDown, .failed, .skipped: break
            }
            try note(trial.check(button, line: line(of: button)))
        }
    }

    /// - Parameter last: the previous button, which may be reported again while it is still held.
    private func ask(
        for button: Button, from source: any PressSource, after last: Button?
    ) throws(Keyboard.Interruption) -> ButtonTrial {
        if let problem = source.problem(of: button) { return .failed(problem) }
        if source.heldDown.contains(button) { return .heldDown }
        let clock = session.clock
        _ = source.presses()
        try keyboard.forget()
        say("press \(button.rawValue) (\(line(of: button))); Enter: skip")
        let began = clock.now()
        let limit = began + ButtonTrial.patience
        while true {
            for pressed in source.presses() where pressed == button || pressed != last {
                return pressed == button ? .seen(after: clock.now() - began) : .other(pressed)
            }
            let now = clock.now()
            guard now < limit else { return .unseen }
            let interval = Duration.milliseconds(source.fileDescriptor < 0 ? 50 : 200)
            switch keyboard.wait(until: min(limit, now + interval), or: source.fileDescriptor) {
            case .line: return .skipped(Self.skipped)
            case .interrupted: throw Keyboard.Interruption()
            case nil: continue
            }
        }
    }

    /// Ends the take that the presses started in the recorder.
    private func endTake() throws(Failure) {
        guard let client else { return }
        do throws(ControlError) {
            let limit = session.clock.now() + .seconds(10)
            while session.clock.now() < limit {
                switch try client.askForStatus(.status).0.state {
                case .idle, .fault: return
                case .recording, .playing, .paused: _ = try client.ask(.command(.stop), timeout: .seconds(30))
                }
            }
        } catch {
            // The take may have ended by itself meanwhile.
            guard case .refused = error.cause else { throw Failure(error) }
        }
    }

    /// A button's line with its chip, such as `BTN_PLAY (line 25 of gpiochip0)`.
    private func line(of button: Button) -> String {
        switch InputLine(settings.panel.buttons[button])?.address {
        case .name(let name)?:
            let found = session.access.acceptance.lines().first { $0.name == name }
            return found.map { "\(name), line \($0.offset) of \($0.chip)" } ?? "\(name), on no chip"
        case .offset(let chip, let offset)?: return "line \(offset) of \(chip)"
        case nil: return "no line"
        }
    }

    // MARK: Lamps

    /// Lights each wired lamp and asks whether the person sees it.
    func askForLamps() throws {
        let wired = Lamp.allCases.filter { settings.panel.leds[$0] != nil }
        guard !wired.isEmpty else {
            return try note(AcceptanceCheck(.lamps, "all", .skipped, "the settings wire none"))
        }
        try keyboard.forget()
        guard let client else { return try askForOwnLamps() }
        for lamp in wired { try note(try ask(for: lamp, of: client)) }
    }

    private func askForOwnLamps() throws {
        var interruption: Keyboard.Interruption?
        try session.access.lightLamps(session.options.settings) { lamp, failure throws(Failure) in
            guard interruption == nil else { return }
            if let failure { return try note(check(lamp, .failed, failure)) }
            say(question(lamp))
            let answer: Keyboard.Answer
            do throws(Keyboard.Interruption) {
                answer = try keyboard.answer(say: say) ?? .unanswered
            } catch {
                interruption = error
                return
            }
            try note(check(lamp, answer))
        }
        if let interruption { throw interruption }
    }

    private func ask(for lamp: Lamp, of client: ControlClient) throws(Keyboard.Interruption) -> AcceptanceCheck {
        var isAsked = false
        while true {
            do throws(ControlError) {
                _ = try client.ask(.light(lamp: lamp.rawValue))
            } catch {
                return check(lamp, .failed, "\(error)")
            }
            if !isAsked { say(question(lamp)) }
            isAsked = true
            // The recorder lights a lamp for 0.7 s, so the request is repeated until there is an answer.
            if let answer = try keyboard.answer(until: session.clock.now() + .milliseconds(650), say: say) {
                return check(lamp, answer)
            }
        }
    }

    private func name(_ lamp: Lamp) -> String { lamp == .all ? "the lamp for all" : "the \(lamp.rawValue) lamp" }

    private func question(_ lamp: Lamp) -> String {
        "\(name(lamp)) is lit, and no other: do you see it? (Enter: yes, n: no, s: skip)"
    }

    private func check(_ lamp: Lamp, _ answer: Keyboard.Answer) -> AcceptanceCheck {
        switch answer {
        case .yes: check(lamp, .ok, "was seen")
        case .no:
            check(
                lamp, .failed,
                "\(address(lamp)): was lit and not seen: check its wire, which way round it is, its resistor, and line and "
                    + "active_low in the settings")
        case .skipped: check(lamp, .skipped, Self.skipped)
        case .unanswered: check(lamp, .skipped, Self.unanswered)
        }
    }

    private func check(_ lamp: Lamp, _ outcome: AcceptanceCheck.Outcome, _ message: String) -> AcceptanceCheck {
        AcceptanceCheck(.lamps, lamp.rawValue, outcome, message)
    }

    private func address(_ lamp: Lamp) -> String {
        switch LampOutput(settings.panel.leds[lamp]) {
        case .line(let line)?: line.address.description
        case .led(let name)?: name
        case nil: "no line"
        }
    }
}

import Glibc
import Lines

/// Whether the buttons' lines are free and at rest, and the lamps' lines can be had.
struct PanelCheck {
    var look: PanelLook

    var findings: [Finding] {
        buttons + lamps
            + look.freeAgain.map { line in
                .failure(
                    line.hasPrefix("the lamp") ? .lamps : .buttons,
                    "\(line) is free now, and was not when the recorder started: restart the recorder")
            }
    }

    private var buttons: [Finding] {
        var found = look.buttonErrors.map { failure(.buttons, $0) }
        for button in look.buttons where button.isDown {
            found.append(
                .failure(
                    .buttons,
                    "\(button.name) (\(button.line)) is held down, or its line is shorted or wired the other way round: "
                        + "release it, check its wire, active_low and pull"))
        }
        let isFree = !look.freeAgain.contains { $0.hasPrefix("the button") }
        guard found.isEmpty, isFree else { return found }
        guard !look.buttons.isEmpty else { return [.ok(.buttons, "the settings wire none")] }
        let list = look.buttons.map { "\($0.name) (\($0.line))" }.joined(separator: ", ")
        return [.ok(.buttons, "\(list): all at rest", ["buttons": .count(look.buttons.count)])]
    }

    private var lamps: [Finding] {
        let found = look.lampErrors.map { failure(.lamps, $0) }
        let isFree = !look.freeAgain.contains { $0.hasPrefix("the lamp") }
        guard found.isEmpty, isFree else { return found }
        guard !look.lamps.isEmpty else { return [.ok(.lamps, "the settings wire none")] }
        let list = look.lamps.map { "\($0.name) (\($0.line))" }.joined(separator: ", ")
        return [
            .ok(
                .lamps, "\(list): can be driven; 'fieldfare doctor --leds' lights each",
                ["lamps": .count(look.lamps.count)])
        ]
    }

    private func failure(_ subject: Finding.Subject, _ error: LineError) -> Finding {
        let sentence = error.description.trimmingPrefix("\(error.purpose.rawValue): ")
        if case .busy = error.problem {
            return .failure(subject, "\(sentence): end that program, or name another line", exitStatus: Verdict.busy)
        }
        return .failure(subject, String(sentence), exitStatus: error.isDenied ? Verdict.denied : 74)
    }
}

extension LineError {
    /// Whether a right is what lacks.
    fileprivate var isDenied: Bool {
        switch problem {
        case .chip(_, let code), .refused(_, _, let code), .led(_, let code): code == EACCES || code == EPERM
        default: false
        }
    }
}

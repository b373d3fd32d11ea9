import Glibc
import Lines

/// Checks whether the buttons' lines are free and at rest, and whether the lamps' lines can be driven.
struct PanelCheck {
    var probe: PanelProbe

    var findings: [Finding] {
        buttons + lamps
            + probe.freeAgain.map { line in
                .failure(
                    line.hasPrefix("the lamp") ? .lamps : .buttons,
                    "\(line) is free now, and the recorder has not opened it yet: it does within 5 s")
            }
    }

    private var buttons: [Finding] {
        var found = probe.buttonErrors.map { failure(.buttons, $0) }
        for button in probe.buttons where button.isDown {
            found.append(
                .failure(
                    .buttons,
                    "\(button.name) (\(button.line)) is held down, or its line is shorted or wired the other way round: "
                        + "release it, check its wire, active_low and pull"))
        }
        let isFree = !probe.freeAgain.contains { $0.hasPrefix("the button") }
        guard found.isEmpty, isFree else { return found }
        guard !probe.buttons.isEmpty else { return [.ok(.buttons, "the settings wire none")] }
        let list = probe.buttons.map { "\($0.name) (\($0.line))" }.joined(separator: ", ")
        return [.ok(.buttons, "\(list): all at rest", ["buttons": .count(probe.buttons.count)])]
    }

    private var lamps: [Finding] {
        let found = probe.lampErrors.map { failure(.lamps, $0) }
        let isFree = !probe.freeAgain.contains { $0.hasPrefix("the lamp") }
        guard found.isEmpty, isFree else { return found }
        guard !probe.lamps.isEmpty else { return [.ok(.lamps, "the settings wire none")] }
        let list = probe.lamps.map { "\($0.name) (\($0.line))" }.joined(separator: ", ")
        return [
            .ok(
                .lamps, "\(list): can be driven; 'fieldfare doctor --leds' lights each",
                ["lamps": .count(probe.lamps.count)])
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
    /// Whether the error is a missing right.
    fileprivate var isDenied: Bool {
        switch problem {
        case .chip(_, let code), .refused(_, _, let code), .led(_, let code): code == EACCES || code == EPERM
        default: false
        }
    }
}

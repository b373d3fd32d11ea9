import Files
import Glibc
import Lines
package import Panel
import Settings
import Transport

/// The lines that a running recorder holds. No other process can open them.
package struct OpenLines: Sendable {
    /// Whether each button is down, in the order of `Button.allCases`, or nil if its line is not open.
    package var buttons: [Bool?]
    package var lamps: Set<Lamp>

    package init(buttons: [Bool?], lamps: Set<Lamp>) {
        self.buttons = buttons
        self.lamps = lamps
    }
}

struct PanelProbe {
    /// A button whose line can be read.
    struct ButtonLevel: Equatable {
        var name: String
        var line: String
        var isDown: Bool
    }

    /// A lamp whose line or device can be used.
    struct WorkingLamp: Equatable {
        var name: String
        var line: String
    }

    var buttons: [ButtonLevel] = []
    var lamps: [WorkingLamp] = []
    var buttonErrors: [LineError] = []
    var lampErrors: [LineError] = []
    /// Lines that the recorder could not open when it started, and that can be opened now.
    var freeAgain: [String] = []
}

extension PanelProbe {
    /// Examines the panel that the settings describe.
    /// - Parameter open: the lines that the recorder holds. If it is nil, no recorder runs, and the lines are opened
    ///   here for a moment.
    init(_ settings: Settings.Panel, open: OpenLines?, ledDirectory: String = "/sys/class/leds") {
        probeButtons(settings.buttons, open)
        probeLamps(settings.leds, open, ledDirectory)
    }

    private mutating func probeButtons(_ settings: Settings.Buttons, _ open: OpenLines?) {
        let all = Button.allCases
        let levels = open?.buttons ?? all.map { _ in nil }
        let wanted = all.indices.map { levels[$0] == nil ? InputLine(settings[all[$0]]) : nil }
        let lines = ButtonLines(opening: wanted, errors: &buttonErrors)
        for (index, button) in all.enumerated() {
            guard let line = InputLine(settings[button])?.address.description else { continue }
            if let isDown = levels[index] {
                buttons.append(ButtonLevel(name: button.rawValue, line: line, isDown: isDown))
            } else if let isDown = lines.isActive(index) {
                buttons.append(ButtonLevel(name: button.rawValue, line: line, isDown: isDown))
                if open != nil { freeAgain.append("the button \(button.rawValue) (\(line))") }
            }
        }
    }

    private mutating func probeLamps(_ settings: Settings.LEDs, _ open: OpenLines?, _ ledDirectory: String) {
        let all = Lamp.allCases
        let outputs = all.map { LampOutput(settings[$0]) }
        let held = all.map { open?.lamps.contains($0) ?? false }
        // LED devices are not opened, because opening would switch the LED off or stop its pattern.
        let wanted = all.indices.map { index -> LampOutput? in
            guard !held[index], case .line? = outputs[index] else { return nil }
            return outputs[index]
        }
        var failed: [LineError] = []
        let lines = LampLines(opening: wanted, errors: &failed)
        for (index, lamp) in all.enumerated() {
            let name = lamp == .all ? "for all" : lamp.rawValue
            switch outputs[index] {
            case .line(let line)?:
                guard held[index] || lines.works(index) else { continue }
                lamps.append(WorkingLamp(name: name, line: line.address.description))
                if !held[index], open != nil { freeAgain.append("the lamp \(name) (\(line.address))") }
            case .led(let device)?:
                if let problem = Self.problem(of: device, in: ledDirectory) {
                    failed.append(LineError(.lamps, device, index: index, problem))
                } else {
                    lamps.append(WorkingLamp(name: name, line: device))
                    if !held[index], open != nil { freeAgain.append("the lamp \(name) (\(device))") }
                }
            case nil: continue
            }
        }
        lampErrors = failed
    }

    private static func problem(of device: String, in directory: String) -> LineError.Problem? {
        let names = SystemFile.names(in: directory)
        guard names.contains(device) else { return .noSuchLED(directory: directory, among: names) }
        let path = "\(directory)/\(device)/brightness"
        guard unsafe faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 else { return .led(path: path, code: errno) }
        return nil
    }
}

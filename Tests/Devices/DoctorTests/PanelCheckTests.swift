import Glibc
import Lines
import Panel
import Settings
import TestBench
import Testing

@testable import Doctor

@Suite struct PanelCheckTests {
    private let rest = PanelProbe.ButtonLevel(name: "record", line: "GPIO17", isDown: false)
    private let down = PanelProbe.ButtonLevel(name: "stop", line: "GPIO27", isDown: true)
    private let lamp = PanelProbe.WorkingLamp(name: "record", line: "GPIO5")

    private func probe(
        _ buttons: [PanelProbe.ButtonLevel], lamps: [PanelProbe.WorkingLamp] = [], buttonErrors: [LineError] = [],
        lampErrors: [LineError] = [], freeAgain: [String] = []
    ) -> PanelProbe {
        var probe = PanelProbe(
            Settings.Panel(buttons: .none, leds: .none),
            open: OpenLines(buttons: Array(repeating: nil, count: 5), lamps: []))
        probe.buttons = buttons
        probe.lamps = lamps
        probe.buttonErrors = buttonErrors
        probe.lampErrors = lampErrors
        probe.freeAgain = freeAgain
        return probe
    }

    @Test func `buttons at rest and lamps that can be driven are well`() {
        let findings = PanelCheck(probe: probe([rest], lamps: [lamp])).findings
        #expect(findings.map(\.severity) == [.ok, .ok])
        #expect(findings[0].message == "record (GPIO17): all at rest")
    }

    @Test func `a panel without lines is well`() {
        #expect(
            PanelCheck(probe: probe([])).findings.map(\.message) == [
                "the settings wire none", "the settings wire none",
            ])
    }

    @Test func `a button that is down is named, the others are not`() {
        let findings = PanelCheck(probe: probe([rest, down], lamps: [lamp])).findings
        #expect(findings.map(\.severity) == [.failure, .ok])
        #expect(findings[0].message.hasPrefix("stop (GPIO27) is held down"))
        #expect(!findings[0].message.contains("record"))
    }

    @Test func `a held line is busy, a missing one is not, a forbidden one is a right`() {
        func statuses(_ problem: LineError.Problem) -> [Int32] {
            PanelCheck(
                probe: probe([rest], lamps: [lamp], buttonErrors: [LineError(.buttons, "GPIO23", index: 3, problem)])
            )
            .findings.map(\.exitStatus)
        }
        #expect(statuses(.busy(chip: "gpiochip0", offset: 23, holder: "gpiomon")) == [75, 0])
        #expect(statuses(.noSuchName(among: ["gpiochip0"])) == [74, 0])
        #expect(statuses(.chip(path: "/dev/gpiochip0", code: EACCES)) == [77, 0])
    }

    @Test func `what came free is not in the recorder's hands yet`() {
        let probe = probe([rest], lamps: [lamp], freeAgain: ["the button back (GPIO23)", "the lamp play (GPIO6)"])
        let findings = PanelCheck(probe: probe).findings.inOrder
        #expect(findings.map(\.subject) == [.buttons, .lamps])
        #expect(findings.allSatisfy { $0.severity == .failure && $0.message.hasSuffix("it does within 5 s") })
    }

    @Test func `an LED device that is not there is named, with those that are`() throws {
        let folder = TestFolder()
        folder.write("0\n", to: "ACT/brightness")
        var leds = Settings.LEDs.none
        leds.record = .led("ACT")
        leds.fault = .led("nowhere")
        let probe = PanelProbe(
            Settings.Panel(buttons: .none, leds: leds), open: nil, ledDirectory: folder.path)
        #expect(probe.lamps == [PanelProbe.WorkingLamp(name: "record", line: "ACT")])
        #expect(
            probe.lampErrors.map(\.description) == [
                "lamps: nowhere: no LED of that name in \(folder.path) (there are ACT)"
            ])
    }

    @Test func `lines that the recorder holds are not opened again`() {
        var buttons = Settings.Buttons.none
        buttons.record = Settings.ButtonLine(.name("NO LINE ANYWHERE"))
        var leds = Settings.LEDs.none
        leds.record = .line(.name("NO LINE EITHER"))
        let panel = Settings.Panel(buttons: buttons, leds: leds)
        let held = PanelProbe(panel, open: OpenLines(buttons: [true, nil, nil, nil, nil], lamps: [.record]))
        #expect(held.buttons == [PanelProbe.ButtonLevel(name: "record", line: "NO LINE ANYWHERE", isDown: true)])
        #expect(held.lamps == [PanelProbe.WorkingLamp(name: "record", line: "NO LINE EITHER")])
        #expect(held.buttonErrors.isEmpty && held.lampErrors.isEmpty && held.freeAgain.isEmpty)
        let free = PanelProbe(panel, open: nil)
        #expect(free.buttonErrors.count == 1 && free.lampErrors.count == 1)
    }
}

extension Settings.Buttons {
    fileprivate static var none: Settings.Buttons {
        var buttons = Settings().panel.buttons
        (buttons.record, buttons.stop, buttons.play, buttons.back, buttons.forward) = (nil, nil, nil, nil, nil)
        return buttons
    }
}

extension Settings.LEDs {
    fileprivate static var none: Settings.LEDs {
        var leds = Settings().panel.leds
        (leds.record, leds.play, leds.upload, leds.fault) = (nil, nil, nil, nil)
        return leds
    }
}

extension Settings.Panel {
    fileprivate init(buttons: Settings.Buttons, leds: Settings.LEDs) {
        self = Settings().panel
        self.buttons = buttons
        self.leds = leds
    }
}

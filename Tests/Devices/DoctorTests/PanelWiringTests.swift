import Lines
import Settings
import Testing

@testable import Doctor

@Suite struct PanelWiringTests {
    @Test func `lines and lamps keep their address, level and pull`() {
        #expect(
            InputLine(Settings.ButtonLine(.offset(chip: "gpiochip0", offset: 17), isActiveLow: false, pull: .off))
                == InputLine(.offset(chip: "gpiochip0", offset: 17), activeLow: false, pull: .none))
        #expect(InputLine(nil) == nil)
        #expect(LampOutput(.led("ACT")) == .led("ACT"))
        #expect(
            LampOutput(.line(.name("GPIO5"), isActiveLow: true)) == .line(OutputLine(.name("GPIO5"), activeLow: true)))
        #expect(LampOutput(nil) == nil)
    }
}

import Glibc
import Takes
import Testing

@testable import Lines

/// Runs on the test board only on request, because the board has no lines afterwards.
@Suite(
    .enabled(
        if: access("/run/gpio", F_OK) == 0 && getenv("FIELDFARE_UNPLUG") != nil,
        "runs alone on the test board, with FIELDFARE_UNPLUG set"))
struct UnplugTests {
    @Test func `a chip that goes away is reported once, and nothing spins`() {
        var errors: [LineError] = []
        var buttons = ButtonLines(
            opening: [InputLine(.name("BTN_RECORD")), InputLine(.name("BTN_STOP"))], errors: &errors)
        var lamps = LampLines(opening: [.line(OutputLine(.name("LED_RECORD")))], errors: &errors)
        #expect(errors.isEmpty)

        let driver = open("/sys/bus/platform/drivers/gpio-sim/unbind", O_WRONLY)
        let written = write(driver, "gpio-sim", 8)
        #expect(written == 8)
        close(driver)

        let levels = [buttons.isActive(0), buttons.isActive(1)]
        #expect(levels == [nil, nil])
        let errorsOfSet = [true, false].map { lamps.set(0, $0)?.description }
        #expect(errorsOfSet == ["lamps: LED_RECORD: cannot set the line: No such device", nil])

        var wait = pollfd(fd: buttons.fileDescriptor, events: Int16(POLLIN), revents: 0)
        let lost = (buttons.readEdges().errors + buttons.check()).map(\.description)
        #expect(
            lost == [
                "buttons: BTN_RECORD, BTN_STOP: the line went away: No such device: "
                    + "it is opened again once it is back"
            ])
        let ready = poll(&wait, 1, 0)
        #expect(ready == 0)
        let more = buttons.check()
        #expect(more.isEmpty)
        #expect(GPIOChip.list().chips.isEmpty)
    }
}

import Simulation
import Takes
import Testing
import Transport

@testable import Recorder

@Suite struct PanelReadoutTests {
    private func status(_ state: DeckState) -> Status {
        var status = Status(version: "1")
        status.state = state
        status.card = "card:Mic"
        status.rateHz = 48000
        status.channels = 2
        status.format = .s24Packed
        status.take = "heron07-0002"
        status.selected = "heron07-0001"
        status.elapsedSeconds = 83.45
        status.syncedSeconds = 82.6
        status.positionSeconds = 3
        status.levelDBFS = [Level(peak: -12, rms: -20), Level(peak: nil, rms: nil)]
        return status
    }

    private func words(_ status: Status) -> [String] {
        let readout = PanelReadout(status)
        return [readout.title, readout.state, readout.time, readout.trouble]
    }

    @Test func `it says what goes on, with which take, and how far it is`() {
        let title = "Fieldfare 1   card:Mic, 48000 Hz, 2 channels, S24_3LE"
        #expect(
            words(status(.recording)) == [
                title, "recording heron07-0002", "1:23.4, on disk up to 1:22.6", "",
            ])
        #expect(words(status(.playing)) == [title, "playing heron07-0002", "0:03.0 of 1:23.4", ""])
        #expect(words(status(.paused)) == [title, "paused heron07-0002", "0:03.0 of 1:23.4", ""])
        var idle = status(.idle)
        #expect(words(idle) == [title, "not armed", "selected: heron07-0001", ""])
        idle.armed = true
        #expect(words(idle)[1] == "armed: press r and it records")
        #expect(
            PanelReadout(idle).levels == [
                PanelReadout.Level(peak: -12, rms: -20), PanelReadout.Level(peak: nil, rms: nil),
            ])
    }

    @Test func `without a card it says so, and names the fault that the lamp flashes`() {
        var status = Status(version: "1")
        status.state = .fault
        status.faults = [Fault(.noCard, "capture: gone"), Fault(.clockUnset, "clock: not set")]
        #expect(words(status) == ["Fieldfare 1   no card", "not armed", "", "fault 1: capture: gone"])
    }
}

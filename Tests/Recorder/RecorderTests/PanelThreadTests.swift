import Deck
import Doctor
import Glibc
import Panel
import Settings
import Simulation
import Takes
import TestBench
import Testing
import Transport

@testable import Recorder

@Suite struct PanelThreadTests {
    private let leds = MadeUpLEDs()
    private let folder = TestFolder()
    private let clock = SystemClock()

    private func panel(_ lamps: [Lamp] = [.record, .play, .upload, .fault]) throws -> PanelThread {
        let panel = PanelThread(
            settings: leds.settings(lamps), clock: clock, log: Log(), ledDirectory: leds.path)
        try panel.start()
        return panel
    }

    private func deck() throws -> Deck {
        var settings = Settings()
        settings.takes.directory = folder.path + "/takes"
        return try Deck(
            options: DeckOptions(settings: settings, version: "1"), card: SyntheticVoice(clock: clock),
            sink: SilentSink(clock: clock), clock: clock, originOfClock: { _ in .ntp }, report: { _ in })
    }

    private func show(_ indication: Indication, on panel: PanelThread) {
        _ = panel.show(indication, at: clock.now(), readout: { PanelReadout() })
    }

    /// The indication of a core that has just started to record.
    private func recording(now: Instant) -> Indication {
        var indication = Indication()
        indication.recording = .init(safeUntil: now + .seconds(60))
        return indication
    }

    /// Waits until exactly these lamps are lit, while the core answers. Without its answers the panel would show after
    /// 3 s that it is blocked.
    private func wait(for lamps: Set<Lamp>, of panel: PanelThread, _ deck: Deck) {
        let end = clock.now() + .seconds(60)
        while leds.lit != lamps, clock.now() < end {
            var message = pollfd(fd: panel.fileDescriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&message, 1, 100)
            panel.deliver(to: deck, at: clock.now())
        }
        #expect(leds.lit == lamps)
    }

    @Test func `the lamps show what the core posts, and are dark at the end`() throws {
        let (panel, deck) = (try panel(), try deck())
        show(recording(now: clock.now()), on: panel)
        wait(for: [.record], of: panel, deck)
        var stick = Indication()
        stick.upload = .safeToRemove
        show(stick, on: panel)
        wait(for: [.upload], of: panel, deck)
        panel.goDark()
        #expect(leds.lit == [])
    }

    @Test(.timeLimit(.minutes(15)))
    func `a lamp that comes after the panel shows what the others show`() throws {
        let folder = leds.path + "/record"
        rename(folder, folder + ".away")
        let panel = try panel()
        #expect(panel.openLines?.lamps == [.play, .upload, .fault])
        rename(folder + ".away", folder)
        show(recording(now: clock.now()), on: panel)
        wait(for: [.record], of: panel, try deck())
    }

    @Test func `one lamp is lit alone as long as it is asked for`() throws {
        let (panel, deck) = (try panel(), try deck())
        show(recording(now: clock.now()), on: panel)
        wait(for: [.record], of: panel, deck)
        panel.litAlone = .upload
        wait(for: [.upload], of: panel, deck)
        panel.litAlone = nil
        wait(for: [.record], of: panel, deck)
    }

    @Test(.timeLimit(.minutes(15)))
    func `while the core is blocked the record lamp goes dark and the fault lamp flashes, until it answers`() throws {
        let panel = try panel()
        let posted = clock.now()
        show(recording(now: posted), on: panel)
        leds.wait(for: [.record])
        leds.wait(for: [.fault])
        #expect(clock.now() - posted >= .seconds(3))
        // The question that the panel asked meanwhile is answered at the core's next turn.
        panel.deliver(to: try deck(), at: clock.now())
        leds.wait(for: [.record])
    }

    @Test(.timeLimit(.minutes(15)))
    func `a blocked core cannot leave one lamp lit alone`() throws {
        let panel = try panel()
        panel.litAlone = .record
        leds.wait(for: [.record])
        leds.wait(for: [.fault])
    }

    @Test func `the lines that a check-up needs are those of the thread's last turn`() throws {
        let panel = try panel([.record, .fault])
        #expect(panel.openLines?.lamps == [.record, .fault])
        #expect(panel.openLines?.buttons == [nil, nil, nil, nil, nil])
        #expect(panel.lamps == [.record, .fault])
    }

    @Test func `a panel that never started, and one that has ended, go dark at once`() throws {
        PanelThread(settings: leds.settings([.record]), clock: clock, log: Log(), ledDirectory: leds.path).goDark()
        let panel = try panel()
        panel.goDark()
        panel.goDark()
        #expect(leds.lit == [])
    }
}

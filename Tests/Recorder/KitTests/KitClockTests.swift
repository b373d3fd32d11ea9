import Deck
import Doctor
import Takes
import TestBench
import Testing

@testable import Kit

@Suite struct KitClockTests {
    private final class Received { var messages: [String] = [] }

    private let clock = TestClock()
    private let root = TestFolder.root()
    private let received = Received()
    /// Whether the clock of the machine that runs this test is synchronised; if so, that is its origin.
    private var isSynchronised: Bool { ClockProbe().evidence(clock).isSynchronised }

    private func kitClock() -> KitClock {
        KitClock(clock: clock, probe: ClockProbe(root: root.path)) { [received] in received.messages.append($0.message)
        }
    }

    private func otherwise(_ origin: ClockOrigin) -> ClockOrigin { isSynchronised ? .ntp : origin }

    @Test func `a date set by a person is known after a restart, in this boot alone`() {
        let first = kitClock()
        #expect(first.origin(newestTake: nil) == otherwise(.unset))
        first.wasSetByHand()
        #expect(root.text("/run/fieldfare/clock") == "0b0c manual 1795241791000000\n")
        #expect(root.run == ["clock"])
        clock.advance(by: .seconds(86400))
        #expect(kitClock().origin(newestTake: nil) == otherwise(.manual))
        root.write("1b1c\n", to: "/proc/sys/kernel/random/boot_id")
        #expect(kitClock().origin(newestTake: nil) == otherwise(.unset))
    }

    @Test func `without a folder it is known as long as the process runs`() {
        let bare = KitClock(clock: clock, probe: ClockProbe(root: "/nowhere")) { _ in }
        bare.wasSetByHand()
        #expect(bare.origin(newestTake: nil) == otherwise(.manual))
    }

    @Test func `a date of unknown origin is not trusted, until it is set back`() {
        let kitClock = kitClock()
        kitClock.wasSetByHand()
        var origins: [ClockOrigin] = []
        for step in [Duration.zero, .seconds(3600), .seconds(-3600), .seconds(-3600), .seconds(3601)] {
            clock.set(by: step)
            origins.append(kitClock.origin(newestTake: nil))
        }
        #expect(origins == [.manual, .unset, .manual, .unset, .manual].map(otherwise))
    }

    @Test func `a set date and a known origin are reported once, and the log has the step`() {
        let kitClock = kitClock()
        _ = kitClock.origin(newestTake: nil)
        _ = kitClock.hasChanged()
        #expect(!kitClock.hasChanged())
        clock.set(by: .milliseconds(-3_600_250))
        #expect(kitClock.hasChanged())
        #expect(!kitClock.hasChanged())
        clock.set(by: .seconds(60))
        kitClock.wasSetByHand()
        #expect(kitClock.hasChanged())
        #expect(!kitClock.hasChanged())
        _ = kitClock.origin(newestTake: nil)
        #expect(kitClock.hasChanged() == isSynchronised)
        clock.advance(by: .seconds(10))
        #expect(!kitClock.hasChanged())
        #expect(
            received.messages == [
                "clock: set back by 3600.25 s: it says 2026-11-21T05:18:10.750000Z now",
                "clock: set forward by 60.0 s: it says 2026-11-21T05:19:10.750000Z now",
            ])
    }

    @Test func `a date that a person confirms counts as set, though nothing is changed`() {
        let kitClock = kitClock()
        #expect(!kitClock.hasChanged())
        kitClock.wasSetByHand()
        #expect(kitClock.hasChanged())
        #expect(!kitClock.hasChanged())
        kitClock.wasSetByHand()
        #expect(!kitClock.hasChanged())
        #expect(received.messages == [])
    }

    @Test func `that a date elsewhere is right as well is news, though its origin is the same`() {
        let kitClock = kitClock()
        kitClock.wasSetByHand()
        clock.set(by: .seconds(-315_360_000))
        #expect(kitClock.hasChanged())
        #expect(!kitClock.hasChanged())
        kitClock.wasSetByHand()
        #expect(kitClock.hasChanged())
        kitClock.wasSetByHand()
        #expect(!kitClock.hasChanged())
    }

    @Test func `a battery-backed clock is remembered as what set it`() {
        let kitClock = kitClock()
        _ = kitClock.origin(newestTake: nil)
        #expect((root.text("/run/fieldfare/clock") == nil) != isSynchronised)
    }
}

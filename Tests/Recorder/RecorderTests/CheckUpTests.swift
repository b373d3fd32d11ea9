import Deck
import Doctor
import FoundationEssentials
import Glibc
import Panel
import Ring
import Settings
import Simulation
import SoundCard
import Synchronization
import Takes
import TestBench
import Testing
import Transport

@testable import Control
@testable import Recorder

/// A card that delivers a given number of frames at once, and then nothing.
private final class PromptCard: CaptureSource {
    let endedFileDescriptor: Int32 = -1
    var end: CaptureEnd? { nil }
    private let frames: Int

    init(frames: Int) { self.frames = frames }

    func open(_ request: CaptureRequest) throws -> CaptureGrant {
        let format = StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s16)
        return CaptureGrant(card: "card:Prompt", name: "Prompt", format: format, periodFrames: 800, bufferFrames: 8000)
    }

    func start(into ring: Ring) throws {
        ring.stamp(Stamp(position: 0, instant: Instant(nanoseconds: 0), kind: .started))
        for frame in 0..<frames {
            let piece = ring.writable(1)
            piece[0] = 0
            piece[1] = UInt8(frame % 40)
            ring.commit(1)
        }
    }

    func stop() {}
}

@Suite struct CheckUpTests {
    private final class Received {
        var replies: [String] = []

        func answer() -> Answer { Answer { self.replies.append($0.line(id: .null, isFirst: false)) } }
    }

    private struct Kit {
        var deck: Deck
        var cards: Listing<[CardReport]>
        var checkUp: CheckUp
    }

    private let clock = TestClock(at: Instant(nanoseconds: 0))
    private let received = Received()
    private let folder = TestFolder()

    private func kit(
        frames: Int, standby: Settings.Capture.Standby = .listening,
        newCard: (@Sendable () -> any CaptureSource)? = nil,
        list: @escaping Listing<[CardReport]>.Make = { _, _ in [] }
    ) throws -> Kit {
        var settings = Settings()
        settings.takes.directory = folder.path + "/takes"
        settings.takes.reserveMiB = 16
        settings.capture.card = .pcm("none such")
        settings.capture.standby = standby
        let deck = try Deck(
            options: DeckOptions(settings: settings, version: "1"), card: PromptCard(frames: frames),
            sink: SilentSink(clock: clock), clock: clock, originOfClock: { _ in .ntp }, report: { _ in })
        _ = deck.turn(now: clock.now())
        while standby == .listening, deck.openGrant == nil {
            var files = deck.fileDescriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            _ = unsafe poll(&files, nfds_t(files.count), -1)
            deck.ready(now: clock.now())
        }
        let cards = Listing("cards", clock: clock, make: list)
        let checkUp = CheckUp(
            deck: deck, settings: settings, problems: ["kit.toml: bad"], cards: cards, clock: clock,
            newCard: newCard ?? { CaptureCard() },
            openLines: { OpenLines(buttons: [false, true, false, false, false], lamps: Set(Lamp.allCases)) })
        return Kit(deck: deck, cards: cards, checkUp: checkUp)
    }

    /// Runs the recorder's loop until the condition holds.
    private func turn(_ kit: Kit, until isDone: () -> Bool) {
        while !isDone() {
            var files = (kit.cards.fileDescriptors + kit.checkUp.fileDescriptors).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            guard unsafe poll(&files, 2, 30_000) > 0 else {
                Issue.record("nothing is reported")
                return
            }
            kit.cards.collect()
            kit.checkUp.collect()
            _ = kit.checkUp.turn(now: clock.now())
        }
    }

    private func findings() throws -> [Finding] {
        let reply = try JSONValue(decoding: Array(try #require(received.replies.first).utf8))
        let list = try #require(reply["doctor"]).description
        return try JSONDecoder().decode([Finding].self, from: Data(list.utf8))
    }

    @Test func `with a deck that listens, everything is examined and answered`() throws {
        let kit = try kit(frames: 20_000)
        kit.checkUp.begin(received.answer())
        #expect(received.replies.isEmpty)
        turn(kit) { !received.replies.isEmpty }
        let found = try findings()
        let signal = found.first { $0.subject == .signal }
        #expect(signal?.message.hasPrefix("card:Prompt: ") ?? false, "\(found)")
        #expect(found.contains { $0.subject == .settings && $0.message == "kit.toml: bad" && $0.exitStatus == 78 })
        #expect(found.contains { $0.subject == .buttons && $0.message.hasPrefix("stop (GPIO27) is held down") })
        #expect(found.contains { $0.subject == .storage })
        #expect(kit.checkUp.turn(now: clock.now()) == nil)
    }

    @Test func `two seconds of sound are waited for, for five seconds at most`() throws {
        let kit = try kit(frames: 100)
        kit.checkUp.begin(received.answer())
        turn(kit) { kit.checkUp.turn(now: clock.now()) == clock.now() + .milliseconds(100) }
        clock.advance(by: .milliseconds(4999))
        #expect(kit.checkUp.turn(now: clock.now()) == clock.now() + .milliseconds(100))
        clock.advance(by: .milliseconds(1))
        _ = kit.checkUp.turn(now: clock.now())
        turn(kit) { !received.replies.isEmpty }
        #expect(try findings().contains { $0.subject == .signal && $0.message.contains("delivered only 100 frames") })
    }

    @Test func `a second check-up is refused while the first is under way, and begins after it`() throws {
        let kit = try kit(frames: 20_000)
        kit.checkUp.begin(received.answer())
        let second = Received()
        kit.checkUp.begin(second.answer())
        #expect(second.replies.map { $0.contains(#""code":"busy""#) } == [true])
        turn(kit) { !received.replies.isEmpty }
        let third = Received()
        kit.checkUp.begin(third.answer())
        #expect(third.replies.isEmpty)
        kit.checkUp.stopForTake()
    }

    @Test func `it stops for a take`() throws {
        let kit = try kit(frames: 20_000)
        kit.checkUp.begin(received.answer())
        kit.checkUp.stopForTake()
        turn(kit) { !received.replies.isEmpty }
        #expect(try findings().contains { $0.subject == .storage && $0.message.contains("a take began") })
    }

    @Test func `a card that the deck keeps closed is opened for the check-up`() throws {
        // The settings name a real card, which does not exist.
        let kit = try kit(frames: 20_000, standby: .closed)
        kit.checkUp.begin(received.answer())
        turn(kit) { !received.replies.isEmpty }
        let found = try findings()
        #expect(
            found.contains { $0.subject == .card && $0.severity == .failure && $0.message.contains("none such") },
            "\(found)")
    }

    @Test func `a card that hangs as it is opened is reported after 15 s, and no second check-up waits for it`() throws
    {
        let card = HangingCard()
        let kit = try kit(frames: 0, standby: .closed, newCard: { card })
        kit.checkUp.begin(received.answer())
        turn(kit) { kit.checkUp.turn(now: clock.now()) != nil }
        while card.opened.load(ordering: .acquiring) == 0 { sched_yield() }
        clock.advance(by: .seconds(15))
        #expect(kit.checkUp.turn(now: clock.now()) == nil)
        let found = try findings()
        #expect(
            found.contains {
                $0.subject == .card && $0.exitStatus == 74
                    && $0.message.hasPrefix("capture: pcm:none such: has not answered for 15 s")
            }, "\(found)")
        #expect(found.contains { $0.subject == .buttons })
        let second = Received()
        kit.checkUp.begin(second.answer())
        #expect(second.replies.map { $0.contains(#""code":"busy""#) } == [true])
        card.release()
        turn(kit) {
            let third = Received()
            kit.checkUp.begin(third.answer())
            return third.replies.isEmpty
        }
        #expect(received.replies.count == 1)
        kit.checkUp.stopForTake()
    }

    @Test func `a card that hangs as cards are listed is reported, and the rest is examined`() throws {
        let gate = Gate()
        let kit = try kit(
            frames: 20_000,
            list: { _, asking in
                asking("Mic (card:Mic)")
                gate.wait()
                return []
            })
        kit.checkUp.begin(received.answer())
        clock.advance(by: .seconds(8))
        _ = kit.cards.turn(now: clock.now())
        turn(kit) { !received.replies.isEmpty }
        let found = try findings()
        #expect(found.contains { $0.subject == .card && $0.message.hasPrefix("cards: ") }, "\(found)")
        #expect(found.contains { $0.subject == .signal && $0.message.hasPrefix("card:Prompt: ") })
        gate.open()
    }
}

/// A card whose opening hangs until it is released.
private final class HangingCard: CaptureSource, @unchecked Sendable {
    let opened = Atomic<Int>(0)
    let endedFileDescriptor: Int32 = -1
    var end: CaptureEnd? { nil }
    private let gate = Gate()

    func open(_ request: CaptureRequest) throws -> CaptureGrant {
        opened.wrappingAdd(1, ordering: .releasing)
        gate.wait()
        throw Refusal(.io, "it was released")
    }

    func release() { gate.open() }
    func start(into ring: Ring) throws {}
    func stop() {}
}

@Suite struct LampRoundTests {
    @Test func `lamps are lit in turn, and each request is answered when its lamp is lit`() {
        var round = LampRound()
        var answered: [String] = []
        func answer(_ name: String) -> Answer {
            Answer { answered.append(name + ($0.line(id: .null, isFirst: false).contains("busy") ? " refused" : "")) }
        }
        let start = Instant(nanoseconds: 0)
        #expect(round.turn(now: start) == nil)
        round.add(.record, answer: answer("record"))
        round.add(.play, answer: answer("play"))
        round.add(.fault, answer: answer("fault"))
        let first = round.turn(now: start)
        #expect(first == start + .milliseconds(700))
        #expect(round.lit == .record)
        #expect(answered == ["record"])
        _ = round.turn(now: start + .milliseconds(699))
        #expect(round.lit == .record)
        _ = round.turn(now: start + .milliseconds(700))
        #expect(round.lit == .play)
        #expect(answered == ["record", "play"])
        round.stop()
        #expect(round.lit == nil)
        #expect(answered == ["record", "play", "fault refused"])
        #expect(round.turn(now: start + .seconds(9)) == nil)
    }

    @Test func `after the last one all lamps show the state again`() {
        var round = LampRound()
        round.add(.all, answer: Answer { _ in })
        _ = round.turn(now: Instant(nanoseconds: 0))
        #expect(round.lit == .all)
        let next = round.turn(now: Instant(nanoseconds: 700_000_000))
        #expect(next == nil)
        #expect(round.lit == nil)
    }
}

import Deck
import Doctor
import FoundationEssentials
import Glibc
import Panel
import Ring
import Settings
import Simulation
import Synchronization
import Takes
import Testing
import Transport

@testable import Control
@testable import Recorder

/// A card that delivers so many frames at once, and then nothing.
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

private final class HandClock: Clock {
    private let instant = Mutex(Int64(0))
    func now() -> Instant { Instant(nanoseconds: instant.withLock { $0 }) }
    func wallTime() -> WallTime { WallTime(microseconds: 1_795_000_000_000_000) }
    func pass(_ duration: Duration) { instant.withLock { $0 += duration.nanoseconds } }
}

@Suite struct CheckUpTests {
    private final class Told {
        var replies: [String] = []

        func answer() -> Answer { Answer { self.replies.append($0.line(id: .null, isFirst: false)) } }
    }

    private let clock = HandClock()
    private let told = Told()
    private let folder: String

    init() {
        var template = Array("/tmp/fieldfare-XXXXXX".utf8CString)
        unsafe template.withUnsafeMutableBufferPointer { _ = unsafe mkdtemp($0.baseAddress!) }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func kit(frames: Int, listening: Bool = true) throws -> (deck: Deck, checkUp: CheckUp) {
        var settings = Settings()
        settings.takes.directory = folder + "/takes"
        settings.takes.reserveMiB = 16
        settings.capture.card = .pcm("none such")
        var options = DeckOptions(settings: settings, version: "1")
        options.isListening = listening
        let deck = try Deck(
            options: options, card: PromptCard(frames: frames), sink: SilentSink(clock: clock), clock: clock,
            originOfClock: { _ in .ntp },
            report: { _ in })
        _ = deck.turn(now: clock.now())
        let checkUp = CheckUp(
            deck: deck, settings: settings, problems: ["kit.toml: bad"], clock: clock,
            openLines: { OpenLines(buttons: [false, true, false, false, false], lamps: Set(Lamp.allCases)) })
        return (deck, checkUp)
    }

    /// Waits for what the thread tells.
    private func settle(_ checkUp: CheckUp) {
        while told.replies.isEmpty {
            var file = pollfd(fd: checkUp.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&file, 1, 30_000) == 1 else { return }
            checkUp.hear()
        }
    }

    private func findings() throws -> [Finding] {
        let reply = try JSONValue(decoding: Array(try #require(told.replies.first).utf8))
        let list = try #require(reply["doctor"]).description
        return try JSONDecoder().decode([Finding].self, from: Data(list.utf8))
    }

    @Test func `a deck that listens is heard at once, and everything is answered`() throws {
        let (_, checkUp) = try kit(frames: 20_000)
        checkUp.begin(told.answer())
        #expect(told.replies.isEmpty)
        #expect(checkUp.turn(now: clock.now()) == clock.now() + .seconds(15))
        settle(checkUp)
        let found = try findings()
        let signal = found.first { $0.subject == .signal }
        #expect(signal?.message.hasPrefix("card:Prompt: ") ?? false, "\(found)")
        #expect(found.contains { $0.subject == .settings && $0.message == "kit.toml: bad" && $0.exitStatus == 78 })
        #expect(found.contains { $0.subject == .buttons && $0.message.hasPrefix("stop (GPIO27) is held down") })
        #expect(found.contains { $0.subject == .storage })
        #expect(checkUp.turn(now: clock.now()) == nil)
    }

    @Test func `one that has not listened for two seconds is waited for, and fails after five`() throws {
        let (_, checkUp) = try kit(frames: 100)
        checkUp.begin(told.answer())
        #expect(checkUp.turn(now: clock.now()) == clock.now() + .milliseconds(100))
        clock.pass(.milliseconds(4999))
        #expect(checkUp.turn(now: clock.now()) == clock.now() + .milliseconds(100))
        clock.pass(.milliseconds(1))
        _ = checkUp.turn(now: clock.now())
        settle(checkUp)
        #expect(try findings().contains { $0.subject == .signal && $0.message.contains("delivered only 100 frames") })
    }

    @Test func `a second one is refused while the first is under way, and had after it`() throws {
        let (_, checkUp) = try kit(frames: 20_000)
        checkUp.begin(told.answer())
        let second = Told()
        checkUp.begin(second.answer())
        #expect(second.replies.map { $0.contains(#""code":"busy""#) } == [true])
        _ = checkUp.turn(now: clock.now())
        settle(checkUp)
        let third = Told()
        checkUp.begin(third.answer())
        #expect(third.replies.isEmpty)
        checkUp.giveWay()
    }

    @Test func `it gives way to a take`() throws {
        let (_, checkUp) = try kit(frames: 20_000)
        checkUp.begin(told.answer())
        checkUp.giveWay()
        _ = checkUp.turn(now: clock.now())
        settle(checkUp)
        #expect(try findings().contains { $0.subject == .storage && $0.message.contains("a take began") })
    }

    @Test func `a deck that keeps its card closed has it opened for this`() throws {
        let (_, checkUp) = try kit(frames: 20_000, listening: false)
        // The real card of the settings, which there is none of.
        checkUp.begin(told.answer())
        settle(checkUp)
        let found = try findings()
        #expect(
            found.contains { $0.subject == .card && $0.severity == .failure && $0.message.contains("none such") },
            "\(found)")
    }
}

@Suite struct LampRoundTests {
    @Test func `lamps are lit in turn, and whoever waits is answered as his is lit`() {
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

    @Test func `after the last one all tell what they have to`() {
        var round = LampRound()
        round.add(.all, answer: Answer { _ in })
        _ = round.turn(now: Instant(nanoseconds: 0))
        #expect(round.lit == .all)
        let next = round.turn(now: Instant(nanoseconds: 700_000_000))
        #expect(next == nil)
        #expect(round.lit == nil)
    }
}

import Deck
import Glibc
import Panel
import Settings
import Simulation
import SoundCard
import Takes
import TestBench
import Testing
import Transport

@testable import Control
@testable import Recorder

@Suite struct RecorderHandlerTests {
    private final class Received {
        var replies: [String] = []

        func answer() -> Answer { Answer { self.replies.append($0.line(id: .null, isFirst: false)) } }
    }

    private let clock = TestClock()
    private let folder = TestFolder()
    private let gate = Gate()

    private func listings() -> Listings {
        Listings(
            cards: Listing("cards", clock: clock) { [gate] _, asking in
                asking("Mic (card:Mic)")
                gate.wait()
                return []
            },
            lines: Listing("lines", clock: clock) { _, _ in
                Listings.LineList(lines: [], problems: ["lines: gpiochip9: cannot open"])
            })
    }

    private func handler(_ listings: Listings) throws -> (handler: RecorderHandler, deck: Deck) {
        var settings = Settings()
        settings.takes.directory = folder.path + "/takes"
        let deck = try Deck(
            options: DeckOptions(settings: settings, version: "1"), card: SyntheticVoice(clock: clock),
            sink: SilentSink(clock: clock), clock: clock, originOfClock: { _ in .ntp }, report: { _ in })
        let checkUp = CheckUp(
            deck: deck, settings: settings, problems: [], cards: listings.cards, clock: clock, openLines: { nil })
        let handler = RecorderHandler(
            deck: deck, checkUp: checkUp, listings: listings, clockSetting: nil,
            lamps: [], log: Log(isJournal: false, descriptor: open("/dev/null", O_WRONLY)))
        return (handler, deck)
    }

    @Test func `a simulated board does not set the clock of its machine`() throws {
        let (handler, _) = try handler(listings())
        let received = Received()
        handler.setClock(to: WallTime(microseconds: 1_763_000_000_000_000), answer: received.answer())
        #expect(received.replies.count == 1)
        #expect(
            received.replies.last?.contains("clock: a simulated board does not set the clock of this machine") == true)
    }

    @Test func `a list of cards that hangs delays no other request, and is refused after 8 s`() throws {
        let listings = listings()
        let (handler, _) = try handler(listings)
        let cards = Received()
        handler.list(.cards, answer: cards.answer())
        let others = Received()
        handler.perform(.volume(0.5), answer: others.answer())
        #expect(others.replies.count == 1)
        handler.list(.lines, answer: others.answer())
        while others.replies.count < 2 {
            var file = pollfd(fd: listings.lines.fileDescriptors[0], events: Int16(POLLIN), revents: 0)
            guard poll(&file, 1, 30_000) == 1 else {
                Issue.record("the lines are not listed")
                break
            }
            listings.lines.collect()
        }
        #expect(others.replies.last == #"{"id":null,"ok":true,"lines":[]}"#)
        #expect(cards.replies == [])
        #expect(listings.cards.turn(now: clock.now()) == clock.now() + .seconds(8))
        clock.advance(by: .seconds(8))
        #expect(listings.cards.turn(now: clock.now()) == nil)
        #expect(cards.replies.count == 1)
        #expect(cards.replies.first?.contains(#""code":"busy""#) == true)
        gate.open()
    }
}

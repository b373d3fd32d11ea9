import Panel
import Takes
import Testing
import Transport

@testable import Deck

/// Several faults of one kind at the same time.
@Suite struct SeveralFaultsTests {
    /// Amplitudes in 16 bits: full scale, −30 and −81 dBFS.
    private static let (full, loud, pulled): (Int16, Int16, Int16) = (32767, 1036, 3)

    private func run(_ rig: Rig, _ duration: Duration) { rig.run(duration, step: .milliseconds(250)) }

    private func rig(_ amplitudes: [Int16], slowness: Double = 0) throws -> Rig {
        let rig = try Rig(rateHz: 1000, channels: amplitudes.count, stuck: [.card])
        rig.card.amplitudes = amplitudes
        rig.card.slowness = slowness
        rig.stuck = []
        run(rig, .seconds(70))
        return rig
    }

    /// The beginning of each signal fault's sentence, after the card's name.
    private func signalFaults(_ rig: Rig) -> [String] {
        rig.deck.status.faults.filter { $0.code == .signal }.map { fault in
            fault.message.split(separator: " ").dropFirst(2).prefix(3).joined(separator: " ")
        }
    }

    @Test func `sound that clips does not hide a fall, nor a channel without a signal`() throws {
        let rig = try rig([Self.loud, Self.loud, Self.loud])
        rig.card.amplitudes = [Self.full, Self.pulled, 0]
        run(rig, .seconds(64))
        #expect(signalFaults(rig) == ["no signal on", "the signal fell", "clipped on channel"])
        #expect(rig.deck.indication.faults == [.signal])
        let news = rig.log.messages.filter { $0.hasPrefix("signal: ") }
        #expect(Set(news) == Set(rig.deck.status.faults.map(\.message)))
        #expect(news.count == 3, "each is reported once")
        rig.card.amplitudes = [Self.loud, Self.pulled, 0]
        run(rig, .seconds(10))
        #expect(signalFaults(rig) == ["no signal on", "the signal fell"])
        rig.card.amplitudes = [Self.loud, Self.pulled, Self.loud]
        run(rig, .seconds(4))
        #expect(signalFaults(rig) == ["the signal fell"])
        #expect(rig.log.messages.filter { $0.hasPrefix("signal: ") } == news, "what goes on is no news")
    }

    @Test func `each fault of the signal is about its channels`() throws {
        let rig = try rig([Self.loud, Self.loud, Self.loud])
        rig.card.amplitudes = [Self.full, Self.pulled, 0]
        run(rig, .seconds(64))
        #expect(
            rig.deck.status.faults.map(\.subject) == [
                .channels([3], .silent), .channels([2], .fell), .channels([1], .clipped),
            ])
    }

    @Test func `a card at the wrong rate does not hide what is wrong with its signal`() throws {
        let rig = try rig([Self.loud, Self.loud], slowness: 0.25)
        #expect(signalFaults(rig) == ["states 1000 Hz"])
        rig.card.amplitudes = [Self.full, 0]
        run(rig, .seconds(20))
        #expect(signalFaults(rig) == ["states 1000 Hz", "no signal on", "clipped on channel"])
        #expect(rig.log.messages.filter { $0.hasPrefix("signal: ") }.count == 3)
    }

    @Test func `each line of the panel that is wrong is a fault, beside a filter that the card cannot have`() throws {
        let bad = [
            Fault(.settings, "buttons: record: line GPIO17 is closed"), Fault(.settings, "buttons: play: 200 edges"),
        ]
        let rig = try Rig { $0.filter = FilterRequest(lowPass: .hertz(9000)) }
        rig.run(.seconds(1))
        let filter = rig.deck.status.faults
        #expect(filter.map(\.code) == [.settings])
        rig.deck.panel(has: bad)
        #expect(rig.deck.status.faults == bad + filter)
        for fault in bad { #expect(rig.log.messages.filter { $0 == fault.message }.count == 1) }
        rig.deck.panel(has: [bad[1]])
        #expect(rig.deck.status.faults == [bad[1]] + filter)
    }

    @Test func `damaged takes are shown beside storage that fails`() throws {
        let rig = try Rig { $0.directory = "/dev/null/takes" }
        rig.run(.seconds(5))
        let before = rig.deck.status.faults
        #expect(before.map(\.code) == [.storageFailing])
        rig.deck.damagedTakes = "takes: heron07-0042-061811Z: its sound is damaged"
        let damaged = Fault(
            .storageFailing, "takes: heron07-0042-061811Z: its sound is damaged", about: .damagedTakes)
        #expect(rig.deck.status.faults == before + [damaged])
        #expect(rig.log.messages.contains(damaged.message))
    }

    @Test func `two things that happen at once are both reported`() {
        let now = Instant(nanoseconds: 0)
        var board = FaultBoard()
        let (removed, ended) = (Fault(.storageFailing, "a part was removed"), Fault(.storageFailing, "the take ended"))
        board.show(removed, until: now + .seconds(60))
        board.show(ended, until: now + .seconds(60))
        #expect(board.update(now, []) == [removed, ended])
        #expect(board.list == [ended])
        #expect(board.update(now, []) == [])
    }

    @Test func `what happened is reported, also if the states say something else of it at once`() {
        let now = Instant(nanoseconds: 0)
        var board = FaultBoard()
        let (ended, full) = (Fault(.diskFull, "the take ended"), Fault(.diskFull, "nearly full"))
        board.show(ended, until: now + .seconds(60))
        #expect(board.update(now, [full]) == [ended, full])
        #expect(board.list == [full])
    }

    @Test func `of a kind the first state comes first, and each is news once`() {
        let now = Instant(nanoseconds: 0)
        var board = FaultBoard()
        let (first, second) = (Fault(.signal, "b"), Fault(.signal, "a"))
        #expect(board.update(now, [second]) == [second])
        #expect(board.update(now, [first, second]) == [first])
        #expect(board.list == [first, second])
        #expect(board.update(now, [second]) == [])
        #expect(board.update(now, [first, second]) == [first])
    }
}

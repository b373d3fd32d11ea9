import Takes
import Testing
import Transport

@testable import Deck

@Suite struct FaultBoardTests {
    private let now = Instant(nanoseconds: 0)

    @Test func `the lowest code comes first, and a changed sentence is news`() {
        var board = FaultBoard()
        board.standing = [Fault(.settings, "settings")]
        let signal = Fault(.signal, "signal")
        let other = Fault(.signal, "other")
        let card = Fault(.noCard, "card")
        #expect(board.update(now, [signal]) == [signal])
        #expect(board.update(now, [signal]) == [])
        #expect(board.update(now, [other, card]) == [card, other])
        #expect(board.list.map(\.code) == [.noCard, .settings, .signal])
        #expect(board.update(now, []) == [])
        #expect(board.list.map(\.code) == [.settings])
    }

    @Test func `what happened is shown for its time, or until the states say something else of its kind`() {
        var board = FaultBoard()
        let ended = Fault(.diskFull, "the take ended")
        board.show(ended, until: now + .seconds(60))
        #expect(board.update(now, []) == [ended])
        #expect(board.nextExpiry == now + .seconds(60))
        #expect(board.update(now + .seconds(60), []) == [])
        #expect(board.list == [])
        let nearly = Fault(.diskFull, "nearly full")
        board.show(ended, until: now + .seconds(120))
        #expect(board.update(now + .seconds(61), [nearly]) == [ended, nearly])
        #expect(board.update(now + .seconds(62), []) == [])
        #expect(board.list == [])
    }

    @Test func `what happened is shown beside states of its kind that are about something else`() {
        var board = FaultBoard()
        let ended = Fault(.storageFailing, "the take ended")
        let damaged = Fault(.storageFailing, "a take is damaged", about: .damagedTakes)
        let trouble = Fault(.storageFailing, "no file can be made")
        board.show(ended, until: now + .seconds(60))
        #expect(board.update(now, []) == [ended])
        #expect(board.update(now, [damaged]) == [damaged])
        #expect(board.list == [ended, damaged])
        #expect(board.update(now + .seconds(60), [damaged]) == [])
        #expect(board.list == [damaged])
        board.show(ended, until: now + .seconds(120))
        #expect(board.update(now + .seconds(61), [trouble, damaged]) == [ended, trouble])
        #expect(board.list == [trouble, damaged])
    }

    @Test func `what happened is shown on, once the states that came before it say nothing`() {
        var board = FaultBoard()
        let trouble = Fault(.storageFailing, "no file can be made")
        #expect(board.update(now, [trouble]) == [trouble])
        let ended = Fault(.storageFailing, "the take ended")
        board.show(ended, until: now + .seconds(60))
        #expect(board.update(now, []) == [ended])
        #expect(board.update(now + .seconds(59), []) == [])
        #expect(board.list == [ended])
    }
}

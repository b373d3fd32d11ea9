import Catalog
import DiskCalls
import FinishedTakes
import Takes
import Testing

@testable import Library

@Suite(.waitsOnNamedThreads) struct TurnOrderTests {
    private let waiting: [ParcelID] = ["a", "b", "c", "d", "e"]

    @Test func `takes come in their own order while none failed`() {
        var turns = TurnOrder()
        #expect(turns.next(2, of: waiting, beside: []) == ["a", "b"])
        #expect(turns.next(9, of: waiting, beside: []) == waiting)
    }

    @Test func `a take that failed waits until each other had its turn`() {
        var turns = TurnOrder()
        turns.failed("a")
        #expect(Set(turns.next(4, of: waiting, beside: [])) == ["b", "c", "d", "e"])
        turns.failed("c")
        turns.failed("b")
        #expect(turns.next(5, of: waiting, beside: []).suffix(3) == ["a", "c", "b"])
    }

    @Test func `while takes fail, every second one that begins is from further behind`() {
        var turns = TurnOrder()
        turns.failed("0")
        let waiting = (1...100).map { ParcelID(stringLiteral: "\($0)") }
        #expect(turns.next(4, of: waiting, beside: ["0"]) == ["1", "51", "2", "27"])
        #expect(turns.next(1, of: waiting, beside: ["0"]) == ["1"])
        #expect(turns.next(1, of: waiting, beside: ["0"]) == ["76"])
    }

    @Test func `a take that failed while others arrived comes after one that failed with them`() {
        var turns = TurnOrder()
        turns.failed("a")
        turns.succeeded("x")
        turns.failed("a")
        turns.failed("b")
        turns.failed("b")
        #expect(turns.next(9, of: ["a", "b"], beside: []) == ["b", "a"])
    }

    @Test func `a take that others overtook three times waits until no other is left`() {
        var turns = TurnOrder()
        for _ in 1...4 {
            turns.failed("a")
            turns.succeeded("x")
        }
        #expect(turns.next(4, of: ["a", "b"], beside: []) == ["b"])
        #expect(turns.next(4, of: ["a"], beside: ["b"]) == [])
        #expect(turns.next(4, of: ["a"], beside: []) == ["a"])
        // It made progress.
        turns.advanced("a")
        #expect(turns.next(4, of: ["a", "b"], beside: ["c"]) == ["b", "a"])
    }
}

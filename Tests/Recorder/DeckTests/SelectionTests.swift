import Takes
import Testing
import Transport

@testable import Deck

@Suite struct SelectionTests {
    @Test func `the newest take is selected at first, and none of none`() {
        #expect(Selection(takes: [take(1), take(2)]).selected == take(2))
        #expect(Selection().selected == nil)
    }

    @Test(arguments: [1, 4, 9])
    func `a take that ends is selected, and has its place by its number`(number: Int) {
        var selection = Selection(takes: [take(2), take(3), take(5), take(8)])
        selection.add(take(number))
        #expect(selection.takes.map(\.number) == [2, 3, 5, 8, number].sorted())
        #expect(selection.selected == take(number))
    }

    @Test func `a take that went on and ends once more is there once`() {
        var selection = Selection(takes: [take(2), take(3)])
        selection.add(take(2))
        #expect(selection.takes == [take(2), take(3)])
        #expect(selection.selected == take(2))
    }

    @Test func `a take that is recovered is selected if it comes last, and the last one was`() {
        var selection = Selection(takes: [take(2), take(4)])
        selection.insert(take(3))
        #expect(selection.selected == take(4))
        selection.insert(take(5))
        #expect(selection.selected == take(5))
        selection.select(take(2))
        selection.insert(take(6))
        #expect(selection.selected == take(2))
        #expect(selection.takes.map(\.number) == [2, 3, 4, 5, 6])
    }

    @Test func `after a take is deleted, the selected one stays, or the next one takes its place`() {
        var selection = Selection(takes: (1...4).map { take($0) })
        selection.select(take(3))
        selection.remove(take(1))
        #expect(selection.selected == take(3))
        selection.remove(take(3))
        #expect(selection.selected == take(4))
        selection.remove(take(9))
        selection.remove(take(4))
        #expect(selection.selected == take(2))
        selection.remove(take(2))
        #expect(selection.selected == nil)
    }

    @Test func `a take is found by its stem, by its number, and as the last; takes of other kits may share a number`() {
        let ours = take(7)
        let theirs = take(7, kit: "wren")
        let selection = Selection(takes: [take(1), theirs, ours, take(12345)].sorted())
        #expect(selection.find(.stem(ours.stem)) == ours)
        #expect(selection.find(.stem(theirs.stem)) == theirs)
        #expect(selection.find(.stem(take(12345).stem)) == take(12345))
        #expect(selection.find(.number(7)) == theirs)
        #expect(selection.find(.number(1)) == take(1))
        #expect(selection.find(.last) == take(12345))
        let others: [TakeReference] = [
            .number(0), .number(8), .number(20000), .stem("heron-0007-061819Z"), .stem("7x"),
        ]
        for reference in others {
            #expect(selection.find(reference) == nil)
        }
        #expect(Selection().find(.number(1)) == nil)
        #expect(Selection().find(.last) == nil)
    }

    private func take(_ number: Int, kit: String = "heron") -> TakeName {
        TakeName(kit: kit, number: number, started: WallTime(microseconds: 1_763_705_891_000_000))
    }
}

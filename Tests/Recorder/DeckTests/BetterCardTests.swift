import Panel
import Ring
import Takes
import Testing
import Transport

@testable import Deck

/// A better card is plugged in while a card is open that the settings do not name.
@Suite struct BetterCardTests {
    /// A kit whose card is open while a better one is plugged in.
    private func rig(_ configure: (inout DeckOptions) -> Void = { _ in }) throws -> Rig {
        let rig = try Rig(configure)
        rig.run(.seconds(1))
        return rig
    }

    private func plugIn(_ rig: Rig, _ better: BetterCard = .free([ScriptedCard.betterName])) {
        rig.card.better = better
        rig.deck.rescan()
        rig.run(.seconds(1))
    }

    private func card(_ rig: Rig) -> String? { rig.deck.status.card }

    @Test func `it takes the other's place while nothing is recorded, which is said`() throws {
        let rig = try rig()
        plugIn(rig)
        #expect(card(rig) == "card:Better")
        #expect(rig.deck.isArmed && rig.deck.status.faults == [])
        #expect(
            rig.log.messages.filter { $0.contains("takes its place") } == [
                "capture: card:Better: is better than card:Scripted, and takes its place"
            ])
        rig.press(.record)
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        #expect(try rig.sidecars().map(\.card) == ["card:Better"])
        let count = rig.card.opened.count
        rig.deck.rescan()
        rig.run(.seconds(10))
        #expect(rig.card.opened.count == count)
    }

    @Test func `the pre-roll of a take is the better card's alone`() throws {
        let rig = try rig { $0.preRoll = .seconds(5) }
        plugIn(rig)
        rig.press(.record)
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        let take = try #require(try rig.sidecars().first)
        #expect((1...8000).contains(take.preRollFrames))
        #expect(difference(try rig.samples(take.parts[0].file, of: take), 0..<Int(take.frames)) == nil)
    }

    @Test func `it waits until a take has ended, and cannot go on any more`() throws {
        let rig = try rig { $0.rules.rejoin = .seconds(5) }
        rig.press(.record)
        rig.run(.seconds(1))
        plugIn(rig)
        #expect(card(rig) == "card:Scripted" && rig.deck.state == .recording)
        rig.press(.stop)
        rig.settle()
        rig.run(.seconds(3))
        #expect(card(rig) == "card:Scripted")
        rig.run(.seconds(4))
        #expect(card(rig) == "card:Better")
        #expect(try rig.sidecars().map(\.card) == ["card:Scripted"])
        #expect(try rig.sidecars().map(\.gaps) == [[]])
    }

    @Test func `it waits until a take was played`() throws {
        let rig = try rig()
        rig.press(.record)
        rig.run(.seconds(3))
        rig.press(.stop)
        rig.settle()
        rig.press(.play)
        rig.run(.milliseconds(500))
        #expect(rig.deck.state == .playing)
        plugIn(rig)
        #expect(card(rig) == "card:Scripted")
        rig.press(.stop)
        rig.run(.seconds(1))
        #expect(card(rig) == "card:Better")
    }

    @Test func `it waits until a check-up has listened`() throws {
        let rig = try rig()
        rig.deck.isExamined = true
        plugIn(rig)
        #expect(card(rig) == "card:Scripted")
        rig.deck.isExamined = false
        rig.run(.seconds(1))
        #expect(card(rig) == "card:Better")
    }

    @Test func `one that goes again before that is forgotten`() throws {
        let rig = try rig()
        rig.press(.record)
        plugIn(rig)
        plugIn(rig, .none)
        rig.press(.stop)
        rig.settle()
        rig.run(.seconds(3))
        #expect(card(rig) == "card:Scripted" && rig.card.opened.count == 1)
    }

    @Test func `one that another program holds is taken once it is free`() throws {
        let rig = try rig()
        plugIn(rig, .occupied)
        #expect(card(rig) == "card:Scripted" && rig.card.opened.count == 1)
        rig.card.better = .free([ScriptedCard.betterName])
        rig.run(.seconds(3))
        #expect(card(rig) == "card:Better")
    }

    private func returns(_ rig: Rig) -> Int {
        rig.log.messages.count { $0.hasSuffix(": card:Scripted is used again") }
    }

    @Test func `one that cannot be opened leaves the other as it was, and is tried as long as it is found`() throws {
        let rig = try rig()
        rig.card.isBetterSound = false
        plugIn(rig)
        #expect(card(rig) == "card:Scripted" && returns(rig) == 1)
        rig.run(.seconds(2))
        #expect(rig.card.opened.count == 1 + 2 * 2 && returns(rig) == 2)
        #expect(rig.deck.isArmed && rig.deck.status.faults == [])
        rig.card.better = .none
        rig.run(.seconds(30))
        #expect(rig.card.opened.count == 1 + 2 * 2)
        // It is found again once it was unplugged.
        rig.card.isBetterSound = true
        plugIn(rig)
        #expect(card(rig) == "card:Better")
    }

    @Test func `the next one is tried after one that cannot be opened`() throws {
        let rig = try rig()
        rig.card.isBetterSound = false
        plugIn(rig)
        #expect(card(rig) == "card:Scripted")
        rig.card.better = .free([ScriptedCard.otherName])
        rig.run(.seconds(3))
        #expect(card(rig) == "card:Other" && rig.deck.isArmed && returns(rig) == 1)
    }

    @Test func `after a better one was opened, one that is better still is looked for`() throws {
        let rig = try rig()
        plugIn(rig, .free([ScriptedCard.otherName]))
        #expect(card(rig) == "card:Other")
        // Another program releases the card, and no event reports that.
        rig.card.better = .free([ScriptedCard.betterName])
        rig.run(.seconds(3))
        #expect(card(rig) == "card:Better")
    }

    @Test func `one that delivers nothing leaves the other as it was`() throws {
        let rig = try rig()
        rig.card.isBetterDeaf = true
        plugIn(rig)
        for _ in 0..<50 where returns(rig) == 0 { rig.run(.milliseconds(100)) }
        #expect(returns(rig) == 1)
        rig.card.better = .none
        rig.run(.seconds(10))
        #expect(card(rig) == "card:Scripted" && returns(rig) == 1)
        #expect(rig.deck.isArmed && rig.deck.status.faults == [])
        // The same holds after the card was closed for the player.
        for button in [Button.record, .stop, .play, .stop] {
            rig.press(button)
            rig.run(.seconds(1))
        }
        rig.run(.seconds(3))
        #expect(card(rig) == "card:Scripted" && rig.deck.isArmed)
        #expect(try rig.sidecars().map(\.card) == ["card:Scripted"])
    }

    @Test func `record that is pressed meanwhile begins a take with it`() throws {
        let rig = try rig()
        rig.stuck = [.card]
        plugIn(rig)
        rig.stuck = []
        rig.turn()
        rig.stuck = [.card]
        rig.turn()
        rig.press(.record)
        rig.stuck = []
        rig.run(.seconds(1))
        #expect(rig.deck.state == .recording && card(rig) == "card:Better")
        rig.press(.stop)
        rig.settle()
        #expect(try rig.sidecars().map(\.card) == ["card:Better"])
    }

    @Test func `record that is pressed while one is tried that delivers nothing records with the other`() throws {
        for milliseconds in [0, 100, 600, 1400] {
            let rig = try rig()
            rig.card.isBetterDeaf = true
            rig.card.better = .free([ScriptedCard.betterName])
            rig.deck.rescan()
            for _ in 0..<100 where card(rig) != "card:Better" { rig.run(.milliseconds(10)) }
            rig.run(.milliseconds(milliseconds))
            #expect(card(rig) == "card:Better" && rig.deck.isArmed)
            rig.press(.record)
            rig.run(.milliseconds(2000))
            #expect(rig.deck.state == .recording && card(rig) == "card:Scripted")
            #expect(rig.deck.status.faults == [])
            #expect(rig.log.messages.allSatisfy { !$0.hasPrefix("record: capture") })
            rig.run(.seconds(1))
            rig.press(.stop)
            rig.settle()
            let take = try #require(try rig.sidecars().first)
            #expect(take.card == "card:Scripted" && take.frames > 8000 && take.gaps == [])
        }
    }

    @Test func `stop that is pressed meanwhile ends the take that begins`() throws {
        let rig = try rig()
        rig.card.isBetterDeaf = true
        plugIn(rig)
        #expect(card(rig) == "card:Better")
        rig.press(.record)
        rig.press(.stop)
        rig.run(.seconds(2))
        rig.settle()
        #expect(rig.deck.state == .idle && card(rig) == "card:Scripted")
        #expect(try rig.sidecars().map(\.card) == ["card:Scripted"])
    }

    @Test func `what came while a card was being opened is found afterwards`() throws {
        let rig = try Rig(stuck: [.card])
        rig.card.better = .free([ScriptedCard.betterName])
        rig.deck.rescan()
        rig.stuck = []
        rig.run(.seconds(1))
        #expect(card(rig) == "card:Better")
    }
}

import Panel
import SeededRandom
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// Random events happen to a kit: presses, faults, jumps of the calendar, power cuts. After each event its state, its
/// lamps and the takes on its disk must be as a few rules predict.
@Suite struct ModelTests {
    static let stepsPerRun = 500

    @Test(arguments: 1...full(20, usually: 1))
    func `whatever happens, state, lamps and disk are as the rules say`(seed: Int) throws {
        let run = try ModelRun(seed: UInt64(seed))
        var chance = SeededRandom(seed: UInt64(seed))
        for step in 1...Self.stepsPerRun {
            do {
                try run.happen(&chance)
            } catch {
                let last = run.history.suffix(12).joined(separator: "\n")
                Issue.record("seed \(seed), step \(step): \(error)\n\(last)")
                return
            }
        }
        try run.compareAll()
        #expect(run.takeCount >= 20)
    }
}

extension SeededRandom {
    mutating func milliseconds(_ range: ClosedRange<Int>) -> Duration {
        .milliseconds(Int.random(in: range, using: &self))
    }

    /// A random choice, weighted.
    mutating func pick<Choice>(_ choices: [(Choice, weight: Int)]) -> Choice {
        var left = Int.random(in: 0..<choices.reduce(0) { $0 + $1.weight }, using: &self)
        for choice in choices {
            left -= choice.weight
            if left < 0 { return choice.0 }
        }
        preconditionFailure("weights add up")
    }
}

extension ModelRun {
    private enum Event {
        case press, pressQuickly, holdPlay, wait, waitLong, card, overrun, storage, space, calendar, shutdown, powerCut
    }

    /// Causes a random event, and compares.
    func happen(_ chance: inout SeededRandom) throws {
        // Faults usually end soon: a storage that stalls for long costs frames, and a card that is away for long ends
        // the take.
        if model.trouble != .none, chance.next() % 4 == 0 { try trouble(.none) }
        if model.noCard.holds, chance.next() % 6 == 0 { plugIn() }
        if model.full.holds, chance.next() % 4 == 0 { space(isFull: false, isNearlyFull: false) }
        try compare()
        if let since = model.cardAwaySince, rig.clock.now() - since > .seconds(60) { try waitForCard(&chance) }
        switch chance.pick([
            (Event.press, 50), (.pressQuickly, 5), (.holdPlay, 3), (.wait, 12), (.waitLong, 2), (.card, 9),
            (.overrun, 3),
            (.storage, 8),
            (.space, 5), (.calendar, 5), (.shutdown, 1), (.powerCut, 2),
        ]) {
        case .press:
            let button = chance.pick([
                (Button.record, 30), (.stop, 25), (.play, 20), (.back, 13), (.forward, 12),
            ])
            press(button)
            try compareAnswer()
        case .pressQuickly:
            let buttons = (0..<Int.random(in: 2...5, using: &chance)).map { _ in
                chance.next() % 2 == 0 ? Button.record : .stop
            }
            pressQuickly(buttons, apart: chance.milliseconds(0...120))
        case .holdPlay: holdPlay()
        case .wait: run(chance.milliseconds(100...6000))
        case .waitLong: run(model.trouble == .stalled ? .seconds(8) : chance.milliseconds(6000...40000))
        case .card:
            if model.noCard.holds {
                plugIn()
            } else if chance.next() % 3 == 0 {
                silence()
            } else {
                unplug()
            }
        case .overrun:
            if !model.noCard.holds { overrun(for: chance.milliseconds(20...400)) }
        case .storage:
            if model.trouble != .none {
                try trouble(.none)
            } else {
                // A take that has nothing to write detects the fault at an unknown time.
                let isWriting = !model.noCard.may(at: rig.clock.now())
                let trouble = chance.pick([
                    (KitModel.Trouble.failing, isWriting ? 3 : 0), (.readOnly, isWriting ? 2 : 0),
                    (.away, model.mode == .idle ? 2 : 0), (.stalled, 4),
                ])
                try self.trouble(trouble)
                // Long enough that the record lamp must show it.
                if trouble == .stalled { run(chance.milliseconds(500...6000)) }
            }
        case .space:
            guard model.trouble == .none, !model.noCard.may(at: rig.clock.now()) else { break }
            let isFull = chance.next() % 2 == 0
            space(isFull: !model.full.holds && isFull, isNearlyFull: !model.nearlyFull.holds)
        case .calendar:
            let jump = chance.pick([
                (Duration.seconds(315_360_000), 1), (.seconds(-315_360_000), 1),
                (chance.milliseconds(-90000...90000), 3),
                (.zero, 1),
            ])
            self.jump(jump, chance.pick([(ClockOrigin.ntp, 3), (.manual, 2), (.rtc, 1), (.unset, 2)]))
        case .shutdown, .powerCut:
            if model.trouble != .none { try trouble(.none) }
            settle()
            try compare()
            try restart(byShutdown: chance.next() % 3 == 0)
        }
        settle()
        try compare()
    }

    /// The card stays away until the take ends, or comes back before.
    private func waitForCard(_ chance: inout SeededRandom) throws {
        guard let since = model.cardAwaySince else { return }
        if chance.next() % 3 == 0, model.trouble == .none {
            run(since + .seconds(598) - rig.clock.now())
            try compare()
            run(.seconds(5))
            model.end(
                .cardLost, at: KitModel.Moment(first: rig.clock.now(), last: rig.clock.now()), now: rig.clock.now())
        } else {
            plugIn()
        }
    }
}

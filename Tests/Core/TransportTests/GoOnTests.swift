import Takes
import Testing
import Transport

/// The storage failed during a take, whose sound continues in another one.
@Suite struct GoOnTests {
    private let now = Instant(nanoseconds: 50_000_000_000)
    private var since: Instant { now - .seconds(1) }
    private let refusal = Refusal(.io, "record: it failed")
    private var begun: TransportEffect { .beginOther(at: since, by: .schedule) }

    private func facts(card: Refusal? = nil, storage: Refusal? = nil, after time: Duration = .zero) -> TransportFacts {
        TransportFacts(now: now + time, cardObstacle: card, storageObstacle: storage)
    }

    /// A kit whose take has just failed.
    private func failed() -> TransportState {
        var state = TransportState(rules: TransportRules())
        _ = state.handle(.press(.record, at: now), facts())
        _ = state.handle(.takeBegan(TransportModel.name(7)), facts())
        _ = state.handle(.takeFailed(refusal), facts())
        return state
    }

    @Test(arguments: [false, true])
    func `it begins with the card of the take before, and waits for that one if it is away`(isAway: Bool) {
        var state = failed()
        let facts = facts(card: isAway ? refusal : nil)
        #expect(state.handle(.goOn(at: since, startedBy: .schedule), facts) == [begun])
        #expect(state.handle(.cardLost, facts) == [.suspend])
        #expect(state.nextDeadline == now + TransportRules.cardPatience)
        #expect(state.handle(.cardReturned, facts) == [.resumeTake(after: .zero)])
    }

    @Test func `it waits for the folder and not for the card, and so does stop`() {
        var state = failed()
        let waiting = facts(card: refusal, storage: refusal)
        #expect(state.handle(.goOn(at: since, startedBy: .schedule), waiting) == [.checkStorage])
        for event in [TransportEvent.cardAnswered, .cardLost, .cardReturned, .press(.stop, at: now)] {
            #expect(state.handle(event, waiting) == [])
        }
        let end = TransportEffect.end(at: now, because: .stop, keepsTail: false)
        #expect(state.handle(.storageAnswered, facts(card: refusal)) == [begun, end])
    }

    @Test func `without a folder for ten seconds it begins nevertheless, and the deck finds out`() {
        var state = failed()
        _ = state.handle(.goOn(at: since, startedBy: .schedule), facts(storage: refusal))
        #expect(state.handle(.tick, facts(storage: refusal, after: .milliseconds(9999))) == [])
        #expect(state.handle(.tick, facts(storage: refusal, after: .seconds(10))) == [begun])
        #expect(state.handle(.takeFailed(refusal), facts(storage: refusal)) == [.refuse(refusal), .takeOver])
        #expect(state.phase == .idle)
    }
}

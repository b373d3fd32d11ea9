import Panel
import Ring
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// A card comes back to its take with other channels, and something happens before that take has ended.
@Suite struct ChangedCardAgainTests {
    /// A kit whose two-channel card is back with one channel. The storage has delayed the end of the take since then.
    private func heldUp(
        by button: Bool = true, _ configure: (inout DeckOptions) -> Void = { _ in }
    ) throws -> Rig {
        let rig = try Rig.afterLoss(by: button, configure)
        rig.stuck = [.writer]
        rig.plugIn(channels: 1)
        for _ in 0..<100 where !rig.deck.transport.isEndAwaited { rig.run(.milliseconds(50)) }
        #expect(rig.log.messages.contains { $0.contains("goes on in another take") })
        rig.run(.seconds(2))
        return rig
    }

    /// As `heldUp`, and the card is gone again.
    private func pulledAgain(
        by button: Bool = true, _ configure: (inout DeckOptions) -> Void = { _ in }
    ) throws -> Rig {
        let rig = try heldUp(by: button, configure)
        rig.card.unplug()
        rig.run(.seconds(1))
        return rig
    }

    private func plugIn(_ rig: Rig, channels: Int? = nil) {
        rig.plugIn(channels: channels)
        rig.run(.seconds(6))
    }

    private func release(_ rig: Rig) {
        rig.stuck = []
        rig.run(.seconds(5))
    }

    /// Expects that a part of one channel begins with the first frame of an opening, and has at least the given number
    /// of its frames.
    private func expectAll(_ rig: Rig, _ take: Sidecar?, part: Int = 0, atLeast frames: Int) throws {
        let take = try #require(take)
        try #require(take.parts.count > part)
        let samples = try rig.samples(take.parts[part].file, of: take)
        #expect(samples.count >= frames && difference(samples, 0..<samples.count) == nil)
    }

    @Test(arguments: [true, false])
    func `a card that goes again is waited for, as by any take`(isListening: Bool) throws {
        let rig = try pulledAgain { $0.isListening = isListening }
        release(rig)
        #expect(rig.deck.state == .recording && rig.deck.status.faults.map(\.code) == [.noCard])
        #expect(rig.deck.status.take != nil && !rig.deck.isArmed)
        rig.run(.seconds(60))
        plugIn(rig)
        #expect(rig.deck.state == .recording && rig.deck.status.faults == [])
        let takes = try rig.stopTake()
        #expect(takes.map(\.endedBy) == [.cardLost, .stop] && takes.map(\.channels) == [2, 1])
        #expect(takes.map(\.parts.count) == [1, 2] && takes.last?.gaps.map(\.cause) == [.cardLost])
        try expectAll(rig, takes.dropFirst().first, atLeast: 2 * 8000)
        try expectAll(rig, takes.dropFirst().first, part: 1, atLeast: 3 * 8000)
    }

    @Test func `the lamp says that sound is not safe while it waits`() throws {
        let rig = try pulledAgain()
        let before = try #require(rig.deck.indication.recording)
        release(rig)
        rig.run(.seconds(10))
        let waiting = try #require(rig.deck.indication.recording)
        #expect(rig.deck.indication.faults == [.noCard])
        for recording in [before, waiting] { #expect(rig.clock.now() - recording.safeUntil > .seconds(2)) }
    }

    @Test func `what waits for the storage meanwhile is fault 4`() throws {
        let rig = try heldUp()
        rig.run(.seconds(6))
        #expect(rig.deck.state == .recording && rig.deck.status.faults.map(\.code) == [.storageFailing])
        release(rig)
        #expect(rig.deck.state == .recording && rig.deck.status.faults == [])
    }

    @Test(arguments: [1, 2, 3], [true, false])
    func `a card that is back once more goes on with what it has then`(channels: Int, isHeldUp: Bool) throws {
        let rig = try pulledAgain()
        if !isHeldUp { release(rig) }
        plugIn(rig, channels: channels)
        release(rig)
        rig.run(.seconds(5))
        #expect(rig.deck.state == .recording && rig.deck.status.faults == [])
        let takes = try rig.stopTake()
        let isSame = channels == 1
        #expect(takes.map(\.channels) == (isSame ? [2, 1] : [2, 1, channels]))
        #expect(takes.map(\.endedBy) == (isSame ? [.cardLost, .stop] : [.cardLost, .cardLost, .stop]))
        #expect(takes.map(\.parts.count) == (isSame ? [1, 2] : [1, 1, 1]))
        try expectAll(rig, takes.dropFirst().first, atLeast: 2 * 8000)
        if isSame { try expectAll(rig, takes.dropFirst().first, part: 1, atLeast: 8 * 8000) }
    }

    @Test func `each time that the card was there before the other take begins is a part of it`() throws {
        let rig = try pulledAgain()
        for _ in 0..<2 {
            plugIn(rig, channels: 1)
            rig.card.unplug()
            rig.run(.seconds(1))
        }
        plugIn(rig, channels: 1)
        release(rig)
        #expect(rig.deck.state == .recording && rig.deck.status.faults == [])
        let takes = try rig.stopTake()
        #expect(takes.map(\.endedBy) == [.cardLost, .stop] && takes.map(\.channels) == [2, 1])
        let take = try #require(takes.dropFirst().first)
        #expect(take.parts.count == 4 && take.gaps.map(\.cause) == [.cardLost, .cardLost, .cardLost])
        for (part, seconds) in [2, 5, 5, 8].enumerated() {
            try expectAll(rig, take, part: part, atLeast: seconds * 8000)
        }
    }

    @Test(arguments: [true, false])
    func `stop and the end of the process end the other take, which has what there was`(isStop: Bool) throws {
        let rig = try pulledAgain()
        var ends = 0
        if isStop {
            rig.deck.perform(.stop) { if case .success = $0 { ends += 1 } }
        } else {
            rig.deck.finish { ends += 1 }
        }
        rig.run(.seconds(1))
        #expect(ends == 0)
        release(rig)
        #expect(ends == 1 && !rig.deck.isRecording)
        let takes = try rig.sidecars()
        #expect(takes.map(\.endedBy) == [.cardLost, isStop ? .stop : .shutdown])
        try expectAll(rig, takes.dropFirst().first, atLeast: 2 * 8000)
        guard isStop else { return }
        plugIn(rig)
        #expect(rig.deck.state == .idle && rig.deck.isArmed)
    }

    @Test func `a card that stays away for ten minutes ends the other take`() throws {
        let rig = try pulledAgain()
        release(rig)
        rig.run(.seconds(590), step: .seconds(1))
        #expect(rig.deck.state == .recording)
        rig.run(.seconds(11), step: .seconds(1))
        #expect(rig.deck.state == .fault)
        #expect(rig.log.messages.contains { $0.contains("away for 10 min") })
        plugIn(rig)
        #expect(rig.deck.state == .idle && rig.deck.isArmed)
        #expect(try rig.sidecars().map(\.endedBy) == [.cardLost, .cardLost])
    }

    @Test func `the end of the hours ends the other take, also while it waits`() throws {
        let rig = try pulledAgain(by: false)
        release(rig)
        #expect(rig.deck.recordedBy == .schedule)
        rig.deck.perform(.stop, by: .schedule) { _ in }
        rig.run(.seconds(1))
        let takes = try rig.sidecars()
        #expect(takes.map(\.endedBy) == [.cardLost, .stop] && takes.map(\.startedBy) == [.schedule, .schedule])
    }

    @Test func `a filter that is set meanwhile is the other take's`() throws {
        let rig = try heldUp { $0.filter = FilterRequest(lowPass: .off) }
        rig.deck.perform(.filter(lowPass: .hertz(1000), slopeDBPerOctave: nil, highPass: nil)) { _ in }
        rig.card.unplug()
        rig.run(.seconds(1))
        release(rig)
        let takes = try rig.stopTake()
        #expect(takes.map { $0.filter.map(\.lowPassHz) } == [[nil], [1000]])
    }
}

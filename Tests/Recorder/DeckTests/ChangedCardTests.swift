import Panel
import Ring
import Takes
import Testing
import Transport

@testable import Deck

/// A card comes back to its take with another number of channels.
@Suite struct ChangedCardTests {
    /// A kit that lost a two-channel card after one second of a take. The card is back with one channel.
    private func returned(
        by button: Bool = true, _ configure: (inout DeckOptions) -> Void = { _ in }
    ) throws -> Rig {
        let rig = try Rig.afterLoss(by: button, configure)
        rig.plugIn(channels: 1)
        return rig
    }

    @Test func `the take ends where the card went, and another one has all that it delivers since`() throws {
        let rig = try returned()
        rig.run(.seconds(5))
        #expect(rig.deck.state == .recording && rig.deck.status.faults == [])
        let takes = try rig.stopTake()
        #expect(takes.map(\.endedBy) == [.cardLost, .stop])
        #expect(takes.map(\.channels) == [2, 1])
        #expect(takes.map(\.startedBy) == [.button, .button])
        #expect(takes.map(\.parts.count) == [1, 1])
        #expect(takes.map(\.gaps) == [[], []])
        #expect(takes[0].frames == 8000)
        let samples = try rig.samples(takes[1].parts[0].file, of: takes[1])
        #expect(samples.count > 8000 * 2 && difference(samples, 0..<samples.count) == nil)
        #expect(
            rig.log.messages.filter { $0.contains("is back with") } == [
                "record: \(takes[0].take) ends: card:Scripted is back with 1 channel instead of 2: the sound goes on in another take"
            ])
        #expect(!rig.log.messages.contains { $0.contains("away for 10 min") })
        #expect(rig.deck.isArmed)
    }

    @Test func `pre-roll and what is pressed meanwhile are the next take's`() throws {
        let rig = try returned { $0.preRoll = .seconds(5) }
        rig.run(.seconds(4))
        rig.press(.record)
        rig.run(.seconds(1))
        let takes = try rig.stopTake()
        #expect(takes.map(\.channels) == [2, 1])
        #expect(takes.map(\.markers.count) == [0, 1])
        #expect(takes[1].preRollFrames == 0)
        #expect(difference(try rig.samples(takes[1].parts[0].file, of: takes[1]), 0..<Int(takes[1].frames)) == nil)
    }

    @Test func `a take of the schedule goes on in one of the schedule`() throws {
        let rig = try returned(by: false)
        rig.run(.seconds(5))
        #expect(rig.deck.recordedBy == .schedule)
        #expect(try rig.stopTake().map(\.startedBy) == [.schedule, .schedule])
    }

    @Test func `stop that comes before the card leaves one take`() throws {
        let rig = try Rig(channels: 2)
        rig.run(.seconds(1))
        rig.press(.record)
        rig.run(.seconds(1))
        rig.card.unplug()
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.card.plugIn(channels: 1)
        rig.deck.rescan()
        rig.run(.seconds(5))
        #expect(rig.deck.state == .idle && rig.deck.isArmed)
        #expect(try rig.sidecars().map(\.endedBy) == [.stop])
    }

    @Test func `channels that the settings name are waited for`() throws {
        let rig = try returned { $0.capture.channels = 2 }
        rig.run(.seconds(10))
        #expect(rig.deck.state == .recording)
        #expect(rig.deck.status.faults.map(\.code) == [.noCard])
        rig.card.plugIn(channels: 2)
        rig.run(.seconds(5))
        #expect(rig.deck.status.faults == [])
        let takes = try rig.stopTake()
        #expect(takes.map(\.endedBy) == [.stop] && takes.map(\.parts.count) == [2])
    }

    @Test func `another rate and other samples go on in a part of the same take`() throws {
        let rig = try Rig()
        rig.run(.seconds(1))
        rig.press(.record)
        rig.run(.milliseconds(985))
        rig.card.unplug()
        rig.run(.seconds(1))
        rig.card.plugIn(rateHz: 16_000, sampleFormat: .s32)
        rig.deck.rescan()
        rig.run(.seconds(5))
        let takes = try rig.stopTake()
        #expect(takes.map(\.endedBy) == [.stop])
        #expect(takes.flatMap(\.parts).map(\.rateHz) == [8000, 16_000])
        #expect(takes.flatMap(\.parts).map(\.format) == [.s16, .s32])
    }
}

import Foundation
import Panel
import Recording
import Ring
import TakeFiles
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// A take loses both its stick and its card, for example when the hub of both loses power. At 8000 Hz a millisecond is
/// 8 frames.
@Suite final class StickAndCardTests {
    private let storage = StickStorage()
    private let folder = TestFolder()
    private var place: String { folder.path }

    /// A kit that has recorded on its stick for three seconds.
    private func recording(by button: Bool = true) throws -> Rig {
        let rig = try storage.rig(in: place)
        if button { rig.press(.record) } else { rig.deck.perform(.record, by: .schedule) { _ in } }
        rig.run(.milliseconds(2985))
        return rig
    }

    /// Advances the time until the take must continue inside.
    /// - Returns: the frames of the take that were safe on the stick.
    private func failStick(_ rig: Rig, _ fail: () throws -> Void) throws -> Int {
        try fail()
        var safe: Int64 = 0
        for _ in 0..<100 where !goesOnInside(rig) {
            safe = rig.deck.progress?.syncedFrames ?? safe
            rig.run(.milliseconds(50))
        }
        #expect(goesOnInside(rig))
        return Int(safe)
    }

    private func goesOnInside(_ rig: Rig) -> Bool {
        rig.log.messages.contains { $0.hasSuffix("the sound goes on in a take in \(rig.directory)") }
    }

    /// Frames that the card has delivered since it was started.
    private func delivered(_ rig: Rig) -> Int {
        Int(rig.card.format.frames(in: rig.clock.now() - rig.card.started)) / 800 * 800
    }

    /// Expects that the take waits for its own card only.
    private func expectWaiting(_ rig: Rig, since requests: Int) {
        #expect(rig.deck.state == .recording && rig.deck.storage.path == rig.directory)
        #expect(rig.deck.status.take != nil && !rig.deck.isArmed)
        #expect(rig.deck.status.faults.map(\.code).contains(.noCard))
        let opened = rig.card.opened.dropFirst(requests)
        #expect(!opened.isEmpty && opened.allSatisfy { $0.expected == rig.card.references })
    }

    /// The card is back for five seconds, then the take is stopped.
    private func finish(_ rig: Rig, channels: Int? = nil) throws -> [Sidecar] {
        rig.plugIn(channels: channels)
        rig.run(.seconds(5))
        #expect(rig.deck.state == .recording && !rig.deck.status.faults.map(\.code).contains(.noCard))
        return try rig.stopTake()
    }

    /// Expects that the take inside has the sound after the last safe frame on the stick, up to the loss of the card,
    /// and then all sound that the card has delivered since its return.
    private func expectRest(_ rig: Rig, _ take: Sidecar?, after safe: Int, upTo end: Int) throws {
        let take = try #require(take)
        try #require(take.parts.count == 2 && take.gaps.map(\.cause) == [.cardLost])
        let rest = try rig.samples(take.parts[0].file, of: take)
        let first = end - rest.count
        #expect((0..<800).contains(40_000 + safe - first), "\(safe), \(first)")
        #expect(difference(rest, first..<end) == nil)
        let back = try rig.samples(take.parts[1].file, of: take)
        #expect(back.count > 4 * 8000 && difference(back, 0..<back.count) == nil)
    }

    enum Loss: CaseIterable { case beforeStick, whileFolderOpens, afterwards }

    @Test(arguments: Loss.allCases)
    func `the take inside waits for the card of the one on the stick`(loss: Loss) throws {
        let rig = try recording()
        let requests = rig.card.opened.count
        if loss == .whileFolderOpens { rig.stuck = [.storage] }
        var end = delivered(rig)
        let safe = try failStick(rig) {
            if loss == .beforeStick { rig.card.unplug() }
            try storage.pull()
        }
        if loss == .afterwards { rig.run(.seconds(2)) }
        if loss != .beforeStick {
            end = delivered(rig)
            rig.card.unplug()
        }
        rig.run(.seconds(5))
        rig.stuck = []
        rig.run(.seconds(60))
        expectWaiting(rig, since: requests)
        let takes = try finish(rig)
        #expect(takes.map(\.endedBy) == [.stop] && takes.map(\.startedBy) == [.button])
        try expectRest(rig, takes.first, after: safe, upTo: end)
    }

    @Test func `a card that is back with other channels goes on in another take inside`() throws {
        let rig = try recording()
        _ = try failStick(rig) {
            rig.card.unplug()
            try storage.pull()
        }
        rig.run(.seconds(3))
        let takes = try finish(rig, channels: 2)
        #expect(takes.map(\.endedBy) == [.cardLost, .stop] && takes.map(\.channels) == [1, 2])
    }

    @Test func `a card that stays away for ten minutes ends the take inside`() throws {
        let rig = try recording()
        _ = try failStick(rig) {
            rig.card.unplug()
            try storage.pull()
        }
        rig.run(.seconds(590), step: .seconds(1))
        #expect(rig.deck.state == .recording)
        rig.run(.seconds(15), step: .seconds(1))
        #expect(rig.deck.state == .fault)
        #expect(try rig.sidecars().map(\.endedBy) == [.cardLost])
    }

    @Test func `a take whose stick fills when its card goes waits inside`() throws {
        let rig = try recording()
        let requests = rig.card.opened.count
        rig.card.unplug()
        storage.free = 1 << 20
        rig.run(.seconds(5))
        expectWaiting(rig, since: requests)
        let take = try #require(try finish(rig).first)
        #expect(take.endedBy == .stop && take.gaps.map(\.cause) == [.cardLost])
        let back = try rig.samples(try #require(take.parts.last).file, of: take)
        #expect(back.count > 4 * 8000 && difference(back, 0..<back.count) == nil)
    }

    @Test(arguments: [false, true])
    func `stop ends the take inside, also one of the schedule`(isCardLost: Bool) throws {
        let rig = try recording(by: false)
        rig.stuck = [.storage]
        let safe = try failStick(rig) { try storage.pull() }
        rig.run(.milliseconds(500))
        let gone = delivered(rig)
        if isCardLost { rig.card.unplug() }
        rig.run(.milliseconds(500))
        let end = isCardLost ? gone : Int(rig.card.format.frames(in: rig.clock.now() - rig.card.started))
        var ends = 0
        rig.deck.perform(.stop) { if case .success = $0 { ends += 1 } }
        rig.stuck = []
        rig.run(.seconds(3))
        #expect(ends == 1 && !rig.deck.isRecording)
        let takes = try rig.sidecars()
        #expect(takes.map(\.endedBy) == [.stop] && takes.map(\.startedBy) == [.schedule])
        let take = try #require(takes.first)
        let samples = try rig.samples(take.parts[0].file, of: take)
        let first = end - samples.count
        #expect((0..<800).contains(40_000 + safe - first), "\(safe), \(first)")
        #expect(difference(samples, first..<end) == nil)
    }

    @Test(arguments: [false, true])
    func `a take that waits for its card, and whose stick goes meanwhile, goes on inside`(isStickBack: Bool) throws {
        let rig = try recording()
        rig.card.unplug()
        rig.run(.seconds(2))
        try storage.pull()
        rig.run(.seconds(5))
        #expect(rig.deck.state == .recording)
        if isStickBack { try storage.plug() }
        rig.plugIn()
        rig.run(.seconds(5))
        #expect(rig.deck.state == .recording && rig.deck.status.take != nil)
        let takes = try rig.stopTake().filter { $0.endedBy == .stop }
        let take = try #require(takes.first)
        #expect(takes.count == 1 && rig.deck.storage.path == rig.directory)
        let back = try rig.samples(try #require(take.parts.last).file, of: take)
        #expect(back.count > 4 * 8000 && difference(back, 0..<back.count) == nil)
    }
}

import Files
import Foundation
import Glibc
import Panel
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// A card comes back to its take, and no other file can be made for it.
@Suite struct ReturnedCardTests {
    private let storage = TroubledStorage()

    /// A kit whose card went away after three seconds of a take, and came back two seconds later.
    private func returned(rateHz: Int, failing code: Int32) throws -> Rig {
        let rig = try Rig.recording(for: .milliseconds(2985), files: FileSystem(calls: storage))
        rig.card.unplug()
        rig.run(.seconds(2))
        storage.creating = code
        rig.card.plugIn(rateHz: rateHz)
        rig.deck.rescan()
        rig.run(.seconds(3))
        #expect(rig.deck.state == .recording)
        return rig
    }

    private func says(_ rig: Rig, _ words: String) -> Bool {
        rig.deck.status.faults.contains { $0.message.contains(words) }
    }

    @Test(arguments: [ENOSPC, EACCES, EPERM], [false, true])
    func `its sound goes on in the part that there is, and in another one later`(code: Int32, isLong: Bool) throws {
        let rig = try returned(rateHz: 8000, failing: code)
        #expect(says(rig, "the sound goes on in the file that there is"))
        #expect(rig.clock.now() - rig.deck.indication.recording!.safeUntil < .seconds(1))
        if isLong { rig.run(.seconds(20)) }
        storage.creating = nil
        if isLong {
            rig.run(.seconds(12))
            #expect(!says(rig, "the sound goes on"))
        }
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.endedBy == .stop && !sidecar.recovered)
        #expect(sidecar.parts.count == (isLong ? 2 : 1))
        let gap = try #require(sidecar.gaps.first)
        #expect(sidecar.gaps.count == 1 && gap.cause == .cardLost && gap.atFrame.count == 24_000)
        #expect((16_000...17_600).contains(gap.frames))
        let samples = try sidecar.parts.flatMap { try rig.samples($0.file, of: sidecar) }
        #expect(samples.count == sidecar.frames)
        let back = 24_000 + Int(gap.frames)
        #expect(difference(Array(samples[..<24_000]), 8000..<32_000) == nil)
        #expect(samples[24_000..<back].allSatisfy { $0 == 0 })
        #expect(difference(Array(samples[back...]), 0..<(samples.count - back)) == nil)
    }

    @Test func `sound of another rate waits in the ring for its part`() throws {
        let rig = try returned(rateHz: 16_000, failing: EACCES)
        #expect(says(rig, "is lost unless a file can be made soon"))
        storage.creating = nil
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.parts.map(\.rateHz) == [8000, 16_000] && sidecar.gaps.map(\.cause) == [.cardLost])
        let samples = try rig.samples(sidecar.parts[1].file, of: sidecar)
        #expect(samples.count > 16_000 * 2 && difference(samples, 0..<samples.count) == nil)
    }

    enum Event: CaseIterable { case stop, unplug, overrun }

    @Test(arguments: Event.allCases)
    func `what no part could be made for is a gap, and a fault that stays`(event: Event) throws {
        let rig = try returned(rateHz: 16_000, failing: EACCES)
        storage.refused = "-p2.wav.part"
        storage.creating = nil
        switch event {
        case .stop: rig.press(.stop)
        case .overrun: while rig.deck.state == .recording { rig.run(.seconds(1)) }
        case .unplug:
            rig.card.unplug()
            rig.run(.seconds(1))
            rig.press(.stop)
        }
        rig.settle()
        rig.run(.seconds(2))
        #expect(rig.deck.status.faults.map(\.code).contains(.storageFailing))
        #expect(event != .unplug || says(rig, "of the sound are lost"))
        #expect(rig.log.messages.contains { $0.contains("of the sound are lost") })
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.endedBy == (event == .overrun ? .storageError : .stop))
        let lost = try #require(sidecar.gaps.last)
        #expect(lost.cause == .stall && (44_000...45_600).contains(lost.atFrame.count))
        #expect(lost.frames > 8000 * 2)
        #expect(difference(try rig.samples(sidecar.parts[0].file, of: sidecar), 8000..<32_000) == nil)
    }
}

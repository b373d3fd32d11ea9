import Foundation
import Panel
import TakeFiles
import Takes
import Testing
import Transport

@testable import Deck

/// Storage that neither accepts sound nor fails.
@Suite struct StorageStallTests {
    /// The operation during which the storage stalls.
    enum Moment: CaseIterable { case write, sync, preRoll, rejoin, rescue }

    private func stall(at moment: Moment) throws -> Rig {
        let rig = try Rig {
            $0.rules.rejoin = .seconds(60)
            if moment == .preRoll { $0.preRoll = .seconds(2) }
        }
        rig.run(.seconds(3))
        if moment == .preRoll {
            rig.stuck = [.writer]
            rig.press(.record)
            return rig
        }
        rig.press(.record)
        rig.run(.seconds(3))
        switch moment {
        case .preRoll: break
        case .write: rig.stuck = [.writer]
        case .sync: rig.isSyncStalled = true
        case .rejoin:
            rig.press(.stop)
            rig.settle()
            rig.run(.seconds(10))
            rig.stuck = [.writer]
            rig.press(.record)
        case .rescue:
            let file = try #require(
                try FileManager.default.subpathsOfDirectory(atPath: rig.directory).first { $0.hasSuffix(".wav.part") })
            try FileManager.default.removeItem(atPath: "\(rig.directory)/\(file)")
            rig.run(.milliseconds(300))
            rig.isSyncStalled = true
        }
        return rig
    }

    private func isStalled(_ rig: Rig) -> Bool {
        rig.deck.status.faults.contains { $0.code == .storageFailing && $0.message.contains("taken no sound for 5 s") }
    }

    @Test(arguments: Moment.allCases)
    func `storage that takes no sound for 5 s is a fault until it does, and the take's time goes on`(moment: Moment)
        throws
    {
        let rig = try stall(at: moment)
        let elapsed = rig.deck.status.elapsedSeconds
        rig.run(.milliseconds(3500))
        #expect(!isStalled(rig))
        rig.run(.milliseconds(2500))
        #expect(isStalled(rig), "\(rig.log.messages)")
        #expect(rig.deck.state == .recording)
        #expect(rig.deck.status.elapsedSeconds - elapsed > 5.5)
        rig.run(.seconds(1))
        #expect(rig.deck.status.elapsedSeconds - elapsed > 6.5)
        rig.stuck = []
        rig.isSyncStalled = false
        rig.run(.seconds(3))
        #expect(!isStalled(rig))
        #expect(rig.deck.state == .recording)
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.gaps == [])
        #expect(rig.deck.status.faults.filter { $0.message.contains("no sound") } == [])
    }

    @Test func `while the card is away, the storage owes nothing`() throws {
        let rig = try Rig.recording(for: .seconds(3))
        rig.card.unplug()
        rig.run(.seconds(20))
        #expect(rig.deck.state == .recording && !isStalled(rig))
        let elapsed = rig.deck.status.elapsedSeconds
        rig.run(.seconds(5))
        #expect(rig.deck.status.elapsedSeconds == elapsed)
        rig.card.plugIn()
        rig.run(.seconds(6))
        #expect(rig.deck.state == .recording && !isStalled(rig))
    }
}

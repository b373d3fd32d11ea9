import Files
import Foundation
import Glibc
import Panel
import Recording
import Ring
import Takes
import Testing
import Transport
import Workers

@testable import Deck

/// A stopped take is continued, or something prevents that. At 8000 Hz a millisecond is 8 frames.
@Suite struct RejoinTests {
    private let storage = TroubledStorage()

    /// A kit that recorded a take of one second, and stopped it a second ago.
    private func stopped() throws -> Rig {
        let rig = try Rig(files: FileSystem(calls: storage)) {
            $0.rules.rejoin = .seconds(60)
            $0.reserveBytes = 1 << 20
        }
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.milliseconds(985))
        rig.press(.stop)
        rig.settle()
        rig.run(.milliseconds(1000))
        #expect(try tails(rig) == 1)
        return rig
    }

    private func tails(_ rig: Rig) throws -> Int {
        try FileManager.default.subpathsOfDirectory(atPath: rig.directory).count { $0.hasSuffix(".tail") }
    }

    private func recordAgain(_ rig: Rig) {
        rig.press(.record)
        rig.run(.milliseconds(985))
        rig.press(.stop)
        rig.settle()
        rig.run(.milliseconds(300))
    }

    @Test func `record after stop goes on with the take without a missing frame`() throws {
        let rig = try stopped()
        recordAgain(rig)
        let sidecar = try #require(try rig.sidecars().last)
        #expect(try rig.sidecars().count == 1)
        #expect(sidecar.parts.map(\.firstFrame.count) == [0, sidecar.parts[0].frames])
        #expect(sidecar.gaps == [])
        let samples = try sidecar.parts.flatMap { try rig.samples($0.file, of: sidecar) }
        #expect(difference(samples, 8000..<8000 + Int(sidecar.frames)) == nil)
        #expect(sidecar.frames > 8 * 2500)
    }

    @Test func `the status has the time in which record goes on with the take`() throws {
        let rig = try stopped()
        let left = try #require(rig.deck.status.rejoinSecondsLeft)
        #expect((50...60).contains(left))
        rig.run(.seconds(1))
        let later = try #require(rig.deck.status.rejoinSecondsLeft)
        #expect(abs(left - 1 - later) < 0.001)
        rig.press(.stop)
        rig.run(.milliseconds(50))
        #expect(rig.deck.status.rejoinSecondsLeft == nil)
        rig.press(.record)
        rig.run(.milliseconds(100))
        #expect(rig.deck.status.rejoinSecondsLeft == nil)
    }

    @Test func `other devices may be opened only while no take is recorded or played, nor can go on`() throws {
        let rig = try Rig { $0.rules.rejoin = .seconds(5) }
        rig.run(.milliseconds(1000))
        #expect(rig.deck.allowsOpening)
        rig.press(.record)
        #expect(!rig.deck.allowsOpening)
        rig.run(.milliseconds(985))
        #expect(!rig.deck.allowsOpening)
        rig.press(.stop)
        rig.settle()
        #expect(rig.deck.state == .idle)
        #expect(!rig.deck.allowsOpening)
        rig.run(.seconds(6))
        #expect(rig.deck.allowsOpening)
        rig.press(.play)
        #expect(!rig.deck.allowsOpening)
    }

    @Test func `a card that goes away after the stop leaves nothing to go on with`() throws {
        let rig = try stopped()
        rig.card.unplug()
        rig.run(.milliseconds(500))
        #expect(try tails(rig) == 0)
        rig.card.plugIn()
        rig.deck.rescan()
        rig.run(.milliseconds(500))
        recordAgain(rig)
        let takes = try rig.sidecars()
        #expect(takes.map(\.parts.count) == [1, 1])
        #expect(takes.map(\.frames) == [8000, 8000])
        #expect(takes.allSatisfy { $0.gaps == [] })
    }

    @Test func `a take that went on waits for its own card`() throws {
        let rig = try stopped()
        rig.press(.record)
        rig.run(.milliseconds(985))
        rig.card.unplug()
        rig.run(.milliseconds(500))
        rig.card.plugIn()
        rig.deck.rescan()
        rig.run(.milliseconds(500))
        #expect(rig.card.opened.last?.expected == [.cardID("Scripted")])
        rig.press(.stop)
        rig.settle()
        #expect(try rig.sidecars().map(\.parts.count) == [3])
    }

    @Test func `a folder that was removed leaves nothing to go on with`() throws {
        let rig = try stopped()
        storage.card = 2
        rig.run(.milliseconds(2100))
        #expect(rig.deck.transport.tail == .none)
    }

    @Test func `storage that fails after the stop costs the tail, and record is refused until it is well`() throws {
        let rig = try stopped()
        storage.code = EIO
        rig.run(.milliseconds(1500))
        storage.code = nil
        rig.run(.milliseconds(3000))
        #expect(rig.log.messages.contains { $0.hasPrefix("record: the sound behind the last take was dropped: ") })
        recordAgain(rig)
        #expect(try rig.sidecars().map(\.parts.count) == [1, 1])
        #expect(try rig.sidecars().map(\.frames) == [8000, 8000])
    }

    @Test(arguments: [EIO, EROFS])
    func `storage that fails after the stop is a fault until it is well, and the tail is removed then`(
        code: Int32
    ) throws {
        let rig = try stopped()
        storage.code = code
        rig.run(.milliseconds(1500))
        #expect(!rig.deck.isArmed)
        #expect(rig.deck.status.faults.map(\.code) == [.storageFailing])
        #expect(try tails(rig) == 1)
        storage.code = nil
        rig.run(.seconds(5))
        #expect(rig.deck.isArmed)
        #expect(rig.deck.status.faults == [])
        #expect(try tails(rig) == 0)
        #expect(try rig.sidecars().map(\.revision) == [1])
    }

    @Test func `a disk that is full after the stop costs the tail, and the take stays whole`() throws {
        let rig = try stopped()
        storage.free = 1 << 19
        rig.run(.milliseconds(3000))
        #expect(try tails(rig) == 0)
        rig.press(.record)
        rig.run(.milliseconds(100))
        #expect(rig.deck.state == .fault)
        #expect(rig.deck.indication.answer?.kind == .refused)
        storage.free = nil
        rig.run(.milliseconds(3000))
        recordAgain(rig)
        #expect(try rig.sidecars().map(\.frames) == [8000, 8000])
    }

    /// The writer ends the tail before the order to continue arrives.
    @Test func `record that comes as the tail ends begins a new take at the press`() throws {
        let rig = try stopped()
        rig.workers.writer.post(.dropTail)
        rig.press(.record)
        rig.run(.milliseconds(985))
        #expect(rig.deck.state == .recording)
        rig.press(.stop)
        rig.settle()
        #expect(try rig.sidecars().map(\.frames) == [8000, 8000])
        let second = try #require(try rig.sidecars().last)
        let first = Int((second.startedMonotonicNs - rig.card.started.nanoseconds) / 125_000)
        #expect(difference(try rig.samples(second.parts[0].file, of: second), first..<first + 8000) == nil)
    }
}

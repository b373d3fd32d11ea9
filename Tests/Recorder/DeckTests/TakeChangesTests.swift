import Files
import Glibc
import Panel
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// The events for watchers when takes are finished, revised and deleted.
@Suite struct TakeChangesTests {
    private final class Followed { var lines: [String] = [] }

    private let changes = Followed()

    /// Notes each change by the take's number.
    private func follow(_ rig: Rig) {
        rig.onEvent = { [changes] event in
            guard case .takeChanged(let change) = event else { return }
            let number = TakeName(stem: change.take, day: "")?.number ?? 0
            changes.lines.append("\(number) \(change.what.rawValue)")
        }
    }

    private func record(_ rig: Rig, for duration: Duration = .milliseconds(985)) {
        rig.press(.record)
        rig.run(duration)
        rig.press(.stop)
        rig.settle()
        rig.run(.milliseconds(200))
    }

    @Test func `a take is committed at its end, and revised when it went on after its stop`() throws {
        let rig = try Rig { $0.rules.rejoin = .seconds(60) }
        follow(rig)
        rig.run(.milliseconds(1000))
        record(rig)
        #expect(changes.lines == ["1 committed"])
        record(rig)
        #expect(changes.lines == ["1 committed", "1 revised"])
        #expect(try rig.sidecars().map(\.revision) == [2])
    }

    @Test func `a take that is followed by the next is committed at the cut`() throws {
        let rig = try Rig { $0.rules.newTakeEvery = .seconds(2) }
        follow(rig)
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.seconds(5))
        #expect(changes.lines == ["1 committed", "2 committed"])
        #expect(rig.deck.state == .recording)
        rig.press(.stop)
        rig.settle()
        #expect(changes.lines == ["1 committed", "2 committed", "3 committed"])
    }

    @Test func `a take that is recovered is committed`() throws {
        let rig = try Rig(in: ArchivistTests().cutTake(), stuck: [.archivist])
        follow(rig)
        rig.stuck = []
        rig.turn()
        #expect(try rig.sidecars().map(\.recovered) == [true])
        #expect(changes.lines == ["1 committed"])
    }

    @Test func `a take that becomes FLAC is revised`() throws {
        let rig = try Rig { $0.convertsToFLAC = true }
        follow(rig)
        rig.run(.milliseconds(1000))
        rig.stuck = [.archivist]
        record(rig)
        #expect(try rig.sidecars().map(\.pendingFormat) == ["flac"])
        #expect(changes.lines == ["1 committed"])
        rig.stuck = []
        rig.run(.milliseconds(200))
        #expect(try rig.sidecars().map(\.pendingFormat) == [nil])
        #expect(changes.lines == ["1 committed", "1 revised"])
    }

    @Test func `takes that are dated later are revised, and those that are right are not`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        record(rig)
        record(rig)
        follow(rig)
        rig.clock.set(by: .seconds(3600))
        rig.deck.clockChanged()
        rig.run(.milliseconds(200))
        #expect(changes.lines == ["2 revised", "1 revised"])
        rig.deck.clockChanged()
        rig.run(.milliseconds(200))
        #expect(changes.lines.count == 2)
    }

    @Test func `a take that is deleted is discarded, and one that cannot be is not`() throws {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage))
        rig.run(.milliseconds(1000))
        record(rig)
        follow(rig)
        let stem = try #require(rig.deck.status.selected)
        storage.code = EIO
        rig.deck.perform(.discard(stem: stem)) { _ in }
        rig.work()
        #expect(changes.lines == [])
        storage.code = nil
        rig.run(.seconds(5))
        rig.deck.perform(.discard(stem: stem)) { _ in }
        rig.work()
        #expect(changes.lines == ["1 discarded"])
    }
}

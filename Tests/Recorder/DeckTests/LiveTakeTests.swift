import Live
import Ring
import Takes
import Testing
import Transport

@testable import Deck

/// The reports to programs about a take's position in the ring.
struct LiveTakeTests {
    @Test func `a take is announced with its first frame, again after lost sound, and when it ended`() throws {
        let rig = try Rig()
        var known: [LiveTake] = []
        rig.onEvent = { if case .live(let take) = $0 { known.append(take) } }
        rig.run(.seconds(1))
        rig.press(.record)
        rig.run(.seconds(2))
        #expect(known.count == 1)
        rig.card.overrun(for: .milliseconds(250))
        rig.run(.seconds(2))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(known.map(\.isOver) == [false, false, true] && Set(known.map(\.stem)) == [sidecar.take])
        let (begin, again, end) = (known[0], known[1], known[2])
        #expect(begin.frame == .first && begin.rateHz == 8000)
        // The press came a second after the card was opened.
        #expect(abs(begin.position.count - 8000) <= 200)
        let lost = sidecar.gaps.reduce(0) { $0 + $1.frames }
        #expect(lost > 1000)
        #expect((again.frame - begin.frame) - (again.position - begin.position) == lost)
        #expect(end.frame.count == sidecar.frames)
        #expect(end.frame - again.frame == end.position - again.position)
    }

    @Test func `of takes that follow each other the first ends where the second begins`() throws {
        let rig = try Rig { $0.rules.newTakeEvery = .seconds(5) }
        var known: [LiveTake] = []
        rig.onEvent = { if case .live(let take) = $0 { known.append(take) } }
        rig.run(.seconds(1))
        rig.press(.record)
        rig.run(.seconds(8))
        rig.press(.stop)
        rig.settle()
        #expect(known.map(\.isOver) == [false, true, false, true])
        #expect(known.count == 4 && known[1].position == known[2].position && known[2].frame == .first)
        #expect(known.map(\.stem) == [known[0].stem, known[0].stem, known[3].stem, known[3].stem])
    }
}

import Takes
import Testing

@testable import Recording

struct TimedTests {
    @Test func `what has a frame leaves in the order in which it came, and the rest waits`() {
        var timed = Timed<String>()
        for (element, nanoseconds) in [("a", 3), ("b", 1), ("c", 2)] as [(String, Int64)] {
            timed.append(element, at: Instant(nanoseconds: nanoseconds))
        }
        func placed(upTo limit: Int64) -> [String] {
            timed.takePlaced { $0.nanoseconds <= limit ? TakeFrame($0.nanoseconds * 10) : nil }.map { frame, element in
                "\(element) at \(frame.count)"
            }
        }
        #expect(placed(upTo: 0) == [])
        #expect(placed(upTo: 2) == ["b at 10", "c at 20"])
        #expect(placed(upTo: 9) == ["a at 30"])
        #expect(placed(upTo: 9) == [])
    }

    @Test func `what is in force until the next one comes waits for what came before it`() {
        var timed = Timed<String>()
        for (element, nanoseconds) in [("a", 1), ("b", 3), ("c", 2)] as [(String, Int64)] {
            timed.append(element, at: Instant(nanoseconds: nanoseconds))
        }
        func placed(upTo limit: Int64) -> [String] {
            timed.takePlacedInOrder { $0.nanoseconds <= limit ? TakeFrame($0.nanoseconds) : nil }.map(\.element)
        }
        #expect(placed(upTo: 2) == ["a"])
        #expect(placed(upTo: 3) == ["b", "c"])
        #expect(placed(upTo: 9) == [])
    }
}

import DiskCalls
import Takes
import Testing
import Upload

@testable import Library

@Suite(.waitsOnNamedThreads) struct StorePauseTests {
    private let begin = Instant(nanoseconds: 0)

    /// The pauses of consecutive failures, each at the end of the previous pause.
    private func pauses(_ pause: inout StorePause, _ count: Int, chance: Double = 1) -> [Duration] {
        var now = begin
        return (0..<count).compactMap { _ in
            guard let until = pause.failed(.away, at: now, chance: chance) else { return nil }
            defer { now = until }
            return until - now
        }
    }

    @Test func `the pause doubles while nothing arrives, up to five minutes`() {
        var pause = StorePause()
        #expect(pauses(&pause, 9) == [5, 10, 20, 40, 80, 160, 300, 300, 300].map { .seconds($0) })
        var hasty = StorePause()
        #expect(pauses(&hasty, 3, chance: 0) == [2.5, 5, 10].map { .seconds($0) })
        var long = StorePause()
        #expect(pauses(&long, 100).last == .seconds(300))
    }

    @Test func `after anything arrived, a failure costs a second, and the pauses begin anew`() {
        var pause = StorePause()
        _ = pauses(&pause, 9)
        pause.succeeded()
        #expect(pauses(&pause, 4) == [1, 5, 10, 20].map { .seconds($0) })
        pause.succeeded()
        #expect(pauses(&pause, 1, chance: 0) == [.milliseconds(500)])
    }

    @Test func `failures of what was begun beside the first one count once`() {
        var pause = StorePause()
        #expect(pause.failed(.away, at: begin, chance: 1) == begin + .seconds(5))
        #expect(pause.failed(.away, at: begin + .seconds(4), chance: 1) == nil)
        #expect(pause.failed(.refused, at: begin + .seconds(5), chance: 1) == begin + .seconds(15))
    }

    @Test func `another network, a stick or a person begins anew`() {
        var pause = StorePause()
        _ = pauses(&pause, 9)
        pause.reset()
        #expect(pauses(&pause, 2) == [.seconds(5), .seconds(10)])
    }

    @Test func `a server is given the time that it asks for, but no more than five minutes`() {
        for (asked, given) in [(1, 5), (60, 60), (86_400, 300)] {
            var pause = StorePause()
            #expect(pause.failed(.busy(.seconds(asked)), at: begin, chance: 1) == begin + .seconds(given))
        }
    }

    @Test func `with half of all attempts failing, a hundred attempts wait less than two minutes`() {
        var pause = StorePause()
        var now = begin
        for attempt in 0..<100 {
            if attempt % 2 == 0 {
                pause.succeeded()
            } else if let until = pause.failed(.away, at: now, chance: 1) {
                now = until
            }
        }
        #expect(now - begin < .seconds(120))
    }
}

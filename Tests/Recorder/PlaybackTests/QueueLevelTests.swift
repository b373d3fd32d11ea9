import Takes
import Testing

@testable import Playback

@Suite struct QueueLevelTests {
    private let format = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16)
    private let start = Instant(nanoseconds: 0)

    /// A level that has been at its target for a second.
    private func steady() -> QueueLevel {
        var level = QueueLevel(format: format, now: start - .seconds(1))
        #expect(level.target == 720)
        #expect(level.add(queued: level.target, now: start) == 0)
        return level
    }

    @Test func `the least of a second counts, and what is near the target is left as it is`() {
        var level = steady()
        for step in 1...100 {
            let queued = level.target + [900, 100, 2000, -100][step % 4]
            #expect(level.add(queued: queued, now: start + .milliseconds(20) * step) == 0)
            #expect(level.missing == 0)
        }
    }

    @Test(arguments: [-500, 500])
    func `what the queue is off by is corrected frame by frame`(excess: Int64) {
        var level = steady()
        #expect(level.add(queued: level.target + excess, now: start + .seconds(1)) == 0)
        #expect(level.missing == -excess)
        for _ in 0..<500 { level.corrected() }
        #expect(level.missing == 0)
        level.corrected()
        #expect(level.missing == 0)
    }

    @Test func `what is far too much is left out at once`() {
        var level = steady()
        #expect(level.add(queued: 9720, now: start + .milliseconds(500)) == 0)
        #expect(level.add(queued: 9820, now: start + .seconds(1)) == 9000)
        #expect(level.missing == 0)
    }

    @Test func `what is too much just after the sound has begun is left out at once`() {
        var level = steady()
        _ = level.add(queued: 5000, now: start + .milliseconds(900))
        level.restart(now: start + .seconds(1))
        #expect(level.add(queued: 1400, now: start + .milliseconds(1299)) == 0)
        #expect(level.add(queued: 1220, now: start + .milliseconds(1300)) == 500)
        #expect(level.missing == 0)
    }
}

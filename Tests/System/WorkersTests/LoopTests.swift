import Glibc
import Takes
import Testing
import Workers

@Suite struct LoopTests {
    /// A part that notes its calls, and ends the loop when its pipe can be read.
    private final class Part: LoopPart {
        let pipe: Int32
        let isReady: () -> Void
        let next: (Instant) -> Instant?
        var calls: [String] = []

        init(pipe: Int32 = -1, isReady: @escaping () -> Void = {}, next: @escaping (Instant) -> Instant?) {
            self.pipe = pipe
            self.isReady = isReady
            self.next = next
        }

        var fileDescriptors: [Int32] { [pipe] }

        func ready(now: Instant) {
            calls.append("ready")
            isReady()
        }

        func turn(now: Instant) -> Instant? {
            calls.append("turn")
            return next(now)
        }
    }

    @Test func `the loop waits for the earliest of its parts' deadlines, and for their descriptors`() {
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let loop = Loop(clock: SystemClock())
        var turns = 0
        let soon = Part { now in
            turns += 1
            // By the third turn nothing but the pipe can wake the loop.
            if turns == 3 { _ = unsafe write(ends[1], [0], 1) }
            return turns < 3 ? now + .milliseconds(1) : nil
        }
        let late = Part(pipe: ends[0], isReady: { loop.stop() }) { $0 + .seconds(3600) }
        loop.run([soon, late])
        #expect(soon.calls == ["turn", "turn", "turn"])
        #expect(late.calls == ["turn", "turn", "turn", "ready"])
    }
}

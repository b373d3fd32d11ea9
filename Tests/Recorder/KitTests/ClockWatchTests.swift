import Glibc
import Takes
import TestBench
import Testing

@testable import Kit

@Suite struct ClockWatchTests {
    private let clock = TestClock()

    @Test func `each setting of the date is seen once, with its way and its length`() {
        var watch = ClockWatch(clock)
        var seen: [Duration?] = [watch.step(clock)]
        for step in [Duration.seconds(315_576_000), .seconds(-631_152_000), .milliseconds(10), .milliseconds(-10)] {
            clock.advance(by: .seconds(2))
            clock.set(by: step)
            seen.append(watch.step(clock))
            seen.append(watch.step(clock))
        }
        #expect(
            seen == [
                nil, .seconds(315_576_000), nil, .seconds(-631_152_000), nil, .milliseconds(10), nil,
                .milliseconds(-10),
                nil,
            ])
    }

    @Test func `time that passes sets nothing, and what was read unevenly is no setting`() {
        var watch = ClockWatch(clock)
        clock.advance(by: .seconds(1_000_000))
        #expect(watch.step(clock) == nil)
        clock.set(by: .microseconds(9999))
        #expect(watch.step(clock) == nil)
        // Small steps add up.
        clock.set(by: .microseconds(9999))
        #expect(watch.step(clock) == .microseconds(19998))
    }

    @Test func `the kernel gives a file that cannot be read while the date is not set`() {
        let watch = ClockWatch(SystemClock())
        #expect(watch.fileDescriptor >= 0)
        var file = pollfd(fd: watch.fileDescriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&file, 1, 0) == 0)
        var count: UInt64 = 0
        #expect(read(watch.fileDescriptor, &count, 8) == -1 && errno == EAGAIN)
        #expect(fcntl(watch.fileDescriptor, F_GETFD) == FD_CLOEXEC)
    }

    @Test func `where the kernel reports nothing, the clocks are compared`() {
        final class Closed { var files: [Int32] = [] }
        let closed = Closed()
        var calls = ClockWatchCalls()
        calls.close = { closed.files.append($0) }
        calls.drain = { _ in Issue.record("nothing is to be read") }
        calls.make = { -1 }
        var watch = ClockWatch(clock, calls: calls)
        #expect(watch.fileDescriptor == -1)
        watch.drain()
        clock.set(by: .seconds(1))
        #expect(watch.step(clock) == .seconds(1))
        calls.make = { 99 }
        calls.arm = { _ in -1 }
        watch = ClockWatch(clock, calls: calls)
        #expect(watch.fileDescriptor == -1)
        #expect(closed.files == [99])
        clock.set(by: .seconds(1))
        #expect(watch.step(clock) == .seconds(1))
    }

    @Test func `its file is closed with it`() {
        final class Closed { var files: [Int32] = [] }
        let closed = Closed()
        var calls = ClockWatchCalls()
        calls.make = { 99 }
        calls.arm = { _ in 0 }
        calls.close = { closed.files.append($0) }
        do {
            let watch = ClockWatch(clock, calls: calls)
            #expect(watch.fileDescriptor == 99)
        }
        #expect(closed.files == [99])
    }
}

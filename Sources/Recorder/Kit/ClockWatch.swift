internal import CLinux
import Glibc
import Takes

/// Detects at once that the date was set.
struct ClockWatch: ~Copyable {
    /// Readable once the date was set, or −1 if the system does not report it.
    let fileDescriptor: Int32
    private let calls: ClockWatchCalls
    private var offset: ClockOffset

    /// The smallest step that counts. On a busy machine, the readings of the two clocks may be almost this far apart.
    static let smallest = Duration.milliseconds(10)

    init(_ clock: any Clock, calls: ClockWatchCalls = ClockWatchCalls()) {
        self.calls = calls
        offset = clock.offset()
        let descriptor = calls.make()
        if descriptor >= 0, calls.arm(descriptor) != 0 {
            calls.close(descriptor)
            fileDescriptor = -1
        } else {
            fileDescriptor = descriptor
        }
    }

    deinit {
        if fileDescriptor >= 0 { calls.close(fileDescriptor) }
    }

    /// Call it when the file descriptor is readable.
    func drain() {
        if fileDescriptor >= 0 { calls.drain(fileDescriptor) }
    }

    /// Returns how far the date was set forward since the last call (negative for backward), or nil if it was not set.
    ///
    /// The clocks themselves are compared; the file descriptor only says when to compare them.
    mutating func step(_ clock: any Clock) -> Duration? {
        let now = clock.offset()
        let step = now.step(since: offset)
        guard now.distance(to: offset) >= Self.smallest else { return nil }
        offset = now
        return step
    }
}

/// The system calls of a watch, one closure per call. They return what the system returns.
struct ClockWatchCalls {
    /// `timerfd_create(2)`.
    var make: () -> Int32 = { timerfd_create(CLOCK_REALTIME, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK)) }
    /// `timerfd_settime(2)`: a timer that never expires and is cancelled when the date is set.
    var arm: (Int32) -> Int32 = { descriptor in
        var never = itimerspec()
        never.it_value.tv_sec = .max
        return unsafe timerfd_settime(
            descriptor, Int32(TFD_TIMER_ABSTIME) | Int32(TFD_TIMER_CANCEL_ON_SET), &never, nil)
    }
    /// `read(2)`: fails with `ECANCELED` once after each setting, with `EAGAIN` otherwise.
    var drain: (Int32) -> Void = { descriptor in
        var count: UInt64 = 0
        _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
    }
    /// `close(2)`.
    var close: (Int32) -> Void = { _ = Glibc.close($0) }
}

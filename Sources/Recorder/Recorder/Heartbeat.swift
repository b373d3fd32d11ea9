internal import CLinux
import Glibc
import Panel
import Synchronization
import Takes

/// The core's heartbeat for a watching thread: the instant of the last beat, and a timer that wakes that thread only
/// when the next beat is late. While the core works, the watching thread is not woken.
final class Heartbeat: Sendable {
    /// Readable when no beat has come for `CoreWatch.askAfter`; negative if the system grants no timer.
    let fileDescriptor: Int32
    private let lastNanoseconds: Atomic<Int64>

    /// The first beat is at `start`.
    init(start: Instant) {
        fileDescriptor = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK))
        lastNanoseconds = Atomic(start.nanoseconds)
        beat(at: start)
    }

    deinit {
        if fileDescriptor >= 0 { close(fileDescriptor) }
    }

    var last: Instant { Instant(nanoseconds: lastNanoseconds.load(ordering: .acquiring)) }

    func beat(at now: Instant) {
        lastNanoseconds.store(now.nanoseconds, ordering: .releasing)
        let late = (now + CoreWatch.askAfter).nanoseconds
        var time = itimerspec()
        time.it_value = timespec(tv_sec: Int(late / 1_000_000_000), tv_nsec: Int(late % 1_000_000_000))
        // Safe: the structure outlives the call.
        unsafe timerfd_settime(fileDescriptor, Int32(TFD_TIMER_ABSTIME), &time, nil)
    }

    /// Makes the descriptor unreadable until the next beat is late.
    func drain() {
        var count: UInt64 = 0
        // Safe: the kernel writes 8 bytes.
        unsafe read(fileDescriptor, &count, 8)
    }
}

internal import CLinux
import Glibc
import Panel
import Synchronization
import Takes

/// The beats of the core, for another thread that watches it: an instant, and a timer that wakes that thread only when the
/// next beat is late. A core that works costs it no wake-ups.
final class Heartbeat: Sendable {
    /// Readable when no beat has come for `CoreWatch.askAfter`; negative where the system grants no timer.
    let fileDescriptor: Int32
    private let lastNanoseconds: Atomic<Int64>

    /// A core that beats at `start`.
    init(start: Instant) {
        fileDescriptor = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK))
        lastNanoseconds = Atomic(start.nanoseconds)
        beat(at: start)
    }

    deinit {
        if fileDescriptor >= 0 { close(fileDescriptor) }
    }

    /// The last beat.
    var last: Instant { Instant(nanoseconds: lastNanoseconds.load(ordering: .acquiring)) }

    /// The core works at `now`.
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

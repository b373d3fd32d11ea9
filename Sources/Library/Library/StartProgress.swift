import Glibc
import Takes

/// Whether the start of the library advances, by the processor time that the process uses. Pure.
///
/// A process that waits for a storage that hangs uses none.
struct StartProgress {
    private var used: Duration

    /// The interval of the looks.
    static let interval = Duration.seconds(30)
    /// The time that a start is given from each look at which it advances: as long as `TimeoutStartSec=` of
    /// `fieldfare-library.service`.
    static let patience = Duration.seconds(180)
    /// Reading 100 KiB/s from a slow card uses more in each interval.
    private static let least = Duration.milliseconds(10)

    /// - Parameter used: the processor time so far.
    init(_ used: Duration) { self.used = used }

    /// Whether the start advanced since the last look.
    mutating func advances(_ used: Duration) -> Bool {
        defer { self.used = used }
        return used - self.used >= Self.least
    }

    /// The processor time of all threads of this process.
    @Sendable static func processorTime() -> Duration {
        var time = timespec()
        // Safe: the kernel writes only the given structure.
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

import Glibc
import Synchronization

/// The rights of a thread that must not be late, where the system grants them.
public enum RealTime {
    /// The priority of the capture thread, of 1 to 99 (`SCHED_FIFO`): above interrupts that are handled in threads, which
    /// have 50; it does little at a time.
    static let priority: Int32 = 60
    /// `MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT` of `mlockall(2)`: what was touched stays in memory, what was not costs none.
    private static let lockOnFault: Int32 = 1 | 2 | 4

    /// A sentence for each right that the process lacks, found out once: it is kept in memory from then on, if it may be.
    public static let warnings: [String] = [lockMemory(), trySchedule()].compactMap(\.self)
    private static let told = Atomic<Bool>(false)

    /// Keeps the process in memory, and finds out whether its threads may be real-time. Does something once.
    /// - Returns: a sentence for each right that is missing; the first time only.
    public static func enter() -> [String] {
        let warnings = warnings
        return told.exchange(true, ordering: .relaxed) ? [] : warnings
    }

    /// Makes the calling thread real-time, if it may be.
    static func enterThread() {
        _ = schedule(SCHED_FIFO, priority)
    }

    private static func schedule(_ policy: Int32, _ priority: Int32) -> Int32 {
        var parameters = sched_param()
        parameters.sched_priority = priority
        return unsafe pthread_setschedparam(pthread_self(), policy, &parameters)
    }

    /// Tries it on the calling thread, for a moment.
    private static func trySchedule() -> String? {
        var policy: Int32 = 0
        var parameters = sched_param()
        unsafe pthread_getschedparam(pthread_self(), &policy, &parameters)
        let status = schedule(SCHED_FIFO, priority)
        if status == 0 {
            _ = schedule(policy, parameters.sched_priority)
            return nil
        }
        return "capture: thread: cannot become real-time: \(text(status)) (frames may be lost under load; "
            + "LimitRTPRIO=\(priority) in the unit grants it)"
    }

    private static func lockMemory() -> String? {
        let advice = "(a page fault may lose frames; LimitMEMLOCK=infinity in the unit grants it)"
        releaseCode()
        guard mlockall(lockOnFault) == 0 else {
            return "capture: memory: cannot keep it from being paged out: \(text(errno)) \(advice)"
        }
        // Under a limit every later allocation beyond it would fail: rather do without.
        let much = 1 << 30
        let flags = MAP_PRIVATE | Int32(MAP_ANONYMOUS) | Int32(MAP_NORESERVE)
        let probe = unsafe mmap(nil, much, PROT_READ | PROT_WRITE, flags, -1, 0)
        guard unsafe probe != MAP_FAILED else {
            munlockall()
            return "capture: memory: cannot keep it from being paged out: the limit is too small \(advice)"
        }
        unsafe munmap(probe, much)
        return nil
    }

    /// Lets go of the code that was needed to start, most of what was touched so far: it would be kept for good. What is
    /// needed again comes back from the page cache. Code alone, which nothing has changed since it was mapped.
    private static func releaseCode() {
        for line in (SystemFile.text("/proc/self/maps") ?? "").split(separator: "\n") {
            // 55d0-55e0 r-xp 00002000 fd:00 1234 /usr/bin/program (proc_pid_maps(5))
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard fields.count > 5, fields[1] == "r-xp", fields[5].hasPrefix("/"), ends.count == 2, ends[0] < ends[1]
            else { continue }
            unsafe madvise(UnsafeMutableRawPointer(bitPattern: ends[0]), Int(ends[1] - ends[0]), MADV_DONTNEED)
        }
    }

    private static func text(_ code: Int32) -> String {
        // Safe: a string that lives until the next call on this thread.
        unsafe String(cString: strerror(code))
    }
}

import Glibc
import Synchronization

/// The rights of a thread that must not be late, where the system grants them.
public enum RealTime {
    /// The priority of the capture thread, of 1 to 99 (`SCHED_FIFO`): above the kernel's interrupt threads, which have 50. It does
    /// little at a time.
    static let priority: Int32 = 60
    /// `MCL_FUTURE | MCL_ONFAULT` of `mlockall(2)`: pages of mappings that are made from now on stay in memory once they were
    /// touched, others take none.
    private static let lockFuture: Int32 = 2 | 4
    /// `MCL_CURRENT`: those of present mappings as well.
    private static let lockCurrent: Int32 = 1

    /// A sentence for each right that the process lacks. Reading this the first time has what the process maps from then on locked
    /// in memory, if it may be.
    public static let warnings: [String] = [lockRefusal, trySchedule()].compactMap(\.self)
    /// Why nothing is locked; nil: what is mapped from now on is.
    private static let lockRefusal = lockFutureMemory()
    private static let hasReported = Atomic<Bool>(false)
    private static let hasLockedAll = Atomic<Bool>(false)

    /// Has what the process maps from now on locked in memory, and finds out whether its threads may be real-time; once.
    /// - Returns: a sentence for each right that is missing; the first time only.
    public static func enter() -> [String] {
        let warnings = warnings
        return hasReported.exchange(true, ordering: .relaxed) ? [] : warnings
    }

    /// Locks in memory what the process has touched so far and needs again, if it may; once.
    static func lockTouchedMemory() {
        guard lockRefusal == nil, !hasLockedAll.exchange(true, ordering: .relaxed) else { return }
        releaseCode()
        mlockall(lockCurrent | lockFuture)
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

    /// Makes the calling thread real-time for a moment.
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

    private static func lockFutureMemory() -> String? {
        let advice = "(a page fault may lose frames; LimitMEMLOCK=infinity in the unit grants it)"
        guard mlockall(lockFuture) == 0 else {
            return "capture: memory: cannot keep it from being paged out: \(text(errno)) \(advice)"
        }
        // Under a limit every later allocation beyond it would fail: it is better not to lock.
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

    /// Releases the pages of code, which are most of what was touched so far and would stay locked. Those that are needed again
    /// are read from the page cache. Only code, which has not changed since it was mapped.
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

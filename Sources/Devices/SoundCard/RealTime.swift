import Files
import Glibc
import Synchronization
import Takes

/// The real-time and memory-locking rights of threads that must not be late, if the system grants them.
public enum RealTime {
    /// The priority of the capture thread, from 1 to 99 (`SCHED_FIFO`). It is above the kernel's interrupt threads,
    /// which have 50, because the thread does little work at a time.
    static let priority: Int32 = 60
    /// `MCL_FUTURE | MCL_ONFAULT` of `mlockall(2)`: pages of future mappings stay in memory once they are touched;
    /// untouched pages take no memory.
    private static let lockFuture: Int32 = 2 | 4
    /// `MCL_CURRENT`: also the pages of present mappings.
    private static let lockCurrent: Int32 = 1

    /// A sentence for each right that the process lacks. The first read locks future mappings in memory, if that is
    /// allowed.
    public static let warnings: [String] = [lockRefusal, trySchedule()].compactMap(\.self)
    /// Why memory cannot be locked, or nil if future mappings are locked.
    private static let lockRefusal = lockFutureMemory()
    private static let hasReported = Atomic<Bool>(false)
    private static let hasLockedAll = Atomic<Bool>(false)

    /// Locks future mappings in memory, and tests whether threads may become real-time. Only the first call has an
    /// effect.
    /// - Returns: at the first call, a sentence for each right that is missing.
    public static func enter() -> [String] {
        let warnings = warnings
        return hasReported.exchange(true, ordering: .relaxed) ? [] : warnings
    }

    /// Locks the memory that the process has touched so far and needs again, if that is allowed. Only the first call
    /// has an effect.
    static func lockTouchedMemory() {
        guard lockRefusal == nil, !hasLockedAll.exchange(true, ordering: .relaxed) else { return }
        releaseCode()
        mlockall(lockCurrent | lockFuture)
    }

    /// Makes the calling thread real-time, if that is allowed.
    static func enterThread() {
        _ = schedule(SCHED_FIFO, priority)
    }

    private static func schedule(_ policy: Int32, _ priority: Int32) -> Int32 {
        var parameters = sched_param()
        parameters.sched_priority = priority
        return unsafe pthread_setschedparam(pthread_self(), policy, &parameters)
    }

    /// Makes the calling thread real-time for a moment, to test whether that is allowed.
    private static func trySchedule() -> String? {
        var policy: Int32 = 0
        var parameters = sched_param()
        unsafe pthread_getschedparam(pthread_self(), &policy, &parameters)
        let status = schedule(SCHED_FIFO, priority)
        if status == 0 {
            _ = schedule(policy, parameters.sched_priority)
            return nil
        }
        return "capture: thread: cannot become real-time: \(SystemError(status)) (frames may be lost under load; "
            + "LimitRTPRIO=\(priority) in the unit grants it)"
    }

    private static func lockFutureMemory() -> String? {
        let advice = "(a page fault may lose frames; LimitMEMLOCK=infinity in the unit grants it)"
        guard mlockall(lockFuture) == 0 else {
            return "capture: memory: cannot keep it from being paged out: \(SystemError(errno)) \(advice)"
        }
        // With a memory limit, every later allocation beyond it would fail. Then it is better not to lock.
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

    /// Releases the pages of code, which are most of the touched pages and would otherwise be locked. Pages that are
    /// needed again are read from the page cache. Only code is released, because it has not changed since it was
    /// mapped.
    private static func releaseCode() {
        for line in (SystemFile.text("/proc/self/maps") ?? "").split(separator: "\n") {
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard fields.count > 5, fields[1] == "r-xp", fields[5].hasPrefix("/"), ends.count == 2, ends[0] < ends[1]
            else { continue }
            unsafe madvise(UnsafeMutableRawPointer(bitPattern: ends[0]), Int(ends[1] - ends[0]), MADV_DONTNEED)
        }
    }
}

import Glibc

/// Memory of the process in whole pages, zeroed by the kernel. A page becomes present, and takes memory, at its first
/// write or by `makePresent`. Unmapped when it goes out of scope.
@safe struct Pages: ~Copyable {
    let start: UnsafeMutableRawPointer
    let byteCount: Int

    /// This many bytes become present at a time, because the kernel blocks page faults of other threads during the
    /// call.
    private static let chunk = 1 << 18

    /// Allocates at least this many bytes. None of them is present.
    init(byteCount: Int) {
        let page = max(1, sysconf(Int32(_SC_PAGESIZE)))
        self.byteCount = max(1, (byteCount + page - 1) / page) * page
        let flags = MAP_PRIVATE | Int32(MAP_ANONYMOUS)
        // Safe: this is a separate mapping of this length, until deinit.
        let mapped = unsafe mmap(nil, self.byteCount, PROT_READ | PROT_WRITE, flags, -1, 0)
        guard unsafe mapped != MAP_FAILED, let mapped = unsafe mapped else { fatalError("out of memory") }
        unsafe start = mapped
        // All of it becomes present. Huge pages become present sooner and are copied faster, because they are fewer.
        unsafe madvise(start, self.byteCount, MADV_HUGEPAGE)
    }

    deinit {
        unsafe munmap(start, byteCount)
    }

    /// Makes the pages of these bytes present and writable. Their content does not change, even while other threads
    /// write.
    /// - Returns: whether the kernel supports it (`MADV_POPULATE_WRITE`, Linux 5.14).
    @discardableResult
    func makePresent(_ bytes: Range<Int>) -> Bool {
        var next = bytes.lowerBound / Self.chunk * Self.chunk
        while next < min(bytes.upperBound, byteCount) {
            // Safe: within the mapping.
            let status = unsafe madvise(start + next, min(Self.chunk, byteCount - next), MADV_POPULATE_WRITE)
            guard status == 0 || errno != EINVAL else { return false }
            next += Self.chunk
        }
        return true
    }

    /// Writes zeroes to all of it, which makes it present on any kernel. No other thread may write to it at the same
    /// time.
    func clear() {
        unsafe memset(start, 0, byteCount)
    }
}

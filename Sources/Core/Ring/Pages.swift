import Glibc

/// Memory of the process in whole pages, zeroed by the kernel. A page takes memory once it is present: at its first write, or by
/// `makePresent`. Unmapped when it goes out of scope.
@safe struct Pages: ~Copyable {
    let start: UnsafeMutableRawPointer
    let byteCount: Int

    /// So many bytes become present at a time: the kernel keeps page faults of other threads waiting meanwhile.
    private static let chunk = 1 << 18

    /// At least so many bytes, of which none is present.
    init(byteCount: Int) {
        let page = max(1, sysconf(Int32(_SC_PAGESIZE)))
        self.byteCount = max(1, (byteCount + page - 1) / page) * page
        let flags = MAP_PRIVATE | Int32(MAP_ANONYMOUS)
        // Safe: a mapping of its own, of this length, until deinit.
        let mapped = unsafe mmap(nil, self.byteCount, PROT_READ | PROT_WRITE, flags, -1, 0)
        guard unsafe mapped != MAP_FAILED, let mapped = unsafe mapped else { fatalError("out of memory") }
        unsafe start = mapped
        // All of it becomes present: fewer, larger pages are made so sooner, and copied through faster.
        unsafe madvise(start, self.byteCount, MADV_HUGEPAGE)
    }

    deinit {
        unsafe munmap(start, byteCount)
    }

    /// Makes the pages of these bytes present and writable. What is in them stays as it is, also while other threads write.
    /// - Returns: whether the kernel knows how (`MADV_POPULATE_WRITE`, Linux 5.14).
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

    /// Writes zeroes to all of it, which makes it present with any kernel. Only while no thread writes to it.
    func clear() {
        unsafe memset(start, 0, byteCount)
    }
}

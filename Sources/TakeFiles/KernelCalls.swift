import Glibc

/// The kernel's own calls.
public struct KernelCalls: SystemCalls {
    /// The kernel's own calls.
    public init() {}

    /// `open(2)`.
    public func open(_ path: String, flags: Int32, mode: UInt32) throws(Errno) -> Int32 {
        try Self.check(unsafe Glibc.open(path, flags, mode))
    }

    /// `close(2)`.
    public func close(_ descriptor: Int32) {
        _ = Glibc.close(descriptor)
    }

    /// `pwrite(2)`.
    public func pwrite(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64
    ) throws(Errno) -> Int {
        try Self.check(unsafe Glibc.pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset)))
    }

    /// `pread(2)`.
    public func pread(
        _ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(Errno) -> Int {
        try Self.check(unsafe Glibc.pread(descriptor, bytes.baseAddress, bytes.count, off_t(offset)))
    }

    /// `fdatasync(2)`.
    public func fdatasync(_ descriptor: Int32) throws(Errno) {
        _ = try Self.check(Glibc.fdatasync(descriptor))
    }

    /// `fsync(2)`.
    public func fsync(_ descriptor: Int32) throws(Errno) {
        _ = try Self.check(Glibc.fsync(descriptor))
    }

    /// `posix_fadvise(2)`, which returns its error number.
    public func forget(_ descriptor: Int32) throws(Errno) {
        let code = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        guard code == 0 else { throw Errno(code: code) }
    }

    /// `lseek(2)`, to the end. Nothing here reads or writes where that leaves the descriptor.
    public func length(_ descriptor: Int32) throws(Errno) -> Int64 {
        Int64(try Self.check(lseek(descriptor, 0, SEEK_END)))
    }

    /// `ftruncate(2)`.
    public func ftruncate(_ descriptor: Int32, to byteCount: Int64) throws(Errno) {
        _ = try Self.check(Glibc.ftruncate(descriptor, off_t(byteCount)))
    }

    /// `fchmod(2)`.
    public func fchmod(_ descriptor: Int32, _ mode: UInt32) throws(Errno) {
        _ = try Self.check(Glibc.fchmod(descriptor, mode))
    }

    /// `flock(2)`.
    public func lock(_ descriptor: Int32) throws(Errno) {
        _ = try Self.check(flock(descriptor, LOCK_EX | LOCK_NB))
    }

    /// `rename(2)`.
    public func rename(_ from: String, to: String) throws(Errno) {
        _ = try Self.check(unsafe Glibc.rename(from, to))
    }

    /// `unlink(2)`.
    public func unlink(_ path: String) throws(Errno) {
        _ = try Self.check(unsafe Glibc.unlink(path))
    }

    /// `mkdir(2)`.
    public func mkdir(_ path: String, mode: UInt32) throws(Errno) {
        _ = try Self.check(unsafe Glibc.mkdir(path, mode))
    }

    /// `statvfs(3)`.
    public func freeBytes(_ path: String) throws(Errno) -> Int64 {
        var found = statvfs()
        _ = try Self.check(unsafe statvfs(path, &found))
        return Int64(clamping: UInt64(found.f_bavail).multipliedReportingOverflow(by: UInt64(found.f_frsize)).0)
    }

    /// `stat(2)`.
    public func identity(_ path: String) throws(Errno) -> FileIdentity {
        var found = stat()
        _ = try Self.check(unsafe stat(path, &found))
        return FileIdentity(device: UInt64(found.st_dev), inode: UInt64(found.st_ino))
    }

    /// `access(2)`.
    public func checkWritable(_ path: String) throws(Errno) {
        _ = try Self.check(unsafe access(path, W_OK))
    }

    /// `opendir(3)`, `readdir(3)`.
    public func entries(_ path: String) throws(Errno) -> [String] {
        guard let folder = unsafe opendir(path) else { throw Errno(code: errno) }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while true {
            // readdir tells its end from an error by errno alone.
            errno = 0
            guard let entry = unsafe readdir(folder) else { break }
            // Safe: the kernel ends d_name with a zero byte, and the entry lives until the next readdir.
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe String(cString: UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw Errno(code: errno) }
        return names
    }

    private static func check<Number: SignedInteger>(_ result: Number) throws(Errno) -> Number {
        guard result >= 0 else { throw Errno(code: errno) }
        return result
    }
}

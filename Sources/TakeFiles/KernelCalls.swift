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

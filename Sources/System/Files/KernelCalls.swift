internal import CLinux
import Glibc

/// The calls of the kernel and the C library.
public struct KernelCalls: SystemCalls {
    public init() {}

    public func open(_ path: String, flags: Int32, mode: UInt32) throws(Errno) -> Int32 {
        try Self.check(unsafe Glibc.open(path, flags, mode))
    }

    public func close(_ descriptor: Int32) {
        _ = Glibc.close(descriptor)
    }

    public func pwrite(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64
    ) throws(Errno) -> Int {
        try Self.check(unsafe Glibc.pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset)))
    }

    public func pread(
        _ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(Errno) -> Int {
        try Self.check(unsafe Glibc.pread(descriptor, bytes.baseAddress, bytes.count, off_t(offset)))
    }

    public func fdatasync(_ descriptor: Int32) throws(Errno) {
        _ = try Self.check(Glibc.fdatasync(descriptor))
    }

    public func fsync(_ descriptor: Int32) throws(Errno) {
        _ = try Self.check(Glibc.fsync(descriptor))
    }

    /// `posix_fadvise(2)`, which returns its error number.
    public func dropCache(_ descriptor: Int32) throws(Errno) {
        let code = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        guard code == 0 else { throw Errno(code: code) }
    }

    /// `fstat(2)`. Only a regular file has a length: a folder is refused with `EISDIR`, anything else with `ESPIPE`.
    public func length(_ descriptor: Int32) throws(Errno) -> Int64 {
        var status = stat()
        // Safe: `status` is written only during the call.
        _ = try Self.check(unsafe fstat(descriptor, &status))
        switch status.st_mode & S_IFMT {
        case S_IFREG: return Int64(status.st_size)
        case S_IFDIR: throw Errno(code: EISDIR)
        default: throw Errno(code: ESPIPE)
        }
    }

    public func ftruncate(_ descriptor: Int32, to byteCount: Int64) throws(Errno) {
        _ = try Self.check(Glibc.ftruncate(descriptor, off_t(byteCount)))
    }

    public func fchmod(_ descriptor: Int32, _ mode: UInt32) throws(Errno) {
        _ = try Self.check(Glibc.fchmod(descriptor, mode))
    }

    /// `flock(2)`.
    public func lock(_ descriptor: Int32) throws(Errno) {
        _ = try Self.check(flock(descriptor, LOCK_EX | LOCK_NB))
    }

    /// `flock(2)`.
    public func unlock(_ descriptor: Int32) { flock(descriptor, LOCK_UN) }

    /// `fcntl(2)`.
    public func claim(_ descriptor: Int32) throws(Errno) { _ = try Self.check(fieldfare_claim(descriptor)) }

    /// `fcntl(2)`.
    public func isClaimed(_ descriptor: Int32) throws(Errno) -> Bool {
        try Self.check(fieldfare_is_claimed(descriptor)) > 0
    }

    public func rename(_ from: String, to: String) throws(Errno) {
        _ = try Self.check(unsafe Glibc.rename(from, to))
    }

    /// `renameat2(2)`.
    public func renameNew(_ from: String, to: String) throws(Errno) {
        _ = try Self.check(unsafe fieldfare_rename_new(from, to))
    }

    public func unlink(_ path: String) throws(Errno) {
        _ = try Self.check(unsafe Glibc.unlink(path))
    }

    public func rmdir(_ path: String) throws(Errno) {
        _ = try Self.check(unsafe Glibc.rmdir(path))
    }

    public func mkdir(_ path: String, mode: UInt32) throws(Errno) {
        _ = try Self.check(unsafe Glibc.mkdir(path, mode))
    }

    /// `statvfs(3)`.
    public func freeBytes(_ path: String) throws(Errno) -> Int64 {
        var found = statvfs()
        _ = try Self.check(unsafe statvfs(path, &found))
        return Int64(clamping: UInt64(found.f_bavail).multipliedReportingOverflow(by: UInt64(found.f_frsize)).0)
    }

    /// `statvfs(3)`.
    public func totalBytes(_ path: String) throws(Errno) -> Int64 {
        var found = statvfs()
        _ = try Self.check(unsafe statvfs(path, &found))
        return Int64(clamping: UInt64(found.f_blocks).multipliedReportingOverflow(by: UInt64(found.f_frsize)).0)
    }

    /// `statfs(2)`.
    public func fileSystemMagic(_ path: String) throws(Errno) -> UInt32 {
        var found = statfs()
        _ = try Self.check(unsafe statfs(path, &found))
        return UInt32(truncatingIfNeeded: found.f_type)
    }

    /// `stat(2)`.
    public func identity(_ path: String) throws(Errno) -> FileIdentity {
        var found = stat()
        _ = try Self.check(unsafe stat(path, &found))
        return FileIdentity(device: UInt64(found.st_dev), inode: UInt64(found.st_ino))
    }

    /// `stat(2)`.
    public func attributes(_ path: String) throws(Errno) -> FileAttributes {
        var found = stat()
        _ = try Self.check(unsafe stat(path, &found))
        func nanoseconds(_ time: timespec) -> Int64 { Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec) }
        return FileAttributes(
            byteCount: Int64(found.st_size), modifiedNs: nanoseconds(found.st_mtim),
            inode: Int64(bitPattern: UInt64(found.st_ino)), changedNs: nanoseconds(found.st_ctim))
    }

    /// `fstat(2)`.
    public func status(_ descriptor: Int32) throws(Errno) -> FileStatus {
        var found = stat()
        // Safe: `found` is written only during the call.
        _ = try Self.check(unsafe fstat(descriptor, &found))
        return Self.status(found)
    }

    /// `lstat(2)`.
    public func status(named path: String) throws(Errno) -> FileStatus {
        var found = stat()
        // Safe: `found` is written only during the call.
        _ = try Self.check(unsafe lstat(path, &found))
        return Self.status(found)
    }

    private static func status(_ found: stat) -> FileStatus {
        let kind: FileStatus.Kind =
            switch found.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            default: .other
            }
        return FileStatus(
            linkCount: Int(found.st_nlink), byteCount: Int64(found.st_size),
            identity: FileIdentity(device: UInt64(found.st_dev), inode: UInt64(found.st_ino)), kind: kind)
    }

    /// `linkat(2)` through `/proc`: `AT_EMPTY_PATH` needs a capability that the recorder does not have.
    public func link(_ descriptor: Int32, to path: String) throws(Errno) {
        let open = "/proc/self/fd/\(descriptor)"
        _ = try Self.check(unsafe linkat(AT_FDCWD, open, AT_FDCWD, path, AT_SYMLINK_FOLLOW))
    }

    /// `statvfs(3)`.
    public func freeFiles(_ path: String) throws(Errno) -> Int64? {
        var found = statvfs()
        _ = try Self.check(unsafe statvfs(path, &found))
        // FAT and btrfs do not count files, and report 0.
        return found.f_files == 0 ? nil : Int64(clamping: found.f_favail)
    }

    /// `access(2)`.
    public func checkWritable(_ path: String) throws(Errno) {
        _ = try Self.check(unsafe access(path, W_OK))
    }

    /// `opendir(3)`, `readdir(3)`.
    public func entries(_ path: String) throws(Errno) -> [String] { try entries(path, most: .max) }

    /// `opendir(3)`, `readdir(3)`.
    public func entries(_ path: String, most: Int) throws(Errno) -> [String] {
        guard let folder = unsafe opendir(path) else { throw Errno(code: errno) }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while names.count < most, let name = unsafe try Self.next(folder) {
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// `telldir(3)`, `seekdir(3)`: positions count as on exFAT, in bytes of the folder.
    public func entryStart(_ name: String, in folder: String) throws(Errno) -> Int64? {
        guard let folder = unsafe opendir(folder) else { throw Errno(code: errno) }
        defer { unsafe closedir(folder) }
        var start = 0
        while let found = unsafe try Self.next(folder), found != name { start = unsafe telldir(folder) }
        // `readdir` returns this entry from any position after the start of the previous entry up to its own start.
        start -= start % Self.entryBytes
        var last: Int64?
        while true {
            unsafe seekdir(folder, start)
            var found = unsafe try Self.next(folder)
            while found == "." || found == ".." { found = unsafe try Self.next(folder) }
            guard found == name else { return last }
            last = Int64(start)
            start += Self.entryBytes
        }
    }

    /// `fallocate(2)`.
    public func allocate(_ descriptor: Int32, byteCount: Int64) throws(Errno) {
        _ = try Self.check(fieldfare_allocate(descriptor, byteCount))
    }

    /// `fcntl(2)`.
    public func bypassCache(_ descriptor: Int32) throws(Errno) {
        _ = try Self.check(fieldfare_bypass_cache(descriptor))
    }

    /// `FS_IOC_FIEMAP`, one extent per call.
    public func extents(_ descriptor: Int32) throws(Errno) -> [FileExtent] {
        var extents: [FileExtent] = []
        var next: Int64 = 0
        while true {
            var (offset, place, byteCount): (Int64, Int64, Int64) = (0, 0, 0)
            // Safe: the three variables are written only during the call.
            let found = try Self.check(unsafe fieldfare_extent(descriptor, next, &offset, &place, &byteCount))
            guard found < 2 else { throw Errno(code: EOPNOTSUPP) }
            guard found > 0, byteCount > 0 else { return extents }
            extents.append(FileExtent(offset: offset, place: place, byteCount: byteCount))
            next = offset + byteCount
        }
    }

    /// The size of an exFAT folder entry in bytes.
    private static let entryBytes = 32

    /// The next name in a folder, or nil at its end.
    private static func next(_ folder: OpaquePointer) throws(Errno) -> String? {
        // `readdir` returns nil at the end and on an error. Only errno tells them apart.
        errno = 0
        guard let entry = unsafe readdir(folder) else {
            guard errno == 0 else { throw Errno(code: errno) }
            return nil
        }
        // Safe: the kernel ends d_name with a zero byte, and the entry is valid until the next readdir.
        return unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
            unsafe String(cString: UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self))
        }
    }

    private static func check<Number: SignedInteger>(_ result: Number) throws(Errno) -> Number {
        guard result >= 0 else { throw Errno(code: errno) }
        return result
    }
}

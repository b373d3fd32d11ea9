import Glibc

/// The calls by which takes reach the disk: one door a system call, so that a test can stand in each of them.
///
/// Nothing is retried and nothing is judged here; `FileSystem` does that.
public protocol SystemCalls: Sendable {
    /// `open(2)`.
    func open(_ path: String, flags: Int32, mode: UInt32) throws(Errno) -> Int32
    /// `close(2)`. Its result says nothing that a sync has not said.
    func close(_ descriptor: Int32)
    /// `pwrite(2)`: at most all of `bytes`.
    /// - Returns: how many bytes were written.
    func pwrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) -> Int
    /// `pread(2)`.
    /// - Returns: how many bytes were read; 0 at the end of the file.
    func pread(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int
    /// `fdatasync(2)`.
    func fdatasync(_ descriptor: Int32) throws(Errno)
    /// `fsync(2)`, of a file or a folder.
    func fsync(_ descriptor: Int32) throws(Errno)
    /// `posix_fadvise(2)` with `POSIX_FADV_DONTNEED`, for all of the file.
    func dropCache(_ descriptor: Int32) throws(Errno)
    /// `lseek(2)`, to the end: how many bytes a file has.
    func length(_ descriptor: Int32) throws(Errno) -> Int64
    /// `ftruncate(2)`.
    func ftruncate(_ descriptor: Int32, to byteCount: Int64) throws(Errno)
    /// `fchmod(2)`.
    func fchmod(_ descriptor: Int32, _ mode: UInt32) throws(Errno)
    /// `flock(2)`: exclusive, without waiting.
    func lock(_ descriptor: Int32) throws(Errno)
    /// `flock(2)`: ends the lock. It cannot fail in a way that a caller could act on.
    func unlock(_ descriptor: Int32)
    /// `fcntl(2)` with `F_OFD_SETLK`: a lock for writing, behind all that the file may hold, as long as it is open.
    func claim(_ descriptor: Int32) throws(Errno)
    /// `fcntl(2)` with `F_OFD_GETLK`: whether who has the file open elsewhere has such a lock.
    func isClaimed(_ descriptor: Int32) throws(Errno) -> Bool
    /// `rename(2)`.
    func rename(_ from: String, to: String) throws(Errno)
    /// `renameat2(2)` with `RENAME_NOREPLACE`: fails with `EEXIST` if there is a file of the new name.
    func renameNew(_ from: String, to: String) throws(Errno)
    /// `unlink(2)`.
    func unlink(_ path: String) throws(Errno)
    /// `rmdir(2)`.
    func rmdir(_ path: String) throws(Errno)
    /// `mkdir(2)`.
    func mkdir(_ path: String, mode: UInt32) throws(Errno)
    /// `statvfs(3)`: the bytes that are free for this process.
    func freeBytes(_ path: String) throws(Errno) -> Int64
    /// `statfs(2)`: the number that names the kind of file system, `f_type`.
    func fileSystemMagic(_ path: String) throws(Errno) -> UInt32
    /// `stat(2)`.
    func identity(_ path: String) throws(Errno) -> FileIdentity
    /// `stat(2)`: what tells whether a file is the one that was there before.
    func attributes(_ path: String) throws(Errno) -> FileAttributes
    /// `access(2)`: fails if this process may not write there, or no process can.
    func checkWritable(_ path: String) throws(Errno)
    /// `opendir(3)`, `readdir(3)`: the names in a folder, in no order, without `.` and `..`.
    func entries(_ path: String) throws(Errno) -> [String]
    /// The same, of `most` names at most.
    func entries(_ path: String, most: Int) throws(Errno) -> [String]
    /// `telldir(3)`: where the entry of a file begins in a folder, where that is in bytes; nil: there is no such file.
    func entryStart(_ name: String, in folder: String) throws(Errno) -> Int64?
    /// `fallocate(2)`, from the beginning of the file: its length grows to `byteCount`.
    func allocate(_ descriptor: Int32, byteCount: Int64) throws(Errno)
    /// `fcntl(2)` with `F_SETFL` and `O_DIRECT`.
    func bypassCache(_ descriptor: Int32) throws(Errno)
    /// `ioctl(2)` with `FS_IOC_FIEMAP`: where the file lies on its device.
    func extents(_ descriptor: Int32) throws(Errno) -> [FileExtent]
    /// `fstat(2)`: what an open file is, whatever path leads to it.
    func status(_ descriptor: Int32) throws(Errno) -> FileStatus
    /// `lstat(2)`: what has a name, and not what that leads to.
    func status(named path: String) throws(Errno) -> FileStatus
    /// `linkat(2)` of `/proc/self/fd`: gives an open file that has a name another one.
    func link(_ descriptor: Int32, to path: String) throws(Errno)
    /// `statvfs(3)`: how many files can still be made; nil: the file system does not count them.
    func freeFiles(_ path: String) throws(Errno) -> Int64?
}

extension SystemCalls {
    /// Does nothing: a storage that keeps nothing in memory has nothing to let go of.
    public func dropCache(_ descriptor: Int32) throws(Errno) {}

    /// Reads all of them.
    public func entries(_ path: String, most: Int) throws(Errno) -> [String] { Array(try entries(path).prefix(most)) }

    /// Cannot be done.
    public func claim(_ descriptor: Int32) throws(Errno) { throw Errno(code: ENOSYS) }

    /// Not known.
    public func isClaimed(_ descriptor: Int32) throws(Errno) -> Bool { throw Errno(code: ENOSYS) }

    /// Cannot be done in one call.
    public func renameNew(_ from: String, to: String) throws(Errno) { throw Errno(code: ENOSYS) }

    /// Not known.
    public func entryStart(_ name: String, in folder: String) throws(Errno) -> Int64? { nil }

    /// Not known.
    public func attributes(_ path: String) throws(Errno) -> FileAttributes { throw Errno(code: ENOSYS) }

    /// Cannot be done.
    public func allocate(_ descriptor: Int32, byteCount: Int64) throws(Errno) { throw Errno(code: EOPNOTSUPP) }

    /// Cannot be done.
    public func bypassCache(_ descriptor: Int32) throws(Errno) { throw Errno(code: EINVAL) }

    /// Not known.
    public func extents(_ descriptor: Int32) throws(Errno) -> [FileExtent] { throw Errno(code: EOPNOTSUPP) }

    /// Not known.
    public func status(_ descriptor: Int32) throws(Errno) -> FileStatus { throw Errno(code: ENOSYS) }

    /// Not known.
    public func status(named path: String) throws(Errno) -> FileStatus { throw Errno(code: ENOSYS) }

    /// Cannot be done.
    public func link(_ descriptor: Int32, to path: String) throws(Errno) { throw Errno(code: EPERM) }

    /// Not counted.
    public func freeFiles(_ path: String) throws(Errno) -> Int64? { nil }

    /// A kind that is not known.
    public func fileSystemMagic(_ path: String) throws(Errno) -> UInt32 { 0 }
}

/// The number of a failed system call, `errno(3)`.
public struct Errno: Error, Hashable {
    /// Such as `ENOSPC`.
    public var code: Int32

    /// An error number.
    public init(code: Int32) {
        self.code = code
    }
}

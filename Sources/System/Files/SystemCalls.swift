import Glibc

/// The system calls on files. Each call has one method, so that a test can replace it.
///
/// Retries and the handling of errors belong in `FileSystem`, not here.
public protocol SystemCalls: Sendable {
    func open(_ path: String, flags: Int32, mode: UInt32) throws(Errno) -> Int32
    /// `close(2)`. Its result adds nothing to that of a sync.
    func close(_ descriptor: Int32)
    /// `pwrite(2)`.
    /// - Returns: the number of bytes written, which may be fewer than in `bytes`.
    func pwrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) -> Int
    /// `pread(2)`.
    /// - Returns: the number of bytes read; 0 at the end of the file.
    func pread(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int
    func fdatasync(_ descriptor: Int32) throws(Errno)
    /// `fsync(2)`, for a file or a folder.
    func fsync(_ descriptor: Int32) throws(Errno)
    /// `posix_fadvise(2)` with `POSIX_FADV_DONTNEED`, for the whole file.
    func dropCache(_ descriptor: Int32) throws(Errno)
    /// `fstat(2)`: the length of a regular file. Fails for anything else.
    func length(_ descriptor: Int32) throws(Errno) -> Int64
    func ftruncate(_ descriptor: Int32, to byteCount: Int64) throws(Errno)
    func fchmod(_ descriptor: Int32, _ mode: UInt32) throws(Errno)
    /// `flock(2)`: exclusive and non-blocking.
    func lock(_ descriptor: Int32) throws(Errno)
    /// `flock(2)`: releases the lock. A caller could not act on any of its errors.
    func unlock(_ descriptor: Int32)
    /// `fcntl(2)` with `F_OFD_SETLK`: a write lock on the last possible byte, behind any content, held while the file
    /// is open.
    func claim(_ descriptor: Int32) throws(Errno)
    /// `fcntl(2)` with `F_OFD_GETLK`: whether another open file description of the file holds such a lock.
    func isClaimed(_ descriptor: Int32) throws(Errno) -> Bool
    func rename(_ from: String, to: String) throws(Errno)
    /// `renameat2(2)` with `RENAME_NOREPLACE`: fails with `EEXIST` if the new name exists.
    func renameNew(_ from: String, to: String) throws(Errno)
    func unlink(_ path: String) throws(Errno)
    func rmdir(_ path: String) throws(Errno)
    func mkdir(_ path: String, mode: UInt32) throws(Errno)
    /// `statvfs(3)`: the bytes that are free for this process.
    func freeBytes(_ path: String) throws(Errno) -> Int64
    /// `statvfs(3)`: the size of the file system in bytes.
    func totalBytes(_ path: String) throws(Errno) -> Int64
    /// `statfs(2)`: `f_type`, the magic number of the file system.
    func fileSystemMagic(_ path: String) throws(Errno) -> UInt32
    /// `stat(2)`.
    func identity(_ path: String) throws(Errno) -> FileIdentity
    /// `stat(2)`: attributes that show whether it is still the same file.
    func attributes(_ path: String) throws(Errno) -> FileAttributes
    /// `access(2)`: fails if this process may not write there, or no process can.
    func checkWritable(_ path: String) throws(Errno)
    /// `opendir(3)`, `readdir(3)`: the names in a folder, in no particular order, without `.` and `..`.
    func entries(_ path: String) throws(Errno) -> [String]
    /// The same, at most `most` names.
    func entries(_ path: String, most: Int) throws(Errno) -> [String]
    /// `telldir(3)`: the offset of a file's entry in a folder on file systems that count in bytes. Nil if the file does
    /// not exist.
    func entryStart(_ name: String, in folder: String) throws(Errno) -> Int64?
    /// `fallocate(2)` from the beginning of the file. Its length grows to `byteCount`.
    func allocate(_ descriptor: Int32, byteCount: Int64) throws(Errno)
    /// `fcntl(2)` with `F_SETFL` and `O_DIRECT`.
    func bypassCache(_ descriptor: Int32) throws(Errno)
    /// `ioctl(2)` with `FS_IOC_FIEMAP`: the extents of the file on its device.
    func extents(_ descriptor: Int32) throws(Errno) -> [FileExtent]
    /// `fstat(2)`: the state of an open file, independent of its path.
    func status(_ descriptor: Int32) throws(Errno) -> FileStatus
    /// `lstat(2)`: the state of the object with this name. A symbolic link is not followed.
    func status(named path: String) throws(Errno) -> FileStatus
    /// `linkat(2)` of `/proc/self/fd`: adds a name to an open file that has one.
    func link(_ descriptor: Int32, to path: String) throws(Errno)
    /// `statvfs(3)`: the number of files that can still be made, or nil if the file system does not count them.
    func freeFiles(_ path: String) throws(Errno) -> Int64?
}

extension SystemCalls {
    /// Does nothing: a storage without a cache has nothing to drop.
    public func dropCache(_ descriptor: Int32) throws(Errno) {}

    public func entries(_ path: String, most: Int) throws(Errno) -> [String] { Array(try entries(path).prefix(most)) }

    public func claim(_ descriptor: Int32) throws(Errno) { throw Errno(code: ENOSYS) }

    public func isClaimed(_ descriptor: Int32) throws(Errno) -> Bool { throw Errno(code: ENOSYS) }

    public func renameNew(_ from: String, to: String) throws(Errno) { throw Errno(code: ENOSYS) }

    public func entryStart(_ name: String, in folder: String) throws(Errno) -> Int64? { nil }

    public func attributes(_ path: String) throws(Errno) -> FileAttributes { throw Errno(code: ENOSYS) }

    public func allocate(_ descriptor: Int32, byteCount: Int64) throws(Errno) { throw Errno(code: EOPNOTSUPP) }

    public func bypassCache(_ descriptor: Int32) throws(Errno) { throw Errno(code: EINVAL) }

    public func extents(_ descriptor: Int32) throws(Errno) -> [FileExtent] { throw Errno(code: EOPNOTSUPP) }

    public func status(_ descriptor: Int32) throws(Errno) -> FileStatus { throw Errno(code: ENOSYS) }

    public func status(named path: String) throws(Errno) -> FileStatus { throw Errno(code: ENOSYS) }

    public func link(_ descriptor: Int32, to path: String) throws(Errno) { throw Errno(code: EPERM) }

    public func freeFiles(_ path: String) throws(Errno) -> Int64? { nil }

    public func fileSystemMagic(_ path: String) throws(Errno) -> UInt32 { 0 }

    public func totalBytes(_ path: String) throws(Errno) -> Int64 { throw Errno(code: ENOSYS) }
}

/// The error number of a failed system call, `errno(3)`.
public struct Errno: Error, Hashable {
    /// Such as `ENOSPC`.
    public var code: Int32

    public init(code: Int32) {
        self.code = code
    }
}

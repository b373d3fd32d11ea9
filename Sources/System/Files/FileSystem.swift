import Glibc

/// File operations. Each call is repeated until it is complete (`EINTR`, short writes), and an error names
/// its file.
public struct FileSystem: Sendable {
    /// Readable by the group, which includes the library's user, and not by others.
    public static let fileMode: UInt32 = 0o640
    /// The same for folders. With the set-group-ID bit, new files in them get their group.
    public static let folderMode: UInt32 = 0o2750
    /// For files that are locked.
    static let lockMode: UInt32 = 0o600

    let calls: any SystemCalls
    /// The kind of the file system, if known.
    package let kind: FileSystemKind?

    public init(calls: any SystemCalls = KernelCalls()) {
        self.init(calls, on: nil)
    }

    private init(_ calls: any SystemCalls, on kind: FileSystemKind?) {
        self.calls = calls
        self.kind = kind
    }

    package func on(_ kind: FileSystemKind) -> FileSystem { FileSystem(calls, on: kind) }

    /// Makes a file with the permissions of `mode`, independent of the umask.
    /// - Parameter isNew: if true, an existing file is an error (`EEXIST`); if false, it is emptied.
    public func create(_ path: String, isNew: Bool, mode: UInt32 = fileMode) throws(FileError) -> OpenFile {
        let file = try open("create", path, flags: O_RDWR | O_CREAT | O_NOFOLLOW | (isNew ? O_EXCL : O_TRUNC))
        do throws(FileError) {
            try setMode(file, mode)
        } catch {
            if isNew { try? remove(path) }
            throw error
        }
        return file
    }

    /// Opens an existing file for reading and writing. A symbolic link is refused (`ELOOP`), so that no path leads
    /// elsewhere.
    public func open(_ path: String) throws(FileError) -> OpenFile {
        try open("open", path, flags: O_RDWR | O_NOFOLLOW)
    }

    /// Opens an existing file for reading.
    /// - Parameter followsLink: if false, a symbolic link is refused (`ELOOP`).
    public func openToRead(_ path: String, followsLink: Bool = true) throws(FileError) -> OpenFile {
        // `O_NONBLOCK`, since opening a pipe would wait for a writer. It has no effect on a regular file.
        try open("open", path, flags: O_RDONLY | O_NONBLOCK | (followsLink ? 0 : O_NOFOLLOW))
    }

    /// Opens a folder, for example to sync it.
    /// - Parameter followsLink: if false, a symbolic link is refused (`ENOTDIR`).
    public func openFolder(_ path: String, followsLink: Bool = true) throws(FileError) -> OpenFile {
        try open("open", path, flags: O_RDONLY | O_DIRECTORY | (followsLink ? 0 : O_NOFOLLOW))
    }

    /// Makes a folder with the permissions of `mode`, independent of the umask, or opens the existing one.
    public func makeFolder(_ path: String, mode: UInt32 = folderMode) throws(FileError) -> OpenFile {
        do throws(Errno) {
            // The kernel copies the set-group-ID bit from the parent folder, and a sandbox refuses a mode with that
            // bit.
            try retrying { () throws(Errno) in try calls.mkdir(path, mode: mode & 0o777) }
        } catch {
            guard error.code == EEXIST else { throw FileError("make folder", path, code: error.code) }
            return try openFolder(path)
        }
        let folder = try openFolder(path)
        try setMode(folder, mode)
        return folder
    }

    public func write(_ bytes: UnsafeRawBufferPointer, to file: OpenFile, at offset: Int64) throws(FileError) {
        var done = 0
        while done < bytes.count {
            // Safe: done < count, so the rest lies within the buffer.
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
            let position = offset + Int64(done)
            let count = try doing("write", file.path) { () throws(Errno) in
                unsafe try calls.pwrite(file.descriptor, rest, at: position)
            }
            // Otherwise a write of 0 bytes would be repeated forever.
            guard count > 0 else { throw FileError("write", file.path, code: EIO) }
            done += count
        }
    }

    public func write(_ bytes: [UInt8], to file: OpenFile, at offset: Int64) throws(FileError) {
        // Safe: the buffer is valid while the closure runs.
        try unsafe bytes.span.withUnsafeBytes { (buffer) throws(FileError) in
            try unsafe write(buffer, to: file, at: offset)
        }
    }

    /// Reads up to `count` bytes from `offset`; fewer only at the end of the file.
    public func read(_ file: OpenFile, at offset: Int64, count: Int) throws(FileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        // Safe: the buffer is valid while the closure runs.
        let done = try unsafe span.withUnsafeMutableBytes { (buffer) throws(FileError) in
            try unsafe read(file, at: offset, into: buffer)
        }
        bytes.removeLast(count - done)
        return bytes
    }

    /// Fills `buffer` with the bytes from `offset`.
    /// - Returns: the number of bytes read. It is less than the buffer's size only at the end of the file.
    public func read(
        _ file: OpenFile, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileError) -> Int {
        var done = 0
        while done < buffer.count {
            // Safe: done < count, so the rest lies within the buffer.
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let position = offset + Int64(done)
            let read = try doing("read", file.path) { () throws(Errno) in
                unsafe try calls.pread(file.descriptor, rest, at: position)
            }
            guard read > 0 else { break }
            done += read
        }
        return done
    }

    /// Reads a small file whole, but at most `limit` bytes.
    public func contents(_ path: String, limit: Int = 1 << 20) throws(FileError) -> [UInt8] {
        try contents(of: openToRead(path), limit: limit)
    }

    /// - Parameter expected: the length, if it is known: a file of this length is read in one piece.
    package func contents(
        of file: OpenFile, limit: Int, expecting expected: Int = 1 << 16
    ) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        // A file may grow meanwhile, and some file systems state a length of 0.
        let length = max(4096, min(expected, limit)) + 1
        while bytes.count < limit {
            // A piece that is not full ends at the end of the file.
            let count = min(length, limit - bytes.count)
            let piece = try read(file, at: Int64(bytes.count), count: count)
            // The first piece is usually the whole file, which is not copied then.
            if bytes.isEmpty { bytes = piece } else { bytes += piece }
            if piece.count < count { break }
        }
        return bytes
    }

    /// The content and the length of `file` are on the disk when this returns.
    public func syncData(_ file: OpenFile) throws(FileError) {
        try doing("sync", file.path) { () throws(Errno) in try calls.fdatasync(file.descriptor) }
    }

    /// The content of `file`, or the names in a folder, and all its attributes are on the disk when this returns.
    public func sync(_ file: OpenFile) throws(FileError) {
        try doing("sync", file.path) { () throws(Errno) in try calls.fsync(file.descriptor) }
    }

    /// The same for a folder. On file systems that cannot sync a folder (FUSE, CIFS) this succeeds without a sync.
    public func syncFolder(_ folder: OpenFile) throws(FileError) {
        do throws(FileError) {
            try sync(folder)
        } catch {
            guard error.code == EINVAL || error.code == ENOSYS || error.code == ENOTSUP else { throw error }
        }
    }

    /// Asks the kernel to drop its cached copy of a synced file, so that the next read comes from the disk. The kernel
    /// may refuse.
    public func dropCache(of file: OpenFile) {
        try? calls.dropCache(file.descriptor)
    }

    public func length(_ file: OpenFile) throws(FileError) -> Int64 {
        try doing("measure", file.path) { () throws(Errno) in try calls.length(file.descriptor) }
    }

    /// Shortens or extends a file.
    public func truncate(_ file: OpenFile, to byteCount: Int64) throws(FileError) {
        try doing("truncate", file.path) { () throws(Errno) in
            try calls.ftruncate(file.descriptor, to: byteCount)
        }
    }

    /// Renames a synced file, replaces an existing one, and makes the file durable under the new name. The caller must
    /// sync the folder next.
    ///
    /// FAT keeps the place and the length of a file in the folder entry. The new entry is empty until the file is
    /// synced again. A sync of the folder alone would replace the old name with an entry of an empty file.
    public func move(_ from: String, to: String) throws(FileError) {
        try rename(from, to: to)
        try settle(to)
    }

    /// The first half of `move`, sufficient for a file that need not survive a power cut.
    public func rename(_ from: String, to: String) throws(FileError) {
        try doing("rename", from) { () throws(Errno) in try calls.rename(from, to: to) }
    }

    /// Renames like `rename`, but replaces nothing. If the kernel or the file system cannot do that in one call, this
    /// first checks that the name is free.
    /// - Throws: `FileError` with `EEXIST` and the new name if that name exists.
    public func renameNew(_ from: String, to: String) throws(FileError) {
        do throws(Errno) {
            try retrying { () throws(Errno) in try calls.renameNew(from, to: to) }
        } catch {
            switch error.code {
            case EINVAL, ENOSYS, ENOTSUP:
                guard !isTaken(to) else { throw FileError("rename \(from) to", to, code: EEXIST) }
                try rename(from, to: to)
            case EEXIST: throw FileError("rename \(from) to", to, code: EEXIST)
            default: throw FileError("rename", from, code: error.code)
            }
        }
    }

    /// Whether a name exists, as a file, a folder, or a symbolic link with any target.
    package func isTaken(_ path: String) -> Bool {
        if (try? identity(path)) != nil { return true }
        do throws(FileError) {
            _ = try openToRead(path, followsLink: false)
            return true
        } catch {
            return [ELOOP, EACCES, ENXIO, EISDIR].contains(error.code)
        }
    }

    /// The second half of `move`: makes a renamed file durable under its new name.
    package func settle(_ path: String) throws(FileError) {
        try sync(open(path))
    }

    /// Removes a file if it exists.
    public func remove(_ path: String) throws(FileError) {
        do throws(FileError) {
            try doing("remove", path) { () throws(Errno) in try calls.unlink(path) }
        } catch {
            guard error.code == ENOENT else { throw error }
        }
    }

    /// Removes an empty folder.
    public func removeFolder(_ path: String) throws(FileError) {
        try doing("remove", path) { () throws(Errno) in try calls.rmdir(path) }
    }

    /// At most `most` names in a folder, in no particular order.
    public func entries(_ path: String, most: Int = .max) throws(FileError) -> [String] {
        try doing("list", path) { () throws(Errno) in try calls.entries(path, most: most) }
    }

    /// The offset in bytes of a file's entry in a folder of exFAT, or nil if the file does not exist.
    func entryStart(_ name: String, in folder: String) throws(FileError) -> Int64? {
        try doing("list", folder) { () throws(Errno) in try calls.entryStart(name, in: folder) }
    }

    /// The bytes that are free for this process on the file system of `path`.
    public func freeBytes(_ path: String) throws(FileError) -> Int64 {
        try doing("measure", path) { () throws(Errno) in try calls.freeBytes(path) }
    }

    /// The size in bytes of the file system of `path`.
    public func totalBytes(_ path: String) throws(FileError) -> Int64 {
        try doing("measure", path) { () throws(Errno) in try calls.totalBytes(path) }
    }

    public func kind(of path: String) throws(FileError) -> FileSystemKind {
        FileSystemKind(magic: try doing("examine", path) { () throws(Errno) in try calls.fileSystemMagic(path) })
    }

    /// The identity of the object that `path` leads to now.
    public func identity(_ path: String) throws(FileError) -> FileIdentity {
        try doing("examine", path) { () throws(Errno) in try calls.identity(path) }
    }

    /// The length of a file, and attributes that show whether it is still the same file.
    public func attributes(_ path: String) throws(FileError) -> FileAttributes {
        try doing("examine", path) { () throws(Errno) in try calls.attributes(path) }
    }

    /// Throws if `path` cannot be written: its file system has become read-only, or this process has no permission.
    public func checkWritable(_ path: String) throws(FileError) {
        try doing("write", path) { () throws(Errno) in try calls.checkWritable(path) }
    }

    /// Opens or makes a lock file, and locks it until it is closed. On file systems with permissions only the owner may
    /// open it: a user who may read takes must not be able to lock it.
    /// - Returns: the file, and whether the lock was acquired. If not, another process holds it.
    package func openLocked(_ path: String) throws(FileError) -> (OpenFile, Bool) {
        let file = try open("lock", path, flags: O_RDWR | O_CREAT | O_NOFOLLOW, mode: Self.lockMode)
        // An existing file may have another mode.
        try setMode(file, Self.lockMode)
        do throws(Errno) {
            try retrying { () throws(Errno) in try calls.lock(file.descriptor) }
        } catch {
            guard error.code == EWOULDBLOCK else { throw FileError("lock", path, code: error.code) }
            return (file, false)
        }
        return (file, true)
    }

    /// Shows other processes that this one writes the file, until it is closed. Readers cannot do this, since it needs
    /// write permission.
    ///
    /// Without effect on a file system that does not support such locks.
    package func claim(_ file: OpenFile) { try? calls.claim(file.descriptor) }

    /// Whether another process is known to write the file.
    package func isClaimed(_ path: String) -> Bool {
        guard let file = try? openToRead(path, followsLink: false) else { return false }
        return (try? calls.isClaimed(file.descriptor)) ?? false
    }

    package func unlock(_ file: OpenFile) { calls.unlock(file.descriptor) }

    private func open(
        _ operation: String, _ path: String, flags: Int32, mode: UInt32 = Self.fileMode
    ) throws(FileError) -> OpenFile {
        let descriptor = try doing(operation, path) { () throws(Errno) in
            try calls.open(path, flags: flags | O_CLOEXEC, mode: mode)
        }
        return OpenFile(descriptor: descriptor, path: path, calls: calls)
    }

    /// FAT and similar file systems have no permissions to set. That must not prevent a take.
    private func setMode(_ file: OpenFile, _ mode: UInt32) throws(FileError) {
        do throws(FileError) {
            try doing("set the rights of", file.path) { () throws(Errno) in
                try calls.fchmod(file.descriptor, mode)
            }
        } catch {
            guard error.code == EPERM || error.code == ENOSYS || error.code == ENOTSUP else { throw error }
        }
    }

    func doing<Result>(
        _ operation: String, _ path: String, _ call: () throws(Errno) -> Result
    ) throws(FileError) -> Result {
        do throws(Errno) {
            return try retrying(call)
        } catch {
            throw FileError(operation, path, code: error.code)
        }
    }

    private func retrying<Result>(_ call: () throws(Errno) -> Result) throws(Errno) -> Result {
        while true {
            do throws(Errno) {
                return try call()
            } catch {
                guard error.code == EINTR else { throw error }
            }
        }
    }
}

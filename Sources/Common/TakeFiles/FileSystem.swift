import Glibc

/// Files, as takes need them: every call is made until it is done (`EINTR`, short writes), and an error says on what.
public struct FileSystem: Sendable {
    /// Readable by the group, which the library is in, and by no other.
    public static let fileMode: UInt32 = 0o640
    /// The same for folders; what is made in them belongs to their group.
    public static let folderMode: UInt32 = 0o2750
    /// Of files that are locked.
    static let lockMode: UInt32 = 0o600

    let calls: any SystemCalls
    /// What they lie on, where that is known.
    let kind: FileSystemKind?

    /// Files reached by `calls`.
    public init(calls: any SystemCalls = KernelCalls()) {
        self.init(calls, on: nil)
    }

    private init(_ calls: any SystemCalls, on kind: FileSystemKind?) {
        self.calls = calls
        self.kind = kind
    }

    /// The same on a file system of this kind.
    func on(_ kind: FileSystemKind) -> FileSystem { FileSystem(calls, on: kind) }

    /// Makes a file, with the rights of `mode` whatever the umask.
    /// - Parameter isNew: whether an existing file is an error (`EEXIST`); otherwise it is emptied.
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

    /// Opens a file that is there, to read and write; a link is refused (`ELOOP`), so that no path leads elsewhere.
    public func open(_ path: String) throws(FileError) -> OpenFile {
        try open("open", path, flags: O_RDWR | O_NOFOLLOW)
    }

    /// Opens a file that is there, to read it.
    /// - Parameter followsLink: whether it may be a link to one; otherwise that is refused (`ELOOP`).
    public func openToRead(_ path: String, followsLink: Bool = true) throws(FileError) -> OpenFile {
        // A pipe of that name would be waited for; a file is not.
        try open("open", path, flags: O_RDONLY | O_NONBLOCK | (followsLink ? 0 : O_NOFOLLOW))
    }

    /// Opens a folder, so that it can be synced.
    /// - Parameter followsLink: whether it may be a link to one; otherwise that is refused (`ENOTDIR`).
    public func openFolder(_ path: String, followsLink: Bool = true) throws(FileError) -> OpenFile {
        try open("open", path, flags: O_RDONLY | O_DIRECTORY | (followsLink ? 0 : O_NOFOLLOW))
    }

    /// Makes a folder, with the rights of `mode` whatever the umask, or takes the one that is there.
    public func makeFolder(_ path: String, mode: UInt32 = folderMode) throws(FileError) -> OpenFile {
        do throws(Errno) {
            // The kernel takes the set-group-ID bit from the folder around it, and a sandbox refuses a mode that has it.
            try retrying { () throws(Errno) in try calls.mkdir(path, mode: mode & 0o777) }
        } catch {
            guard error.code == EEXIST else { throw FileError("make folder", path, code: error.code) }
            return try openFolder(path)
        }
        let folder = try openFolder(path)
        try setMode(folder, mode)
        return folder
    }

    /// Writes all of `bytes` at `offset`.
    public func write(_ bytes: UnsafeRawBufferPointer, to file: OpenFile, at offset: Int64) throws(FileError) {
        var done = 0
        while done < bytes.count {
            // Safe: done < count, so that what is left lies within the buffer.
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
            let position = offset + Int64(done)
            let count = try doing("write", file.path) { () throws(Errno) in
                unsafe try calls.pwrite(file.descriptor, rest, at: position)
            }
            // A write of nothing would be repeated forever.
            guard count > 0 else { throw FileError("write", file.path, code: EIO) }
            done += count
        }
    }

    /// Writes all of `bytes` at `offset`.
    public func write(_ bytes: [UInt8], to file: OpenFile, at offset: Int64) throws(FileError) {
        // Safe: the buffer lives as long as the closure runs.
        try unsafe bytes.span.withUnsafeBytes { (buffer) throws(FileError) in
            try unsafe write(buffer, to: file, at: offset)
        }
    }

    /// Reads up to `count` bytes from `offset` on; fewer only at the end of the file.
    public func read(_ file: OpenFile, at offset: Int64, count: Int) throws(FileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        // Safe: the buffer lives as long as the closure runs.
        let done = try unsafe span.withUnsafeMutableBytes { (buffer) throws(FileError) in
            try unsafe read(file, at: offset, into: buffer)
        }
        bytes.removeLast(count - done)
        return bytes
    }

    /// Fills `buffer` with what is there from `offset` on.
    /// - Returns: how many bytes were read; fewer than it holds only at the end of the file.
    public func read(
        _ file: OpenFile, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileError) -> Int {
        var done = 0
        while done < buffer.count {
            // Safe: done < count, so that what is left lies within the buffer.
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

    /// Reads a small file whole, but not more than `limit` bytes of it.
    public func contents(_ path: String, limit: Int = 1 << 20) throws(FileError) -> [UInt8] {
        try contents(of: openToRead(path), limit: limit)
    }

    /// The same of a file that is open.
    func contents(of file: OpenFile, limit: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < limit {
            let piece = try read(file, at: Int64(bytes.count), count: min(1 << 16, limit - bytes.count))
            if piece.isEmpty { break }
            bytes += piece
        }
        return bytes
    }

    /// What was written to `file`, and its length, is on the disk when this returns.
    public func syncData(_ file: OpenFile) throws(FileError) {
        try doing("sync", file.path) { () throws(Errno) in try calls.fdatasync(file.descriptor) }
    }

    /// What was written to `file`, or the names in a folder, and all that is known of it, is on the disk when this returns.
    public func sync(_ file: OpenFile) throws(FileError) {
        try doing("sync", file.path) { () throws(Errno) in try calls.fsync(file.descriptor) }
    }

    /// The same for a folder; file systems that cannot sync one (FUSE, CIFS) are taken at their word.
    public func syncFolder(_ folder: OpenFile) throws(FileError) {
        do throws(FileError) {
            try sync(folder)
        } catch {
            guard error.code == EINVAL || error.code == ENOSYS || error.code == ENOTSUP else { throw error }
        }
    }

    /// Asks the kernel to drop its copy of a file that was synced, so that the next read comes from the disk.
    ///
    /// The kernel may refuse.
    public func dropCache(of file: OpenFile) {
        try? calls.dropCache(file.descriptor)
    }

    /// How many bytes a file has.
    public func length(_ file: OpenFile) throws(FileError) -> Int64 {
        try doing("measure", file.path) { () throws(Errno) in try calls.length(file.descriptor) }
    }

    /// Cuts or lengthens a file.
    public func truncate(_ file: OpenFile, to byteCount: Int64) throws(FileError) {
        try doing("truncate", file.path) { () throws(Errno) in
            try calls.ftruncate(file.descriptor, to: byteCount)
        }
    }

    /// Gives a file that was synced another name, in place of one that may be there, and makes it safe under that name. The
    /// folder is to be synced next.
    ///
    /// FAT keeps the place and the length of a file beside its name. Until the file is synced again, it is empty there: a sync
    /// of the folder alone would replace the old name by that of an empty file.
    public func move(_ from: String, to: String) throws(FileError) {
        try rename(from, to: to)
        try settle(to)
    }

    /// The first half of `move`, enough for a file that does not outlive the power.
    public func rename(_ from: String, to: String) throws(FileError) {
        try doing("rename", from) { () throws(Errno) in try calls.rename(from, to: to) }
    }

    /// The same as `rename`, but replaces nothing. A kernel or a file system that cannot do so in one call is asked for the name before.
    /// - Throws: `FileError`, with `EEXIST` and the new name if there is a file of that name.
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

    /// Whether a name is that of a file, a folder, or a link, whatever that leads to.
    func isTaken(_ path: String) -> Bool {
        if (try? identity(path)) != nil { return true }
        do throws(FileError) {
            _ = try openToRead(path, followsLink: false)
            return true
        } catch {
            return [ELOOP, EACCES, ENXIO, EISDIR].contains(error.code)
        }
    }

    /// The second half of `move`.
    func settle(_ path: String) throws(FileError) {
        try sync(open(path))
    }

    /// Removes a file, if it is there.
    public func remove(_ path: String) throws(FileError) {
        do throws(FileError) {
            try doing("remove", path) { () throws(Errno) in try calls.unlink(path) }
        } catch {
            guard error.code == ENOENT else { throw error }
        }
    }

    /// Removes a folder that is empty.
    public func removeFolder(_ path: String) throws(FileError) {
        try doing("remove", path) { () throws(Errno) in try calls.rmdir(path) }
    }

    /// The names in a folder, in no order, `most` at most.
    public func entries(_ path: String, most: Int = .max) throws(FileError) -> [String] {
        try doing("list", path) { () throws(Errno) in try calls.entries(path, most: most) }
    }

    /// Where the entry of a file begins in a folder of exFAT, in bytes; nil: there is no such file.
    func entryStart(_ name: String, in folder: String) throws(FileError) -> Int64? {
        try doing("list", folder) { () throws(Errno) in try calls.entryStart(name, in: folder) }
    }

    /// Bytes that are free for this process where `path` is.
    public func freeBytes(_ path: String) throws(FileError) -> Int64 {
        try doing("measure", path) { () throws(Errno) in try calls.freeBytes(path) }
    }

    /// What kind of file system `path` lies on.
    public func kind(of path: String) throws(FileError) -> FileSystemKind {
        FileSystemKind(magic: try doing("examine", path) { () throws(Errno) in try calls.fileSystemMagic(path) })
    }

    /// What `path` leads to now.
    public func identity(_ path: String) throws(FileError) -> FileIdentity {
        try doing("examine", path) { () throws(Errno) in try calls.identity(path) }
    }

    /// The length of a file, and what tells whether it is the one that was there before.
    public func attributes(_ path: String) throws(FileError) -> FileAttributes {
        try doing("examine", path) { () throws(Errno) in try calls.attributes(path) }
    }

    /// Fails if `path` cannot be written: its file system has become read-only, or this process has no right to.
    public func checkWritable(_ path: String) throws(FileError) {
        try doing("write", path) { () throws(Errno) in try calls.checkWritable(path) }
    }

    /// Opens or makes a file to lock, and locks it as long as it is open. It is for its owner alone, where the file system has modes:
    /// a user who may read takes must not be able to lock it.
    /// - Returns: the file, and whether the lock was had; if not, another process has it.
    func openLocked(_ path: String) throws(FileError) -> (OpenFile, Bool) {
        let file = try open("lock", path, flags: O_RDWR | O_CREAT | O_NOFOLLOW, mode: Self.lockMode)
        // One that was there may have another mode.
        try setMode(file, Self.lockMode)
        do throws(Errno) {
            try retrying { () throws(Errno) in try calls.lock(file.descriptor) }
        } catch {
            guard error.code == EWOULDBLOCK else { throw FileError("lock", path, code: error.code) }
            return (file, false)
        }
        return (file, true)
    }

    /// Shows to other processes that this one writes a file, as long as it is open. Readers cannot: it takes the right to write.
    ///
    /// A file system that knows no such locks has none.
    func claim(_ file: OpenFile) { try? calls.claim(file.descriptor) }

    /// Whether a file is written elsewhere, as far as is known.
    func isClaimed(_ path: String) -> Bool {
        guard let file = try? openToRead(path, followsLink: false) else { return false }
        return (try? calls.isClaimed(file.descriptor)) ?? false
    }

    /// Ends the lock of a file that `openLocked` locked.
    func unlock(_ file: OpenFile) { calls.unlock(file.descriptor) }

    private func open(
        _ operation: String, _ path: String, flags: Int32, mode: UInt32 = Self.fileMode
    ) throws(FileError) -> OpenFile {
        let descriptor = try doing(operation, path) { () throws(Errno) in
            try calls.open(path, flags: flags | O_CLOEXEC, mode: mode)
        }
        return OpenFile(descriptor: descriptor, path: path, calls: calls)
    }

    /// FAT and the like have no rights to set, and a take is worth more than they are.
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

import Glibc

/// Another process records in the same directory.
public struct TakesLockError: Error, Hashable, CustomStringConvertible {
    /// The directory.
    public var directory: String
    /// The other process; nil if it left no number.
    public var processID: Int32?

    /// One sentence, such as `record in /data/takes: pid 812 already does: stop it first, or name another directory`.
    public var description: String {
        let other = processID.map { "pid \($0)" } ?? "another process"
        return "record in \(directory): \(other) already does: stop it, or name another directory under [takes]"
    }
}

/// The right to write in a directory of takes, held by one process at a time, as long as this value lives.
final class TakesLock: Sendable {
    private let file: OpenFile
    private let files: FileSystem

    /// In the directory, from when it was opened first.
    static let fileName = ".lock"

    /// Locks `directory`, by `flock(2)` on its file `.lock`, which holds the process's number.
    /// - Throws: `TakesLockError` if another process has the lock, else `FileError`.
    init(directory: String, files: FileSystem) throws {
        let (file, isLocked) = try files.openLocked("\(directory)/\(Self.fileName)")
        guard isLocked else {
            let text = try? String(decoding: files.read(file, at: 0, count: 16), as: UTF8.self)
            throw TakesLockError(directory: directory, processID: text.flatMap { Int32($0.prefix { $0 != "\n" }) })
        }
        self.file = file
        self.files = files
        // The number helps a person only: a full disk is no reason to refuse the lock.
        try? files.truncate(file, to: 0)
        try? write()
    }

    deinit {
        // A child process that begins at this moment has a copy of the file until it executes its program: it must not keep the lock.
        files.unlock(file)
    }

    /// Writes the process's number once more, and makes it safe: storage that takes this takes sound.
    func probe() throws(FileError) {
        try write()
        try files.sync(file)
    }

    private func write() throws(FileError) {
        try files.write(Array("\(getpid())\n".utf8), to: file, at: 0)
    }
}

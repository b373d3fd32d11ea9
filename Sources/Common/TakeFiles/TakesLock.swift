import Glibc
import Takes

/// Another process records in the same directory.
public struct TakesLockError: Error, Hashable, CustomStringConvertible {
    /// The directory.
    public var directory: String
    /// The other process; nil if it left no number.
    public var processID: Int32?
    /// What shows that.
    public var sign = Sign.lock

    /// What shows that a folder is in use.
    public enum Sign: Sendable {
        /// `.lock` is locked.
        case lock
        /// A file of a take there is being written: by another process, or by this one for a folder that was moved or removed.
        case file
    }

    /// One sentence, such as `record in /data/takes: pid 812 already does: stop it first, or name another directory`.
    public var description: String {
        let other = processID.map { "pid \($0)" } ?? "another process"
        return "record in \(directory): \(other) already does: stop it, or name another directory under [takes]"
    }
}

/// The right to write in a directory of takes, held by one process at a time, as long as this value lives.
final class TakesLock: Sendable {
    private let directory: String
    private let files: FileSystem
    /// The file that was locked last, and before it those that lost their name and may get it back.
    private let held: Locked<[Held]>

    private struct Held: Sendable {
        var file: OpenFile
        /// What had the name when it was locked; nil: the file system does not report that.
        var identity: FileIdentity?
    }

    /// In the directory, from when it was opened first.
    static let fileName = ".lock"

    private var path: String { "\(directory)/\(Self.fileName)" }

    /// Locks `directory`, by `flock(2)` on its file `.lock`, which holds the process's number.
    /// - Throws: `TakesLockError` if another process has the lock, else `FileError`.
    init(directory: String, files: FileSystem) throws {
        self.directory = directory
        self.files = files
        held = Locked([])
        let first = try lock()
        held.withLock { $0 = [first] }
    }

    deinit {
        // A child process that begins at this moment has a copy of the file until it executes its program: it must not keep the lock.
        held.withLock { for held in $0 { files.unlock(held.file) } }
    }

    /// Locks the file `.lock` again if another program removed or replaced it. If it cannot be made now, the next call tries it again.
    /// - Throws: `TakesLockError` if another process has locked it meanwhile.
    func renew() throws(TakesLockError) {
        try held.withLock { held throws(TakesLockError) in
            guard !isInPlace(held) else { return }
            do {
                let renewed = try lock()
                held = held.filter { ((try? files.status(of: $0.file).linkCount) ?? 0) > 0 } + [renewed]
            } catch let error as TakesLockError where error.processID != getpid() {
                throw error
            } catch {
                // It is this process's own file after all, or none can be made now.
            }
        }
    }

    /// Whether one of the files has the name, as far as that is known.
    private func isInPlace(_ held: [Held]) -> Bool {
        held.contains { $0.identity == nil || files.has(path, $0.identity) != false }
    }

    private func lock() throws -> Held {
        try files.makeWay(for: path)
        let (file, isLocked) = try files.openLocked(path)
        guard isLocked else {
            let text = try? String(decoding: files.read(file, at: 0, count: 16), as: UTF8.self)
            throw TakesLockError(directory: directory, processID: text.flatMap { Int32($0.prefix { $0 != "\n" }) })
        }
        // The number helps a person only: a full disk is no reason to refuse the lock.
        try? files.truncate(file, to: 0)
        try? write(to: file)
        return Held(file: file, identity: files.knownIdentity(of: file))
    }

    /// Writes the process's number once more, and makes it safe: storage that takes this takes sound.
    func probe() throws(FileError) {
        guard let file = held.withLock({ $0.last?.file }) else { return }
        try write(to: file)
        try files.sync(file)
    }

    private func write(to file: OpenFile) throws(FileError) {
        try files.write(Array("\(getpid())\n".utf8), to: file, at: 0)
    }
}

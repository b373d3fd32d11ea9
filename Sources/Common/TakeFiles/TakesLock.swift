import Files
import Glibc
import Takes

/// Another process records in the same directory.
public struct TakesLockError: Error, Hashable, CustomStringConvertible {
    public var directory: String
    /// The other process, or nil if it left no process number.
    public var processID: Int32?
    public var sign = Sign.lock

    /// How the program knows that a folder is in use.
    public enum Sign: Sendable {
        /// `.lock` is locked.
        case lock
        /// A file of a take there is being written: by another process, or by this one for a folder that was moved or
        /// removed.
        case file
    }

    /// One sentence, such as `record in /data/takes: pid 812 already does: stop it first, or name another directory`.
    public var description: String {
        let other = processID.map { "pid \($0)" } ?? "another process"
        return "record in \(directory): \(other) already does: stop it, or name another directory under [takes]"
    }
}

/// The exclusive right to write in a directory of takes. One process holds it at a time, as long as this value lives.
final class TakesLock: Sendable {
    private let directory: String
    private let files: FileSystem
    /// Lock files that lost their name and may get it back, then the file that was locked last.
    private let held: Locked<[Held]>

    private struct Held: Sendable {
        var file: OpenFile
        /// The identity of the name when the file was locked, or nil if the file system does not report it.
        var identity: FileIdentity?
    }

    /// Exists in the directory after it was opened for the first time.
    static let fileName = ".lock"

    private var path: String { "\(directory)/\(Self.fileName)" }

    /// Locks `directory` with `flock(2)` on its file `.lock`, which contains the process number.
    /// - Throws: `TakesLockError` if another process has the lock, else `FileError`.
    init(directory: String, files: FileSystem) throws {
        self.directory = directory
        self.files = files
        held = Locked([])
        let first = try lock()
        held.withLock { $0 = [first] }
    }

    deinit {
        // A child process that is being started has a copy of the descriptor until it executes its program. It must not
        // keep the lock.
        held.withLock { for held in $0 { files.unlock(held.file) } }
    }

    /// Locks the file `.lock` again if another program removed or replaced it. If the file cannot be made now, the next
    /// call tries again.
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

    /// Whether one of the files is known, or may be assumed, to have the name.
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
        // The number is only information for people. A full disk must not prevent the lock.
        try? files.truncate(file, to: 0)
        try? write(to: file)
        return Held(file: file, identity: files.knownIdentity(of: file))
    }

    /// Writes the process number again and syncs it. Storage that accepts this also accepts sound.
    func probe() throws(FileError) {
        guard let file = held.withLock({ $0.last?.file }) else { return }
        try write(to: file)
        try files.sync(file)
    }

    private func write(to file: OpenFile) throws(FileError) {
        try files.write(Array("\(getpid())\n".utf8), to: file, at: 0)
    }
}

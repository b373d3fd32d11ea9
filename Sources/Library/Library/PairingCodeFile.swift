public import Control
import Files
import Glibc
import Takes

/// The code for pairing phones, in a file of the library's folder. Thread-safe.
public final class PairingCodeFile: Sendable {
    private let path: String
    private let files: FileSystem
    private let current: Locked<PairingCode>
    /// Serialises writers.
    private let writing = Locked(())

    /// Readable by the owner and the group.
    private static let mode: UInt32 = 0o640

    public var code: PairingCode { current.withLock { $0 } }

    /// Reads the code, or makes one if there is none.
    /// - Parameter directory: the library's folder.
    /// - Returns: the code's file; and why an earlier code is no longer valid, or the new one cannot be saved.
    static func open(in directory: String, files: FileSystem = FileSystem()) -> (PairingCodeFile, problem: String?) {
        let path = "\(directory)/\(PairingCode.fileName)"
        var problem: String?
        do throws(FileError) {
            if let code = PairingCode(file: try files.contents(path, limit: 100)) {
                return (PairingCodeFile(path, files, code), nil)
            }
            problem = "pairing: \(path): has no code of six digits: a new one was made, 'fieldfare label' prints it"
        } catch {
            if error.code != ENOENT {
                problem = "pairing: \(error.fact): a new code was made, 'fieldfare label' prints it"
            }
        }
        let file = PairingCodeFile(path, files, .random())
        do throws(FileError) {
            try file.write(file.code)
        } catch {
            problem = "pairing: \(error.fact): the code is another one after each start of the library"
        }
        return (file, problem)
    }

    private init(_ path: String, _ files: FileSystem, _ code: PairingCode) {
        self.path = path
        self.files = files
        current = Locked(code)
    }

    /// Makes a new code. It is on the disk when this returns, and the previous code is then invalid.
    func renew() throws(FileError) {
        try writing.withLock { _ throws(FileError) in
            let next = PairingCode.random()
            try write(next)
            current.withLock { $0 = next }
        }
    }

    private func write(_ code: PairingCode) throws(FileError) {
        let file = try files.create(path + ".tmp", isNew: false, mode: Self.mode)
        try files.write(Array("\(code.digits)\n".utf8), to: file, at: 0)
        try files.sync(file)
        try files.move(path + ".tmp", to: path)
        let end = path.lastIndex(of: "/") ?? path.startIndex
        try files.syncFolder(try files.openFolder(String(path[..<end])))
    }
}

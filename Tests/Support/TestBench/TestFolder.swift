import FoundationEssentials
import Glibc

/// A folder of a test's own. It exists from `init`, and is deleted with this object. Names may contain folders.
public final class TestFolder: Sendable {
    public let path: String

    public enum Place { case disk, memory }

    /// - Parameter place: `memory` is RAM if `/dev/shm` can be written, otherwise the disk.
    public init(in place: Place = .disk) {
        let root = place == .memory && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        // Short, because the path of a socket has at most 107 bytes.
        var template = Array("\(root)/fieldfare-XXXXXX".utf8CString)
        precondition(mkdtemp(&template) != nil, "mkdtemp: \(errno)")
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // A server that a test starts may read there as another user.
        chmod(path, 0o755)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file in its place, whole, and makes its folders.
    public func write(_ bytes: [UInt8], to name: String) {
        makeFolder(name.split(separator: "/").dropLast().joined(separator: "/"))
        let file = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        precondition(file >= 0, "open \(path)/\(name): \(errno)")
        precondition(Glibc.write(file, bytes, bytes.count) == bytes.count, "write \(path)/\(name): \(errno)")
        close(file)
    }

    public func write(_ text: String, to name: String) { write(Array(text.utf8), to: name) }

    /// The text of a file, or nil if it cannot be read.
    public func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: "\(path)/\(name)").map { String(decoding: $0, as: UTF8.self) }
    }

    /// Makes a folder and those around it, unless they exist.
    public func makeFolder(_ name: String) {
        var folder = path
        for part in name.split(separator: "/") {
            folder += "/\(part)"
            precondition(mkdir(folder, 0o755) == 0 || errno == EEXIST, "mkdir \(folder): \(errno)")
        }
    }

    /// Deletes a file, or a folder with what it contains.
    public func remove(_ name: String) { try? FileManager.default.removeItem(atPath: "\(path)/\(name)") }

    /// The names in a folder, sorted; none if it cannot be read.
    public func names(in folder: String = "") -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)")) ?? []).sorted()
    }
}

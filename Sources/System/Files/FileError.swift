import Glibc
import Takes

/// A failed operation on a file.
public struct FileError: Error, Hashable, CustomStringConvertible {
    /// The attempted operation: "write", "sync", "rename"…
    public var operation: String
    public var path: String
    /// The system's error number, `errno(3)`.
    public var code: Int32

    public init(_ operation: String, _ path: String, code: Int32) {
        self.operation = operation
        self.path = path
        self.code = code
    }

    /// Whether the storage is full rather than broken.
    public var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }

    /// The failure without advice, such as `write /takes/a.wav.part: No space left on device`.
    public var fact: String {
        "\(operation) \(path): \(SystemError(code))\(remark.map { " (\($0))" } ?? "")"
    }

    /// An explanation of an error text that few people know.
    private var remark: String? {
        switch code {
        case ELOOP: "it is a link, which is not followed here"
        case ESPIPE, ENXIO: "it is not a file"
        default: nil
        }
    }

    /// One sentence: the failure, and what the user should do.
    public var description: String { fact + (advice.map { ": \($0)" } ?? "") }

    private var advice: String? {
        switch code {
        case ENOSPC, EDQUOT: "free some space, or name another directory under [takes]"
        case EIO: "the storage is failing, replace it"
        case EROFS: "the storage has become read-only, check it and mount it again"
        case ENOENT, ENOTDIR: "see that it was not deleted, and that its storage is mounted"
        case EACCES, EPERM: "the recorder's user must be allowed to write there"
        case EEXIST: "move that file to another place, nothing is written over it"
        case EMFILE, ENFILE: "too many files are open"
        default: nil
        }
    }
}

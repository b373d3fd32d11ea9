import Glibc

/// Something that could not be done to a file.
public struct FileError: Error, Hashable, CustomStringConvertible {
    /// What was attempted: "write", "sync", "rename"…
    public var operation: String
    /// On what.
    public var path: String
    /// The system's error number, `errno(3)`.
    public var code: Int32

    /// A failed operation.
    public init(_ operation: String, _ path: String, code: Int32) {
        self.operation = operation
        self.path = path
        self.code = code
    }

    /// Whether there is no room left, rather than something broken.
    public var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }

    /// What happened, such as `write /takes/a.wav.part: No space left on device`.
    public var fact: String {
        let reason = unsafe String(cString: strerror(code))
        return "\(operation) \(path): \(reason)\(remark.map { " (\($0))" } ?? "")"
    }

    /// The meaning of a reason that few people know.
    private var remark: String? {
        switch code {
        case ELOOP: "it is a link, which is not followed here"
        case ESPIPE, ENXIO: "it is no file"
        default: nil
        }
    }

    /// One sentence: what happened, and what is to be done.
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

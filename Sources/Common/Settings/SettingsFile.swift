import Glibc
import Takes

/// Reads whole files.
enum SettingsFile {
    /// Larger than any settings file. Longer files are cut here, and the parser, whose limit is lower, refuses them.
    static let maximumBytes = 1 << 20

    static let missing = ENOENT

    struct Failure: Error {
        var code: CInt

        var text: String {
            switch code {
            case ENOENT: "no such file"
            case EACCES: "permission denied"
            case EISDIR: "it is a directory"
            case ESPIPE: "it is not a regular file"
            default: "\(SystemError(code))"
            }
        }
    }

    /// The first `maximumBytes` of a regular file. Other kinds of files are refused, because reading a pipe might never
    /// end.
    static func bytes(at path: String) throws(Failure) -> [UInt8] {
        let descriptor = try retrying { unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
        defer { close(descriptor) }
        var status = stat()
        _ = try retrying { unsafe fstat(descriptor, &status) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw Failure(code: EISDIR)
        default: throw Failure(code: ESPIPE)
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16384)
        while bytes.count < maximumBytes {
            let count = try retrying { unsafe read(descriptor, &chunk, chunk.count) }
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
        }
        return bytes
    }

    /// Calls again after EINTR.
    private static func retrying<Result: BinaryInteger>(_ call: () -> Result) throws(Failure) -> Result {
        while true {
            let result = call()
            guard result < 0 else { return result }
            guard errno == EINTR else { throw Failure(code: errno) }
        }
    }
}

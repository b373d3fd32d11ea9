import Glibc
import TakeFiles

/// A test's own folder, in RAM if possible. It is removed with its last reference.
final class ScratchFolder {
    let path: String

    init() {
        let root = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        var template = Array("\(root)/takefiles-XXXXXX".utf8CString)
        precondition(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        Self.removeAll(path)
    }

    private static func removeAll(_ path: String) {
        for name in (try? KernelCalls().entries(path)) ?? [] { removeAll("\(path)/\(name)") }
        remove(path)
    }
}

/// The permissions of a file or folder, as octal digits.
func rights(_ path: String) -> String {
    var found = stat()
    precondition(stat(path, &found) == 0)
    return String(found.st_mode & 0o7777, radix: 8)
}

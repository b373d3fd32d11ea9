import Glibc
import TakeFiles

/// A temporary folder for one test, removed with this object.
final class ScratchFolder {
    let path: String

    init() {
        let root = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        var template = Array("\(root)/doctor-XXXXXX".utf8CString)
        precondition(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        Self.removeAll(path)
    }

    /// Creates a file and its parent folders.
    func write(_ text: String, to name: String) {
        var folder = path
        for part in name.split(separator: "/").dropLast() {
            folder += "/\(part)"
            mkdir(folder, 0o755)
        }
        let file = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        precondition(file >= 0)
        precondition(Glibc.write(file, text, text.utf8.count) == text.utf8.count)
        close(file)
    }

    var names: [String] { ((try? KernelCalls().entries(path)) ?? []).sorted() }

    private static func removeAll(_ path: String) {
        for name in (try? KernelCalls().entries(path)) ?? [] { removeAll("\(path)/\(name)") }
        remove(path)
    }
}

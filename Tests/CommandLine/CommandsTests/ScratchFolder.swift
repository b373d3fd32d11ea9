import Glibc
import TakeFiles

/// A temporary folder of a test, removed with its content.
final class ScratchFolder {
    let path: String

    init() {
        var template = Array("/tmp/fieldfare-XXXXXX".utf8CString)
        unsafe template.withUnsafeMutableBufferPointer { _ = unsafe mkdtemp($0.baseAddress!) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.removeAll(path) }

    static func removeAll(_ path: String) {
        for name in (try? KernelCalls().entries(path)) ?? [] { removeAll("\(path)/\(name)") }
        unsafe remove(path)
    }
}

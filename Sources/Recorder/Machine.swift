import Glibc

/// What the machine says of itself.
enum Machine {
    /// The kernel's id of this boot.
    static var bootID: String { firstLine(of: "/proc/sys/kernel/random/boot_id") ?? "" }

    /// The first line of a small file, without white space at either end; nil if it cannot be read.
    static func firstLine(of path: String) -> String? {
        // Safe: the file is closed on every way out, and the buffer outlives the call.
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
        guard count > 0 else { return nil }
        let line = buffer[..<count].prefix { $0 != UInt8(ascii: "\n") }
        let text = String(decoding: line, as: UTF8.self)
        return text.trimmingPrefix { $0.isWhitespace }.isEmpty ? nil : text
    }
}

import Glibc

/// Small files of the kernel, in `/proc` and `/sys`, and the folders and links around them.
package enum SystemFile {
    /// The file's text without white space around it, at most 64 KiB; nil if it cannot be read.
    package static func text(_ path: String) -> String? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count < 65536 {
            // Safe: the length is the array's.
            let count = unsafe piece.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        let text = String(decoding: bytes, as: UTF8.self)
        return String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    /// The first line of a small file; nil if it is empty or cannot be read.
    package static func firstLine(_ path: String) -> String? {
        text(path)?.split(whereSeparator: \.isNewline).first.map(String.init)
    }

    /// The names in a folder, sorted; none if it cannot be read.
    package static func names(in folder: String) -> [String] {
        guard let stream = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            // Safe: the name ends with a zero within the entry.
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Where a path leads when every link is followed; nil if it leads nowhere.
    static func resolved(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }
}

extension StringProtocol {
    /// The last component of a path.
    var lastPathComponent: String {
        String(split(separator: "/").last ?? "")
    }

    /// The path without its last component.
    var parentPath: String {
        "/" + split(separator: "/").dropLast().joined(separator: "/")
    }
}

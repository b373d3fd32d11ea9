import Glibc

/// Reads small files of the kernel in `/proc` and `/sys`, and the folders and links around them.
package enum SystemFile {
    /// The file's text without surrounding white space, at most 64 KiB, or nil if it cannot be read.
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

    /// The first line of a small file, or nil if it is empty or cannot be read.
    package static func firstLine(_ path: String) -> String? {
        text(path)?.split(whereSeparator: \.isNewline).first.map(String.init)
    }

    /// At most `limit` characters of a text from a device, made safe for one line of a log or a terminal, because the
    /// manufacturer may have written anything. Nil if nothing remains, or the file cannot be read.
    package static func words(_ path: String, limit: Int = 100) -> String? {
        text(path).flatMap { words(in: $0, limit: limit) }
    }

    /// Returns the first line of the text, with a space in place of each character that could control a terminal.
    package static func words(in text: some StringProtocol, limit: Int = 100) -> String? {
        var words = String.UnicodeScalarView()
        for scalar in (text.split(whereSeparator: \.isNewline).first ?? "").unicodeScalars.prefix(limit) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: words.append(" ")
            default: words.append(scalar)
            }
        }
        let line = String(words).split(separator: " ").joined(separator: " ")
        return line.isEmpty ? nil : line
    }

    /// The names in a folder, sorted. Empty if it cannot be read.
    package static func names(in folder: String) -> [String] {
        guard let stream = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            // Safe: the name ends with a zero byte within the entry.
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// The last path component of a link's target, or nil if the path is not a link.
    package static func linkedName(_ path: String) -> String? {
        // Safe: the length is the buffer's, which is not empty and so has an address.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            count = unsafe buffer.withMemoryRebound(to: CChar.self) {
                unsafe max(0, readlink(path, $0.baseAddress!, $0.count))
            }
        }
        let name = String(decoding: bytes, as: UTF8.self).lastPathComponent
        return name.isEmpty || name == ".." || name == "." ? nil : name
    }
}

extension StringProtocol {
    var lastPathComponent: String {
        String(split(separator: "/").last ?? "")
    }
}

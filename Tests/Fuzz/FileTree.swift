import Foundation

/// A folder that a text describes: `%%% file PATH` with its content on the following lines, `%%% folder PATH`, `%%%
/// link PATH TARGET`, `%%% pipe PATH`. Nothing is made outside of the folder.
struct FileTree {
    let root: String

    /// The beginning of an entry's line.
    static let mark = Array("%%% ".utf8)

    init(root: String) {
        self.root = root
    }

    /// Empties the folder and fills it.
    func fill(with text: [UInt8]) throws {
        try? FileManager.default.removeItem(atPath: root)
        mkdir(root, 0o755)
        var made: Set<String> = []
        for entry in Self.entries(in: text).prefix(60) {
            let fields = entry.head.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count >= 2, let path = place(fields[1], &made) else { continue }
            switch fields[0] {
            case "file":
                let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o644)
                guard file >= 0 else { continue }
                _ = entry.content.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
                close(file)
            case "folder": mkdir(path, 0o755)
            case "link": if fields.count == 3 { symlink(String(fields[2].prefix(200)), path) }
            case "pipe": mkfifo(path, 0o644)
            default: break
            }
        }
    }

    /// An entry's path below the root, whose folders are made; nil if the path leaves the root.
    private func place(_ path: Substring, _ made: inout Set<String>) -> String? {
        let names = path.split(separator: "/")
        guard !names.isEmpty, names.count <= 12,
            names.allSatisfy({ $0 != ".." && $0.utf8.count <= 255 && !$0.utf8.contains(0) })
        else { return nil }
        var place = root
        for name in names.dropLast() {
            place += "/\(name)"
            guard made.insert(place).inserted else { continue }
            mkdir(place, 0o755)
            // A link among them could point anywhere.
            var status = stat()
            guard lstat(place, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                made.remove(place)
                return nil
            }
        }
        return "\(place)/\(names[names.count - 1])"
    }

    /// Everything below a folder, so that two snapshots can be compared: kind, time of change, and content.
    static func snapshot(of folder: String) -> [String: String] {
        var found: [String: String] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            let path = "\(folder)/\(name)"
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            let time = "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
            switch status.st_mode & S_IFMT {
            case S_IFDIR:
                found[name] = "folder"
                for (below, what) in snapshot(of: path) { found["\(name)/\(below)"] = what }
            case S_IFREG:
                let content = FileManager.default.contents(atPath: path) ?? Data()
                var hasher = Hasher()
                content.withUnsafeBytes { hasher.combine(bytes: $0) }
                found[name] = "file \(time) \(content.count) \(hasher.finalize())"
            case S_IFLNK:
                found[name] = "link \((try? FileManager.default.destinationOfSymbolicLink(atPath: path)) ?? "")"
            default: found[name] = "other"
            }
        }
        return found
    }

    /// The text that describes a folder, without its links.
    static func text(of folder: String) throws -> [UInt8] {
        var text: [UInt8] = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder).sorted() where !path.hasSuffix(".lock")
        {
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: "\(folder)/\(path)", isDirectory: &isFolder)
            if isFolder.boolValue { continue }
            let content = FileManager.default.contents(atPath: "\(folder)/\(path)") ?? Data()
            text += mark + Array("file \(path)\n".utf8) + content + [0x0a]
        }
        return text
    }

    /// The entries of a text; `head` is the rest of the mark's line.
    static func entries(in text: [UInt8]) -> [(head: String, content: ArraySlice<UInt8>)] {
        var entries: [(head: String, content: ArraySlice<UInt8>)] = []
        var start: Int?
        var place = 0
        func close(at end: Int) {
            guard let start else { return }
            let newline = text[start..<end].firstIndex(of: 0x0a) ?? end
            entries.append((String(decoding: text[start..<newline], as: UTF8.self), text[min(newline + 1, end)..<end]))
        }
        while place < text.count {
            if text[place...].starts(with: mark) {
                // The line break before a mark does not belong to the content.
                close(at: max(start ?? 0, place - 1))
                start = place + mark.count
            }
            place = text[place...].firstIndex(of: 0x0a).map { $0 + 1 } ?? text.count
        }
        close(at: text.count)
        return entries
    }
}

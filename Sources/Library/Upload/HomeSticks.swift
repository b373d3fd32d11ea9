public import Files
import FoundationEssentials
import Glibc
import Takes

/// The sticks that this kit adopted as destinations. Their marks are in a file in the library's folder. Thread-safe.
public final class HomeSticks: Sendable {
    private let path: String
    private let files: FileSystem
    private let marks: Locked<[StickMark: String]>
    /// One thread writes at a time.
    private let writing = Locked(())

    private static let fileName = "sticks.json"
    private static let mode: UInt32 = 0o640

    private struct Content: Codable {
        var schema = 1
        var sticks: [Stick]

        struct Stick: Codable {
            var stick: String
            /// ISO 8601, UTC.
            var adopted: String
        }
    }

    /// Reads the list.
    /// - Parameter directory: the library's folder.
    /// - Returns: the list, and a sentence if it cannot be read. The list is then empty. A malformed file is kept with
    ///   the suffix `.damaged`.
    public static func open(in directory: String, files: FileSystem = FileSystem()) -> (HomeSticks, problem: String?) {
        let path = "\(directory)/\(fileName)"
        let advice = "no stick is home before it is adopted again, or has a take that this kit sent"
        var found: [StickMark: String] = [:]
        var problem: String?
        do throws(FileError) {
            let bytes = try files.contents(path)
            if let content = try? JSONDecoder().decode(Content.self, from: Data(bytes)) {
                for stick in content.sticks { if let mark = StickMark(stick.stick) { found[mark] = stick.adopted } }
            } else {
                try? files.move(path, to: path + ".damaged")
                problem = "stick: \(path): is not a list of sticks: kept as \(path).damaged: \(advice)"
            }
        } catch {
            if error.code != ENOENT { problem = "stick: \(error.fact): \(advice)" }
        }
        return (HomeSticks(path, files, found), problem)
    }

    private init(_ path: String, _ files: FileSystem, _ marks: [StickMark: String]) {
        self.path = path
        self.files = files
        self.marks = Locked(marks)
    }

    func has(_ mark: StickMark) -> Bool { marks.withLock { $0[mark] != nil } }

    /// Adopts a stick. The change is on the disk when this returns.
    /// - Throws: `FileError`.
    func add(_ mark: StickMark) throws(FileError) {
        try writing.withLock { _ throws(FileError) in
            var next = marks.withLock { $0 }
            guard next[mark] == nil else { return }
            next[mark] = SystemClock().wallTime().iso8601
            let sticks = next.sorted { ($0.value, $0.key.name) < ($1.value, $1.key.name) }
                .map { Content.Stick(stick: $0.key.name, adopted: $0.value) }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            guard let data = try? encoder.encode(Content(sticks: sticks)) else {
                throw FileError("write", path, code: EINVAL)
            }
            try files.replace(path, with: Array(data), mode: Self.mode)
            marks.withLock { [next] in $0 = next }
        }
    }
}

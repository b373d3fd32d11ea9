import Digests
import Files
import FoundationEssentials
import Glibc
import TakeFiles

/// The mark of an adopted stick: a random name in a file of its folder for takes. Each kit that adopts the stick adds a
/// new name. A copy of the folder counts as adopted too.
public struct StickMark: Hashable, Sendable {
    /// 32 hexadecimal digits.
    public let name: String

    private static let fileName = ".stick.json"
    private static let byteCount = 16
    /// A longer file counts as having no marks.
    private static let mostBytes = 16 << 10
    /// The oldest marks are dropped above this number.
    private static let mostMarks = 200

    private struct Content: Codable {
        var schema = 1
        var sticks: [String]
    }

    /// Nil if the name is not a mark.
    public init?(_ name: String) {
        let digits = name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        guard name.utf8.count == 2 * Self.byteCount, digits else { return nil }
        self.name = name
    }

    /// A new random mark.
    private init() {
        var random = SystemRandomNumberGenerator()
        name = (0..<Self.byteCount).map { _ in UInt8.random(in: 0...255, using: &random) }.hexadecimal
    }

    /// The part shown to people. Anyone who knows the whole mark could make another stick that counts as this one.
    public var short: String { Self.short(name) }

    public static func short(_ name: String) -> String { String(name.prefix(8)) }

    /// The marks in a folder; empty if it has none. Links are not followed.
    /// - Throws: `FileError`.
    static func read(in folder: String, _ files: FileSystem) throws(FileError) -> [StickMark] {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try files.takeFileContents("\(folder)/\(fileName)", limit: mostBytes)
        } catch {
            switch error.code {
            // Missing, a link, or not a regular file.
            case ENOENT, ELOOP, EISDIR, ESPIPE, ENXIO: return []
            default: throw error
            }
        }
        return (try? JSONDecoder().decode(Content.self, from: Data(bytes)))?.sticks.compactMap { StickMark($0) } ?? []
    }

    /// Adds a new mark to those in a folder. It is on the disk when this returns.
    /// - Throws: `FileError`.
    static func add(to marks: [StickMark], in folder: String, _ files: FileSystem) throws(FileError) -> StickMark {
        let mark = StickMark()
        let path = "\(folder)/\(fileName)"
        let content = Content(sticks: (marks + [mark]).suffix(mostMarks).map(\.name))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let data = try? encoder.encode(content) else { throw FileError("write", path, code: EINVAL) }
        try files.replace(path, with: Array(data), mode: 0o644)
        return mark
    }
}

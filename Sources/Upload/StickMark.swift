import Digests
import FoundationEssentials
import Glibc
import TakeFiles

/// What tells one stick from all others: a random name in a file of its folder for takes. A copy of the folder is home as well.
public struct StickMark: Hashable, Sendable {
    /// 32 hexadecimal digits.
    public let name: String

    private static let fileName = ".stick.json"
    private static let byteCount = 16
    /// A longer file is no mark.
    private static let mostBytes = 4096

    private struct Content: Decodable {
        var stick: String
    }

    /// Returns the mark with a name; or nil if it is none.
    public init?(_ name: String) {
        let digits = name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        guard name.utf8.count == 2 * Self.byteCount, digits else { return nil }
        self.name = name
    }

    /// A new one.
    private init() {
        var random = SystemRandomNumberGenerator()
        name = (0..<Self.byteCount).map { _ in UInt8.random(in: 0...255, using: &random) }.hexadecimal
    }

    /// What people are shown of it.
    public var short: String { String(name.prefix(8)) }

    /// Returns the mark in a folder; or nil if it has none, or what is there is no mark. No link is followed.
    /// - Throws: `FileError`.
    static func read(in folder: String, _ files: FileSystem) throws(FileError) -> StickMark? {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try files.takeFileContents("\(folder)/\(fileName)", limit: mostBytes)
        } catch {
            switch error.code {
            // Nothing, a link, or no file.
            case ENOENT, ELOOP, EISDIR, ESPIPE, ENXIO: return nil
            default: throw error
            }
        }
        return (try? JSONDecoder().decode(Content.self, from: Data(bytes))).flatMap { StickMark($0.stick) }
    }

    /// Writes a new mark into a folder. It is on the disk when this returns.
    /// - Throws: `FileError`.
    static func write(in folder: String, _ files: FileSystem) throws(FileError) -> StickMark {
        let mark = StickMark()
        let text = "{\"schema\":1,\"stick\":\"\(mark.name)\"}\n"
        try files.replace("\(folder)/\(fileName)", with: Array(text.utf8), mode: 0o644)
        return mark
    }
}

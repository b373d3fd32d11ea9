import Glibc
public import Takes

/// The files of the time zone database, tzdata (tzfile(5)).
enum TimeZoneFile {
    private static let folder = "/usr/share/zoneinfo"
    private static let longest = 64
    /// Longer than any zone's file.
    private static let mostBytes = 1 << 16

    /// Whether the database has this zone, such as `Europe/Berlin`.
    static func isThere(_ name: String) -> Bool { contents(of: name) != nil }

    /// The file of a zone, or nil if the database does not have it.
    static func contents(of name: String) -> [UInt8]? {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard name.utf8.count <= longest, parts.allSatisfy(isPlain) else { return nil }
        let file = unsafe open("\(folder)/\(name)", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: mostBytes)
        let count = unsafe read(file, &bytes, bytes.count)
        // A zone file begins with these bytes (RFC 9636); the folder also contains lists.
        guard count > 0, bytes.starts(with: "TZif".utf8) else { return nil }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    private static func isPlain(_ part: Substring) -> Bool {
        guard let first = part.utf8.first, isLetter(first) else { return false }
        return part.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || Array("_+-".utf8).contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}

extension LocalZone {
    /// A zone of the time zone database, such as `Europe/Berlin`, or nil if the database does not have it.
    public init?(named name: String) {
        guard let bytes = TimeZoneFile.contents(of: name), let rules = ZoneRules(bytes) else { return nil }
        self.init(rules)
    }
}

extension Settings.Kit {
    /// Makes the settings' time zone the local one of this process. Call it before any thread asks for the local time.
    public func useTimeZone() {
        guard let timeZone else { return }
        unsafe setenv("TZ", ":\(timeZone)", 1)
        tzset()
    }
}

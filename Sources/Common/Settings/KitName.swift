import Glibc

extension Settings {
    /// The name that this kit's takes begin with: `kit.name`, or else a suggestion made from the machine's own names.
    public var kitName: String {
        kit.name ?? KitName.ofThisMachine
    }

    /// A warning that programs for field recordings may read a date in the kit's name, as a sentence, or nil.
    public var kitNameWarning: String? {
        let name = kitName
        guard name.split(whereSeparator: { !$0.isNumber }).contains(where: { $0.count >= 6 }) else { return nil }
        return
            "the kit's name \(name) has six or more digits in a row: some programs read a date in it: set another kit.name"
    }
}

/// The default name of a kit.
public enum KitName {
    /// The host name and 4 characters derived from the machine id, such as `heron-7k2q`. So two kits made from one
    /// image differ.
    ///
    /// - Parameter machineID: the content of `/etc/machine-id`. White space around it is ignored.
    public static func suggested(hostName: String, machineID: String) -> String {
        "\(cleaned(hostName))-\(fingerprint(of: machineID))"
    }

    public static var ofThisMachine: String {
        let machineID = (try? SettingsFile.bytes(at: "/etc/machine-id")) ?? []
        return suggested(
            hostName: hostName, machineID: String(decoding: machineID, as: UTF8.self))
    }

    /// The host name without the domain. It comes from `gethostname(2)`, because a sandbox may hide `/proc/sys`.
    public static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        // Safe: the last byte stays zero.
        unsafe gethostname(&name, name.count - 1)
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
    }

    /// Lower-case, with one '-' in place of characters other than a-z and 0-9, and short enough for a kit's name.
    private static func cleaned(_ hostName: String) -> String {
        let letters = hostName.lowercased().utf8.map { isPlain($0) ? Character(Unicode.Scalar($0)) : "-" }
        let words = String(letters).split(separator: "-").joined(separator: "-")
        let name = String(words.prefix(48))
        return name.isEmpty ? "kit" : name
    }

    /// 20 bits of 64-bit FNV-1a, in Crockford's base 32, which avoids letters that look alike.
    private static func fingerprint(of machineID: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in machineID.utf8 where byte > 0x20 {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        let folded = hash ^ (hash >> 20) ^ (hash >> 40)
        let digits = Array("0123456789abcdefghjkmnpqrstvwxyz")
        return String((0..<4).map { digits[Int((folded >> (5 * $0)) & 31)] })
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte)
    }
}

import Glibc

extension Settings {
    /// What this kit's takes are named after: `kit.name`, or else what the machine itself suggests.
    public var kitName: String {
        kit.name ?? KitName.ofThisMachine
    }

    /// That programs for field recordings may read a date in the name of the kit, as a sentence; nil if they do not.
    public var kitNameWarning: String? {
        let name = kitName
        guard name.split(whereSeparator: { !$0.isNumber }).contains(where: { $0.count >= 6 }) else { return nil }
        return
            "the kit's name \(name) has six or more digits in a row: some programs read a date in it: set another kit.name"
    }
}

/// The name of a kit whose settings give none.
public enum KitName {
    /// The host name and 4 characters of the machine's own, such as `heron-7k2q`: two kits made from one image differ.
    ///
    /// - Parameter machineID: what `/etc/machine-id` holds; space around it does not count.
    public static func suggested(hostName: String, machineID: String) -> String {
        "\(cleaned(hostName))-\(fingerprint(of: machineID))"
    }

    /// The suggestion for the machine that this runs on.
    public static var ofThisMachine: String {
        let machineID = (try? SettingsFile.bytes(at: "/etc/machine-id")) ?? []
        return suggested(
            hostName: hostName, machineID: String(decoding: machineID, as: UTF8.self))
    }

    /// The host name of this machine, without a domain (`gethostname(2)`): a sandbox may hide `/proc/sys`.
    public static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        // Safe: the last byte stays zero.
        unsafe gethostname(&name, name.count - 1)
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
    }

    /// Lower-case, with one '-' for whatever is not a-z or 0-9; short enough that a name stays a kit's name.
    private static func cleaned(_ hostName: String) -> String {
        let letters = hostName.lowercased().utf8.map { isPlain($0) ? Character(Unicode.Scalar($0)) : "-" }
        let words = String(letters).split(separator: "-").joined(separator: "-")
        let name = String(words.prefix(48))
        return name.isEmpty ? "kit" : name
    }

    /// 20 bits of FNV-1a in 64 bits, in Crockford's base 32, which has no letters that resemble each other.
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

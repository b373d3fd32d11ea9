/// Files that a person put on the boot partition of a kit's card. At its start the kit imports settings and networks
/// from there.
public enum BootPartition {
    /// The problems of the last import, one sentence each. The list is empty on a machine that does not import.
    public static func problems(at path: String = "/run/fieldfare-kit/problems") -> [String] {
        guard let bytes = try? SettingsFile.bytes(at: path) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { escaped(String($0), limit: 500) }
    }
}

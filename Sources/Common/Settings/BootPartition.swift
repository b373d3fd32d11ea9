/// What somebody put on the boot partition of a kit's card: settings and networks are taken over from there when the kit starts.
public enum BootPartition {
    /// What was wrong with it, a sentence each; empty on a machine that takes nothing over.
    public static func problems(at path: String = "/run/fieldfare-kit/problems") -> [String] {
        guard let bytes = try? SettingsFile.bytes(at: path) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { escaped(String($0), limit: 500) }
    }
}

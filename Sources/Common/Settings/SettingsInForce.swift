/// The values in force: from the settings file if they are understood, otherwise the defaults.
public struct SettingsInForce: Sendable {
    public let problems: [SettingsProblem]
    private let values: [[String]: SettingsValue]
    private let unconnected: Set<String>

    /// Reads the settings file at `path`, or the usual one if nil. The usual one may be missing.
    public static func load(from path: String?) -> SettingsInForce {
        let file = path ?? Settings.defaultPath
        let problems = Settings.load(from: path).problems
        return SettingsInForce((try? SettingsFile.bytes(at: file)) ?? [], problems, file: file)
    }

    init(_ bytes: [UInt8], _ problems: [SettingsProblem], file: String) {
        self.problems = problems
        var settings = Settings()
        var values: [[String]: SettingsValue] = [:]
        if let document = try? TOMLDocument(bytes) {
            var reader = SettingsReader(document: document, file: file)
            reader.read(into: &settings)
            let all = SettingsValue.values(document)
            for node in reader.understood.values {
                let path = reader.path(of: node)
                values[path] = all[path]
            }
        }
        self.values = values
        unconnected = SettingsSchema.unconnected(in: settings)
    }

    public struct NoSuchKey: Error, CustomStringConvertible {
        public let description: String
    }

    /// The value of a key, or nil if the key has neither a value nor a default.
    /// - Parameter name: the key with its sections, such as `capture.rate_hz`.
    /// - Throws: `NoSuchKey`.
    public func value(of name: String) throws(NoSuchKey) -> SettingsValue? {
        let known = SettingsSchema.assignments
        guard let assignment = known.first(where: { $0.name == name })?.assignment else {
            let nearest = known.map(\.name).nearest(to: name) ?? SettingsSchema.elsewhere(name)
            throw NoSuchKey(
                description: "settings: \(quoted(name)): no such key"
                    + (nearest.map { "; did you mean '\($0)'?" } ?? ": fieldfare.toml(5) lists all"))
        }
        guard !unconnected.contains(name) else { return nil }
        return values[name.split(separator: ".").map(String.init)] ?? assignment.standard.value
    }
}

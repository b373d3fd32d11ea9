public struct SettingsProblem: Error, Hashable, Sendable {
    public var file: String
    /// The line, from 1, or nil if the file could not be read at all.
    public var line: Int?
    /// The column in that line, in characters from 1.
    public var column: Int?
    /// The key with its section, such as `capture.rate_hz`, or nil if the problem is not about a key.
    public var key: String?
    /// The value found, and the allowed values.
    public var message: String

    public init(file: String, line: Int? = nil, column: Int? = nil, key: String? = nil, message: String) {
        self.file = file
        self.line = line
        self.column = column
        self.key = key
        self.message = message
    }
}

extension SettingsProblem {
    /// Whether this problem is about a key, or about a part of its value.
    func isAbout(_ name: String) -> Bool { key == name || key?.hasPrefix("\(name).") == true }
}

extension SettingsProblem: CustomStringConvertible {
    /// One sentence, such as `/etc/fieldfare/fieldfare.toml:12: filter.keep_unfiltered: found "yes" (a string): allowed
    /// are true or false`.
    public var description: String {
        let place = line.map { "\(file):\($0)" } ?? file
        return [place, key, message].compactMap(\.self).joined(separator: ": ")
    }
}

@testable import Settings

/// The settings file that the kit ships.
enum ExampleFile {
    static let path =
        #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined() + "/deploy/fieldfare.example.toml"

    static let text = (try? SettingsFile.bytes(at: path)).map { String(decoding: $0, as: UTF8.self) } ?? ""

    /// The file without its examples, so only with defaults.
    static var defaultsAlone: String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let defaults = lines.prefix { !$0.hasPrefix("# the sections below are examples") }
        return defaults.filter { !$0.contains("# example") }.joined(separator: "\n")
    }

    /// The dotted name of each key that the file sets, except those of the panel's lines.
    static var keys: [String] {
        var section = ""
        var keys: [String] = []
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            if line.hasPrefix("[") {
                section = String(line.dropFirst().prefix { $0 != "]" })
            } else {
                keys.append("\(section).\(line.prefix { $0 != " " })")
            }
        }
        return keys
    }
}

@testable import Settings

/// The settings file that the kit ships.
enum ExampleFile {
    static let path =
        #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined() + "/deploy/fieldfare.example.toml"

    static let text = (try? SettingsFile.bytes(at: path)).map { String(decoding: $0, as: UTF8.self) } ?? ""

    /// The file without its examples, so only with defaults.
    static var defaultsAlone: String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let defaults = lines.prefix { !$0.hasPrefix(examples) }
        return defaults.filter { !$0.contains("# example") }.joined(separator: "\n")
    }

    private static let examples = "# the sections below are examples"

    /// A line with a key.
    struct Entry {
        /// The dotted name of the key.
        var name: String
        /// The value and the comment.
        var text: Substring
        /// Whether the value is the default: the line is in force, and not marked as an example.
        var isDefault: Bool
    }

    /// All lines with a key, also those in comments.
    static var entries: [Entry] {
        var section = ""
        var isExample = false
        var entries: [Entry] = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix(examples) { isExample = true }
            if let header = line.firstMatch(of: /^(# )?\[([a-z0-9_.]+)\]/) {
                section = String(header.output.2)
            } else if let key = line.firstMatch(of: /^(# )?([a-z0-9_]+) *= (.*)$/) {
                let isInForce = key.output.1 == nil && !isExample && !line.contains("# example")
                entries.append(
                    Entry(name: "\(section).\(key.output.2)", text: key.output.3, isDefault: isInForce))
            }
        }
        return entries
    }
}

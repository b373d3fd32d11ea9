@testable import Settings

/// What fieldfare.toml(5) says of the keys.
enum SettingsPage {
    /// An item of a section's list.
    struct Entry {
        /// The dotted name of the key.
        var name: String
        /// The default in TOML, or nil if none is stated.
        var standard: String?
        var text: String
    }

    private static let page: String = {
        let path =
            #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined() + "/deploy/man/fieldfare.toml.5"
        return (try? SettingsFile.bytes(at: path)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }()

    static let entries: [Entry] = page.split(separator: "\n.Ss Section ").dropFirst().flatMap { section in
        let section = section.split(separator: "\n.Sh ")[0]
        let name = section.prefix { $0 != "\n" }
        return section.split(separator: "\n.It Ic ").dropFirst().map { item in
            let line = item.prefix { $0 != "\n" }
            let words = line.split(separator: " No = ", maxSplits: 1)
            let standard = words.dropFirst().first.map { String($0).replacing(#"\(dq"#, with: "\"") }
            return Entry(name: "\(name).\(words[0])", standard: standard, text: String(item.dropFirst(line.count)))
        }
    }
}

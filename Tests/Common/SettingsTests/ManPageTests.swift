import Testing

@testable import Settings

/// The keys in fieldfare.toml(5).
@Suite struct ManPageTests {
    private static let text: String = {
        let path =
            #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined() + "/deploy/man/fieldfare.toml.5"
        return (try? SettingsFile.bytes(at: path)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }()

    /// The text below each heading.
    private static let sections: [String: String] = {
        var sections: [String: String] = [:]
        for part in text.split(separator: ".Ss Section ").dropFirst() {
            sections[String(part.prefix { $0 != "\n" })] = String(part)
        }
        return sections
    }()

    @Test func `fieldfare.toml(5) describes every key that the recorder uses`() throws {
        // Keys of the program that uploads takes are only in the example.
        let others = ["library.", "console.", "outbox."]
        let names = SettingsSchema.assignments.map(\.name).filter { name in !others.contains { name.hasPrefix($0) } }
        #expect(names.count > 35)
        for name in names {
            let words = name.split(separator: ".")
            let section = try #require(Self.sections[words.dropLast().joined(separator: ".")], "\(name)")
            let key = try #require(words.last)
            #expect(section.contains(try Regex("Ic (.* , )?\(key)\\b")), "\(name)")
        }
    }
}

import Testing

@testable import Settings

/// The keys of the schema, of fieldfare.toml(5) and of the shipped example file, and their defaults.
@Suite struct SettingsDocumentsTests {
    private let known = SettingsSchema.assignments.map { (name: $0.name, standard: $0.assignment.standard) }

    private func value(_ text: some StringProtocol) -> SettingsValue? { KeyDefault.value(String(text)).value }

    @Test func `fieldfare.toml(5) describes every key, in the order of the schema, and no other`() {
        #expect(SettingsPage.entries.map(\.name) == known.map(\.name))
    }

    @Test func `the shipped file names every key, in the order of the schema, and no other`() {
        #expect(ExampleFile.entries.map(\.name) == known.map(\.name))
    }

    @Test func `fieldfare.toml(5) states every default that is a value, and no other`() {
        for (key, entry) in zip(known, SettingsPage.entries) {
            #expect(entry.standard.map { value($0) ?? .text("no TOML: \($0)") } == key.standard.value, "\(entry.name)")
            if case .words = key.standard { #expect(entry.text.contains("Default: "), "\(entry.name)") }
        }
    }

    @Test func `each default in the shipped file is the schema's, as a value or after "default:"`() {
        var stated = 0
        for (key, entry) in zip(known, ExampleFile.entries) {
            if entry.isDefault {
                stated += 1
                #expect(value(entry.text) == key.standard.value, "\(entry.name)")
            }
            if let words = entry.text.firstMatch(of: /default: (.*)$/) {
                stated += 1
                #expect(words.output.1 == "\(key.standard)", "\(entry.name)")
            }
        }
        #expect(stated > 55)
    }
}

import Foundation
import SeededRandom
import Testing

@testable import Settings

@Suite struct SettingsEditTests {
    private static let file = "fieldfare.toml"

    private func edited(_ text: String, _ name: String, _ value: SettingsValue?) throws -> String {
        var edit = SettingsEdit(text, file: Self.file)
        try edit.set(name, to: value)
        return edit.text
    }

    @Test(arguments: [
        ("[filter]\nlow_pass_hz = 8000   # bats\n", "[filter]\nlow_pass_hz = 9000   # bats\n"),
        ("[filter]\nlow_pass_hz=\"off\"", "[filter]\nlow_pass_hz=9000"),
        ("# filter\r\n[filter]\r\nlow_pass_hz = 8000\r\n", "# filter\r\n[filter]\r\nlow_pass_hz = 9000\r\n"),
        ("[filter]\n# low_pass_hz = 1\n", "[filter]\nlow_pass_hz = 9000\n# low_pass_hz = 1\n"),
        ("[kit]\nname = \"a\"\n", "[kit]\nname = \"a\"\n\n[filter]\nlow_pass_hz = 9000\n"),
        ("", "[filter]\nlow_pass_hz = 9000\n"),
        ("filter.low_pass_hz = 8000 # dotted\n", "filter.low_pass_hz = 9000 # dotted\n"),
        (
            "[ filter ] # the filter\nslope_db_per_octave = 12\n",
            "[ filter ] # the filter\nlow_pass_hz = 9000\nslope_db_per_octave = 12\n"
        ),
    ])
    func `a key is set, and all else stays byte for byte`(_ before: String, _ after: String) throws {
        if before.hasPrefix("filter.") {
            // The name begins with another key's name.
            #expect(throws: SettingsEdit.Refusal.self) { try edited(before, "filter.low_pass_hz", .integer(9000)) }
        } else {
            #expect(try edited(before, "filter.low_pass_hz", .integer(9000)) == after)
        }
    }

    @Test func `a key is taken away, and its default is in force`() throws {
        let text = "[filter]\nlow_pass_hz = 8000 # bats\nslope_db_per_octave = 12\n"
        #expect(try edited(text, "filter.low_pass_hz", nil) == "[filter]\nslope_db_per_octave = 12\n")
        #expect(try edited(text, "capture.card", nil) == text)
    }

    @Test func `strings, tables and lists are written as TOML`() throws {
        let name = "usb:0d8c:0014:A\"B\\C#D"
        let text = try edited("[capture]\ncard = \"auto\" # it\n", "capture.card", .text(name))
        #expect(text == "[capture]\ncard = \"usb:0d8c:0014:A\\\"B\\\\C#D\" # it\n")
        #expect(try edited(text, "capture.card", .text("auto")) == "[capture]\ncard = \"auto\" # it\n")
        let lines = "[panel.buttons]\nrecord = { line = \"GPIO17\" } # red\n"
        let value = SettingsValue.table(["line": .text("GPIO5")])
        #expect(
            try edited(lines, "panel.buttons.record", value)
                == "[panel.buttons]\nrecord = { \"line\" = \"GPIO5\" } # red\n")
        let stores = try edited(
            "[outbox]\nstore = [\"auto\", \"folder\"]\n[outbox.folder]\npath = \"/mnt\"\n", "outbox.store",
            .text("auto"))
        #expect(stores == "[outbox]\nstore = \"auto\"\n[outbox.folder]\npath = \"/mnt\"\n")
    }

    @Test func `a value that is not allowed, and text that is not understood, are refused, and nothing is changed`()
        throws
    {
        var edit = SettingsEdit("[filter]\nlow_pass_hz = 8000\n", file: Self.file)
        #expect(throws: SettingsEdit.Refusal(description: "settings: filter.cutoff: no such key")) {
            try edit.set("filter.cutoff", to: .integer(1))
        }
        do {
            try edit.set("filter.slope_db_per_octave", to: .integer(13))
            Issue.record("it was changed")
        } catch {
            #expect(error.description.hasPrefix("fieldfare.toml:2"))
            #expect(error.description.contains("12, 24, 36"))
        }
        #expect(edit.text == "[filter]\nlow_pass_hz = 8000\n")
        for text in [
            "[filter]\nlow_pass_hz = \"\"\"\noff\"\"\"\n", "filter = { low_pass_hz = 8000 }\n", "[filter\n",
            "[outbox]\nstore = [\n  \"auto\",\n]\n",
        ] {
            let (name, value): (String, SettingsValue) =
                text.contains("store") ? ("outbox.store", .text("none")) : ("filter.low_pass_hz", .integer(9000))
            #expect(throws: SettingsEdit.Refusal.self, "\(text)") { try edited(text, name, value) }
        }
    }

    @Test func `what was wrong before does not keep another key from being changed`() throws {
        let text = "[filter]\nlow_pass_hz = \"loud\"\n"
        #expect(try edited(text, "filter.slope_db_per_octave", .integer(36)).contains("slope_db_per_octave = 36"))
    }

    @Test func `random changes keep all comments and all other values`() throws {
        var random = SeededRandom(seed: 11)
        let example = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../../deploy/fieldfare.example.toml"), encoding: .utf8)
        let comments = example.split(separator: "\n").filter { $0.contains("#") }.compactMap {
            $0.split(separator: "#").last
        }
        let changes: [(String, [SettingsValue?])] = [
            ("takes.longest_minutes", [.integer(5), .real(2.5), nil]), ("kit.name", [.text("owl"), .text("heron-7")]),
            ("capture.agc", [.boolean(true), .boolean(false)]), ("filter.low_pass_hz", [.text("off"), .integer(500)]),
            ("console.access", [.text("open"), .text("paired")]), ("panel.debounce_milliseconds", [.integer(20), nil]),
            ("outbox.keep_local", [.text("always"), nil]), ("capture.gain_db", [.real(-3.5), .text("keep")]),
        ]
        for _ in 0..<20 {
            var edit = SettingsEdit(example, file: Self.file)
            var meant: [String: SettingsValue?] = [:]
            var removed: Set<String> = []
            for _ in 0..<12 {
                let (name, values) = changes.randomElement(using: &random)!
                let value = values.randomElement(using: &random)!
                try edit.set(name, to: value)
                meant[name] = value
                if value == nil { removed.insert(name) }
            }
            let before = SettingsValue.values(try TOMLDocument(Array(example.utf8)))
            let after = SettingsValue.values(try TOMLDocument(Array(edit.text.utf8)))
            for (path, value) in before where value.isLeaf && meant[path.joined(separator: ".")] == nil {
                #expect(after[path] == value, "\(path)")
            }
            for (name, value) in meant {
                #expect(after[name.split(separator: ".").map(String.init)] == value, "\(name)")
            }
            // A comment after a removed key is removed with it.
            let kept = comments.filter { edit.text.contains($0) }.count
            #expect(kept >= comments.count - removed.count)
        }
    }

    @Test func `the form has every key with what it may be and what it is`() throws {
        let form = SettingsForm("[filter]\nlow_pass_hz = 8000\nslope_db_per_octave = 13\n", file: Self.file)
        #expect(form.sections.map(\.name).contains("panel.buttons"))
        #expect(form.sections.flatMap(\.keys).count == SettingsSchema.assignments.count)
        let filter = try #require(form.sections.first { $0.name == "filter" })
        #expect(filter.keys.map(\.value) == [.integer(8000), .integer(13), nil, nil])
        #expect(filter.keys[1].values == ["12", "24", "36", "48"])
        #expect(filter.keys[0].values == nil)
        #expect(form.problems.count == 1)
    }
}

extension SettingsValue {
    fileprivate var isLeaf: Bool {
        if case .table = self { false } else { true }
    }
}

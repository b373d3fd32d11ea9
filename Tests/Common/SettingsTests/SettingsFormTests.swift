import FoundationEssentials
import Testing

@testable import Settings

@Suite struct SettingsFormTests {
    private static let entries = SettingsForm("", file: "fieldfare.toml").sections.flatMap { section in
        section.keys.map { (section: section.name, entry: $0) }
    }

    @Test func `each key says what it is for, and names the default that is in force`() {
        #expect(Self.entries.count == SettingsSchema.assignments.count)
        for (section, entry) in Self.entries {
            let sentences = entry.purpose.split(separator: ". Default: ")
            #expect(sentences.count == 2 && sentences[0].count >= 10, "\(section).\(entry.key): \(entry.purpose)")
            guard let value = sentences.last, value != "none", !value.hasPrefix("the ") else { continue }
            // A file that sets a key to its default is equal to an empty file.
            let (settings, problems) = Settings.parse("[\(section)]\n\(entry.key) = \(value)\n", file: "fieldfare.toml")
            #expect(problems.isEmpty && settings == Settings(), "\(section).\(entry.key) = \(value): \(problems)")
        }
    }

    @Test(arguments: [
        ("https://u:secret@host/x", "https://u:…@host/x"), ("sftp://u:se:cr@et@host:22/a@b", "sftp://u:…@host:22/a@b"),
        ("sftp://u@host/x", "sftp://u@host/x"), ("https://host/a:b@c", "https://host/a:b@c"),
        ("usb:0d8c:0014", "usb:0d8c:0014"),
    ])
    func `a password that stands in an address is not shown`(_ address: String, _ shown: String) {
        let form = SettingsForm("[outbox.webdav]\nurl = \"\(address)\"\n", file: "fieldfare.toml")
        let entry = form.sections.first { $0.name == "outbox.webdav" }?.keys.first { $0.key == "url" }
        #expect(entry?.value == .text(shown))
    }

    @Test func `a value that is not allowed is not in force, and its key has the problem`() throws {
        let text = """
            [filter]
            low_pass_hz = 8000
            slope_db_per_octave = 13
            [panel.buttons]
            play = { line = "GPIO5", pull = "sideways" }
            """
        let form = SettingsForm(text, file: "fieldfare.toml")
        func entry(_ section: String, _ key: String) throws -> SettingsForm.Entry {
            try #require(form.sections.first { $0.name == section }?.keys.first { $0.key == key })
        }
        let cutoff = try entry("filter", "low_pass_hz")
        #expect(cutoff.value == .integer(8000) && cutoff.inForce == .integer(8000))
        #expect(cutoff.standard == .text("auto") && cutoff.problem == nil)
        #expect(cutoff.least == 20 && cutoff.most == 345_600)
        let slope = try entry("filter", "slope_db_per_octave")
        #expect(slope.value == .integer(13) && slope.inForce == .integer(24) && slope.standard == .integer(24))
        #expect(slope.problem == "found 13 (a whole number): allowed are 12, 24, 36 or 48")
        #expect(slope.least == nil && slope.most == nil)
        // A line that is wrong is not driven.
        let play = try entry("panel.buttons", "play")
        #expect(play.inForce == nil && play.standard == .table(["line": .text("GPIO22")]))
        #expect(play.problem?.contains("\"sideways\"") == true)
        let name = try entry("kit", "name")
        #expect(name.inForce == nil && name.standard == nil && name.least == nil)
        #expect(try entry("takes", "rejoin_seconds").most == 600)
        #expect(try entry("capture", "gain_db").least == -150)
    }

    @Test(arguments: ["nan", "inf", "-inf"])
    func `a number that JSON lacks is shown as a text, with all other settings`(number: String) throws {
        let form = SettingsForm("[capture]\ngain_db = \(number)\n", file: "fieldfare.toml")
        let json = String(decoding: try JSONEncoder().encode(form), as: UTF8.self)
        #expect(json.contains("\"value\":\"\(number)\""), "\(json.prefix(2000))")
    }

    @Test func `a key without a default is not set where the file does not name it`() {
        let none = Self.entries.filter { $0.entry.purpose.hasSuffix("Default: none") }.map {
            "\($0.section).\($0.entry.key)"
        }
        #expect(
            none == [
                "panel.leds.all", "power.low_battery", "power.supply", "power.low_volts", "outbox.ca_file",
                "outbox.s3.endpoint", "outbox.s3.bucket", "outbox.firebase.bucket",
                "outbox.webdav.url", "outbox.sftp.url", "outbox.folder.path", "outbox.rclone.remote",
            ])
        let outbox = Settings().outbox
        let unset = [
            outbox.authorities, outbox.s3.endpoint, outbox.s3.bucket, outbox.firebase.bucket, outbox.webdav.url,
            outbox.sftp.url, outbox.folder.path, outbox.rclone.remote,
        ]
        #expect(unset.allSatisfy { $0 == nil })
    }

    @Test func `a phone changes no address, no file with a secret, no folder and no socket`() {
        let byHand = Self.entries.filter { !$0.entry.changeable }.map { "\($0.section).\($0.entry.key)" }
        #expect(
            byHand == [
                "control.socket", "library.socket", "library.directory", "outbox.ca_file", "outbox.s3.endpoint",
                "outbox.s3.bucket", "outbox.s3.credentials_file", "outbox.firebase.bucket",
                "outbox.firebase.service_account_file", "outbox.firebase.endpoint", "outbox.webdav.url",
                "outbox.webdav.credentials_file", "outbox.sftp.url", "outbox.sftp.key_file",
                "outbox.sftp.known_hosts_file", "outbox.folder.path", "outbox.rclone.remote", "outbox.rclone.config",
            ])
        let text = "[outbox.webdav]\nurl = \"https://archive.example/\"\n"
        for name in byHand + ["takes.directory"] {
            for value: SettingsValue? in [.text("/srv/stranger"), name == "takes.directory" ? .text("./x") : nil] {
                var edit = SettingsEdit(text, file: "fieldfare.toml")
                #expect(throws: SettingsEdit.Refusal.self, "\(name)") { try edit.set(name, to: value) }
                #expect(edit.text == text)
            }
        }
        for word in ["stick", "stick-or-internal"] {
            var edit = SettingsEdit(text, file: "fieldfare.toml")
            #expect(throws: Never.self) { try edit.set("takes.directory", to: .text(word)) }
        }
    }
}

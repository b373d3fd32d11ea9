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

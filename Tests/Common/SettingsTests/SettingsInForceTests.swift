import Testing

@testable import Settings

@Suite struct SettingsInForceTests {
    private func inForce(_ text: String) -> SettingsInForce {
        SettingsInForce(Array(text.utf8), Settings.parse(text, file: "fieldfare.toml").problems, file: "fieldfare.toml")
    }

    @Test(arguments: [
        (
            "[outbox]\nstore = [\n  \"auto\", # a stick\n  \"s3\",\n]\n[outbox.s3]\nendpoint = \"https://host\"\nbucket = \"bucket\"\n",
            SettingsValue.list([.text("auto"), .text("s3")])
        ),
        ("outbox = { store = \"none\" }\n", .text("none")),
        ("\"outbox\".\"store\" = 'auto'\n", .text("auto")),
        ("# store = \"none\"\n[outbox.webdav]\nstore = \"none\"\n", .text("auto")),
        // Neither value is in force.
        ("[outbox]\nstore = \"stick\"\n", .text("auto")), ("[outbox]\nstore = \"s3\"\n", .text("auto")),
        ("[outbox]\nstore = \"s3\n", .text("auto")), ("", .text("auto")),
    ])
    func `what is in force is read as the recorder reads it`(_ text: String, _ value: SettingsValue) throws {
        #expect(try inForce(text).value(of: "outbox.store") == value)
    }

    @Test func `what is wrong with the file is known`() {
        #expect(inForce("[outbox]\nstore = \"stick\"\n").problems.count == 1)
        #expect(SettingsInForce.load(from: "/nowhere/fieldfare.toml").problems.count == 1)
    }

    @Test func `a key without a value has none`() throws {
        #expect(try inForce("").value(of: "kit.name") == nil)
        #expect(try inForce("").value(of: "outbox.s3.bucket") == nil)
        #expect(try inForce("").value(of: "panel.leds.all") == nil)
        #expect(try inForce("").value(of: "panel.leds.play") == .table(["line": .text("GPIO16")]))
        #expect(try inForce("[panel.leds]\nall = { line = \"GPIO5\" }\n").value(of: "panel.leds.play") == nil)
        #expect(try inForce("[panel.leds]\nfault = { line = \"GPIO16\" }\n").value(of: "panel.leds.play") == nil)
    }

    @Test(arguments: [
        ("takes.dirctory", "settings: \"takes.dirctory\": no such key; did you mean 'takes.directory'?"),
        ("directory", "settings: \"directory\": no such key; did you mean 'takes.directory'?"),
        ("sound", "settings: \"sound\": no such key: fieldfare.toml(5) lists all"),
        ("", "settings: \"\": no such key: fieldfare.toml(5) lists all"),
    ])
    func `a key that there is not is refused`(_ name: String, _ sentence: String) {
        let error = #expect(throws: SettingsInForce.NoSuchKey.self) { try inForce("").value(of: name) }
        #expect(error?.description == sentence)
    }
}

import Foundation
import OtherPrograms
import Programs
import Settings
import TestBench
import Testing

@testable import Commands

@Suite(.needs(.tar)) struct SupportBundleTests {
    private let place = TestFolder()
    private var folder: String { place.path }

    /// The files of the archive, by name.
    private func unpacked(_ path: String) throws -> [String: String] {
        let names = try tar("--list", path).split(separator: "\n").filter { !$0.hasSuffix("/") }
        return Dictionary(
            uniqueKeysWithValues: try names.map {
                (
                    $0.split(separator: "/").last.map(String.init) ?? "",
                    try tar("--extract", path, "--to-stdout", String($0))
                )
            })
    }

    private func tar(_ operation: String, _ path: String, _ rest: String...) throws -> String {
        let output = try ProgramOutput(
            of: OtherProgram.tar.path, [operation, "--gzip", "--file", path] + rest, limit: 1 << 20,
            patience: .seconds(60))
        return String(decoding: output.bytes, as: UTF8.self)
    }

    @Test func `the parts are packed, what is missing is named, and nothing else is left`() throws {
        let settings = "[kit]\nname = \"heron\"\n"
        try settings.write(toFile: "\(folder)/kit.toml", atomically: true, encoding: .utf8)
        let missing = try SupportBundle().pack(
            [
                .init("some.txt", .program("/bin/sh", ["-c", "echo some; exit 3"])),
                .init("none.txt", .program("/none", [])),
                .init("settings.toml", .settings("\(folder)/kit.toml")),
                .init("away.txt", .file("\(folder)/away")),
            ], about: "A kit.\n", to: "\(folder)/one.tar.gz")
        let first = "none.txt: /none: cannot be started: No such file or directory"
        #expect(missing.count == 2 && missing.first == first && missing.last?.hasPrefix("away.txt: ") == true)
        #expect(
            try unpacked("\(folder)/one.tar.gz") == [
                "some.txt": "some\n",
                "settings.toml": "kit.name = \"heron\"\n",
                "about.txt": "A kit.\nMissing:\n" + missing.map { "\($0)\n" }.joined(),
            ])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["kit.toml", "one.tar.gz"])
    }

    @Test func `a folder that is not there is a sentence`() throws {
        let failure = #expect(throws: Failure.self) {
            try SupportBundle().pack([], about: "", to: "\(folder)/none/one.tar.gz")
        }
        #expect(failure?.exitStatus == 73)
        let sentence = "support: make folder \(folder)/none/.fieldfare-support-\(getpid()): No such file or directory"
        #expect(failure?.description == sentence)
    }

    @Test func `a pack that fails leaves nothing`() throws {
        // A folder occupies the path of the file.
        try FileManager.default.createDirectory(
            atPath: "\(folder)/one.tar.gz", withIntermediateDirectories: false)
        let failure = #expect(throws: Failure.self) {
            try SupportBundle().pack([], about: "", to: "\(folder)/one.tar.gz")
        }
        #expect(failure?.exitStatus == 73)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["one.tar.gz"])
    }

    @Test func `a folder whose name has a colon is no other machine`() throws {
        try FileManager.default.createDirectory(atPath: "\(folder)/a:b", withIntermediateDirectories: false)
        _ = try SupportBundle().pack([], about: "", to: "\(folder)/a:b/one.tar.gz")
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder)/a:b") == ["one.tar.gz"])
    }

    @Test func `settings are shown without what could be a secret`() {
        let text = """
            # s3 secret: swordfish\r
            [kit]\r
            name = "heron" # the password is swordfish\r
            psk = "swordfish"\r
            [outbox.webdav]\r
            url = "https://kit:swordfish@host/files/?sig=swordfish"\r
            private_key = \"\"\"
            swordfish==
            swordfish\"\"\"
            [filter]
            low_pass_hz = "swordfish"
            [panel.buttons]
            record = { chip = "gpiochip0", offset = 3 }
            [schedule]
            record = [
              "05:00-07:30",
            ]
            [panel.leds]
            record = { line = "L1", psk = "swordfish" }
            """
        #expect(
            settingsForOthers(Array(text.utf8)) == """
                kit.name = "heron"
                # kit.psk: an unknown key
                outbox.webdav.url = "https://kit:…@host/files/?…"
                # outbox.webdav.private_key: an unknown key
                # filter.low_pass_hz: a value that is not understood
                panel.buttons.record = { chip = "gpiochip0", offset = 3 }
                # panel.leds.record: a value that is not understood
                schedule.record = ["05:00-07:30"]

                """)
        let hours = settingsForOthers(Array("schedule.record = [\"05:00-07:30\", \"swordfish\"]".utf8))
        #expect(hours == "# schedule.record: a value that is not understood\n")
        #expect(
            settingsForOthers(Array("secret =".utf8)).hasPrefix("# line 1, column ")
                && settingsForOthers(Array("secret =".utf8)).hasSuffix("the file cannot be read, and is left out\n"))
    }
}

import Foundation
import Programs
import Settings
import Testing

@testable import Commands

@Suite struct SupportBundleTests {
    let folder = NSTemporaryDirectory() + "fieldfare-support-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    /// What the packed file has, by names.
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
            of: "/usr/bin/tar", [operation, "--gzip", "--file", path] + rest, limit: 1 << 20, patience: .seconds(60))
        return String(decoding: output.bytes, as: UTF8.self)
    }

    @Test func `the parts are packed, what is missing is named, and nothing else is left`() throws {
        let settings = "[outbox]\nstore = \"sftp://kit:swordfish@home/takes\"\n"
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
                "settings.toml": "[outbox]\nstore = \"sftp://kit:…@home/takes\"\n",
                "about.txt": "A kit.\nMissing:\n" + missing.map { "\($0)\n" }.joined(),
            ])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["kit.toml", "one.tar.gz"])
    }

    @Test func `a folder that is not there is a sentence`() throws {
        let failure = #expect(throws: Failure.self) {
            try SupportBundle().pack([], about: "", to: "\(folder)/none/one.tar.gz")
        }
        #expect(failure?.exitStatus == 73)
        #expect(failure?.description == "support: make folder \(folder)/none/one: No such file or directory")
    }

    @Test func `a pack that fails leaves nothing`() throws {
        // A folder is in the place of the file.
        try FileManager.default.createDirectory(
            atPath: "\(folder)/one.tar.gz.part", withIntermediateDirectories: false)
        let failure = #expect(throws: Failure.self) {
            try SupportBundle().pack([], about: "", to: "\(folder)/one.tar.gz")
        }
        #expect(failure?.exitStatus == 74)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["one.tar.gz.part"])
    }

    @Test(arguments: [
        ("store = \"https://a:b@host/\"", "store = \"https://a:…@host/\""),
        ("password = \"x\"", "password =…"), ("# token = \"x\"", "# token =…"),
        ("password = \"\"\"\nx\ny\n\"\"\"\nname = \"kit\"", "password =…\n…\n…\n…\nname = \"kit\""),
        ("pins = [\n17,\n27,\n]", "pins = [\n17,\n27,\n]"), ("[secrets]\nname = \"a\"", "[secrets]\nname = \"a\""),
    ]) func `settings are shown without secrets`(text: String, shown: String) {
        #expect(settingsWithoutSecrets(text) == shown)
    }
}

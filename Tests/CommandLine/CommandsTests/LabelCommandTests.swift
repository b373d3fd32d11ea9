import Control
import Foundation
import Settings
import TestBench
import Testing

@testable import Commands

@Suite struct LabelCommandTests {
    private func address(_ listen: String) -> String? {
        let (settings, _) = Settings.parse("[console]\nlisten = \"\(listen)\"\n", file: "f")
        return LabelCommand.address(settings, hostName: "heron07")
    }

    @Test func `the address is the host's name, unless the console listens at one address alone`() {
        #expect(address("0.0.0.0:80") == "http://heron07.local")
        #expect(address("[::]:8080") == "http://heron07.local:8080")
        #expect(address("192.168.4.1:80") == "http://192.168.4.1")
        #expect(address("[fd00::1]:8080") == "http://[fd00::1]:8080")
        #expect(address("off") == nil)
    }

    @Test func `the code that pairs phones is the library's, or its file's while it does not run`() throws {
        let scratch = TestFolder()
        let settings = scratch.path + "/kit.toml"
        try Data("[kit]\nname = \"heron07\"\n[library]\ndirectory = \"\(scratch.path)\"\n".utf8)
            .write(to: URL(filePath: settings))
        let label = ["--settings", settings, "label", "--text"]
        func line(_ code: String) -> String { "play held for 3 s: the code \(code) pairs a phone" }
        let unknown = run(label)
        #expect(
            unknown.status == 0 && unknown.output.count >= 2 && !unknown.output.contains { $0.contains("the code") })
        #expect(
            unknown.complaints.contains("label: the code that pairs phones is not known: start fieldfare-library"))
        try Data("654321\n".utf8).write(to: URL(filePath: scratch.path + "/pairing-code"))
        #expect(run(label).output.contains(line("654321")))
        #expect(run(label + ["--new-code"]).status == 69)
        let library = try DeskLibrary()
        #expect(run(label, library: library).output.contains(line("123456")))
        let renewed = run(["--json"] + label + ["--new-code"], library: library)
        #expect(try JSONValue(decoding: renewed.output[0].utf8)["code"]?.text == "000007")
        #expect(library.messages == [.pairingCode(isNew: false), .pairingCode(isNew: true)])
    }

    @Test func `the stick that is in is adopted by the library`() throws {
        let library = try DeskLibrary()
        #expect(
            run(["stick", "adopt"], library: library).output == ["stick 01234567: takes are sent to it from now on"])
        let json = run(["--json", "stick", "adopt"], library: library).output
        #expect(json == [#"{"stick":"0123456789abcdef0123456789abcdef"}"#])
        #expect(library.messages == [.adoptStick, .adoptStick])
    }

    @Test func `the fingerprint of the certificate is the library's, or its file's while it does not run`() throws {
        let scratch = TestFolder()
        let settings = scratch.path + "/kit.toml"
        try Data("[library]\ndirectory = \"\(scratch.path)\"\n[console]\nlisten = \"192.168.4.1:80\"\n".utf8)
            .write(to: URL(filePath: settings))
        let label = ["--settings", settings, "label", "--text"]
        func line(_ fingerprint: String) -> String {
            "https://192.168.4.1: the SHA-256 fingerprint of its certificate is \(fingerprint)"
        }
        #expect(!run(label).output.contains { $0.contains("fingerprint") })
        let kept = Array(repeating: "0F", count: 32).joined(separator: ":")
        let file = URL(filePath: scratch.path + "/certificate.pem")
        for damaged in ["", "\n\(kept)\n", "\(kept.lowercased())\n", "\(kept):0F\n"] {
            try Data(damaged.utf8).write(to: file)
            #expect(!run(label).output.contains { $0.contains("fingerprint") }, "\(damaged)")
        }
        try Data("\(kept)\n-----BEGIN PRIVATE KEY-----\n".utf8).write(to: file)
        #expect(run(label).output.contains(line(kept)))
        let library = try DeskLibrary()
        #expect(run(label, library: library).output.contains(line(DeskLibrary.fingerprint)))
        let json = try JSONValue(decoding: run(["--json"] + label, library: library).output[0].utf8)
        #expect(json["fingerprint"]?.text == DeskLibrary.fingerprint)
    }

    @Test func `a password that is missing is told from one that cannot be read`() {
        #expect(
            LabelCommand.AccessPoint.problem(isThere: false)
                == "label: /etc/fieldfare/access-point, the password of the kit's own Wi-Fi, is missing: "
                + "'sudo systemctl start fieldfare-access-point' makes it")
        #expect(LabelCommand.AccessPoint.problem(isThere: true).hasSuffix("cannot be read: try with sudo"))
    }

    @Test func `the code of the kit's own Wi-Fi has its name and its password`() throws {
        let scratch = TestFolder()
        let file = scratch.path + "/access-point"
        #expect(LabelCommand.AccessPoint(name: "heron07", passwordFile: file) == nil)
        try Data("se;cret\\1\r\n".utf8).write(to: URL(filePath: file))
        let wifi = try #require(LabelCommand.AccessPoint(name: "heron07", passwordFile: file))
        #expect(wifi.password == #"se;cret\1"#)
        let long = String(repeating: "a", count: 41)
        #expect(LabelCommand.AccessPoint(name: long, passwordFile: file)?.name == String(repeating: "a", count: 32))
        #expect(wifi.code == #"WIFI:T:WPA;S:heron07;P:se\;cret\\1;;"#)
        #expect(LabelCommand.AccessPoint.address(port: 80) == "http://10.42.0.1")
        #expect(LabelCommand.AccessPoint.address(port: 8080) == "http://10.42.0.1:8080")
    }
}

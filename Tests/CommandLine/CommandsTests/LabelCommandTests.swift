import Control
import Foundation
import TestBench
import Testing

@testable import Commands

@Suite struct LabelCommandTests {
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
            AccessPoint.problem(isThere: false)
                == "label: /etc/fieldfare/access-point, the password of the kit's own Wi-Fi, is missing: "
                + "'sudo systemctl start fieldfare-access-point' makes it")
        #expect(AccessPoint.problem(isThere: true).hasSuffix("cannot be read: try with sudo"))
    }
}

import Control
import DiskCalls
import Foundation
import TestBench
import Testing

@testable import Console

@Suite(.waitsOnNamedThreads) struct SettingsDeskTests {
    private let place = TestFolder()
    private var folder: String { place.path }
    private let desk: SettingsDesk

    init() {
        let folder = place.path
        place.makeFolder("outcome")
        place.write("# mine\n[filter]\nlow_pass_hz = 8000\n", to: "f.toml")
        desk = SettingsDesk(path: "\(folder)/f.toml", wishFolder: folder, outcomeFolder: "\(folder)/outcome")
    }

    private func refusal(_ changes: [String: JSONValue], _ fingerprint: String) -> String? {
        do {
            try desk.change(changes, of: fingerprint)
            return nil
        } catch {
            return "\(error)".replacing(folder, with: "")
        }
    }

    @Test func `a change is asked for by a file that names what it replaces`() throws {
        let form = try desk.form()
        #expect(form.changeable && form.problems.isEmpty && form.outcome == nil)
        try desk.change(["filter.low_pass_hz": .null, "kit.name": .string("owl")], of: form.fingerprint)
        let wish = try String(contentsOfFile: "\(folder)/settings-wish", encoding: .utf8)
        #expect(wish == "\(form.fingerprint)\n# mine\n[filter]\n\n[kit]\nname = \"owl\"\n")
    }

    @Test func `a text is read as what its key holds`() throws {
        let form = try desk.form()
        let typed = [
            "filter.low_pass_hz": "9000", "kit.name": "007", "outbox.s3.prefix": "2026.10", "capture.agc": "true",
        ]
        try desk.change(typed.mapValues { .string($0) }, of: form.fingerprint)
        let wish = try String(contentsOfFile: "\(folder)/settings-wish", encoding: .utf8)
        for line in ["low_pass_hz = 9000", "name = \"007\"", "prefix = \"2026.10\"", "agc = true"] {
            #expect(wish.contains("\n\(line)\n"), "\(line): \(wish)")
        }
        let refused = refusal(["filter.low_pass_hz": .string("5")], form.fingerprint)
        #expect(refused?.contains("found 5") == true, "\(refused ?? "")")
    }

    @Test func `keys that are allowed only together are set together`() throws {
        place.write("[capture]\nstandby = \"closed\"\n", to: "f.toml")
        let form = try desk.form()
        try desk.change(
            ["capture.pre_roll_seconds": .integer(2), "capture.standby": .string("listening")], of: form.fingerprint)
        let wish = try String(contentsOfFile: "\(folder)/settings-wish", encoding: .utf8)
        #expect(wish == "\(form.fingerprint)\n[capture]\npre_roll_seconds = 2\nstandby = \"listening\"\n")
        let refused = refusal(
            ["capture.pre_roll_seconds": .integer(2), "kit.name": .string("owl")], form.fingerprint)
        #expect(
            refused
                == "/f.toml:2: capture.pre_roll_seconds: found 2 (a whole number): allowed above 0 only with capture.standby = \"listening\""
        )
    }

    @Test(arguments: [("2", "2"), ("[1, 3]", "[1, 3]"), ("live", "\"live\"")])
    func `a key that was a number may become a list or a word`(typed: String, written: String) throws {
        try Data("[capture]\nchannels = 1\n".utf8).write(to: URL(filePath: "\(folder)/f.toml"))
        let form = try desk.form()
        try desk.change(["capture.channels": .string(typed)], of: form.fingerprint)
        let wish = try String(contentsOfFile: "\(folder)/settings-wish", encoding: .utf8)
        #expect(wish == "\(form.fingerprint)\n[capture]\nchannels = \(written)\n")
        #expect(refusal(["capture.channels": .string("[2, 2]")], form.fingerprint)?.contains("channel 2 twice") == true)
        #expect(
            refusal(["capture.channels": .string("1, 3")], form.fingerprint)?.contains("such as [2] or [1, 3]") == true)
    }

    @Test func `a change of another file, a bad value, and one that nobody carries out are refused`() throws {
        let form = try desk.form()
        #expect(
            refusal(["kit.name": .string("owl")], "0")
                == "settings: /f.toml was changed meanwhile: look at it again, and change it then")
        #expect(refusal(["kit.name": .string("OWL !")], form.fingerprint)?.contains("a name of a-z, 0-9") == true)
        #expect(
            refusal(["kit.nickname": .string("owl")], form.fingerprint)
                == "settings: kit.nickname: no such key")
        #expect(
            refusal(["outbox.webdav.url": .string("https://stranger.example/")], form.fingerprint)
                == "settings: outbox.webdav.url: is changed in /f.toml by hand alone: it decides where sound and passwords go"
        )
        try FileManager.default.removeItem(atPath: "\(folder)/outcome")
        #expect(
            refusal(["kit.name": .string("owl")], form.fingerprint)?.hasPrefix(
                "settings: fieldfare-settings.path does not run here") == true)
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/settings-wish"))
    }
}

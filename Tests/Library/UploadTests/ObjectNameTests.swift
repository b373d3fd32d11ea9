import Foundation
import StoreTrials
import Takes
import Testing

@testable import Upload

struct ObjectNameTests {
    @Test("a path is a take's file, or none: a server may list anything")
    func paths() {
        for path in [
            "2026-11-21/heron07-0042-061811Z.wav", "2026-11-21/heron07-0042-061811Z-p2-raw.flac",
            "2026-11-21/heron07-0042-061811Z.json",
        ] {
            #expect(ObjectName(path: path)?.path == path)
        }
        for path in [
            "2026-11-21/heron07-0042-061811Z.wav\0", "2026-11-21/heron07-0042-061811Z.wav\u{1b}[2J",
            "2026-11-21/heron07-0042-061811Z.wav\n", "2026-11-21/heron07-0042-061811Z.w v",
            "2026-11-21/heron07-0042-061811Z.wav/x", "2026-11-21/../heron07-0042-061811Z.wav",
            "/2026-11-21/heron07-0042-061811Z.wav",
            "2026-11-21/heron07-0042-061811Z.\(String(repeating: "x", count: 200))",
        ] {
            #expect(ObjectName(path: path) == nil, "\(path.debugDescription)")
        }
    }

    @Test("what people noted of a take is a file of it, and no sidecar")
    func notes() {
        let object = ObjectName(path: "2026-11-21/heron07-0042-061811Z.notes.json")
        #expect(object?.isSidecar == false)
        #expect(object?.take?.stem == "heron07-0042-061811Z")
        #expect(ObjectName(day: "2026-11-21", file: "heron07-0042-061811Z.json").isSidecar)
    }

    @Test("a draft's name tells its content, and which file it is of")
    func drafts() {
        let name = DraftName.name(of: "heron07-0042-061811Z.wav", "1f2e3d4c5b6a")
        #expect(name == "heron07-0042-061811Z.wav.1f2e3d4c")
        #expect(DraftName.file(of: name) == "heron07-0042-061811Z.wav")
        #expect(DraftName.file(of: "heron07-0042-061811Z.wav") == "heron07-0042-061811Z.wav")
    }

    @Test("a file with a secret is a file, and may begin with a mark of its encoding")
    func secretFile() throws {
        let trial = try StoreTrial()
        let path = "\(trial.folder)/secret"
        try Data([0xef, 0xbb, 0xbf] + Array("username = kit\r\npassword = p\r\n".utf8)).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(try SecretFile(path, credentials: nil).values("username", "password").map(\.text) == ["kit", "p"])
        #expect(throws: StoreError(.refused, "outbox: \(trial.folder): is not a file: name the file with the secret")) {
            try SecretFile(trial.folder, credentials: nil)
        }
    }
}

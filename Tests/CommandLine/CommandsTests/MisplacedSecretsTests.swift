import Foundation
import TestBench
import Testing

@testable import Commands

@Suite struct MisplacedSecretsTests {
    private let scratch = TestFolder()

    /// Writes a settings file with a store whose password is for `host`.
    private func settings(secretOf host: String) throws -> String {
        let (settings, secret) = (scratch.path + "/kit.toml", scratch.path + "/webdav.credentials")
        try Data("username = kit\npassword = swordfish\nhost = \(host)\n".utf8).write(to: URL(filePath: secret))
        try Data(
            """
            [outbox]
            store = "webdav"
            [outbox.webdav]
            url = "https://cloud.example.org/takes/"
            credentials_file = "\(secret)"
            """.utf8
        ).write(to: URL(filePath: settings))
        return settings
    }

    @Test func `check and doctor refuse a store that would have another host's password`() throws {
        let file = try settings(secretOf: "archive.example.org")
        let sentence =
            "\(scratch.path)/webdav.credentials: names the host archive.example.org, and the store is at cloud.example.org: "
            + "nothing is sent there: correct the store's address, or host in that file"
        let checked = run(["check", file], access: .machine)
        #expect(checked.status == 78 && checked.output == [sentence])
        var access = bareMachine
        access.misplacedSecrets = LocalAccess.machine.misplacedSecrets
        let examined = run(["--settings", file, "doctor"], access: access)
        #expect(examined.output.contains { $0.contains(sentence) })
    }

    @Test func `a store has its own password`() throws {
        let file = try settings(secretOf: "cloud.example.org")
        #expect(run(["check", file], access: .machine).status == 0)
        #expect(LocalAccess.machine.misplacedSecrets(file) == [])
    }
}

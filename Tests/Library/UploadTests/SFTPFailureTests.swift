import Foundation
import OtherPrograms
import Settings
import StoreTrials
import TakeFiles
import Testing

@testable import Upload

/// Mistakes of people, and failures of the server. Each has its own sentence.
@Suite(.serialized, .needs(.sshd, .ssh, .sshKeygen, .unshare))
struct SFTPFailureTests {
    let trial: StoreTrial
    let object: ObjectName
    init() throws {
        trial = try StoreTrial()
        object = trial.name("heron07-0042-061811Z.wav")
    }

    private func send(_ settings: Settings.Outbox.SFTP) async throws {
        let store = try SFTPStore(settings, kit: "heron07")
        try await send(to: store)
    }

    private func send(to store: SFTPStore, byteCount: Int = 100_000) async throws {
        let source = try await trial.source(try trial.file("a", byteCount: byteCount))
        let metadata = try await trial.metadata(source)
        let result: Result<Void, any Error>
        do {
            _ = try await store.put(source, as: object, metadata, mode: .create) { _ in }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await store.close()
        try result.get()
    }

    private func expect(
        _ problem: StoreError.Problem, _ sentence: String, at place: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async {
        await #expect(throws: StoreError(problem, "outbox: " + sentence), sourceLocation: place) { try await body() }
    }

    @Test("SFTP: a key that the server does not know is refused")
    func wrongKey() async throws {
        let server = try SFTPServer()
        var settings = try server.settings()
        settings.keyFile = "\(trial.folder)/other"
        try SFTPServer.makeKey(settings.keyFile)
        let key = settings.keyFile
        await expect(
            .refused,
            "\(server.place): the server does not accept the key in \(key) for \(server.user): add what ssh-keygen -yf \(key) "
                + "shows to the user's authorized_keys there"
        ) { try await send(settings) }
        // The command that the sentence advises.
        let process = Process()
        process.executableURL = URL(filePath: OtherProgram.sshKeygen.path)
        process.arguments = ["-yf", key]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let shown = try #require(try output.fileHandleForReading.readToEnd())
        process.waitUntilExit()
        let accepted = try FileHandle(forWritingTo: URL(filePath: "\(server.server.folder)/kit.pub"))
        try accepted.seekToEnd()
        try accepted.write(contentsOf: shown)
        try await send(settings)
    }

    @Test("SFTP: a server whose key is not known, or has changed, is refused")
    func hostKey() async throws {
        let server = try SFTPServer()
        let settings = try server.settings()
        let known = settings.knownHostsFile
        let port = server.server.port
        let advice =
            "run ssh-keyscan -p \(port) 127.0.0.1 | sudo tee \(known) | ssh-keygen -lf - and compare the fingerprint with the "
            + "one that the server's administrators give"
        try server.write([port + 1], to: known)
        await expect(.refused, "\(server.place): its host key is not in \(known): \(advice)") {
            try await send(settings)
        }
        try SFTPServer.makeKey("\(trial.folder)/host")
        let other = try String(contentsOfFile: "\(trial.folder)/host.pub", encoding: .utf8)
        try Data("[127.0.0.1]:\(port) \(other)".utf8).write(to: URL(filePath: known))
        await expect(
            .refused,
            "\(server.place): its host key is not the one in \(known): this may be another server: if its key was changed, "
                + advice
        ) { try await send(settings) }
        #expect(try String(contentsOfFile: known, encoding: .utf8) == "[127.0.0.1]:\(port) \(other)")
        try Data(" \n".utf8).write(to: URL(filePath: known))
        await expect(.refused, "\(known): is empty: \(advice)") { try await send(settings) }
        try FileManager.default.removeItem(atPath: known)
        await expect(.refused, "open \(known): No such file or directory: \(advice)") {
            try await send(settings)
        }
    }

    @Test("SFTP: a key file that cannot be used is refused before the server is asked")
    func keyFile() async throws {
        let server = try SFTPServer()
        let settings = try server.settings()
        let key = settings.keyFile
        func write(_ text: String) throws {
            try Data(text.utf8).write(to: URL(filePath: key))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        }
        let good = try String(contentsOfFile: key, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: key)
        await expect(.refused, "\(key): others than its owner may use it: chmod 600 \(key)") {
            try await send(settings)
        }
        try write("PuTTY-User-Key-File-3: ssh-ed25519")
        await expect(
            .refused,
            "\(key): is not a private key of OpenSSH: make one with ssh-keygen -t ed25519 -N \"\" -f \(key)"
        ) { try await send(settings) }
        try write(String(good.prefix(200)) + "\n-----END OPENSSH PRIVATE KEY-----\n")
        await #expect {
            try await send(settings)
        } throws: { error in
            let text = "\(error)"
            return (error as? StoreError)?.problem == .refused
                && text.contains("ssh cannot use the key in \(key) (Load key ")
                && text.hasSuffix("): make it anew, or copy it whole")
        }
        try FileManager.default.removeItem(atPath: key)
        await expect(
            .refused, "open \(key): No such file or directory: make it, for the library's user, with mode 600"
        ) { try await send(settings) }
        var locked = settings
        locked.keyFile = "\(trial.folder)/locked"
        try SFTPServer.makeKey(locked.keyFile, passphrase: "secret")
        await expect(
            .refused,
            "\(locked.keyFile): has a passphrase, which nobody can enter here: remove it with ssh-keygen -p -f \(locked.keyFile)"
        ) { try await send(locked) }
        locked.keyFile = "\(trial.folder)/a key%h"
        await expect(
            .refused,
            "\(locked.keyFile): ssh needs a path of letters, digits and the characters . _ - / alone: rename it"
        ) { try await send(locked) }
        // A credential of the service has priority.
        let credentials = "\(trial.folder)/credentials"
        try FileManager.default.createDirectory(atPath: credentials, withIntermediateDirectories: true)
        try Data(good.utf8).write(to: URL(filePath: "\(credentials)/kit"))
        let command = try SSHCommand(
            SFTPAddress(settings.url ?? ""), key: key, knownHosts: settings.knownHostsFile, credentials: credentials)
        #expect(command.key == "\(credentials)/kit")
    }

    @Test("SFTP: a server that does not run, or whose name nobody knows, is away")
    func down() async throws {
        let server = try SFTPServer()
        var settings = try server.settings()
        server.server.stop()
        try FileManager.default.createDirectory(atPath: server.server.folder, withIntermediateDirectories: true)
        settings.keyFile = "\(trial.folder)/key"
        settings.knownHostsFile = "\(trial.folder)/key.pub"
        try SFTPServer.makeKey(settings.keyFile)
        let port = server.server.port
        await expect(
            .away,
            "\(server.place): nothing answers on port \(port): check that the server runs, and url in [outbox.sftp]"
        ) { try await send(settings) }
        settings.url = "sftp://kit@archive.invalid/recordings"
        await expect(
            .away,
            "sftp://kit@archive.invalid: its name cannot be resolved: check the network, and url in [outbox.sftp]"
        ) { try await send(settings) }
    }

    @Test("SFTP: a folder without a right to it is refused, and so is what is no folder")
    func rights() async throws {
        let server = try SFTPServer { "internal-sftp -P mkdir -d \($0)" }
        let settings = try server.settings()
        await expect(
            .refused,
            "\(server.place)\(server.files)/2026-11-21: cannot be made: \(server.user) has no right to it on the server"
        ) { try await send(settings) }
        let readOnly = try SFTPServer { "internal-sftp -R -d \($0)" }
        try FileManager.default.createDirectory(
            atPath: "\(readOnly.files)/2026-11-21", withIntermediateDirectories: true)
        let readOnlySettings = try readOnly.settings()
        let draft = trial.draft(object, of: Array(try Data(contentsOf: URL(filePath: "\(trial.folder)/a"))))
        await expect(
            .refused,
            "\(readOnly.place)\(readOnly.files)/\(object.day)/.\(draft).part: cannot be written: \(readOnly.user) has no "
                + "right to it on the server"
        ) { try await send(readOnlySettings) }
        try Data().write(to: URL(filePath: "\(server.files)/2026-11-21"))
        await expect(
            .refused, "\(server.place)\(server.files)/2026-11-21: not a folder: see url in [outbox.sftp]"
        ) { try await send(settings) }
    }

    @Test("SFTP: a server without SFTP is refused")
    func noSubsystem() async throws {
        let server = try SFTPServer { _ in nil }
        let settings = try server.settings()
        await expect(
            .refused,
            "\(server.place): the server offers no SFTP: its administrators must enable it for \(server.user)"
        ) { try await send(settings) }
    }

    @Test("SFTP: what a hostile or broken server sends ends the connection, and nothing else")
    func hostile() async throws {
        // Each script replaces the server's program; ssh and sshd carry its output.
        let version = #"printf '\000\000\000\005\002\000\000\000\003'"#
        let cases: [(script: String, problem: StoreError.Problem, sentence: String)] = [
            (
                "echo Welcome to the archive; cat >/dev/null", .refused,
                "the server sends the text \"Welcome to the archive\", which is not SFTP: the user's shell there must print nothing"
            ),
            (
                #"printf '\377\377\377\377'; cat >/dev/null"#, .refused,
                "the server sends a packet of 4294967295 bytes, which is not SFTP: the user's shell there must print nothing"
            ),
            (
                #"printf '\000\000\000\000'; cat >/dev/null"#, .refused,
                "the server sends a packet of 0 bytes, which is not SFTP: the user's shell there must print nothing"
            ),
            (
                #"\#(version); printf '\000\000\000\011\145\000\000\000\011\000\000\000\000'; cat >/dev/null"#,
                .refused,
                "the server sends an answer without a request, which is not SFTP: the user's shell there must print nothing"
            ),
            (
                #"\#(version); printf '\000\000\000\012\147\000\000\000\001\000\000\000\001a'; cat >/dev/null"#,
                .refused,
                "the server sends an answer without a request, which is not SFTP: the user's shell there must print nothing"
            ),
            (
                #"\#(version); printf '\000\000\000\011\150\000\000\000\001\377\377\377\377'; cat >/dev/null"#,
                .refused,
                "the server sends a packet that ends early, which is not SFTP: the user's shell there must print nothing"
            ),
            (
                #"printf '\000\000\000\005\002\000\000\000\002'; cat >/dev/null"#, .refused,
                "the server sends version 2, which is not SFTP: the user's shell there must print nothing"
            ),
            ("cat >/dev/null", .away, "the server does not answer any more"),
            ("\(version); cat >/dev/null", .away, "the server does not answer any more"),
            ("true", .away, "the connection ended (ssh has status 0)"),
            ("\(version); exit 3", .away, "the connection ended (ssh has status 3)"),
            ("echo no disk is mounted >&2; exit 1", .away, "the connection ended (ssh has status 1)"),
        ]
        for (script, problem, sentence) in cases {
            let server = try SFTPServer { files in
                let path = "\(files)/../script"
                try Script.write(script, to: path)
                return path
            }
            // Only a server that never answers needs a short timeout.
            let isSilent = sentence.contains("not answer")
            let store = try server.store(.init(answer: .seconds(isSilent ? 1 : 60)))
            await expect(problem, "\(server.place): \(sentence)") { try await send(to: store) }
        }
    }

    /// Whether this process may mount a disk.
    static let mayMount =
        getuid() == 0
        && (try? SFTPServer.run(OtherProgram.unshare.path, ["-m", "mount", "-t", "tmpfs", "x", "/mnt"])) != nil

    @Test(
        "SFTP: a disk that is full, or becomes so, is reported, and the upload goes on when there is space",
        .enabled(if: mayMount, "mounting a disk needs root"))
    func full() async throws {
        let server = try SFTPServer()
        let disk = "\(server.files)/disk"
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
        try SFTPServer.run("/usr/bin/mount", ["-t", "tmpfs", "-o", "size=8m", "fieldfare", disk])
        defer { try? SFTPServer.run("/usr/bin/umount", ["-l", disk]) }
        let settings = try server.settings(folder: disk)
        let tooLarge = try SFTPStore(settings, kit: "heron07")
        await expect(.full, "\(server.place)\(disk)/2026-11-21: full: 9 MiB must be sent, 8 MiB are free") {
            try await send(to: tooLarge, byteCount: 10_000_000)
        }
        let store = try SFTPStore(settings, kit: "heron07")
        let path = try trial.file("b", byteCount: 6_000_000)
        let filler = "\(disk)/filler"
        let source = try await UploadSource(
            path: path, reader: trial.reader, throttle: Throttle(kilobitsPerSecond: 400_000))
        let metadata = try await trial.metadata(source)
        let draft = try trial.draft(object, of: path)
        await expect(
            .full,
            "\(server.place)\(disk)/\(object.day)/.\(draft).part: cannot be written: the disk there is full: free some "
                + "space there"
        ) {
            _ = try await store.put(source, as: object, metadata, mode: .create) { progress in
                guard case .sent(let sent) = progress, sent > 2_000_000,
                    !FileManager.default.fileExists(atPath: filler)
                else { return }
                try? Data(count: 100).write(to: URL(filePath: filler))
                try? FileHandle(forWritingAtPath: filler)?.write(contentsOf: Data(count: 8 << 20))
            }
        }
        try FileManager.default.removeItem(atPath: filler)
        let reported = StoreTrial.Reported()
        let again = try await trial.source(path)
        _ = try await store.put(again, as: object, metadata, mode: .create) { reported.note($0) }
        #expect(try #require(reported.firstSent) >= 2_000_000)
        #expect(FileManager.default.contentsEqual(atPath: path, andPath: "\(disk)/\(object.path)"))
        await store.close()
    }
}

import Digests
import Foundation
import OtherPrograms
import Settings
import StoreTrials
import Testing

@testable import Upload

private let rcloneProgram = OtherProgram.rclone.path

@Suite(.serialized, .needs(.rclone))
struct RcloneStoreTests {
    let trial: StoreTrial
    /// The folder for the remotes of the configuration.
    let folder: String
    let configuration: String
    var object: ObjectName { trial.name("heron07-0042-061811Z.wav") }

    init() throws {
        trial = try StoreTrial()
        folder = "\(trial.folder)/remote"
        configuration = "\(trial.folder)/rclone.conf"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // The password in the form of `rclone obscure`.
        try configure(
            """
            [box]
            type = alias
            remote = \(folder)
            [vault]
            type = crypt
            remote = box:secret
            password = rjXT0rz2JWI3F0msts21v5vUDWKLfif4ERn34dWa
            """)
    }

    private func configure(_ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: configuration))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: configuration)
    }

    private func store(_ remote: String?, authorities: String? = nil, path: String? = nil) throws -> RcloneStore {
        var settings = Settings().outbox.rclone
        settings.remote = remote
        settings.config = configuration
        return try RcloneStore(settings, authorities: authorities, kit: "heron07", path: path)
    }

    private func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: "\(folder)/\($0)", isDirectory: &isFolder)
                && !isFolder.boolValue
        }
    }

    private func sentence(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return "no error"
        } catch {
            return "\(error)"
        }
    }

    /// A script in place of rclone, which calls rclone.
    private func standIn(_ script: String) throws {
        try Script.write(script, to: "\(trial.folder)/rclone")
    }

    /// The rclone commands that a store ran, in order.
    private func noting(_ body: (_ path: String) async throws -> Void) async throws -> [String] {
        try standIn("echo \"$@\" >>\(trial.folder)/commands\nexec \(rcloneProgram) \"$@\"")
        try await body(trial.folder)
        let commands = ["lsjson", "rcat", "hashsum", "moveto", "deletefile", "cat", "backend"]
        return try String(contentsOfFile: "\(trial.folder)/commands", encoding: .utf8).split(separator: "\n")
            .compactMap { line in line.split(separator: " ").map(String.init).first { commands.contains($0) } }
    }

    private func put(_ text: String, in store: RcloneStore, mode: PutMode = .create) async throws {
        let source = UploadSource(Array(text.utf8), called: "a", reader: trial.reader)
        _ = try await store.put(source, as: object, try await trial.metadata(source), mode: mode) { _ in }
    }

    @Test(
        "rclone: a folder is a store, and the files in it are those that were sent",
        arguments: ["box:", "box:kit/a b/"])
    func local(remote: String) async throws {
        let store = try store(remote)
        #expect(store.name == (remote == "box:" ? "rclone:box:" : "rclone:box:kit/a b"))
        if remote != "box:" { try await trial.check(store, byteCounts: [0, 1, 9_000_000]) }
        #expect(try files() == [])
        let path = try trial.file("a", byteCount: 1000)
        let source = try await trial.source(path)
        _ = try await store.put(source, as: object, try await trial.metadata(source), mode: .create) { _ in }
        let there = remote == "box:" ? folder : "\(folder)/kit/a b"
        #expect(FileManager.default.contentsEqual(atPath: path, andPath: "\(there)/\(object.path)"))
        #expect(try files().count == 1)
    }

    @Test("rclone: an encrypted remote, which has no hashes, is a store")
    func crypt() async throws {
        let store = try store("vault:kit")
        try await put("plain text", in: store)
        try await put("plain text", in: store)
        await trial.expectProblem(.conflict) { try await put("other text", in: store) }
        #expect(try await trial.contents(of: object, in: store) == Data("plain text".utf8))
        var listed: [ObjectName] = []
        try await store.list { listed += $0.map(\.name) }
        #expect(listed == [object])
        #expect(try files().count == 1)
        let file = try #require(try files().first)
        #expect(!file.contains("heron07"))
        #expect(try Data(contentsOf: URL(filePath: "\(folder)/\(file)")).range(of: Data("plain text".utf8)) == nil)
    }

    @Test("rclone: a remote's own hash is compared; what has none is read back")
    func hashes() async throws {
        let withHashes = try await noting { try await put("a", in: store("box:", path: $0)) }
        #expect(withHashes == ["lsjson", "rcat", "backend", "lsjson", "moveto", "lsjson"])
        try FileManager.default.removeItem(atPath: "\(trial.folder)/commands")
        let encrypted = try await noting { try await put("a", in: store("vault:", path: $0)) }
        #expect(encrypted == ["lsjson", "rcat", "backend", "lsjson", "hashsum", "moveto", "lsjson", "lsjson"])
        try FileManager.default.removeItem(atPath: "\(trial.folder)/commands")
        // For this remote, rclone itself stores the hash.
        try configure("[box]\ntype = chunker\nremote = \(folder)/chunks\n")
        let chunks = try await noting { try await put("a", in: store("box:", path: $0)) }
        #expect(chunks == ["lsjson", "rcat", "backend", "lsjson", "hashsum", "moveto", "lsjson", "lsjson"])
    }

    @Test(
        "rclone: a WebDAV server is a store; a wrong password is refused, and not shown; a server that is gone is away")
    func webdav() async throws {
        let server = try webdavServer()
        let url = "http://127.0.0.1:\(server.port)"
        try configureDAV(url, password: "hunter2")
        let store = try store("dav:kit")
        try await trial.check(store, byteCounts: [0, 1, 100_000])
        // Both have the same length, because this server has neither hashes nor times.
        try await put("{\"a\":1}", in: store)
        try await put(
            "{\"a\":2}", in: store,
            mode: .replacing(Digest.sha256("{\"a\":1}").hexadecimal))
        #expect(try await trial.contents(of: object, in: store) == Data("{\"a\":2}".utf8))

        try configureDAV(url, password: "hunter3")
        let stranger = try self.store("dav:kit")
        await trial.expectProblem(.refused) { _ = try await stranger.head(object) }
        #expect(
            await sentence { _ = try await stranger.list { _ in } }
                == "outbox: rclone: listing at dav: the remote refuses: Failed to create file system for \"dav:kit\": "
                + "read metadata failed: Unauthorized: 401 Unauthorized: correct its password, key or rights: "
                + "rclone --config \(configuration) config"
        )
        server.stop()
        await trial.expectProblem(.away) { _ = try await store.head(object) }
        #expect(
            await sentence { _ = try await store.list { _ in } }
                == "outbox: rclone: listing at dav: the remote cannot be reached: Failed to create file system for \"dav:kit\": "
                + "read metadata failed: Propfind \"\(url)/kit\": dial tcp 127.0.0.1:\(server.port): connect: connection refused"
        )
    }

    @Test("rclone: a server whose certificate is of ca_file is trusted, and another is refused", .needs(.openssl))
    func certificate() async throws {
        let certificate = "\(trial.folder)/certificate.pem"
        let key = "\(trial.folder)/key.pem"
        _ = try run(
            OtherProgram.openssl.path,
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=kit", "-addext",
                "subjectAltName=IP:127.0.0.1", "-out", certificate, "-keyout", key,
            ])
        let server = try webdavServer(["--cert", certificate, "--key", key])
        try configureDAV("https://127.0.0.1:\(server.port)", password: "hunter2")
        await trial.expectProblem(.refused) { try await put("a", in: store("dav:")) }
        #expect(
            await sentence { try await put("a", in: store("dav:")) }.hasSuffix(
                "certificate signed by unknown authority: see its date and the kit's clock, or name the authority in "
                    + "[outbox] ca_file"
            ))
        try await put("a", in: store("dav:", authorities: certificate))
        #expect(try files() == [object.path])
    }

    private func webdavServer(_ arguments: [String] = []) throws -> TestServer {
        let served = folder
        return try TestServer(rcloneProgram) { port, _ in
            ["serve", "webdav", "--addr", "127.0.0.1:\(port)", "--user", "kit", "--pass", "hunter2", served] + arguments
        }
    }

    private func configureDAV(_ url: String, password: String) throws {
        let obscured = try run(rcloneProgram, ["obscure", password])
        try configure("[dav]\ntype = webdav\nurl = \(url)\nvendor = other\nuser = kit\npass = \(obscured)\n")
    }

    private func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test(
        "rclone: a bucket of an S3 server is a store",
        .needsServers)
    func s3() async throws {
        let server = try TestServer("moto_server") { port, _ in ["-H", "127.0.0.1", "-p", "\(port)"] }
        try configure(
            """
            [s3]
            type = s3
            provider = Other
            endpoint = http://127.0.0.1:\(server.port)
            access_key_id = AKIAEXAMPLE
            secret_access_key = hushhushhush
            """)
        try await trial.check(try store("s3:recordings/kit"), byteCounts: [0, 1, 9_000_000])
    }

    @Test("rclone: what rclone leaves running with its outputs open is not waited for", .timeLimit(.minutes(5)))
    func leftRunning() async throws {
        try standIn("sleep 1000 &\nexec \(rcloneProgram) \"$@\"")
        #expect(try await store("box:", path: trial.folder).head(object) == nil)
    }

    @Test(
        "rclone: an upload ends with rclone, also if what it started keeps its input open", .timeLimit(.minutes(5)))
    func inputKeptOpen() async throws {
        try standIn(
            """
            case "$*" in *rcat*) ;; *) exec \(rcloneProgram) "$@" ;; esac
            sleep 1000 <&0 &
            """)
        let store = try store("box:", path: trial.folder)
        let source = try await trial.source(try trial.file("long", byteCount: 2_000_000))
        let metadata = try await trial.metadata(source)
        await #expect(throws: StoreError.self) {
            try await store.put(source, as: object, metadata, mode: .create) { _ in }
        }
    }

    @Test("rclone: an upload that is cancelled kills rclone and what it started")
    func cancelled() async throws {
        let processes = "\(trial.folder)/processes"
        try standIn(
            """
            case "$*" in *rcat*) ;; *) exec \(rcloneProgram) "$@" ;; esac
            sleep 1000 &
            echo $! $$ >\(processes)
            cat >/dev/null
            wait
            """)
        let store = try store("box:", path: trial.folder)
        let source = try await trial.source(try trial.file("long", byteCount: 2_000_000))
        let metadata = try await trial.metadata(source)
        let object = object
        let (allSent, note) = AsyncStream.makeStream(of: Void.self)
        let sending = Task {
            try await store.put(source, as: object, metadata, mode: .create) {
                if $0 == .sent(2_000_000) { note.yield() }
            }
        }
        for await _ in allSent { break }
        sending.cancel()
        await #expect(throws: CancellationError.self) { try await sending.value }
        let numbers = try String(contentsOfFile: processes, encoding: .utf8).split(whereSeparator: \.isWhitespace)
            .compactMap { pid_t($0) }
        #expect(numbers.count == 2 && kill(numbers[1], 0) == -1 && errno == ESRCH)
        // Nobody waits for the child process, so it is a zombie or gone.
        let state = "/proc/\(numbers[0])/stat"
        while let text = try? String(contentsOfFile: state, encoding: .utf8), !text.contains(" Z ") { usleep(1000) }
        #expect(try await store.head(object) == nil)
        #expect(try files() == [])
    }

    @Test("rclone: what an upload of this kit that was cut off has left is no take, and is tidied up")
    func tidy() async throws {
        let store = try store("box:")
        let other = trial.name("heron07-2-0042-061811Z.wav")
        for name in [object, other] {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(name.day)", withIntermediateDirectories: true)
            try Data("half".utf8).write(to: URL(filePath: "\(folder)/\(name.path).fieldfare-part"))
        }
        var listed: [StoredObject] = []
        try await store.list { listed += $0 }
        #expect(listed == [])
        // A new attempt with the same content replaces it, or `tidy` removes it.
        let draft = "\(object.day)/\(trial.draft(object, of: Array("whole".utf8))).fieldfare-part"
        try Data("half".utf8).write(to: URL(filePath: "\(folder)/\(draft)"))
        try await put("whole", in: store)
        #expect(
            try Set(files()) == [
                object.path, "\(object.path).fieldfare-part", "\(other.path).fieldfare-part",
            ])
        try Data("half".utf8).write(to: URL(filePath: "\(folder)/\(draft)"))
        try await store.tidy()
        #expect(try Set(files()) == [object.path, "\(other.path).fieldfare-part"])
    }

    @Test("rclone: a file that becomes shorter while it is sent, or is not what it was hashed as, leaves nothing")
    func unreadable() async throws {
        let store = try store("box:")
        let path = try trial.file("a", byteCount: 2_000_000)
        let source = try await trial.source(path)
        var metadata = try await trial.metadata(source)
        await trial.expectProblem(.unreadable) {
            _ = try await store.put(source, as: object, metadata, mode: .create) { _ in _ = truncate(path, 600_000) }
        }
        try await store.tidy()
        #expect(try files() == [])
        metadata.sha256 = String(repeating: "0", count: 64)
        let other = UploadSource([1, 2, 3], called: "a", reader: trial.reader)
        await trial.expectProblem(.unreadable) {
            _ = try await store.put(other, as: object, metadata, mode: .create) { _ in }
        }
        #expect(try files() == [])
    }

    @Test(
        "rclone: bytes that are changed or lost on their way are found, and leave nothing",
        arguments: ["head -c -1", "tr a b"], ["box:", "vault:"])
    func damaged(filter: String, remote: String) async throws {
        // `--size` is set to the number of bytes that will be sent.
        try standIn(
            """
            case "$*" in *rcat*) \(filter) >\(trial.folder)/sent
            set -- $(echo "$*" | sed "s/--size [0-9]*/--size $(wc -c <\(trial.folder)/sent)/")
            exec \(rcloneProgram) "$@" <\(trial.folder)/sent ;; esac
            exec \(rcloneProgram) "$@"
            """)
        let store = try store(remote, path: trial.folder)
        let source = try await trial.source(try trial.file("a", byteCount: 500_000))
        let metadata = try await trial.metadata(source)
        await trial.expectProblem(.damaged) {
            _ = try await store.put(source, as: object, metadata, mode: .create) { _ in }
        }
        #expect(try files() == [])
    }

    @Test("rclone: a file that appears while another of its name is sent is not overwritten")
    func race() async throws {
        let store = try store("box:")
        let source = try await trial.source(try trial.file("a", byteCount: 2_000_000))
        let metadata = try await trial.metadata(source)
        let place = "\(folder)/\(object.path)"
        await trial.expectProblem(.conflict) {
            _ = try await store.put(source, as: object, metadata, mode: .create) { progress in
                if progress == .verifying { try? Data("other".utf8).write(to: URL(filePath: place)) }
            }
        }
        #expect(try String(contentsOfFile: place, encoding: .utf8) == "other")
        #expect(try files() == [object.path])
    }

    @Test("rclone: it needs no home, and its arguments show no secret")
    func environment() async throws {
        try standIn(
            """
            echo "$@" >>\(trial.folder)/arguments
            unset HOME XDG_CONFIG_HOME XDG_CACHE_HOME
            exec \(rcloneProgram) "$@"
            """)
        try await put("a", in: store("vault:", path: trial.folder))
        let arguments = try String(contentsOfFile: "\(trial.folder)/arguments", encoding: .utf8)
        #expect(arguments.contains("--config \(configuration) ") && !arguments.contains("rjXT0rz2"))
    }

    @Test("rclone: each mistake is said, with what to do")
    func mistakes() async throws {
        let nix = try store("nix:takes")
        await trial.expectProblem(.refused) { _ = try await nix.head(object) }
        #expect(
            await sentence { _ = try await nix.list { _ in } }
                == "outbox: rclone: listing at nix: no such remote in \(configuration): make it: rclone --config "
                + "\(configuration) config")
        for remote in ["", "folder", ":folder", "--config:", nil] as [String?] {
            #expect(
                await sentence { _ = try store(remote) }
                    == "outbox: rclone: no remote is named: write remote = \"REMOTE:PATH\" in [outbox.rclone]")
        }
        #expect(
            await sentence { _ = try store("dav,pass=hunter2:takes") }
                == "outbox: rclone: remote in [outbox.rclone] has options: write them into \(configuration), and "
                + "only REMOTE:PATH there"
        )
        #expect(
            await sentence { _ = try store("box:", path: "/nowhere") }
                == "outbox: rclone: is not installed: apt-get install rclone")
        try standIn("kill -9 $$")
        #expect(
            await sentence { _ = try await store("box:", path: trial.folder).list { _ in } }
                == "outbox: rclone: listing at box: rclone was killed: see what memory is left")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: configuration)
        #expect(
            await sentence { _ = try store("box:") }
                == "outbox: \(configuration): others than its owner may use it: chmod 600 \(configuration)")
        try configure(
            "# Encrypted rclone configuration File\n\nRCLONE_ENCRYPT_V0:\n\(String(repeating: "A", count: 100))\n")
        #expect(
            await sentence { _ = try await store("box:").list { _ in } }
                == "outbox: rclone: listing at box: \(configuration) is encrypted, and nobody is there to type its password: "
                + "remove the password: rclone --config \(configuration) config")
        try configure("[box]\ntype = nonsense\n")
        #expect(
            await sentence { _ = try await store("box:").list { _ in } }
                == "outbox: rclone: listing at box: rclone cannot use the remote: Failed to create file system for \"box:\": "
                + "didn't find backend called \"nonsense\": correct it: rclone --config \(configuration) config")
        try FileManager.default.removeItem(atPath: configuration)
        #expect(await sentence { _ = try store("box:") }.hasSuffix("make it, for the library's user, with mode 600"))
    }

    @Test("rclone: the plan of a remote names it, also if it cannot be opened, and no option of it")
    func plan() throws {
        var settings = Settings()
        settings.outbox.rclone.remote = "dropbox,token=hush:recordings/"
        settings.outbox.rclone.config = "\(trial.folder)/none.conf"
        let plan = try #require(StorePlan(.rclone, settings, trial.context))
        #expect(plan.name == "rclone:dropbox:recordings" && plan.needsClock)
        #expect(throws: StoreError.self) { try plan.open() }
    }

    @Test("rclone: a sentence shows no secret of the configuration, and no query or password of a link")
    func secrets() throws {
        let first = "[a]\ntype = dropbox\nurl = http://example.org\npass=hunter22\n"
        try configure(first)
        let rclone = try Rclone(configuration: SecretFile(configuration), remote: "a", authorities: nil)
        // rclone writes tokens into the configuration.
        try configure(first + "token = {\"access_token\":\"sl.abcdefabcdefabcdef\"}\n")
        #expect(
            rclone.reason(
                "first\n2026/11/23 11:38:57 Failed: get http://me:pw@example.org/a?sig=abc:\ncaused by "
                    + "{\"access_token\":\"sl.abcdefabcdefabcdef\"} is sl.abcdefabcdefabcdef hunter22\n"
            ) == "Failed: get http://example.org/a?… caused by (secret) is (secret) (secret)")
    }
}

import Foundation
import OtherPrograms
import Settings
import StoreTrials
import Takes
import Testing

@testable import Upload
@testable import WebStores

/// Services that differ from Amazon's (`Resources/s3quirks.py`).
@Suite(.timeLimit(.minutes(15)), .needs(.python))
struct S3QuirkTests {
    let trial: StoreTrial
    let object: ObjectName
    init() throws {
        trial = try StoreTrial()
        object = trial.name("heron07-0042-061811Z.wav")
    }

    private func server(_ options: String...) throws -> TestServer { try server(options) }

    private func server(_ options: [String]) throws -> TestServer {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Resources/s3quirks.py").path
        return try TestServer(OtherProgram.python.path) { port, _ in [script, "\(port)"] + options }
    }

    private func store(_ server: TestServer, host: String = "127.0.0.1", resume: ResumeStates? = nil) throws -> S3Store
    {
        let path = "\(trial.folder)/s3.credentials"
        try Data("access_key_id = kit\nsecret_access_key = secret\n".utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        var settings = Settings().outbox.s3
        settings.endpoint = "http://\(host):\(server.port)"
        settings.bucket = "recordings"
        settings.credentialsFile = path
        return try S3Store(settings, web: Web(), resume: resume ?? trial.resume, kit: "heron07")
    }

    private func put(_ store: S3Store, byteCount: Int = 100_000, mode: PutMode = .create) async throws -> StoredObject {
        let source = try await trial.source(try trial.file("a\(byteCount)", byteCount: byteCount))
        return try await store.put(source, as: object, try await trial.metadata(source), mode: mode) { _ in }
    }

    private func log(_ server: TestServer) throws -> String {
        try String(contentsOfFile: "\(server.folder)/server.log", encoding: .utf8)
    }

    @Test(
        "S3: a service that wants the bucket in the host's name gets it there, whatever it answers to the other way",
        arguments: ["host", "denies"], ["localhost", "127.0.0.1"])
    func host(option: String, host: String) async throws {
        let server = try server(option)
        let store = try store(server, host: host)
        try await trial.check(store, byteCounts: [0, 1, 9_000_000])
        await store.close()
        let lines = try log(server).split(separator: "\n")
        // The target is found once, and kept.
        #expect(lines.filter { !$0.contains("recordings.\(host)") }.count <= 3, "\(lines.prefix(6))")
    }

    @Test("S3: a bucket in the host's name that cannot be reached is not blamed on the key")
    func hostSentence() async throws {
        let server = try TestServer(OtherProgram.python.path) { port, _ in
            [
                "-c",
                """
                import http.server
                class Server(http.server.BaseHTTPRequestHandler):
                    def answer(self):
                        self.rfile.read(int(self.headers.get("Content-Length") or 0))
                        self.send_response(403)
                        self.end_headers()
                        if self.command != "HEAD":
                            self.wfile.write(b"<Error><Code>PathStyleDomainForbidden</Code></Error>")
                    do_GET = do_HEAD = do_PUT = answer
                    def log_message(self, *_): pass
                http.server.ThreadingHTTPServer(("127.0.0.1", \(port)), Server).serve_forever()
                """,
            ]
        }
        let store = try store(server)
        let error = await #expect(throws: StoreError.self) { _ = try await put(store) }
        await store.close()
        #expect(
            error?.sentence
                == "outbox: http://127.0.0.1:\(server.port)/recordings: wants the bucket in the host's name "
                + "(PathStyleDomainForbidden), and does not answer at recordings.127.0.0.1:\(server.port): write the "
                + "service's own name into endpoint in [outbox.s3]")
    }

    @Test("S3: a bucket with Object Lock gets the MD5 of files, of parts and of what completes them")
    func lock() async throws {
        let server = try server("lock")
        let store = try store(server)
        try await trial.check(store)
        await store.close()
    }

    @Test(
        "S3: with a key that may only write, files are sent once, and said to be unverified",
        arguments: [1000, 9_000_000])
    func putOnly(byteCount: Int) async throws {
        let server = try server("putonly")
        let store = try store(server)
        let stored = try await put(store, byteCount: byteCount)
        #expect(
            stored.unverified?.contains("does not show what is there (AccessDenied), so that nothing is verified")
                == true)
        await trial.expectProblem(.hidden) { _ = try await store.head(object) }
        // Other content does not overwrite it.
        await trial.expectProblem(.conflict) { _ = try await put(store, byteCount: byteCount + 1) }
        // An object that this kit sent is replaced.
        let source = try await trial.source("\(trial.folder)/a\(byteCount)")
        let sha256 = try await source.sha256()
        #expect(try await put(store, byteCount: byteCount + 2, mode: .replacing(sha256)).unverified != nil)
        await store.close()
    }

    @Test("S3: what can be looked at and not read is sent once, and said to be unverified")
    func unreadable() async throws {
        let byteCount = 1000
        let server = try server("noread")
        let store = try store(server)
        let sha256 = try await trial.source(trial.file("a\(byteCount)", byteCount: byteCount)).sha256()
        for mode in [PutMode.create, .create, .replacing(sha256)] {
            let stored = try await put(store, byteCount: byteCount, mode: mode)
            #expect(stored.unverified?.contains("does not show what is there (AccessDenied)") == true)
        }
        await trial.expectProblem(.hidden) { try await store.get(object) { _ in } }
        await trial.expectProblem(.conflict) { _ = try await put(store, byteCount: byteCount + 1) }
        await store.close()
        #expect(try log(server).split(separator: "\n").filter { $0.hasPrefix("PUT ") }.count <= 2)
    }

    @Test("S3: an answer that was lost is no conflict for a key that may only write")
    func lostAnswer() async throws {
        let server = try server("putonly", "lose")
        let store = try store(server)
        await trial.expectProblem(.away) { _ = try await put(store) }
        #expect(try await put(store).unverified != nil)
        await store.close()
    }

    @Test("S3: after an answer that nothing was stored, what is there is another's, for a key that may only write")
    func busy() async throws {
        let server = try server("putonly", "busy")
        let own = try store(server)
        // Another kit with its own notes about attempts.
        let other = try store(server, resume: ResumeStates(folder: "\(trial.folder)/other", reader: trial.reader))
        await trial.expectProblem(.busy(nil)) { _ = try await put(own) }
        let source = UploadSource(Array("another".utf8), called: "another", reader: trial.reader)
        _ = try await other.put(source, as: object, try await trial.metadata(source), mode: .create) { _ in }
        await trial.expectProblem(.conflict) { _ = try await put(own) }
        await own.close()
        await other.close()
    }

    @Test("S3: nothing is sent where neither a look nor a condition keeps another file from being overwritten")
    func unprotected() async throws {
        let server = try server("putonly", "nocond")
        let store = try store(server)
        await trial.expectProblem(.refused) { _ = try await put(store) }
        await store.close()
        #expect(try !log(server).contains(" 200\n"))
    }

    @Test(
        "S3: a server that ignores conditions gets no file from a key that may only write",
        arguments: [("heedless", 1000), ("heedless", 9_000_000), ("parts", 9_000_000)])
    func heedless(option: String, byteCount: Int) async throws {
        let server = try server("putonly", option)
        let store = try store(server)
        let error = await #expect(throws: StoreError.self) { _ = try await put(store, byteCount: byteCount) }
        #expect(error?.problem == .refused && error?.sentence.contains("nor knows If-None-Match") == true)
        await store.close()
        let sent = try log(server).split(separator: "\n").filter { $0.hasPrefix("P") }
        #expect(!sent.isEmpty && sent.allSatisfy { $0.contains("/.heron07.trial") }, "\(sent)")
    }

    @Test("S3: a tag that is none of the file's hashes is no mark of what is there")
    func form() async throws {
        for (options, isMarked) in [([], true), (["form"], false)] {
            let server = try server(options)
            let store = try store(server)
            let stored = try await put(store)
            #expect((stored.mark != nil) == isMarked && stored.unverified == nil)
            // The object is already there.
            #expect(try await put(store).mark == stored.mark)
            await store.close()
        }
    }

    @Test("S3: a file that was damaged on its way is replaced, also where it cannot be deleted")
    func damaged() async throws {
        let server = try server("flip")
        let store = try store(server)
        await trial.expectProblem(.damaged) { _ = try await put(store) }
        #expect(try await put(store).unverified == nil)
        #expect(
            try await trial.contents(of: object, in: store)
                == Data(contentsOf: URL(filePath: "\(trial.folder)/a100000")))
        await store.close()
    }

    @Test("S3: a key is not used over plain http to another machine")
    func plain() throws {
        let server = try server()
        let path = "\(trial.folder)/s3.credentials"
        _ = try store(server)
        for host in ["192.0.2.1:9000", "nas", "localhost.example.org", "127.0.0.1.example.org"] {
            var settings = Settings().outbox.s3
            settings.endpoint = "http://\(host)"
            settings.bucket = "recordings"
            settings.credentialsFile = path
            #expect(
                throws: StoreError(
                    .refused,
                    "outbox: http://\(host)/recordings: takes and what the key in \(path) signs would be sent unencrypted: "
                        + "use https://")
            ) { _ = try S3Store(settings, web: Web(), resume: trial.resume, kit: "heron07") }
        }
    }
}

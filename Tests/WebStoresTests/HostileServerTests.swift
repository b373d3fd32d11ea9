import Foundation
import NIOHTTP1
import Settings
import StoreTrials
import Takes
import Testing

@testable import Upload
@testable import WebStores

/// Servers that are broken, or mean harm: nothing goes on for ever, nothing ends the program, and no sentence has a secret.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct HostileServerTests {
    private let trial: StoreTrial
    private let object: ObjectName
    init() throws {
        trial = try StoreTrial()
        object = trial.name("heron07-0042-061811Z.wav")
    }

    /// A server that answers as Python says: `reply(status, body, **headers)`, with the request in `self`, its body in `sent`, and the
    /// number of requests in `count`.
    private func server(_ body: String) throws -> TestServer {
        try TestServer("/usr/bin/python3") { port, _ in
            [
                "-c",
                """
                import time
                from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
                count = 0

                class Server(BaseHTTPRequestHandler):
                    protocol_version = "HTTP/1.1"

                    def do(self):
                        global count
                        count += 1
                        sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                        method, path, here = self.command, self.path, "http://127.0.0.1:\(port)"
                        reply = self.reply
                \(body.split(separator: "\n").map { "        \($0)" }.joined(separator: "\n"))

                    def reply(self, status, body=b"", **headers):
                        self.send_response_only(status)
                        for name, value in headers.items():
                            self.send_header(name.replace("_", "-"), value)
                        self.send_header("Content-Length", str(len(body)))
                        self.end_headers()
                        if self.command != "HEAD":
                            self.wfile.write(body)

                    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_PROPFIND = do

                    def log_message(self, *_):
                        pass

                ThreadingHTTPServer(("127.0.0.1", \(port)), Server).serve_forever()
                """,
            ]
        }
    }

    private func firebase(_ server: TestServer, key: String? = nil) throws -> FirebaseStore {
        var settings = Settings().outbox.firebase
        settings.bucket = "recordings"
        settings.endpoint = "http://127.0.0.1:\(server.port)"
        settings.serviceAccountFile = key ?? "\(trial.folder)/none"
        return try FirebaseStore(settings, web: Web(), resume: trial.resume)
    }

    private func s3(_ server: TestServer) throws -> S3Store {
        let path = "\(trial.folder)/s3.credentials"
        try Data("access_key_id = kit\nsecret_access_key = Zugvogel-0815\n".utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        var settings = Settings().outbox.s3
        settings.bucket = "recordings"
        settings.endpoint = "http://127.0.0.1:\(server.port)"
        settings.credentialsFile = path
        return try S3Store(settings, web: Web(), resume: trial.resume, kit: "heron07", mostPages: 5) {
            WallTime(microseconds: 1_795_000_000_000_000)
        }
    }

    /// Sends a small file, and closes the store: what it throws.
    private func failure(_ store: some Store, byteCount: Int = 1_000_000) async throws -> StoreError? {
        let source = try await trial.source(try trial.file("a", byteCount: byteCount))
        let metadata = try await trial.metadata(source)
        let error = await #expect(throws: StoreError.self) {
            _ = try await store.put(source, as: object, metadata, mode: .create) { _ in }
        }
        await store.close()
        return error
    }

    @Test("Firebase: a session that has more bytes than there are numbers is given up")
    func longRange() async throws {
        let server = try server(
            """
            if method == "GET": reply(404, b'{"error":{"message":"No such object"}}')
            elif method == "POST": reply(200, Location=here + "/session")
            else: reply(308, Range="bytes=0-9223372036854775807")
            """)
        let error = try await failure(firebase(server))
        #expect(error?.problem == .busy(nil))
        #expect(error?.sentence.hasSuffix(": the service takes nothing after byte 0") ?? false)
    }

    @Test("Firebase: a session that forgets what it has, again and again, is given up")
    func forgetful() async throws {
        let server = try server(
            """
            if method == "GET": reply(404, b'{"error":{"message":"No such object"}}')
            elif method == "POST": reply(200, Location=here + "/session")
            elif self.headers["Content-Range"].startswith("bytes 0-"): reply(308, Range="bytes=0-524287")
            else: reply(308)
            """)
        #expect(try await failure(firebase(server))?.problem == .busy(nil))
    }

    @Test("Firebase: what a service repeats of a token is in no sentence")
    func repeatedToken() async throws {
        let path = "\(trial.folder)/key.json"
        let server = try server(
            """
            if path == "/token": reply(200, b'{"access_token":"ya29.Zugvogel","expires_in":3600}')
            else: reply(400, b'{"error":{"message":"you sent ' + self.headers["Authorization"].encode() + b'"}}')
            """)
        _ = try TestServer.python(
            """
            import json, os, sys
            from cryptography.hazmat.primitives import serialization
            from cryptography.hazmat.primitives.asymmetric import rsa
            key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
            with open(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT, 0o600), "w") as out:
                json.dump({"client_email": "kit@x", "private_key": key, "token_uri": sys.argv[2]}, out)
            """, [path, "http://127.0.0.1:\(server.port)/token"])
        let error = try await failure(firebase(server, key: path))
        #expect(error?.sentence.hasSuffix(": refused: status 400: you sent Bearer …") ?? false, "\(error as Any)")
    }

    @Test("S3: a time that no server has is no reason to ask again", arguments: ["9999", "0001"])
    func clock(year: String) async throws {
        let server = try server(
            """
            reply(403, b"<Error><Code>RequestTimeTooSkewed</Code></Error>", Date="Fri, 31 Dec \(year) 23:59:59 GMT")
            """)
        let error = try await failure(s3(server))
        #expect(error?.sentence.contains("says that the kit's clock is wrong") ?? false, "\(error as Any)")
    }

    @Test("S3: lists that do not end are given up")
    func endlessLists() async throws {
        let server = try server(
            """
            n = str(count % 2).encode()
            if "uploads" in path:
                rest = b"<NextKeyMarker>" + n + b"</NextKeyMarker><NextUploadIdMarker>" + n + b"</NextUploadIdMarker>"
                reply(200, b"<ListMultipartUploadsResult><IsTruncated>true</IsTruncated>" + rest + b"</ListMultipartUploadsResult>")
            else:
                rest = b"<NextContinuationToken>" + n + b"</NextContinuationToken>"
                reply(200, b"<ListBucketResult><IsTruncated>true</IsTruncated>" + rest + b"</ListBucketResult>")
            """)
        let store = try s3(server)
        let place = "outbox: http://127.0.0.1:\(server.port)/recordings"
        func endless(_ what: String) -> StoreError {
            StoreError(.refused, "\(place): gives \(what) that does not end: see its server")
        }
        await #expect(throws: endless("a list of uploads")) { try await store.tidy() }
        await #expect(throws: endless("a list")) { try await store.list { _ in } }
        await store.close()
    }

    @Test("an answer that comes a byte at a time is given up", arguments: ["head", "body"])
    func slow(place: String) async throws {
        let server = try server(
            """
            self.wfile.write(b"HTTP/1.1 200 OK\\r\\n" + (b"Content-Length: 100000\\r\\n\\r\\n" if "\(place)" == "body" else b"A: "))
            while True:
                self.wfile.write(b"a")
                self.wfile.flush()
                time.sleep(0.05)
            """)
        let web = try Web(silence: .milliseconds(200))
        let error = await #expect(throws: StoreError.self) {
            _ = try await web.send(.GET, "http://127.0.0.1:\(server.port)/").bytes()
        }
        #expect(error?.problem == .away)
        let reason = place == "body" ? "the answer comes too slowly" : "cannot be reached: it "
        #expect(error?.sentence.hasPrefix("outbox: http://127.0.0.1:\(server.port): \(reason)") ?? false)
        await web.close()
    }

    @Test("a header that cannot be sent is in no sentence")
    func header() async throws {
        let web = try Web()
        let error = await #expect(throws: StoreError.self) {
            _ = try await web.send(.GET, "http://127.0.0.1:1/", headers: ["Authorization": "Bearer Zugvogel\u{7}"])
        }
        #expect(error?.sentence.contains("Zugvogel") == false)
        await web.close()
    }
}

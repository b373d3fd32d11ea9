import Foundation
import NIOHTTP1
import OtherPrograms
import Settings
import StoreTrials
import Takes
import Testing

@testable import Upload
@testable import WebStores

/// Servers that are broken or hostile: nothing runs for ever, nothing ends the program, and no sentence has a secret.
@Suite(.serialized, .timeLimit(.minutes(15)), .needs(.python))
struct HostileServerTests {
    private let trial: StoreTrial
    private let object: ObjectName
    init() throws {
        trial = try StoreTrial()
        object = trial.name("heron07-0042-061811Z.wav")
    }

    /// A server that answers with a Python function `reply(status, body, **headers)`. `self` is the request, `sent` its
    /// body, and `count` the number of requests.
    private func server(_ body: String) throws -> TestServer {
        try TestServer(OtherProgram.python.path) { port, _ in
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

    private func webDAV(_ server: TestServer) throws -> WebDAVStore {
        var settings = Settings().outbox.webdav
        settings.url = "http://127.0.0.1:\(server.port)/recordings"
        settings.credentialsFile = "\(trial.folder)/none"
        return try WebDAVStore(settings, web: Web(), resume: trial.resume, kit: "heron07")
    }

    /// Sends a small file, closes the store, and returns the error.
    private func failure(
        _ store: some Store, byteCount: Int = 1_000_000, mode: PutMode = .create
    ) async throws -> StoreError? {
        let source = try await trial.source(try trial.file("a", byteCount: byteCount))
        let metadata = try await trial.metadata(source)
        let error = await #expect(throws: StoreError.self) {
            _ = try await store.put(source, as: object, metadata, mode: mode) { _ in }
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

    @Test("Firebase: what a service repeats of a token is in no sentence", .needsServers)
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

    @Test("S3: where conditions are ignored, an object that comes while parts are sent is not overwritten")
    func ignoredCondition() async throws {
        let completed = "\(trial.folder)/completed"
        let server = try server(
            """
            if method == "HEAD": reply(200, ETag='"other"') if count > 3 else reply(404)
            elif method == "POST" and "uploads" in path:
                reply(200, b"<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>")
            elif method == "PUT": reply(200, ETag='"part"')
            elif method == "GET": reply(200, b"<ListBucketResult></ListBucketResult>")
            elif method == "POST": open("\(completed)", "w").close(); reply(200, b"<CompleteMultipartUploadResult/>")
            else: reply(204)
            """)
        #expect(try await failure(s3(server), byteCount: 9_000_000)?.problem == .conflict)
        #expect(!FileManager.default.fileExists(atPath: completed))
    }

    @Test("S3: a service that wants the bucket elsewhere each time is asked a few times")
    func wandering() async throws {
        let asked = "\(trial.folder)/asked"
        let server = try server(
            """
            open("\(asked)", "a").write(method + "\\n")
            if count > 200: reply(404)
            elif method == "HEAD": reply(403)
            elif count % 3 == 2: reply(403, b"<Error><Code>PathStyleDomainForbidden</Code></Error>")
            else: reply(403, b"<Error><Code>AccessDenied</Code></Error>")
            """)
        let store = try s3(server)
        await #expect(throws: StoreError.self) { _ = try await store.head(object) }
        await store.close()
        #expect(try String(contentsOfFile: asked, encoding: .utf8).split(separator: "\n").count < 30)
    }

    /// The server states an object of 5 bytes, and then sends 400 MB. A client seldom reads to the end.
    private static let endless = """
        if method == "GET" and "alt=media" in path or method == "GET" and "storage/v1" not in path:
            self.send_response_only(200)
            self.send_header("Content-Length", str(400 << 20))
            self.end_headers()
            for _ in range(400): self.wfile.write(bytes(1 << 20))
            open("READ", "w").close()
        """

    @Test("what is read back is read no further than it is long", arguments: ["S3", "Firebase", "WebDAV"])
    func endlessContent(kind: String) async throws {
        let read = "\(trial.folder)/read"
        let server = try server(
            Self.endless.replacing("READ", with: read)
                + """

                elif method == "HEAD":
                    self.send_response_only(200)
                    self.send_header("Content-Length", "5")
                    self.end_headers()
                elif method == "GET": reply(200, b'{"name":"a","size":"5","generation":"1"}')
                elif method == "PROPFIND":
                    reply(207, b'<d:multistatus xmlns:d="DAV:"><d:response><d:href>' + path.encode() + b'</d:href><d:propstat><d:prop>'
                        b'<d:getcontentlength>5</d:getcontentlength></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>'
                        b'</d:response></d:multistatus>')
                else: reply(404)
                """)
        let stores: [String: any Store] = try [
            "S3": s3(server), "Firebase": firebase(server), "WebDAV": webDAV(server),
        ]
        let store = try #require(stores[kind])
        let error = try await failure(store, byteCount: 5)
        for (other, store) in stores where other != kind { await store.close() }
        #expect(error?.problem == .damaged && error?.sentence.contains("is longer than ") == true, "\(error as Any)")
        #expect(!FileManager.default.fileExists(atPath: read))
    }

    @Test("Firebase: an account that may not look is told so, and not that another object is there")
    func replacingUnseen() async throws {
        let server = try server(
            """
            if method == "GET": reply(403, b'{"error":{"message":"kit has no storage.objects.get"}}')
            else: reply(412)
            """)
        let error = try await failure(firebase(server), mode: .replacing("00"))
        #expect(error?.problem == .hidden)
        #expect(
            error?.sentence.hasSuffix(
                ": heron07-0042-061811Z.wav: was sent before, and a request without a service account may not replace what it "
                    + "cannot look at: grant it Storage Object Admin (roles/storage.objectAdmin) on the bucket")
                == true,
            "\(error as Any)")
        #expect(try await failure(firebase(server))?.problem == .conflict)
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
            self.wfile.write(b"HTTP/1.1 200 OK\\r\\n" + (b"Content-Length: 100000000\\r\\n\\r\\n" if "\(place)" == "body" else b"A: "))
            while True:
                self.wfile.write(b"a")
                self.wfile.flush()
                time.sleep(0.01)
            """)
        let web = try Web(patience: .seconds(2))
        let error = await #expect(throws: StoreError.self) {
            _ = try await web.send(.GET, "http://127.0.0.1:\(server.port)/").bytes()
        }
        let reason = place == "body" ? "the answer comes too slowly" : "cannot be reached: it took too long to answer"
        #expect(error == StoreError(.away, "outbox: http://127.0.0.1:\(server.port): \(reason)"))
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

    /// Requests a page, closes the client, and returns the error.
    private func failure(_ url: String, authorities: String? = nil) async throws -> StoreError? {
        let web = try Web(authorities: authorities)
        let error = await #expect(throws: StoreError.self) { _ = try await web.send(.GET, url) }
        await web.close()
        return error
    }

    @Test("a server that is down, a name that is none, and a server without TLS each have a sentence")
    func mistakes() async throws {
        let server = try server("reply(200)")
        func away(_ place: String, _ reason: String) -> StoreError {
            StoreError(.away, "outbox: \(place): cannot be \(reason)")
        }
        #expect(
            try await failure("http://localhost:1/") == away("http://localhost:1", "reached: Connection refused"))
        #expect(
            try await failure("http://fieldfare.invalid/")
                == away(
                    "http://fieldfare.invalid",
                    "reached: its name cannot be resolved: check the network, and the address"))
        let place = "https://127.0.0.1:\(server.port)"
        #expect(
            try await failure("\(place)/")
                == away(place, "reached by TLS: see whether its address begins with https://"))
        #expect(Web.host(of: "http://[::1]:9000/x") == "http://[::1]:9000")
    }

    @Test("a certificate of another server is one", .needsServers)
    func certificate() async throws {
        let folder = trial.folder
        _ = try TestServer.python(
            """
            import datetime, sys
            from cryptography import x509
            from cryptography.hazmat.primitives import hashes, serialization
            from cryptography.hazmat.primitives.asymmetric import ec
            key = ec.generate_private_key(ec.SECP256R1())
            name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "example.org")])
            now = datetime.datetime.now(datetime.timezone.utc)
            certificate = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
                .serial_number(1).not_valid_before(now - datetime.timedelta(1)).not_valid_after(now + datetime.timedelta(1))
                .add_extension(x509.SubjectAlternativeName([x509.DNSName("example.org")]), False)
                .add_extension(x509.BasicConstraints(True, None), True).sign(key, hashes.SHA256()))
            pem = certificate.public_bytes(serialization.Encoding.PEM)
            open(sys.argv[1] + "/ca.pem", "wb").write(pem)
            open(sys.argv[1] + "/server.pem", "wb").write(pem + key.private_bytes(serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
            """, [folder])
        let server = try TestServer(OtherProgram.python.path) { port, _ in
            [
                "-c",
                """
                import http.server, ssl
                server = http.server.ThreadingHTTPServer(("127.0.0.1", \(port)), http.server.SimpleHTTPRequestHandler)
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain("\(folder)/server.pem")
                server.socket = context.wrap_socket(server.socket, server_side=True)
                server.serve_forever()
                """,
            ]
        }
        let place = "https://127.0.0.1:\(server.port)"
        #expect(
            try await failure("\(place)/", authorities: "\(folder)/ca.pem")
                == StoreError(
                    .refused,
                    "outbox: \(place): its certificate is of a server of another name: correct the address"))
    }
}

import NIOHTTP1
import OtherPrograms
import Settings
import StoreTrials
import Takes
import Testing

@testable import Upload
@testable import WebStores

@Suite(.needsServers)
struct S3PortalTests {
    private let trial: StoreTrial
    init() throws { trial = try StoreTrial() }

    @Test("S3: a network that asks to log in first is no file of that name, and what it repeats is no sentence")
    func portal() async throws {
        let server = try S3Server()
        // It answers 200 to every request, and echoes the body of a PUT.
        let portal = try TestServer("python3") { port, _ in
            [
                "-c",
                """
                from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

                class Portal(BaseHTTPRequestHandler):
                    def do_GET(self):
                        self.reply(200, b"<html>Log in</html>" if self.command == "GET" else b"")

                    def do_PUT(self):
                        self.rfile.read(int(self.headers["Content-Length"]))
                        self.reply(400, f"<Error><Code>Bad</Code><Message>{self.headers['Authorization']}</Message></Error>".encode())

                    def reply(self, status, body):
                        self.send_response(status)
                        self.send_header("Content-Length", str(len(body)))
                        self.end_headers()
                        self.wfile.write(body)

                    do_HEAD = do_GET

                ThreadingHTTPServer(("127.0.0.1", \(port)), Portal).serve_forever()
                """,
            ]
        }
        var settings = server.settings()
        settings.endpoint = "http://127.0.0.1:\(portal.port)"
        let place = "outbox: http://127.0.0.1:\(portal.port)/recordings"
        let source = UploadSource([1, 2, 3], called: "a", reader: trial.reader)
        let metadata = try await trial.metadata(source)
        let store = try S3Store(settings, web: Web(), resume: trial.resume, kit: "heron07")
        let error = await #expect(throws: StoreError.self) {
            _ = try await store.put(
                source, as: trial.name("heron07-0042-061811Z.wav"), metadata, mode: .create
            ) { _ in }
        }
        #expect(
            error?.sentence == "\(place): does not answer as an S3 service does: see endpoint in [outbox.s3]")
        await store.close()
        let bucket = try S3Bucket(settings, web: Web()) { WallTime(microseconds: 0) }
        let failure = await #expect(throws: S3Failure.self) {
            try await bucket.ask(.init(method: .PUT, key: "a", body: .bytes([1])))
        }
        #expect(failure?.error(of: bucket).sentence == "\(place): refuses (Bad: )")
        await bucket.close()
    }
}

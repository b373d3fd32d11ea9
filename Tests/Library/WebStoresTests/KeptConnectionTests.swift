import Foundation
import NIOHTTP1
import OtherPrograms
import StoreTrials
import Testing

@testable import Upload
@testable import WebStores

/// A server may close a kept connection while the next request is in transit.
@Suite(.timeLimit(.minutes(15)), .needs(.python))
struct KeptConnectionTests {
    /// Answers the first request of each connection, and closes at the second one. It prints each request with its
    /// number on the connection and the length of its body.
    private func server() throws -> TestServer {
        try TestServer(OtherProgram.python.path) { port, _ in
            [
                "-c",
                """
                import socketserver
                class Server(socketserver.StreamRequestHandler):
                    def handle(self):
                        for number in (1, 2):
                            line = self.rfile.readline().decode()
                            if not line:
                                return
                            length = 0
                            while (header := self.rfile.readline().strip()):
                                if header.lower().startswith(b"content-length:"):
                                    length = int(header.split(b":")[1])
                            count = len(self.rfile.read(length))
                            print(line.split()[0], number, count, flush=True)
                            if number == 1:
                                self.wfile.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
                socketserver.ThreadingTCPServer.allow_reuse_address = True
                socketserver.ThreadingTCPServer(("127.0.0.1", \(port)), Server).serve_forever()
                """,
            ]
        }
    }

    private func log(_ server: TestServer) throws -> [Substring] {
        try String(contentsOfFile: "\(server.folder)/server.log", encoding: .utf8).split(separator: "\n")
    }

    @Test("a request that a closing connection left without an answer is sent once more, with its body")
    func repeated() async throws {
        let (trial, server, web) = (try StoreTrial(), try server(), try Web())
        let source = try await trial.source(try trial.file("a", byteCount: 300_000))
        let url = "http://127.0.0.1:\(server.port)/a"
        for method in ["GET", "PUT", "PROPFIND", "DELETE", "MKCOL"] {
            for _ in 0..<2 {
                let body: Web.Body = method == "PUT" ? .source(source, 0..<300_000) { _ in } : .none
                let answer = try await web.send(.RAW(value: method), url, body: body)
                #expect(try await answer.bytes() == Array("ok".utf8))
            }
        }
        #expect(try await source.sha256() == source.sha256())
        // Several connections may be kept, but the repeated request uses a new one.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask { _ = try await web.send(.GET, url).bytes() }
            }
            try await group.waitForAll()
        }
        await web.close()
        #expect(try log(server).filter { $0.hasPrefix("PUT") }.allSatisfy { $0.hasSuffix(" 300000") })
    }

    @Test("a request that may do something twice is not repeated, unless its caller says so")
    func once() async throws {
        let (server, web) = (try server(), try Web())
        let url = "http://127.0.0.1:\(server.port)/a"
        _ = try await web.send(.POST, url, body: .bytes([1])).bytes()
        await #expect(
            throws: StoreError(
                .away, "outbox: http://127.0.0.1:\(server.port): cannot be reached: it closed the connection")
        ) {
            _ = try await web.send(.POST, url, body: .bytes([1]))
        }
        _ = try await web.send(.POST, url, body: .bytes([1])).bytes()
        _ = try await web.send(.POST, url, body: .bytes([1]), mayRepeat: true).bytes()
        await web.close()
        #expect(try log(server) == ["POST 1 1", "POST 2 1", "POST 1 1", "POST 2 1", "POST 1 1"])
    }
}

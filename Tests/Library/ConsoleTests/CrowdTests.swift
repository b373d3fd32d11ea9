import Control
import DiskCalls
import Foundation
import OtherPrograms
import StoreTrials
import Takes
import Testing

@Suite(.waitsOnNamedThreads, .serialized, .fewKitsAtATime, .timeLimit(.minutes(15)), .needs(.curl)) struct CrowdTests {
    /// Opens a hundred connections that send a byte from time to time, and meanwhile sends a thousand requests, fifty
    /// at a time. Prints how many were answered.
    private static let crowd = """
        import concurrent.futures, http.client, socket, sys, threading
        port, token = int(sys.argv[1]), sys.argv[2]
        slow = []
        for _ in range(100):
            s = socket.create_connection(("127.0.0.1", port))
            s.sendall(b"GET /api/status HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nX-Slow: ")
            slow.append(s)
        def drip():
            for s in slow:
                try: s.sendall(b"x")
                except OSError: pass
        def ask(i):
            if i % 100 == 0: drip()
            c = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            c.request("GET", "/api/takes?limit=50", headers={"Cookie": "fieldfare=" + token})
            r = c.getresponse(); r.read(); c.close()
            return r.status
        with concurrent.futures.ThreadPoolExecutor(50) as pool:
            print(sum(status == 200 for status in pool.map(ask, range(1000))))
        """

    @Test(.needsServers)
    func `a hundred slow connections and a thousand requests cost no frame, and bounded memory`() throws {
        let kit = try RunningKit()
        _ = try kit.record()
        _ = try kit.phone.post("/api/deck/record")
        let answered = try TestServer.python(Self.crowd, [String(kit.library.port), kit.token])
        #expect(answered == "1000")
        let status = try #require(try kit.phone.get("/api/status").json)
        #expect(status["xruns"] == .integer(0))
        #expect(status["gaps"] == .integer(0))
        #expect(try kit.phone.post("/api/deck/stop").status == 200)
        #expect(try kit.peakMemory() < 96 << 10)
    }

    /// Begins a request that is refused, and sends its body byte by byte. After the connection closed, it prints the
    /// answer's status, and whether the answer announces the close.
    private static let dribble = """
        import socket, sys
        s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        s.sendall(b"POST /api/deck/stop HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nContent-Type: application/json\\r\\n"
                  b"Content-Length: 30000\\r\\n\\r\\n{")
        s.settimeout(0.1)
        answer = b""
        for _ in range(600):
            try:
                piece = s.recv(65536)
                if not piece: break
                answer += piece
            except TimeoutError:
                try: s.sendall(b" ")
                except OSError: break
            except OSError: break
        else: sys.exit("the connection is kept")
        print(answer.split(b" ")[1].decode(), b"connection: close" in answer.lower())
        """

    @Test(.needsServers)
    func `a body that is refused keeps no connection`() throws {
        let kit = try RunningKit()
        #expect(try TestServer.python(Self.dribble, [String(kit.library.port)]) == "401 True")
        // A request whose body was read completely keeps its connection.
        let answer = try kit.phone.post("/api/deck/skip", #"{"seconds":1}"#)
        #expect(answer.status == 409)
        #expect(answer.headers["connection"] == nil)
    }

    /// Requests a long answer over a hundred connections and reads a byte of each, then sends another request. Prints
    /// how many answers began.
    private static let stuck = """
        import http.client, socket, ssl, sys
        port, token, path, is_secure = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4] == "tls"
        context = ssl._create_unverified_context()
        all = []
        for _ in range(100):
            s = socket.create_connection(("127.0.0.1", port))
            if is_secure: s = context.wrap_socket(s)
            s.sendall(f"GET {path} HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nCookie: fieldfare={token}\\r\\n\\r\\n".encode())
            all.append(s)
        print(sum(one.recv(1) == b"H" for one in all))
        for _ in range(100):
            c = http.client.HTTPSConnection("127.0.0.1", port, context=context) if is_secure else http.client.HTTPConnection("127.0.0.1", port)
            c.request("GET", "/api/takes?limit=50", headers={"Cookie": "fieldfare=" + token})
            c.getresponse().read(); c.close()
        """

    @Test(.needsServers, arguments: [(false, "archive"), (true, "archive"), (true, "file")])
    func `phones that do not read what they asked for cost bounded memory`(
        isSecure: Bool, what: String
    ) throws {
        let kit = try RunningKit()
        let stem = try kit.record()
        let folder = try #require(try kit.phone.get("/api/takes/\(stem)").json?["take"]?["folder"]?.text)
        #expect(truncate("\(folder)/\(stem).wav", 400 << 20) == 0)
        let path = what == "file" ? "/api/takes/\(stem)/files/\(stem).wav" : "/api/archive?take=\(stem)"
        let port = isSecure ? kit.tlsPort : kit.library.port
        let arguments = [String(port), kit.token, path, isSecure ? "tls" : "plain"]
        #expect(try TestServer.python(Self.stuck, arguments) == "100")
        // Each TLS connection has its own keys and a buffer. The service may use 128 MiB.
        #expect(try kit.peakMemory() < (isSecure ? 112 : 96) << 10)
    }

    /// Requests a stream many times, and disconnects before the answer begins.
    private static let gone = """
        import random, socket, struct, sys, time
        port, token, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
        for _ in range(200):
            s = socket.create_connection(("127.0.0.1", port))
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            s.sendall(f"GET {path} HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nCookie: fieldfare={token}\\r\\n\\r\\n".encode())
            time.sleep(random.random() * 0.003)
            s.close()
        print("gone")
        """

    /// Requests a stream, and reads its beginning. Prints the status, and how many bytes came.
    private static let stays = """
        import http.client, sys
        c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=300)
        c.request("GET", sys.argv[3], headers={"Cookie": "fieldfare=" + sys.argv[2]})
        answer = c.getresponse()
        print(answer.status, len(answer.read(101)))
        """

    @Test(.needsServers, arguments: ["/api/listen", "/api/events", "/api/spectrum/live"])
    func `phones that are gone before the answer begins leave nothing behind`(_ path: String) throws {
        let kit = try RunningKit()
        func files() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(kit.library.processIdentifier)/fd").count
        }
        _ = try kit.phone.get("/api/status")
        let before = try files()
        #expect(try TestServer.python(Self.gone, [String(kit.library.port), kit.token, path]) == "gone")
        // The last connections end a moment later.
        while try files() > before + 2 { usleep(20_000) }
        #expect(try TestServer.python(Self.stays, [String(kit.library.port), kit.token, path]) == "200 101")
    }

    @Test(.needsServers)
    func `downloads that are broken off leave no file open`() throws {
        let kit = try RunningKit()
        let stem = try kit.record()
        let folder = try #require(try kit.phone.get("/api/takes/\(stem)").json?["take"]?["folder"]?.text)
        #expect(truncate("\(folder)/\(stem).wav", 400 << 20) == 0)
        func files() throws -> Int {
            let folder = "/proc/\(kit.library.processIdentifier)/fd"
            return try FileManager.default.contentsOfDirectory(atPath: folder).filter { file in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(file)"))?.hasSuffix(".wav")
                    == true
            }.count
        }
        let path = "/api/takes/\(stem)/files/\(stem).wav"
        #expect(try TestServer.python(Self.gone, [String(kit.library.port), kit.token, path]) == "gone")
        while try files() > 0 { usleep(20_000) }
        let whole = try kit.run(
            OtherProgram.curl.path,
            [
                "--silent", "--fail", "-o", "/dev/null", "-H", "Cookie: fieldfare=\(kit.token)",
                "http://127.0.0.1:\(kit.library.port)\(path)",
            ])
        #expect(whole.status == 0)
    }

    @Test func `watchers receive the state, the level, the waveform and finished takes`() throws {
        let kit = try RunningKit()
        let process = Process()
        process.executableURL = URL(filePath: OtherProgram.curl.path)
        process.arguments = [
            "--silent", "--no-buffer", "-H", "Cookie: fieldfare=\(kit.token)",
            "http://127.0.0.1:\(kit.library.port)/api/events",
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        defer { process.terminate() }
        var received = ""
        func wait(for text: String) {
            while !received.contains(text) {
                let data = pipe.fileHandleForReading.availableData
                guard !data.isEmpty else { break }
                received += String(decoding: data, as: UTF8.self)
            }
            #expect(received.contains(text), "\(text)")
        }
        wait(for: "event: status\n")
        wait(for: "event: level\n")
        wait(for: "event: peaks\n")
        let stem = try kit.record()
        wait(for: "\"what\":\"committed\"")
        wait(for: "\"what\":\"added\"")
        _ = try kit.phone.patch("/api/takes/\(stem)", #"{"starred":true}"#)
        wait(for: "\"what\":\"revised\"")
        // A program other than the recorder and the library deletes it.
        let day = try #require(
            try FileManager.default.contentsOfDirectory(atPath: "\(kit.folder)/takes").first(where: TakeName.isDay))
        try FileManager.default.removeItem(atPath: "\(kit.folder)/takes/\(day)/\(stem).json")
        wait(for: "\"what\":\"removed\"")
        kit.stopRecorder()
        wait(for: "event: away\n")
        received = ""
        try kit.startRecorder()
        wait(for: "event: status\n")
        // A recorder that runs but does not answer counts as away, too.
        received = ""
        kit.holdRecorder(true)
        defer { kit.holdRecorder(false) }
        wait(for: "event: away\n")
        #expect(try kit.phone.get("/api/session").json?["right"] == .string("all"))
        received = ""
        kit.holdRecorder(false)
        wait(for: "event: status\n")
    }
}

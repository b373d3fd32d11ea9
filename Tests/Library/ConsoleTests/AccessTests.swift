import Control
import DiskCalls
import Foundation
import OtherPrograms
import StoreTrials
import Testing

@Suite(.waitsOnNamedThreads, .serialized, .fewKitsAtATime, .timeLimit(.minutes(15)), .needs(.curl)) struct AccessTests {
    private static func routes(_ kit: RunningKit) throws -> [(method: String, path: String)] {
        let document = try JSONSerialization.jsonObject(with: try kit.stranger.get("/api/openapi.json").bytes)
        let paths = try #require((document as? [String: Any])?["paths"] as? [String: [String: Any]])
        return paths.flatMap { path, methods in
            let path = path.replacing("{take}", with: "heron07-0001-061811Z").replacing(
                "{file}", with: "heron07-0001-061811Z.wav")
            return methods.keys.map { ($0.uppercased(), path.replacing("{phone}", with: "0")) }
        }
    }

    /// Routes that even viewers may not use.
    private static let closed = [
        "/api/phones", "/api/label", "/api/settings", "/api/listen", "/api/log", "/api/history",
        "/api/history/summary", "/api/support", "/api/update", "/api/spectrum/live",
    ]

    /// Routes that identify the browser, pair it, and describe the API.
    private static let open = ["GET /api/session", "POST /api/session", "GET /api/openapi.json"]

    @Test func `a stranger is refused on every route of the document`() throws {
        let kit = try RunningKit()
        let routes = try Self.routes(kit)
        #expect(routes.count >= 35)
        for route in routes where !Self.open.contains("\(route.method) \(route.path)") {
            let json = route.method == "GET" || route.method == "DELETE" ? nil : "{}"
            let answer = try kit.stranger.run(route.method, route.path, json, [])
            #expect(answer.status == 401, "\(route.method) \(route.path)")
            #expect(answer.headers["content-type"] == "application/problem+json")
            let wrong = try Curl(kit.library.port, cookie: "fieldfare=\(String(repeating: "0", count: 64))")
                .run(route.method, route.path, json, [])
            #expect(wrong.status == 401, "\(route.method) \(route.path)")
        }
        #expect(try kit.stranger.get("/api/session").json?["right"] == .string("none"))
        #expect(try kit.phone.get("/api/session").json?["right"] == .string("all"))
    }

    @Test func `a stranger of a read-only kit may look, and change nothing`() throws {
        let kit = try RunningKit(console: "access = \"read-only\"")
        for route in try Self.routes(kit) where !Self.open.contains("\(route.method) \(route.path)") {
            guard route.path != "/api/events" else { continue }
            let isLook = route.method == "GET" && !Self.closed.contains(route.path)
            let answer = try kit.stranger.run(route.method, route.path, route.method == "GET" ? nil : "{}", [])
            #expect((answer.status == 401) == !isLook, "\(route.method) \(route.path): \(answer.status)")
        }
        #expect(try kit.stranger.get("/api/status").json?["state"] == .string("idle"))
    }

    @Test func `anybody may do anything with an open kit`() throws {
        let kit = try RunningKit(console: "access = \"open\"")
        #expect(try kit.stranger.post("/api/deck/record").status == 200)
        #expect(try kit.stranger.post("/api/deck/stop").status == 200)
    }

    @Test func `a request by another name, or from another site's page, is refused`() throws {
        let kit = try RunningKit(console: "access = \"open\"")
        let ask = { (fields: String...) in
            try kit.phone.run("POST", "/api/deck/stop", "{}", fields.flatMap { ["-H", $0] }).status
        }
        #expect(try ask() == 200)
        #expect(try ask("Host: attacker.example") == 421)
        #expect(try ask("Host: 127.0.0.1.attacker.example") == 421)
        #expect(try ask("Host: heron07.attacker.example") == 421)
        for host in ["heron07", "heron07.local", "HERON07.local:8080", "[::1]:80", "192.168.4.1", "heron07.local."] {
            #expect(try ask("Host: \(host)") == 200, "\(host)")
        }
        #expect(try ask("Origin: http://attacker.example") == 403)
        #expect(try ask("Origin: null") == 403)
        #expect(try ask("Origin: http://127.0.0.1:\(kit.library.port)") == 200)
        #expect(try ask("Sec-Fetch-Site: cross-site") == 403)
        #expect(try ask("Sec-Fetch-Site: same-site") == 403)
        #expect(try ask("Sec-Fetch-Site: same-origin") == 200)
        // A link on another page may lead to the kit's page.
        #expect(try kit.stranger.get("/", ["-H", "Sec-Fetch-Site: cross-site"]).status == 200)
        #expect(try kit.stranger.get("/api/status", ["-H", "Sec-Fetch-Site: cross-site"]).status == 403)
        for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
            #expect(try ask("Content-Type: \(type)") == 415, "\(type)")
        }
    }

    @Test func `a phone is paired by the password, kept as a hash, and removed`() throws {
        let kit = try RunningKit()
        let token = try kit.stranger.pair(name: "Anna", password: RunningKit.password)
        // The cookies of a browser that is paired with several kits at the same address.
        let anna = Curl(kit.library.port, cookie: "other=1; fieldfare-1a=\(kit.folder.count); fieldfare-2b=\(token)")
        let phones = try #require(try anna.get("/api/phones").json?["phones"])
        guard case .array(let list) = phones else { return }
        #expect(list.map { $0["name"] } == [.string("test"), .string("Anna")])
        #expect(!phones.description.contains(token))
        let path = "\(kit.folder)/library/phones.json"
        #expect(!(try String(contentsOfFile: path, encoding: .utf8)).contains(token))
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        let id = try #require(list[1]["id"]?.text)
        #expect(try kit.phone.delete("/api/phones/\(id)").status == 204)
        #expect(try anna.get("/api/status").status == 401)
        #expect(try kit.phone.delete("/api/phones/\(id)").status == 404)
        #expect(try kit.phone.delete("/api/session").headers["set-cookie"]?.contains("Max-Age=0") == true)
        #expect(try kit.phone.get("/api/status").status == 401)
    }

    @Test func `five wrong passwords a minute are answered, and pairing without one needs the hands`() throws {
        let kit = try RunningKit()
        for _ in 0..<5 {
            let answer = try kit.stranger.post("/api/session", #"{"name":"x","password":"wren"}"#)
            #expect(answer.status == 403)
            #expect(answer.detail == "pair: the password is wrong")
        }
        let answer = try kit.stranger.post("/api/session", #"{"name":"x","password":"\#(RunningKit.password)"}"#)
        #expect(answer.status == 429)
        #expect(answer.headers["retry-after"].flatMap { Int($0) }.map { (1...60).contains($0) } == true)
        let hands = try kit.stranger.post("/api/session", #"{"name":"x"}"#)
        #expect(hands.status == 403)
        #expect(hands.detail?.contains("hold play on it for 3 seconds") == true)
        #expect(try kit.stranger.post("/api/session", #"{"name":" "}"#).status == 400)
    }

    /// Sends wrong passwords over many connections. All bytes except the last go first, so that the requests complete
    /// at the same time. Prints how many were compared.
    private static let burst = #"""
        import json, socket, sys
        port = int(sys.argv[1])
        body = b'{"name":"x","password":"wren"}'
        head = b"POST /api/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        all = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(60)]
        for one in all: one.sendall(head + body[:-1])
        for one in all: one.sendall(body[-1:])
        print(sum(b"the password is wrong" in one.recv(65536) for one in all))
        """#

    @Test(.needsServers)
    func `no more wrong passwords are compared, also where many come at once`() throws {
        let kit = try RunningKit()
        #expect(try TestServer.python(Self.burst, [String(kit.library.port)]) == "5")
    }

    @Test(arguments: ["/api/listen", "/api/events", "/api/spectrum/live"])
    func `a phone that is removed receives no more of what it listens to`(_ path: String) throws {
        let kit = try RunningKit()
        let token = try kit.stranger.pair(name: "Anna", password: RunningKit.password)
        let process = Process()
        process.executableURL = URL(filePath: OtherProgram.curl.path)
        process.arguments = [
            "--silent", "--no-buffer", "--max-time", "300", "-H", "Cookie: fieldfare=\(token)",
            "http://127.0.0.1:\(kit.library.port)\(path)",
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        #expect(!pipe.fileHandleForReading.availableData.isEmpty)
        guard case .array(let phones)? = try kit.phone.get("/api/phones").json?["phones"] else { return }
        let id = try #require(phones.first { $0["name"] == .string("Anna") }?["id"]?.text)
        #expect(try kit.phone.delete("/api/phones/\(id)").status == 204)
        while !pipe.fileHandleForReading.availableData.isEmpty {}
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test func `each answer forbids the page what it is not for`() throws {
        let kit = try RunningKit()
        for path in ["/", "/player-worker.js", "/icon.svg", "/api/session", "/api/status", "/nothing"] {
            let headers = try kit.stranger.get(path).headers
            #expect(headers["content-security-policy"]?.contains("default-src 'none'") == true)
            #expect(headers["x-content-type-options"] == "nosniff")
            #expect(headers["x-frame-options"] == "DENY")
            #expect(headers["referrer-policy"] == "no-referrer")
            #expect(
                headers["permissions-policy"]
                    == "camera=(), geolocation=(self), microphone=(), payment=(), usb=()")
            #expect(headers["server"] == nil)
        }
    }
    @Test func `scripts and style sheets follow the headers of their page`() throws {
        let kit = try RunningKit()
        for path in ["/app.js", "/console.css"] {
            let headers = try kit.stranger.get(path).headers
            #expect(headers["x-content-type-options"] == "nosniff")
            #expect(headers["cross-origin-resource-policy"] == "same-origin")
            #expect(headers["content-security-policy"] == nil)
        }
    }
}

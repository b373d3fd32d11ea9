import Control
import DiskCalls
import Foundation
import OtherPrograms
import Settings
import StoreTrials
import Testing
import Transport

/// Phones that ask to be paired, with the real library.
@Suite(.waitsOnNamedThreads, .serialized, .fewKitsAtATime, .timeLimit(.minutes(15)), .needs(.curl))
struct PairingTests {
    private func ended(_ kit: PhonesKit) throws -> JSONValue? {
        try kit.stranger.get("/api/session").json?["pairing_ended"]
    }

    @Test func `a stranger who polls while play is held gets nothing, and the owner is paired`() throws {
        let kit = try PhonesKit()
        #expect(try kit.pair("stranger").status == 403)
        kit.recorder.holdPlay()
        for _ in 0..<60 {
            let answer = try kit.pair("stranger")
            #expect(answer.status == 400 && answer.headers["set-cookie"] == nil)
            #expect(answer.detail?.contains("six digits") == true)
        }
        #expect(try kit.stranger.get("/api/session").json?["pairing"] == .bool(true))
        let owner = try kit.pair("Anna", kit.code)
        #expect(owner.status == 201 && owner.headers["set-cookie"] != nil)
        #expect(kit.recorder.events == [PhoneEvent(.paired, phone: "Anna")])
        #expect(try kit.phones() == ["Anna"])
    }

    @Test func `the password file is next to the settings, also if their path is relative`() throws {
        let server = try TestServer("\(RunningKit.programs)/fieldfare-library") { port, folder in
            // `folder` is the program's current folder.
            for name in ["takes", "library"] {
                try FileManager.default.createDirectory(
                    atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
            }
            try """
            [takes]
            directory = "\(folder)/takes"
            [control]
            socket = "\(folder)/recorder.sock"
            [library]
            socket = "\(folder)/library.sock"
            directory = "\(folder)/library"
            [outbox]
            store = "none"
            [console]
            listen = "127.0.0.1:\(port)"

            """.write(toFile: "\(folder)/fieldfare.toml", atomically: true, encoding: .utf8)
            let password = "\(folder)/console.password"
            try "\(RunningKit.password)\n".write(toFile: password, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: password)
            return ["--settings", "fieldfare.toml"]
        }
        #expect(try !Curl(server.port).pair(name: "Anna", password: RunningKit.password).isEmpty)
        server.stop()
    }

    @Test func `the first phone ends pairing, and a second one needs play held again`() throws {
        let kit = try PhonesKit()
        kit.recorder.holdPlay()
        #expect(try kit.pair("Anna", kit.code).status == 201)
        let second = try kit.pair("Ben", kit.code)
        #expect(second.status == 403 && second.detail?.contains("hold play on it for 3 seconds") == true)
        #expect(try ended(kit) == .string("paired"))
        kit.recorder.holdPlay()
        #expect(try ended(kit) == .null)
        #expect(try kit.pair("Ben", kit.code).status == 201)
        #expect(try kit.phones() == ["Anna", "Ben"])
    }

    @Test func `five wrong codes end pairing for all, also for the right one`() throws {
        let kit = try PhonesKit()
        kit.recorder.holdPlay()
        for left in [4, 3, 2, 1] {
            let answer = try kit.pair("stranger", kit.wrongCode)
            #expect(answer.status == 403)
            #expect(answer.detail == "pair: the code is wrong: \(left) more wrong ones end pairing for all phones")
        }
        #expect(
            try kit.pair("stranger", kit.wrongCode).detail
                == "pair: 5 codes were wrong: no phone can be paired until play is held on the kit again")
        #expect(try kit.pair("Anna", kit.code).status == 403)
        #expect(try ended(kit) == .string("wrong-codes"))
        kit.recorder.holdPlay()
        #expect(try kit.pair("Anna", kit.code).status == 201)
        #expect(try kit.phones() == ["Anna"])
    }

    /// Sends the right code over many connections at once. Prints how many phones were paired.
    private static let race = #"""
        import json, socket, sys
        port, code = int(sys.argv[1]), sys.argv[2]
        body = json.dumps({"name": "x", "code": code}).encode()
        head = b"POST /api/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        all = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(10)]
        for one in all: one.sendall(head + body[:-1])
        for one in all: one.sendall(body[-1:])
        print(sum(one.recv(65536).startswith(b"HTTP/1.1 201") for one in all))
        """#

    @Test(.needsServers)
    func `of many right codes at once one pairs a phone`() throws {
        let kit = try PhonesKit()
        kit.recorder.holdPlay()
        #expect(try TestServer.python(Self.race, [String(kit.library.port), kit.code]) == "1")
        #expect(try kit.phones() == ["x"])
    }

    @Test func `a full list refuses with a sentence, and the code is not used up`() throws {
        let kit = try PhonesKit { folder in
            let phones = (0..<50).map {
                #"{"id":"\#($0)","name":"p\#($0)","since":"2026-11-21T12:00:00Z","seen":null,"sha256":"\#($0)"}"#
            }
            try Data(#"{"schema":1,"phones":[\#(phones.joined(separator: ","))]}"#.utf8)
                .write(to: URL(filePath: "\(folder)/library/phones.json"))
        }
        kit.recorder.holdPlay()
        let answer = try kit.pair("Anna", kit.code)
        #expect(answer.status == 409)
        #expect(
            answer.detail
                == "pair: 50 phones are paired, and no more can be: remove one on the page of a paired phone")
        #expect(try kit.stranger.get("/api/session").json?["pairing"] == .bool(true))
        #expect(try kit.phones().count == 50)
    }

    @Test func `a paired phone sees what another one needs, and a stranger does not`() throws {
        let kit = try PhonesKit()
        #expect(try kit.stranger.get("/api/label").status == 401)
        kit.recorder.holdPlay()
        let anna = try kit.cookie(of: kit.pair("Anna", kit.code))
        let label = try #require(try anna.get("/api/label").json)
        #expect(label["name"] == .string("heron07"))
        #expect(label["address"] == .string("http://\(KitName.hostName).local:\(kit.library.port)"))
        #expect(try label["code"] == .string(kit.code))
        let certificate = try Data(contentsOf: URL(filePath: "\(kit.folder)/library/certificate.pem"))
        #expect(label["fingerprint"]?.text == CertificateFingerprint(file: Array(certificate))?.description)
        // Only on a kit it is more than null.
        #expect(label["wifi"] != nil)
    }

    @Test func `a ticket pairs one browser on this machine, once, in place of the former ticket's browser`() throws {
        let kit = try PhonesKit()
        let secret = String(repeating: "5f", count: 24)
        func write(_ text: String) throws {
            try Data("\(text)\n".utf8).write(to: URL(filePath: "\(kit.folder)/library/ticket"))
        }
        /// The cookie of a browser that opens the address with this text.
        func opened(_ text: String) throws -> String? {
            let answer = try kit.stranger.get("/ticket/\(text)")
            #expect(answer.status == 303 && answer.headers["location"] == "/")
            return answer.headers["set-cookie"]?.split(separator: ";").first.map(String.init)
        }
        #expect(try opened(secret) == nil)
        for _ in 0..<2 {
            try write(secret)
            #expect(try opened(String(secret.dropLast())) == nil)
            let cookie = try #require(try opened(secret))
            let browser = Curl(kit.library.port, cookie: cookie)
            #expect(try browser.get("/api/session").json?["right"] == .string("all"))
            #expect(try opened(secret) == nil)
            #expect(try kit.phones() == ["Browser on this machine"])
        }
        // This could be guessed.
        try write("5f5f")
        #expect(try opened("5f5f") == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(kit.folder)/library").contains("ticket"))
    }

    @Test func `a phone renames itself, and the history has both names`() throws {
        let kit = try PhonesKit()
        let anna = try kit.pairedPhone("Anna")
        _ = try kit.pairedPhone("Ben")
        let answer = try anna.patch("/api/session", #"{"name":" Anna’s tablet "}"#)
        #expect(answer.status == 200 && answer.json?["phone"]?["name"] == .string("Anna’s tablet"))
        // The same name again is no event.
        #expect(try anna.patch("/api/session", #"{"name":"Anna’s tablet"}"#).status == 200)
        #expect(try kit.phones() == ["Anna’s tablet", "Ben"])
        #expect(kit.recorder.events.last == PhoneEvent(.renamed, phone: "Anna’s tablet", by: "Anna"))
        #expect(kit.recorder.events.count == 3)
        for name in [#""""#, #""  ""#, #""a\nb""#, "null", "7", "\"\(String(repeating: "x", count: 101))\""] {
            let refused = try anna.patch("/api/session", "{\"name\":\(name)}")
            #expect(refused.status == 400)
            #expect(
                refused.detail == "pair: name: allowed is a line of 1 to 100 bytes: give the phone a name", "\(name)")
        }
        #expect(try kit.stranger.patch("/api/session", #"{"name":"x"}"#).status == 401)
        #expect(try kit.phones() == ["Anna’s tablet", "Ben"])
    }

    @Test func `another code pairs from when somebody asked for it, and the history has who removed whom`() throws {
        let kit = try PhonesKit()
        let first = try kit.code
        var second = first
        while second == first {
            second =
                try LibraryClient(path: "\(kit.folder)/library.sock").ask(.pairingCode(isNew: true))["code"]?.text
                ?? first
        }
        kit.recorder.holdPlay()
        #expect(try kit.pair("Anna", first).status == 403)
        let anna = try kit.cookie(of: kit.pair("Anna", second))
        kit.recorder.holdPlay()
        #expect(try kit.pair("Ben", "\(second.prefix(3)) \(second.suffix(3))").status == 201)
        guard case .array(let list)? = try anna.get("/api/phones").json?["phones"] else { return }
        let ben = try #require(list.first { $0["name"] == .string("Ben") }?["id"]?.text)
        #expect(try anna.delete("/api/phones/\(ben)").status == 204)
        #expect(try anna.delete("/api/session").status == 204)
        #expect(
            kit.recorder.events == [
                PhoneEvent(.paired, phone: "Anna"), PhoneEvent(.paired, phone: "Ben"),
                PhoneEvent(.removed, phone: "Ben", by: "Anna"), PhoneEvent(.removed, phone: "Anna", by: "Anna"),
            ])
    }
}

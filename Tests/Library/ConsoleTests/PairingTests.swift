import Control
import Foundation
import OtherPrograms
import StoreTrials
import Testing
import Transport

/// Phones that ask to be paired, with the real library.
@Suite(.serialized, .fewKitsAtATime, .timeLimit(.minutes(15)), .needs(.curl)) struct PairingTests {
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

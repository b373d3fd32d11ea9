import Takes
import Testing
import Transport

@testable import Control

@Suite struct LibraryMessageTests {
    private static let stem = "heron07-0042-061811Z"

    private static let restricted: TakeQuery = {
        var query = TakeQuery()
        query.text = "wren \"dawn\""
        query.tag = "interview"
        query.isStarred = false
        query.marker = ""
        query.since = WallTime(microseconds: 1_795_241_891_250_000)
        query.until = WallTime(microseconds: 1_795_241_892_000_000)
        query.leastSeconds = 0.5
        query.mostSeconds = 60
        query.place = .elsewhere
        query.kit = "wren01"
        query.upload = .notDone
        query.order = .size
        query.isDescending = false
        query.limit = 200
        query.after = "1795241891250000 42"
        return query
    }()

    private static let requests: [(String, LibraryMessage)] = [
        (#"{"command":"status","id":1}"#, .status),
        (#"{"command":"takes","id":1}"#, .takes(TakeQuery())),
        (
            #"{"after":"1795241891250000 42","command":"takes","descending":false,"id":1,"kit":"wren01","least_seconds":0.5,"#
                + #""limit":200,"marker":"","most_seconds":60,"order":"size","place":"elsewhere","#
                + #""since":"2026-11-21T06:18:11.250000Z","starred":false,"tag":"interview","#
                + #""text":"wren \"dawn\"","until":"2026-11-21T06:18:12.000000Z","upload":"not-done"}"#,
            .takes(restricted)
        ),
        (#"{"command":"show","id":1,"take":"\#(stem)"}"#, .show(.stem(stem))),
        (#"{"command":"show","id":1,"take":42}"#, .show(.number(42))),
        (#"{"command":"show","id":1,"take":"last"}"#, .show(.last)),
        (#"{"command":"memo","id":1,"memo":"a wren\nat dawn","take":42}"#, .memo(.number(42), "a wren\nat dawn")),
        (#"{"command":"memo","id":1,"memo":null,"take":42}"#, .memo(.number(42), nil)),
        (#"{"command":"memo","id":1,"memo":"b","memo_was":"a","take":42}"#, .memo(.number(42), "b", was: "a")),
        (#"{"command":"memo","id":1,"memo":"b","memo_was":null,"take":42}"#, .memo(.number(42), "b", was: .some(nil))),
        (
            #"{"add":["interview","river"],"command":"tag","id":1,"remove":["draft"],"take":"last"}"#,
            .tag(.last, adding: ["interview", "river"], removing: ["draft"])
        ),
        (
            #"{"command":"markers","id":1,"remove":[7],"set":[{"at_frame":0,"note":null},{"at_frame":48000,"note":"wren"}],"take":42}"#,
            .markers(
                .number(42),
                setting: [.init(atFrame: .first, note: nil), .init(atFrame: TakeFrame(48000), note: "wren")],
                removing: [TakeFrame(7)])
        ),
        (#"{"command":"star","id":1,"starred":true,"take":"last"}"#, .star(.last, true)),
        (#"{"command":"accept-damaged","id":1,"take":"\#(stem)"}"#, .acceptDamaged(stem: stem)),
        (#"{"command":"delete","id":1,"take":"\#(stem)","where":"both"}"#, .delete(stem: stem, Deletion(.both))),
        (
            #"{"command":"delete","id":1,"left":"home","take":"\#(stem)","where":"here"}"#,
            .delete(stem: stem, Deletion(.here, onlyIfHome: true))
        ),
        (#"{"command":"star","id":1,"starred":false,"take":"last"}"#, .star(.last, false)),
        (#"{"command":"outbox","id":1,"limit":20}"#, .outbox(limit: 20)),
        (#"{"command":"outbox-retry","id":1}"#, .outboxWish(.retry)),
        (#"{"command":"outbox-pause","id":1}"#, .outboxWish(.pause)),
        (#"{"command":"outbox-resume","id":1}"#, .outboxWish(.resume)),
        (#"{"command":"outbox-add","id":1,"take":42}"#, .outboxDecision(.add, .number(42))),
        (#"{"command":"outbox-remove","id":1,"take":"last"}"#, .outboxDecision(.remove, .last)),
        (#"{"command":"outbox-hold","id":1,"take":"last"}"#, .outboxDecision(.hold, .last)),
        (#"{"command":"remote-list","id":1}"#, .remote(.list(store: nil))),
        (#"{"command":"remote-list","id":1,"store":"s3"}"#, .remote(.list(store: "s3"))),
        (
            #"{"command":"remote-get","id":1,"path":"2026-11-21/a-0001-061811Z.wav"}"#,
            .remote(.get(store: nil, path: "2026-11-21/a-0001-061811Z.wav"))
        ),
        (
            #"{"command":"remote-delete","id":1,"path":"2026-11-21/a-0001-061811Z.wav","store":"stick"}"#,
            .remote(.delete(store: "stick", path: "2026-11-21/a-0001-061811Z.wav"))
        ),
        (#"{"command":"remote-sent","id":1}"#, .remote(.sent(store: nil, path: nil))),
        (
            #"{"command":"remote-sent","id":1,"path":"2026-11-21/a.wav"}"#,
            .remote(.sent(store: nil, path: "2026-11-21/a.wav"))
        ),
        (#"{"command":"remote-next","id":1}"#, .remote(.next)),
        (#"{"command":"pairing-code","id":1}"#, .pairingCode(isNew: false)),
        (#"{"command":"pairing-code","id":1,"new":true}"#, .pairingCode(isNew: true)),
        (#"{"command":"stick-adopt","id":1}"#, .adoptStick),
    ]

    static let allowed =
        "allowed are status, takes, show, memo, tag, markers, star, delete, accept-damaged, outbox, outbox-retry, outbox-pause, outbox-resume, "
        + "outbox-add, outbox-remove, outbox-hold, remote-list, remote-get, remote-delete, remote-sent, remote-next, "
        + "pairing-code, stick-adopt"

    private func read(_ line: String) throws(RequestError) -> Request<LibraryMessage> {
        try Request.read(Array(line.utf8)[...])
    }

    @Test(arguments: requests)
    func `every request is read, and written the same`(line: String, message: LibraryMessage) throws {
        #expect(try read(line) == Request(id: .integer(1), message))
        #expect(Request(id: .integer(1), message).line == line)
    }

    @Test func `every name is read by some line`() {
        let named = Set(Self.requests.map { $0.1.members["command"]?.text })
        #expect(named == Set(LibraryMessage.names))
    }

    @Test(
        arguments: [
            (#"{"command":"takes","text":null,"limit":50,"order":"started","descending":true}"#, .takes(TakeQuery())),
            (#"{"command":"show","take":"42","colour":"red"}"#, .show(.number(42))),
            (#"{"command":"memo","take":1,"memo":" \n"}"#, .memo(.number(1), nil)),
            (#"{"command":"tag","take":1,"add":["  river "]}"#, .tag(.number(1), adding: ["river"], removing: [])),
            (#"{"command":"tag","take":1,"add":null,"remove":["a"]}"#, .tag(.number(1), adding: [], removing: ["a"])),
        ] as [(String, LibraryMessage)])
    func `what others may write is understood too`(line: String, message: LibraryMessage) throws {
        #expect(try read(line) == Request(message))
    }

    private static let memo = "a text of at most 4000 bytes without NUL, or null"
    private static let take = #"a take's stem, its number, or "last""#
    private static let tag = "a tag: 1 to 100 bytes on one line"
    private static let tags = "a list of at most 50 tags, each of 1 to 100 bytes on one line"
    private static let time = #"a time such as "2026-11-21T06:18:11Z""#
    private static let long = String(repeating: "x", count: 4001)

    @Test(arguments: [
        ("{}", "control: command is missing, \(allowed)"),
        (
            #"{"command":"record"}"#,
            "control: command: found \"record\", \(allowed)"
        ),
        (#"{"command":"takes","text":7}"#, "takes: text: found 7, allowed is a text of at most 1000 bytes"),
        (#"{"command":"takes","tag":""}"#, #"takes: tag: found "", allowed is \#(tag)"#),
        (#"{"command":"takes","starred":1}"#, "takes: starred: found 1, allowed is true or false"),
        (#"{"command":"takes","marker":[]}"#, "takes: marker: found [], allowed is a text of at most 1000 bytes"),
        (#"{"command":"takes","since":"2026-11-21"}"#, #"takes: since: found "2026-11-21", allowed is \#(time)"#),
        (#"{"command":"takes","until":5}"#, "takes: until: found 5, allowed is \(time)"),
        (
            #"{"command":"takes","least_seconds":-1}"#,
            "takes: least_seconds: found -1, allowed is a number of seconds, at least 0"
        ),
        (
            #"{"command":"takes","most_seconds":"1"}"#,
            #"takes: most_seconds: found "1", allowed is a number of seconds, at least 0"#
        ),
        (
            #"{"command":"takes","place":"there"}"#,
            #"takes: place: found "there", allowed is one of "here", "elsewhere""#
        ),
        (
            #"{"command":"takes","order":"name"}"#,
            #"takes: order: found "name", allowed is one of "started", "duration", "number", "size""#
        ),
        (#"{"command":"takes","descending":"no"}"#, #"takes: descending: found "no", allowed is true or false"#),
        (#"{"command":"takes","limit":0}"#, "takes: limit: found 0, allowed is a whole number from 1 to 200"),
        (#"{"command":"takes","limit":201}"#, "takes: limit: found 201, allowed is a whole number from 1 to 200"),
        (
            #"{"command":"takes","after":""}"#,
            #"takes: after: found "", allowed is what the reply before gave as next"#
        ),
        (#"{"command":"show"}"#, "show: take is missing, allowed is \(take)"),
        (#"{"command":"show","take":0}"#, "show: take: found 0, allowed is \(take)"),
        (#"{"command":"memo","memo":"a"}"#, "memo: take is missing, allowed is \(take)"),
        (#"{"command":"memo","take":1}"#, "memo: memo is missing, allowed is \(memo)"),
        (
            #"{"command":"memo","take":1,"memo":"\#(long)"}"#,
            "memo: memo: found \"\(long.prefix(38))…, allowed is \(memo)"
        ),
        (#"{"command":"tag","take":1}"#, "tag: add and remove are both empty: name a tag"),
        (#"{"command":"tag","take":1,"add":[]}"#, "tag: add and remove are both empty: name a tag"),
        (#"{"command":"tag","take":1,"add":"a"}"#, #"tag: add: found "a", allowed is \#(tags)"#),
        (#"{"command":"tag","take":1,"remove":["a"," "]}"#, #"tag: remove: found ["a"," "], allowed is \#(tags)"#),
        (#"{"command":"tag","take":1,"add":["a\nb"]}"#, #"tag: add: found ["a\nb"], allowed is \#(tags)"#),
        (#"{"command":"delete","take":"\#(stem)"}"#, "delete: where: it is missing, allowed are here, there, both"),
        (
            #"{"command":"delete","take":"\#(stem)","where":"\#(long)"}"#,
            "delete: where: found \"\(long.prefix(38))…, allowed are here, there, both"
        ),
        (
            #"{"command":"delete","take":"\#(stem)","where":"here","left":"\#(long)"}"#,
            "delete: left: found \"\(long.prefix(38))…, allowed is home"
        ),
        (#"{"command":"star","take":1}"#, "star: starred is missing, allowed is true or false"),
        (#"{"command":"star","take":1,"starred":null}"#, "star: starred: found null, allowed is true or false"),
    ])
    func `a usage error names the key and what is allowed`(line: String, message: String) {
        #expect(throws: RequestError(id: .null, refusal: Refusal(.usage, message))) { try read(line) }
    }

    @Test func `the most that may be written of a take is read`() throws {
        let memo = LibraryMessage.memo(.number(1), String(repeating: "\u{1}", count: 4000))
        #expect(try read(Request(memo).line).message == memo)
        let tags = (10..<60).map { "\($0)" + String(repeating: "x", count: 98) }
        let most = LibraryMessage.tag(.number(1), adding: tags, removing: tags)
        #expect(try read(Request(most).line).message == most)
        let other = LibraryMessage.tag(.number(1), adding: tags + ["one more"], removing: [])
        #expect(throws: RequestError.self) { try read(Request(other).line) }
    }
}

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
        query.typed = "27 Nov"
        query.label = "wren sings"
        (query.fromHour, query.toHour) = (22, 4.5)
        query.zone = "Europe/Berlin"
        query.leastPeakDBFS = -30
        query.isCounted = true
        query.order = .size
        query.isDescending = false
        query.limit = 200
        query.after = "1795241891250000 42"
        return query
    }()

    private static let regions: [TakeNotes.MarkerChange] = [
        TakeNotes.MarkerChange(atFrame: TakeFrame(7), note: nil, region: region(7, 9, nil, nil)),
        TakeNotes.MarkerChange(atFrame: TakeFrame(8), note: "wren", region: region(8, 900, 1500, 8000.5)),
        TakeNotes.MarkerChange(atFrame: TakeFrame(9), note: nil, region: .removed),
    ]

    private static func region(
        _ start: Int64, _ end: Int64, _ lowHz: Double?, _ highHz: Double?
    ) -> TakeNotes.RegionChange {
        let region = try? MarkedRegion(from: TakeFrame(start), to: TakeFrame(end), lowHz: lowHz, highHz: highHz)
        return region.map(TakeNotes.RegionChange.set) ?? .kept
    }

    private static let requests: [(String, LibraryMessage)] = [
        (#"{"command":"status","id":1}"#, .status),
        (#"{"command":"takes","id":1}"#, .takes(TakeQuery())),
        (
            #"{"after":"1795241891250000 42","command":"takes","counted":true,"descending":false,"hour_from":22,"#
                + #""hour_to":4.5,"id":1,"kit":"wren01","label":"wren sings","least_seconds":0.5,"limit":200,"#
                + #""louder":-30,"marker":"","most_seconds":60,"order":"size","place":"elsewhere","q":"27 Nov","#
                + #""since":"2026-11-21T06:18:11.250000Z","starred":false,"tag":"interview","#
                + #""text":"wren \"dawn\"","until":"2026-11-21T06:18:12.000000Z","upload":"not-done","#
                + #""zone":"Europe/Berlin"}"#,
            .takes(restricted)
        ),
        (#"{"command":"show","id":1,"take":"\#(stem)"}"#, .show(.stem(stem))),
        (#"{"command":"show","id":1,"take":42}"#, .show(.number(42))),
        (#"{"command":"show","id":1,"take":"last"}"#, .show(.last)),
        (
            #"{"command":"memo","id":1,"memo":"a wren\nat dawn","take":42}"#,
            .change(.number(42), .memo("a wren\nat dawn"))
        ),
        (#"{"command":"memo","id":1,"memo":null,"take":42}"#, .change(.number(42), .memo(nil))),
        (
            #"{"command":"memo","id":1,"memo":"b","memo_was":"a","take":42}"#,
            .change(.number(42), .memo("b", was: "a"))
        ),
        (
            #"{"command":"memo","id":1,"memo":"b","memo_was":null,"take":42}"#,
            .change(.number(42), .memo("b", was: .some(nil)))
        ),
        (
            #"{"add":["interview","river"],"command":"tag","id":1,"remove":["draft"],"take":"last"}"#,
            .change(.last, .tags(adding: ["interview", "river"], removing: ["draft"]))
        ),
        (
            #"{"command":"markers","id":1,"remove":[7],"set":[{"at_frame":0,"note":null},{"at_frame":48000,"note":"wren"}],"take":42}"#,
            .change(
                .number(42),
                .markers(
                    setting: [.init(atFrame: .first, note: nil), .init(atFrame: TakeFrame(48000), note: "wren")],
                    removing: [TakeFrame(7)]))
        ),
        (
            #"{"command":"markers","id":1,"remove":[],"set":[{"at_frame":7,"end_frame":9,"note":null},{"at_frame":8,"end_frame":900,"#
                + #""high_hz":8000.5,"low_hz":1500,"note":"wren"},{"at_frame":9,"end_frame":null,"note":null}],"take":42}"#,
            .change(.number(42), .markers(setting: regions, removing: []))
        ),
        (#"{"command":"star","id":1,"starred":true,"take":"last"}"#, .change(.last, .starred(true))),
        (
            #"{"command":"title","id":1,"take":42,"title":"Dawn at the weir"}"#,
            .change(.number(42), .title("Dawn at the weir"))
        ),
        (#"{"command":"title","id":1,"take":42,"title":null}"#, .change(.number(42), .title(nil))),
        (#"{"command":"accept-damaged","id":1,"take":"\#(stem)"}"#, .acceptDamaged(stem: stem)),
        (#"{"command":"delete","id":1,"take":"\#(stem)","where":"both"}"#, .delete(stem: stem, Deletion(.both))),
        (
            #"{"command":"delete","id":1,"left":"home","take":"\#(stem)","where":"here"}"#,
            .delete(stem: stem, Deletion(.here, onlyIfHome: true))
        ),
        (#"{"command":"star","id":1,"starred":false,"take":"last"}"#, .change(.last, .starred(false))),
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
        "allowed are status, takes, show, memo, tag, markers, star, title, delete, accept-damaged, outbox, outbox-retry, outbox-pause, outbox-resume, "
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

    @Test(
        arguments: [
            ("newest", .started, true), ("oldest", .started, false), ("longest", .duration, true),
            ("shortest", .duration, false), ("loudest", .loudness, true), ("quietest", .loudness, false),
        ] as [(String, TakeQuery.Order, Bool)])
    func `an order with its direction has one name`(name: String, order: TakeQuery.Order, isDescending: Bool) throws {
        var query = TakeQuery()
        (query.order, query.isDescending) = (order, isDescending)
        (query.leastSeconds, query.mostSeconds) = (5, 60)
        let line = #"{"command":"takes","sort":"\#(name)","longer":5,"least_seconds":1,"shorter":60}"#
        #expect(try read(line) == Request(.takes(query)))
    }

    @Test func `every name is read by some line`() {
        let named = Set(Self.requests.map { $0.1.members["command"]?.text })
        #expect(named == Set(LibraryMessage.names))
    }

    @Test(
        arguments: [
            (#"{"command":"takes","text":null,"limit":50,"order":"started","descending":true}"#, .takes(TakeQuery())),
            (#"{"command":"show","take":"42","colour":"red"}"#, .show(.number(42))),
            (#"{"command":"memo","take":1,"memo":" \n"}"#, .change(.number(1), .memo(nil))),
            (#"{"command":"title","take":1,"title":" "}"#, .change(.number(1), .title(nil))),
            (#"{"command":"title","take":1,"title":" a wren "}"#, .change(.number(1), .title("a wren"))),
            (#"{"command":"title","take":1,"title":"a\twren\u0007"}"#, .change(.number(1), .title("a wren"))),
            (
                #"{"command":"memo","take":1,"memo":"a\u000bwren\n","memo_was":"\u001b\n\towl"}"#,
                .change(.number(1), .memo("a wren\n", was: " \n\towl"))
            ),
            (
                #"{"command":"tag","take":1,"add":["a\u001bb"]}"#,
                .change(.number(1), .tags(adding: ["a b"], removing: []))
            ),
            (
                #"{"command":"markers","take":1,"set":[{"at_frame":7,"note":"a\u0007wren"}]}"#,
                .change(.number(1), .markers(setting: [.init(atFrame: TakeFrame(7), note: "a wren")], removing: []))
            ),
            (
                #"{"command":"tag","take":1,"add":["  river "]}"#,
                .change(.number(1), .tags(adding: ["river"], removing: []))
            ),
            (
                #"{"command":"tag","take":1,"add":null,"remove":["a"]}"#,
                .change(.number(1), .tags(adding: [], removing: ["a"]))
            ),
            (
                #"{"command":"markers","take":1,"set":[{"at_frame":7,"end_frame":9,"low_hz":null,"high_hz":null}]}"#,
                .change(.number(1), .markers(setting: [regions[0]], removing: []))
            ),
        ] as [(String, LibraryMessage)])
    func `what others may write is understood too`(line: String, message: LibraryMessage) throws {
        #expect(try read(line) == Request(message))
    }

    private static let memo = "a text of at most 4000 bytes without NUL, or null"
    private static let take = #"a take's stem, its number, or "last""#
    private static let tag = "a tag: 1 to 100 bytes on one line without NUL"
    private static let tags = "a list of at most 50 tags, each of 1 to 100 bytes on one line without NUL"
    private static let time = #"a time such as "2026-11-21T06:18:11Z""#
    private static let long = String(repeating: "x", count: 4001)
    private static let marker = "markers: the marker at frame 7"

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
            #"takes: order: found "name", allowed is one of "started", "duration", "number", "size", "loudness""#
        ),
        (
            #"{"command":"takes","sort":"best"}"#,
            #"takes: sort: found "best", allowed is one of "newest", "oldest", "longest", "shortest", "loudest", "quietest""#
        ),
        (
            #"{"command":"takes","sort":"newest","descending":true}"#,
            "takes: sort and order exclude each other: leave order and descending out"
        ),
        (
            #"{"command":"takes","hour_from":25}"#,
            "takes: hour_from: found 25, allowed is an hour of the day from 0 to 24"
        ),
        (#"{"command":"takes","zone":""}"#, #"takes: zone: found "", allowed is a time zone such as "Europe/Berlin""#),
        (
            #"{"command":"takes","louder":"loud"}"#,
            #"takes: louder: found "loud", allowed is a number of dB of full scale from -1000 to 1000"#
        ),
        (#"{"command":"takes","descending":"no"}"#, #"takes: descending: found "no", allowed is true or false"#),
        (#"{"command":"takes","limit":0}"#, "takes: limit: found 0, allowed is a whole number from 1 to 200"),
        (#"{"command":"takes","limit":201}"#, "takes: limit: found 201, allowed is a whole number from 1 to 200"),
        (
            #"{"command":"takes","after":""}"#,
            #"takes: after: found "", allowed is the previous reply's next"#
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
        (#"{"command":"tag","take":1,"add":["a\u0000"]}"#, #"tag: add: found ["a\u0000"], allowed is \#(tags)"#),
        (#"{"command":"takes","tag":"a\u0000"}"#, #"takes: tag: found "a\u0000", allowed is \#(tag)"#),
        (#"{"command":"memo","take":1,"memo":"a\u0000"}"#, #"memo: memo: found "a\u0000", allowed is \#(memo)"#),
        (
            #"{"command":"markers","take":1,"set":[{"at_frame":7,"note":"\u0000"}]}"#,
            #"markers: set: found [{"at_frame":7,"note":"\u0000"}], allowed is a list of at most 500, "#
                + #"each as {"at_frame":48000,"note":"wren"}, note of at most 1000 bytes without NUL"#
        ),
        (#"{"command":"delete","take":"\#(stem)"}"#, "delete: where: it is missing, allowed are here, there, both"),
        (
            #"{"command":"delete","take":"\#(stem)","where":"\#(long)"}"#,
            "delete: where: found \"\(long.prefix(38))…, allowed are here, there, both"
        ),
        (
            #"{"command":"delete","take":"\#(stem)","where":"here","left":"\#(long)"}"#,
            "delete: left: found \"\(long.prefix(38))…, allowed is home"
        ),
        (
            #"{"command":"markers","take":1,"set":[{"at_frame":7,"end_frame":"9"}]}"#,
            #"\#(marker): end_frame: found "9", allowed is a frame of the take"#
        ),
        (
            #"{"command":"markers","take":1,"set":[{"at_frame":7,"end_frame":7}]}"#,
            "\(marker): end_frame: found 7, allowed is a later frame: the one after the region's last"
        ),
        (
            #"{"command":"markers","take":1,"set":[{"at_frame":7,"low_hz":1500,"high_hz":8000}]}"#,
            "\(marker): end_frame is missing: give the frame after the region's last one"
        ),
        (
            #"{"command":"markers","take":1,"set":[{"at_frame":1},{"at_frame":7,"end_frame":9,"low_hz":1500}]}"#,
            "\(marker): high_hz is missing: give both low_hz and high_hz, or neither"
        ),
        (
            #"{"command":"markers","take":1,"set":[{"at_frame":7,"end_frame":9,"low_hz":8000,"high_hz":1500}]}"#,
            "\(marker): low_hz: found 8000.0, high_hz is 1500.0: give the lower edge as low_hz"
        ),
        (
            #"{"command":"markers","take":1,"set":[{"at_frame":7,"end_frame":9,"low_hz":"a","high_hz":1500}]}"#,
            #"\#(marker): low_hz: found "a", allowed is a frequency in Hz"#
        ),
        (#"{"command":"star","take":1}"#, "star: starred is missing, allowed is true or false"),
        (#"{"command":"star","take":1,"starred":null}"#, "star: starred: found null, allowed is true or false"),
    ])
    func `a usage error names the key and what is allowed`(line: String, message: String) {
        #expect(throws: RequestError(id: .null, refusal: Refusal(.usage, message))) { try read(line) }
    }

    @Test func `the most that may be written of a take is read`() throws {
        func memo(_ middle: Character) -> LibraryMessage {
            .change(.number(1), .memo("x" + String(repeating: middle, count: 3998) + "x"))
        }
        #expect(try read(Request(memo("\u{1}")).line).message == memo(" "))
        let tags = (10..<60).map { "\($0)" + String(repeating: "x", count: 98) }
        let most = LibraryMessage.change(.number(1), .tags(adding: tags, removing: tags))
        #expect(try read(Request(most).line).message == most)
        let other = LibraryMessage.change(.number(1), .tags(adding: tags + ["one more"], removing: []))
        #expect(throws: RequestError.self) { try read(Request(other).line) }
    }
}

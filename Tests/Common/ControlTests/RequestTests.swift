import SeededRandom
import Takes
import Testing
import Transport

@testable import Control

@Suite struct RequestTests {
    private static let requests: [(String, RecorderMessage)] = [
        (#"{"command":"status","id":1}"#, .status),
        (#"{"command":"watch","id":1}"#, .watch(peaks: false)),
        (#"{"command":"watch","id":1,"peaks":true}"#, .watch(peaks: true)),
        (#"{"command":"watch","id":1,"levels":false}"#, .watch(levels: false, peaks: false)),
        (#"{"command":"record","id":1}"#, .command(.record)),
        (#"{"command":"stop","id":1}"#, .command(.stop)),
        (#"{"command":"pause","id":1}"#, .command(.pause)),
        (#"{"command":"play","id":1}"#, .command(.play(nil))),
        (#"{"command":"play","id":1,"take":42}"#, .command(.play(.number(42)))),
        (#"{"command":"play","id":1,"take":"last"}"#, .command(.play(.last))),
        (#"{"command":"select","id":1,"take":"a-0042-061811Z"}"#, .command(.select(.stem("a-0042-061811Z")))),
        (#"{"command":"eject","id":1}"#, .command(.eject)),
        (#"{"command":"discard","id":1,"take":"a-0042-061811Z"}"#, .command(.discard(stem: "a-0042-061811Z"))),
        (
            #"{"boot_id":"0b0c","command":"discard","day":"2026-11-21","id":1,"revision":3,"started_monotonic_ns":7000000000000001,"#
                + #""take":"a-0042-061811Z"}"#,
            .command(
                .discard(
                    stem: "a-0042-061811Z",
                    DiscardTerms(
                        TakeVersion(
                            day: "2026-11-21",
                            start: RecordingStart(bootID: "0b0c", startedMonotonicNs: 7_000_000_000_000_001),
                            revision: 3))))
        ),
        (
            #"{"command":"discard","day":"2026-11-21","directory":"/takes","id":1,"not_after_monotonic_ns":9000000000000001,"take":"a-0042-061811Z"}"#,
            .command(
                .discard(
                    stem: "a-0042-061811Z",
                    DiscardTerms(day: "2026-11-21", in: "/takes", notAfter: Instant(nanoseconds: 9_000_000_000_000_001))
                ))
        ),
        (#"{"command":"settle","id":1,"take":"a-0042-061811Z"}"#, .command(.settle(stem: "a-0042-061811Z", day: nil))),
        (
            #"{"command":"settle","day":"2026-11-21","id":1,"take":"a-0042-061811Z"}"#,
            .command(.settle(stem: "a-0042-061811Z", day: "2026-11-21"))
        ),
        (
            #"{"command":"discard","id":1,"now":true,"take":"a-0042-061811Z"}"#,
            .command(.discard(stem: "a-0042-061811Z", DiscardTerms(isFinal: true)))
        ),
        (
            #"{"command":"restore","id":1,"take":"a-0042-061811Z"}"#,
            .command(.restore(stem: "a-0042-061811Z", day: nil))
        ),
        (
            #"{"command":"restore","day":"2026-11-21","id":1,"take":"a-0042-061811Z"}"#,
            .command(.restore(stem: "a-0042-061811Z", day: "2026-11-21"))
        ),
        (#"{"command":"empty","id":1}"#, .command(.empty(stem: nil))),
        (#"{"command":"empty","id":1,"take":"a-0042-061811Z"}"#, .command(.empty(stem: "a-0042-061811Z"))),
        (#"{"command":"bin","id":1}"#, .inventory(.bin)),
        (#"{"command":"skip","id":1,"seconds":-5}"#, .command(.skip(seconds: -5))),
        (#"{"command":"skip","id":1,"seconds":0.25}"#, .command(.skip(seconds: 0.25))),
        (#"{"ago_ms":2500,"command":"record","id":1}"#, .command(.recordFrom(.ago(.milliseconds(2500))))),
        (#"{"command":"record","id":1,"raw_ns":7}"#, .command(.recordFrom(.raw(nanoseconds: 7)))),
        (#"{"command":"mark","id":1}"#, .command(.mark(note: nil))),
        (#"{"command":"mark","id":1,"note":"an \"owl\""}"#, .command(.mark(note: "an \"owl\""))),
        (
            #"{"at_frame":48000,"by":"birdnet","command":"mark","end_frame":96000,"high_hz":8000,"id":1,"label":"wren","low_hz":1500,"#
                + #""note":"dawn","score":0.83,"take":7}"#, .command(.mark(region))
        ),
        (
            #"{"ago_ms":2500.5,"command":"mark","id":1}"#,
            .command(.mark(MarkRequest(.past(.ago(.microseconds(2_500_500))), content: .init())))
        ),
        (
            #"{"command":"mark","id":1,"raw_ns":9007199254740993}"#,
            .command(.mark(MarkRequest(.past(.raw(nanoseconds: 9_007_199_254_740_993)), content: .init())))
        ),
        (#"{"command":"volume","id":1,"volume":0.8}"#, .command(.volume(0.8))),
        (#"{"cents":-1200,"command":"pitch","id":1}"#, .command(.pitch(cents: -1200))),
        (
            #"{"command":"speed","expand":true,"factor":0.1,"id":1}"#, .command(.speed(factor: 0.1, expands: true))
        ),
        (#"{"command":"filter","id":1}"#, .command(.filter(lowPass: nil, slopeDBPerOctave: nil, highPass: nil))),
        (
            #"{"command":"filter","high_pass_hz":"off","id":1,"low_pass_hz":"auto","slope_db_per_octave":48}"#,
            .command(.filter(lowPass: .automatic, slopeDBPerOctave: 48, highPass: .off))
        ),
        (
            #"{"command":"filter","high_pass_hz":40.5,"id":1,"low_pass_hz":8000}"#,
            .command(.filter(lowPass: .hertz(8000), slopeDBPerOctave: nil, highPass: .hertz(40.5)))
        ),
        (#"{"command":"gain","gain_db":12.5,"id":1}"#, .command(.gain(.decibels(12.5), agc: nil))),
        (#"{"agc":true,"command":"gain","gain_db":"keep","id":1}"#, .command(.gain(.keep, agc: true))),
        (#"{"agc":false,"command":"gain","id":1}"#, .command(.gain(nil, agc: false))),
        (#"{"command":"cards","id":1}"#, .inventory(.cards)),
        (#"{"command":"lines","id":1}"#, .inventory(.lines)),
        (#"{"command":"doctor","id":1}"#, .inventory(.doctor)),
        (#"{"command":"light","id":1,"lamp":"record"}"#, .light(lamp: "record")),
        (#"{"command":"indicate","id":1,"what":"safe-to-remove"}"#, .indicate(.safeToRemove)),
        (#"{"command":"indicate","id":1,"what":"stick-offered"}"#, .indicate(.stickOffered)),
        (
            #"{"command":"indicate","id":1,"message":"upload: s3: no such bucket","what":"refused"}"#,
            .indicate(.refused(message: "upload: s3: no such bucket"))
        ),
        (
            #"{"command":"indicate","damaged":"takes: one is damaged","id":1,"what":"idle"}"#,
            .indicate(.idle, damage: "takes: one is damaged")
        ),
        (
            #"{"command":"clock-set","id":1,"time":"2026-11-21T06:18:11.250000Z"}"#,
            .setClock(WallTime(microseconds: 1_795_241_891_250_000))
        ),
        (#"{"command":"pairing-code","id":1,"right":false}"#, .pairingCode(isRight: false)),
        (#"{"command":"phone","id":1,"phone":"Anna","what":"paired"}"#, .phone(PhoneEvent(.paired, phone: "Anna"))),
        (
            #"{"by":"Anna","command":"phone","id":1,"keys":["capture.rate_hz"],"what":"settings"}"#,
            .phone(PhoneEvent(.settings, by: "Anna", keys: ["capture.rate_hz"]))
        ),
    ]

    private static let region: MarkRequest = {
        var content = Sidecar.Marker.Content(note: "dawn")
        content.endFrame = TakeFrame(96_000)
        (content.label, content.by, content.score) = ("wren", "birdnet", 0.83)
        (content.lowHz, content.highHz) = (1500, 8000)
        return MarkRequest(.frame(TakeFrame(48_000)), of: .number(7), content: content)
    }()

    private func read(_ line: String) throws(RequestError) -> Request<RecorderMessage> {
        try Request<RecorderMessage>.read(Array(line.utf8)[...])
    }

    @Test(arguments: requests)
    func `every request is read, and written the same`(line: String, message: RecorderMessage) throws {
        #expect(try read(line) == Request(id: .integer(1), message))
        #expect(Request<RecorderMessage>(id: .integer(1), message).line == line)
    }

    @Test func `every name is read by some line`() {
        let named = Set(Self.requests.map { $0.1.members["command"]?.text })
        #expect(named == Set(RecorderMessage.names))
    }

    @Test(arguments: [
        (#"{"command":"record","colour":"red"}"#, RecorderMessage.command(.record)),
        (#"{"command":"play","take":null}"#, .command(.play(nil))),
        (#"{"command":"play","take":"42"}"#, .command(.play(.number(42)))),
        (#"{"command":"skip","seconds":5.0e0}"#, .command(.skip(seconds: 5))),
        (
            #"{"command":"filter","low_pass_hz":null,"high_pass_hz":null,"slope_db_per_octave":null}"#,
            .command(.filter(lowPass: .off, slopeDBPerOctave: nil, highPass: .off))
        ),
        (#"{"command":"gain","gain_db":-6,"agc":null}"#, .command(.gain(.decibels(-6), agc: nil))),
        (#"{"command":"mark","note":null}"#, .command(.mark(note: nil))),
        (#"{"command":"mark","note":"an\u0007owl"}"#, .command(.mark(note: "an owl"))),
        (#"{"command":"speed","factor":2}"#, .command(.speed(factor: 2, expands: false))),
        (
            #"{"command":"clock-set","time":"2026-11-21 07:18:11+01"}"#,
            .setClock(WallTime(microseconds: 1_795_241_891_000_000))
        ),
    ])
    func `what others may write is understood too`(line: String, message: RecorderMessage) throws {
        #expect(try read(line) == Request(id: .null, message))
    }

    @Test(arguments: [
        (
            "{}",
            "control: command is missing, allowed are status, watch, record, stop, play, pause, skip, mark, select, "
                + "filter, gain, volume, pitch, speed, eject, discard, settle, restore, empty, cards, lines, doctor, bin, indicate, light, clock-set, pairing-code, phone"
        ),
        (
            #"{"command":"erase"}"#,
            "control: command: found \"erase\", allowed are status, watch, record, stop, play, pause, skip, mark, "
                + "select, filter, gain, volume, pitch, speed, eject, discard, settle, restore, empty, cards, lines, doctor, bin, indicate, light, clock-set, pairing-code, phone"
        ),
        (
            #"{"command":"mark","at_frame":1,"ago_ms":2}"#,
            "mark: at_frame, ago_ms and raw_ns say the same in several ways: give one of them"
        ),
        (
            #"{"command":"mark","at_frame":20,"end_frame":10}"#,
            "mark: end_frame: found 10, at_frame is 20: give the frame behind the region's last one"
        ),
        (
            #"{"command":"mark","at_frame":-1}"#,
            "mark: at_frame: found -1, allowed is a frame from 0 to 4398046511104"
        ),
        (#"{"command":"mark","score":1.5}"#, "mark: score: found 1.5, allowed is a number from 0 to 1"),
        (#"{"command":"mark","score":"NaN"}"#, "mark: score: found \"NaN\", allowed is a number from 0 to 1"),
        (
            #"{"command":"mark","low_hz":8000,"high_hz":8000}"#,
            "mark: low_hz: found 8000.0, high_hz is 8000.0: give the lower edge as low_hz"
        ),
        (
            #"{"command":"mark","high_hz":-5}"#,
            "mark: high_hz: found -5.0, allowed is a frequency from 0 to 10000000 Hz"
        ),
        (
            #"{"command":"mark","ago_ms":-5}"#,
            "mark: ago_ms: found -5, allowed is a number of milliseconds from 0 to 86400000"
        ),
        (
            #"{"command":"record","raw_ns":1,"ago_ms":2}"#,
            "record: ago_ms and raw_ns say the same in several ways: give one of them"
        ),
        (
            #"{"command":"record","raw_ns":-1}"#,
            "record: raw_ns: found -1, allowed is a time of CLOCK_MONOTONIC_RAW in nanoseconds"
        ),
        (#"{"command":"mark","label":""}"#, "mark: label: found 0 bytes, allowed are 1 to 200"),
        (#"{"command":"skip"}"#, "skip: seconds is missing, allowed is a number, negative to go back"),
        (
            #"{"command":"skip","seconds":"5"}"#,
            "skip: seconds: found \"5\", allowed is a number, negative to go back"
        ),
        (
            #"{"command":"skip","seconds":[1e20]}"#,
            "skip: seconds: found [100000000000000000000], allowed is a number, negative to go back"
        ),
        (#"{"command":"select"}"#, #"select: take is missing, allowed is a take's stem, its number, or "last""#),
        (
            #"{"command":"play","take":-1}"#,
            #"play: take: found -1, allowed is a take's stem, its number, or "last""#
        ),
        (
            #"{"command":"discard","take":"a-0042-061811Z","revision":3}"#,
            "discard: day is missing, allowed is a day such as \"2026-11-21\""
        ),
        (#"{"command":"discard"}"#, "discard: take is missing, allowed is a take's stem"),
        (#"{"command":"discard","take":""}"#, #"discard: take: found "", allowed is a take's stem"#),
        (#"{"command":"discard","take":42}"#, "discard: take: found 42, allowed is a take's stem"),
        (#"{"command":"discard","take":"42"}"#, #"discard: take: found "42", allowed is a take's stem"#),
        (#"{"command":"discard","take":"last"}"#, #"discard: take: found "last", allowed is a take's stem"#),
        (
            #"{"command":"mark","note":["a","long","list","of","words","that","is","cut"]}"#,
            #"mark: note: found ["a","long","list","of","words","that",…, allowed is a text of at most 1000 bytes without NUL"#
        ),
        (
            #"{"command":"mark","note":"owl\u0000"}"#,
            #"mark: note: found "owl\u0000", allowed is a text of at most 1000 bytes without NUL"#
        ),
        (#"{"command":"volume","volume":1.01}"#, "volume: volume: found 1.01, allowed is a number from 0 to 1"),
        (#"{"command":"pitch"}"#, "pitch: cents is missing, allowed is a whole number from -2400 to 2400"),
        (
            #"{"command":"pitch","cents":2401}"#,
            "pitch: cents: found 2401, allowed is a whole number from -2400 to 2400"
        ),
        (
            #"{"command":"pitch","cents":0.5}"#, "pitch: cents: found 0.5, allowed is a whole number from -2400 to 2400"
        ),
        (#"{"command":"speed","factor":0.04}"#, "speed: factor: found 0.04, allowed is a number from 0.05 to 2"),
        (
            #"{"command":"speed","factor":1,"expand":"yes"}"#,
            #"speed: expand: found "yes", allowed is true or false"#
        ),
        (#"{"command":"gain"}"#, "gain: gain_db and agc are missing: one is needed"),
        (#"{"command":"gain","gain_db":null,"agc":null}"#, "gain: gain_db and agc are missing: one is needed"),
        (
            #"{"command":"gain","gain_db":"12"}"#,
            #"gain: gain_db: found "12", allowed is a number from -150 to 150, or "keep""#
        ),
        (
            #"{"command":"gain","gain_db":151}"#,
            #"gain: gain_db: found 151, allowed is a number from -150 to 150, or "keep""#
        ),
        (#"{"command":"gain","gain_db":1,"agc":1}"#, "gain: agc: found 1, allowed is true or false"),
        (
            #"{"command":"filter","slope_db_per_octave":18}"#,
            "filter: slope_db_per_octave: found 18, allowed is one of 12, 24, 36, 48"
        ),
        (
            #"{"command":"filter","low_pass_hz":-1}"#,
            #"filter: low_pass_hz: found -1, allowed is a frequency in Hz, "auto" or "off""#
        ),
        (
            #"{"command":"filter","high_pass_hz":"auto"}"#,
            #"filter: high_pass_hz: found "auto", allowed is a frequency in Hz, or "off""#
        ),
        (
            #"{"command":"clock-set","time":"yesterday"}"#,
            #"clock-set: time: found "yesterday", allowed is a time such as "2026-11-21T06:18:11Z""#
        ),
        (
            #"{"command":"clock-set"}"#,
            #"clock-set: time is missing, allowed is a time such as "2026-11-21T06:18:11Z""#
        ),
        (
            #"{"command":"indicate","what":"busy"}"#,
            #"indicate: what: found "busy", allowed is one of "sending", "idle", "held", "refused", "safe-to-remove", "stick-offered""#
        ),
        (
            #"{"command":"indicate","what":"refused"}"#,
            #"indicate: message is missing, allowed is a text of 1 to 1000 bytes"#
        ),
    ])
    func `a usage error names the key and what is allowed`(line: String, message: String) {
        #expect(throws: RequestError(id: .null, refusal: Refusal(.usage, message))) { try read(line) }
    }

    @Test func `any prefix of a request and any byte in it is read or refused`() {
        let request = Array(#"{"id":"\u00e4\ud834\udd1e","command":"skip","seconds":-5.5e-1,"x":[true,null,{}]}"#.utf8)
        var readable = 0
        for length in 0...request.count where (try? Request<RecorderMessage>.read(request[..<length])) != nil {
            readable += 1
        }
        #expect(readable == 1)
        for index in request.indices {
            // Usually each position is tried with an eighth of the bytes, and the next position with the next eighth.
            let step = full(1, usually: 8)
            for byte in stride(from: index % step, through: 255, by: step).map(UInt8.init) {
                var changed = request
                changed[index] = byte
                check(changed)
            }
        }
    }

    @Test func `requests with bytes changed, cut out, doubled and mixed are read or refused`() {
        var random = SeededRandom(seed: 1)
        let pieces = [
            "[", "{\"", "\":", "1e", "-", "99999999999999999999", ".", "\\u", "\\ud800", "\u{feff}", "null", "\0",
        ]
        let lines = Self.requests.map { Array($0.0.utf8) } + pieces.map { Array($0.utf8) }
        for _ in 0..<5000 {
            var line = Self.requests.map { Array($0.0.utf8) }.randomElement(using: &random)!
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0...line.count, using: &random)
                let end = Int.random(in: place...min(line.count, place + 8), using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: line.replaceSubrange(place..<end, with: (place..<end).map { _ in UInt8(random.below(256)) })
                case 1: line.removeSubrange(place..<end)
                case 2: line.insert(contentsOf: Array(line[place..<end]), at: place)
                default: line.insert(contentsOf: lines.randomElement(using: &random)!, at: place)
                }
            }
            check(line)
        }
    }

    /// A valid line is read the same after it is written again. An invalid line is refused with a reason.
    private func check(_ line: [UInt8]) {
        do {
            let request = try Request<RecorderMessage>.read(line[...])
            let again = try? Request<RecorderMessage>.read(Array(request.line.utf8)[...])
            #expect(again == request)
        } catch {
            #expect([.badData, .usage].contains(error.refusal.code))
            #expect(!error.refusal.message.isEmpty)
        }
    }

    @Test(arguments: [
        "1", "-3", "1.5", "18446744073709551616", "0.1", "\"a\"", "true", "null", "\"\\u0000/\"",
    ])
    func `an id is kept, whatever scalar it is`(id: String) throws {
        let request = try read(#"{"command":"status","id":\#(id)}"#)
        #expect(request.line == #"{"command":"status","id":\#(id)}"#)
    }

    @Test func `a usage error keeps the id`() {
        let refusal = Refusal(.usage, "skip: seconds is missing, allowed is a number, negative to go back")
        #expect(throws: RequestError(id: .string("a"), refusal: refusal)) {
            try read(#"{"id":"a","command":"skip"}"#)
        }
    }
}

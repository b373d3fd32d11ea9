import Control
import DiskCalls
import Foundation
import OtherPrograms
import StoreTrials
import Testing

@Suite(.waitsOnNamedThreads, .serialized, .fewKitsAtATime, .timeLimit(.minutes(15)), .needs(.curl))
struct MistakesTests {
    private let kit: RunningKit

    init() throws { kit = try RunningKit() }

    @Test(arguments: ["/nope", "/api/nope", "/api/takes/a/b/c", "/api/deck/nope"])
    func `an address of which there is nothing is a problem as any other`(_ path: String) throws {
        let answer = try kit.phone.get(path)
        #expect(answer.status == 404)
        #expect(answer.headers["content-type"] == "application/problem+json")
        #expect(answer.detail == "console: there is nothing at this address")
    }

    @Test func `a condition that is misspelt or too great is refused`() throws {
        for query in ["colour=red", "least_seconds=1e200", "limit=1e200", "upload=lost", "kit=%ff"] {
            #expect(try kit.phone.get("/api/takes?\(query)").status == 400, "\(query)")
        }
        let stem = try kit.record()
        for path in [
            "status?now", "takes?limit=0x10", "takes?limit=1&limit=2", "takes/\(stem)/clip?FROM=3",
            "takes/\(stem)/waveform.dat?frames_per_pixel=256&frames_per_pixel=1", "outbox?limits=1",
            "archive?takes=\(stem)",
        ] {
            #expect(try kit.phone.get("/api/\(path)").status == 400, "\(path)")
        }
        let answer = try kit.phone.get("/api/takes/\(stem)/waveform.dat?frames_per_pixel=2147483648")
        #expect(answer.detail == "waveform: frames_per_pixel: found 2147483648, at most 2147483647 are allowed")
        #expect(try kit.phone.get("/?utm_source=x").status == 200)
    }

    @Test func `chunks that are none are the browser's mistake`() throws {
        let answer = try kit.phone.run(
            "POST", "/api/deck/stop", nil,
            ["-H", "Content-Type: application/json", "-H", "Transfer-Encoding: xchunked", "--data-binary", "{}"])
        #expect(answer.status == 400)
    }

    @Test func `what is not understood is refused in a sentence`() throws {
        let cases: [(String, String, Int, String)] = [
            ("/api/deck/skip", "{}", 400, "skip: seconds is missing, allowed is a number, negative to go back"),
            (
                "/api/deck/skip", "[1]", 400,
                "console: the request is not a JSON object, with at most 8 levels and numbers below 1e128"
            ),
            ("/api/deck/skip", #"{"secs":1}"#, 400, #"console: the key "secs" is unknown: allowed are seconds"#),
            (
                "/api/deck/record", #"{"ago_ms":-5}"#, 400,
                "record: ago_ms: found -5, allowed is a number of milliseconds from 0 to 86400000"
            ),
            ("/api/deck/skip", #"{"seconds":1}"#, 409, "skip: nothing is being played: play a take first"),
            ("/api/deck/play", #"{"take":"heron07-0009-061811Z"}"#, 404, "play: heron07-0009-061811Z: no such take"),
            ("/api/outbox/retry", #"{"now":1}"#, 400, #"console: the key "now" is unknown: none is allowed"#),
            (
                "/api/deck/stop", String(repeating: " ", count: 40_000), 413,
                "console: the request is longer than 32768 bytes: send less"
            ),
        ]
        for (path, json, status, detail) in cases {
            let answer = try kit.phone.post(path, json)
            #expect(answer.status == status, "\(path) \(json.prefix(40))")
            if !detail.hasPrefix("play") { #expect(answer.detail == detail) }
            #expect(answer.json?["status"] == .integer(status))
        }
        let method = try kit.phone.run("PUT", "/api/takes", "{}", [])
        #expect(method.status == 405)
        #expect(method.headers["allow"] == "GET, HEAD")
        #expect(try kit.phone.run("QUERY", "/api/takes", nil, []).status == 405)
        #expect(try kit.phone.run("QUERY", "/pot", nil, []).status == 404)
    }

    @Test func `what a person can meet has a name, and the parts of its sentence`() throws {
        // The card is open then, and the takes are read.
        _ = try kit.record()
        let played = try kit.phone.post("/api/deck/skip", #"{"seconds":1}"#)
        #expect(played.json?["code"] == .string("busy"))
        #expect(played.json?["reason"] == .string("nothing-played") && played.json?["values"] == .object([:]))
        let stem = "heron07-0009-061811Z"
        let requests = [("/api/deck/play", #"{"take":"\#(stem)"}"#), ("/api/takes/\(stem)/outbox", #"{"do":"add"}"#)]
        for (path, json) in requests {
            let unknown = try kit.phone.post(path, json)
            #expect(unknown.status == 404 && unknown.json?["reason"] == .string("take-unknown"), "\(path)")
            #expect(unknown.json?["values"] == .object(["take": .string(stem)]), "\(path)")
        }
        let filter = try kit.phone.post("/api/deck/filter", #"{"low_pass_hz":5}"#)
        #expect(filter.json?["reason"] == .string("cutoff-out-of-range"))
        #expect(filter.json?["values"]?["found"] == .integer(5) && filter.json?["values"]?["least"] == .integer(20))
        // A page makes no such mistakes.
        for answer in [try kit.phone.get("/api/nope"), try kit.phone.post("/api/deck/skip", "{}")] {
            #expect(answer.json?["reason"] == nil && answer.json?["values"] == nil, "\(answer.body)")
        }
    }

    @Test func `without the recorder takes are shown, and the deck says why it does nothing`() throws {
        let stem = try kit.record()
        kit.stopRecorder()
        let answer = try kit.phone.post("/api/deck/record")
        #expect(answer.status == 503)
        #expect(answer.detail?.hasPrefix("control: \(kit.folder)/recorder.sock: the recorder is not running") == true)
        #expect(answer.json?["reason"] == .string("recorder-away"))
        #expect(try kit.phone.get("/api/takes/\(stem)/files/\(stem).wav").status == 200)
        try kit.startRecorder()
        #expect(try kit.phone.post("/api/deck/record").status == 200)
        #expect(try kit.phone.post("/api/deck/stop").status == 200)
    }

    @Test(.needsServers)
    func `the server does what its OpenAPI document says, as schemathesis sees it`() throws {
        _ = try kit.record()
        let document = "http://127.0.0.1:\(kit.library.port)/api/openapi.json"
        let (status, report) = try kit.run(
            "schemathesis", ["--config-file", RunningKit.resource("schemathesis.toml"), "run", document],
            environment: ["FIELDFARE_TOKEN": kit.token])
        // The text of a failed request may be long.
        let lines = report.split(separator: "\n").map { $0.prefix(300) }.joined(separator: "\n")
        #expect(status == 0, "\(lines.suffix(6000))")
        #expect(report.contains("generated"))
    }
}

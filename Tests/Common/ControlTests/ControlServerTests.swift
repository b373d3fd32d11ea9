import Takes
import Testing
import Transport

@testable import Control

@Suite struct ControlServerTests {
    // MARK: Replies

    @Test func `a status is flat, and the first reply of a connection names the protocol`() throws {
        let exchange = try Exchange()
        #expect(
            exchange.reply(to: "{\"id\":1,\"command\":\"status\"}\n{\"id\":2,\"command\":\"status\"}\n") == [
                "{\"id\":1,\"ok\":true,\"protocol\":1,\(idleStatus)}", "{\"id\":2,\"ok\":true,\(idleStatus)}",
            ])
        #expect(
            exchange.reply(to: "{\"id\":3,\"command\":\"cards\"}\n") == [
                #"{"id":3,"ok":true,"protocol":1,"cards":[{"id":"one"}]}"#
            ])
        #expect(exchange.recorder.listed == [.cards])
    }

    @Test(arguments: [
        "1", "-0.5", "12345678901234567890123", "true", "false", "null", #""a\"b ä""#, #""""#,
    ])
    func `any scalar is echoed as the id`(id: String) throws {
        let reply = try Exchange().reply(to: "{\"id\":\(id),\"command\":\"lines\"}\n")
        #expect(reply == ["{\"id\":\(id),\"ok\":true,\"protocol\":1,\"lines\":[{\"id\":\"one\"}]}"])
    }

    @Test func `an id that is no scalar is a usage error, and so is a request that there is not`() throws {
        let exchange = try Exchange()
        let peer = exchange.peer()
        peer.send("{\"id\":[1],\"command\":\"status\"}\n{\"id\":5,\"command\":7}\n{\"id\":6,\"command\":\"lines\"}\n")
        exchange.settle()
        #expect(
            peer.lines() == [
                #"{"id":null,"ok":false,"protocol":1,"error":{"code":"usage","message":"control: id: found [1], "#
                    + #"allowed are a number, a text, true, false and null"}}"#,
                #"{"id":5,"ok":false,"error":{"code":"usage","message":"control: command: found 7, allowed are "#
                    + #"status, watch, record, stop, play, pause, skip, mark, select, filter, gain, volume, pitch, speed, eject, discard, settle, "#
                    + #"restore, empty, cards, lines, doctor, bin, indicate, light, clock-set, pairing-code, phone"}}"#,
                #"{"id":6,"ok":true,"lines":[{"id":"one"}]}"#,
            ])
    }

    @Test func `a lamp is lit by name, and one that is not there refused`() throws {
        let exchange = try Exchange()
        #expect(
            exchange.reply(
                to: #"{"id":1,"command":"light","lamp":"record"}"# + "\n" + #"{"id":2,"command":"light","lamp":"none"}"#
                    + "\n")
                == [
                    #"{"id":1,"ok":true,"protocol":1}"#,
                    #"{"id":2,"ok":false,"error":{"code":"not-found","message":"light: none: no such lamp"}}"#,
                ])
        #expect(exchange.recorder.lit == ["record", "none"])
    }

    @Test func `who sets the clock is answered with a status`() throws {
        let exchange = try Exchange()
        let reply = exchange.reply(
            to: #"{"id":1,"command":"clock-set","time":"2026-11-21T06:18:11Z"}"# + "\n")
        let status = idleStatus.replacing("\"unset\"", with: "\"manual\"")
        #expect(reply == [#"{"id":1,"ok":true,"protocol":1,\#(status)}"#])
        #expect(exchange.recorder.times == [WallTime(microseconds: 1_795_241_891_000_000)])
    }

    @Test func `a refusal carries its code and its sentence`() throws {
        let exchange = try Exchange()
        exchange.recorder.perform = { _, answer, _ in answer.refuse(Refusal(.busy, "play: a take is \"recorded\"")) }
        #expect(
            exchange.reply(to: "{\"id\":1,\"command\":\"play\"}\n") == [
                #"{"id":1,"ok":false,"protocol":1,"error":{"code":"busy","message":"play: a take is \"recorded\""}}"#
            ])
    }

    @Test func `a refusal that a person meets on the page carries its reason with the parts of the sentence`() throws {
        let exchange = try Exchange()
        exchange.recorder.perform = { _, answer, _ in
            answer.refuse(Refusal(.noSuchTake(command: "play", .stem("a\"b"), folder: "/takes")))
        }
        #expect(
            exchange.reply(to: "{\"id\":1,\"command\":\"play\"}\n") == [
                #"{"id":1,"ok":false,"protocol":1,"error":{"code":"not-found","#
                    + #""message":"play: a\"b: no such take in /takes","#
                    + #""reason":"take-unknown","values":{"take":"a\"b"}}}"#
            ])
    }

    @Test func `a level that is not finite is null`() throws {
        let exchange = try Exchange()
        exchange.recorder.status.levelDBFS = [Level(peak: -.infinity, rms: .nan)]
        let levels = "\"level_dbfs\":[{\"peak\":null,\"rms\":null}]"
        #expect(
            exchange.reply(to: "{\"command\":\"status\"}\n") == [
                "{\"id\":null,\"ok\":true,\"protocol\":1,\(idleStatus.replacing("\"level_dbfs\":[]", with: levels))}"
            ])
    }

    // MARK: Lines

    @Test func `a line may come byte by byte, and many may come at once`() throws {
        let exchange = try Exchange()
        let peer = exchange.peer()
        let line = "{\"id\":1,\"command\":\"mark\",\"note\":\"ä\"}\n"
        for byte in line.utf8 {
            peer.send([byte])
            exchange.settle()
        }
        #expect(peer.lines().count == 1)
        peer.send(String(repeating: line, count: 100))
        exchange.settle()
        let isAnswered = peer.lines() == Array(repeating: "{\"id\":1,\"ok\":true,\(idleStatus)}", count: 100)
        #expect(isAnswered)
        #expect(exchange.recorder.performed.count == 101)
        #expect(Set(exchange.recorder.performed) == [.mark(note: "ä")])
    }

    @Test func `a line of 64 KiB is read, and one byte more ends the connection`() throws {
        let exchange = try Exchange()
        func line(length: Int) -> String {
            let head = "{\"id\":1,\"command\":\"lines\",\"x\":\""
            return head + String(repeating: "x", count: length - head.count - 2) + "\"}"
        }
        let peer = exchange.peer()
        peer.send(line(length: 65536) + "\n")
        exchange.settle()
        #expect(peer.lines() == [#"{"id":1,"ok":true,"protocol":1,"lines":[{"id":"one"}]}"#])
        peer.send(line(length: 65536))
        exchange.settle()
        peer.send("\n")
        exchange.settle()
        #expect(peer.lines() == [#"{"id":1,"ok":true,"lines":[{"id":"one"}]}"#])
        #expect(!peer.hasEnded)
        for length in [65537, 65538, 150_000] {
            let peer = exchange.peer()
            peer.send(line(length: length) + "\n{\"command\":\"record\"}\n")
            exchange.settle()
            #expect(
                peer.lines() == [
                    #"{"id":null,"ok":false,"protocol":1,"error":{"code":"bad-data","message":"control: the line has "#
                        + #"more than 65536 bytes"}}"#
                ])
            #expect(peer.hasEnded)
        }
        #expect(exchange.recorder.performed == [])
    }

    private static let notJSON = "the line is not JSON, with at most 8 levels and numbers below 1e128"

    @Test(arguments: [
        ("", notJSON), ("{\"command\":\"status\"", notJSON), (#"{"command":"skip","seconds":1e999}"#, notJSON),
        ("[]", "the line is not a JSON object"), ("\"status\"", "the line is not a JSON object"),
        ("GET / HTTP/1.1\r", notJSON), ("\u{0}\u{1}\u{ff}", notJSON),
        (String(repeating: "[", count: 255), notJSON),
        (String(repeating: "[", count: 65536), "the line holds more than 256 values"),
    ])
    func `a line that is not a JSON object ends the connection`(line: String, message: String) throws {
        let exchange = try Exchange()
        let peer = exchange.peer()
        peer.send(line + "\n{\"command\":\"record\"}\n")
        exchange.settle()
        #expect(
            peer.lines() == [
                "{\"id\":null,\"ok\":false,\"protocol\":1,\"error\":{\"code\":\"bad-data\","
                    + "\"message\":\"control: \(message)\"}}"
            ])
        #expect(peer.hasEnded)
        #expect(exchange.recorder.performed == [])
    }

    @Test func `bytes of no meaning get one error and the connection is closed`() throws {
        let exchange = try Exchange()
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            let peer = exchange.peer()
            peer.send((0..<300).map { _ in UInt8.random(in: 0...255, using: &random) } + [0x0a])
            exchange.settle()
            let lines = peer.lines()
            #expect(lines.count == 1)
            #expect(
                lines.allSatisfy { $0.hasPrefix(#"{"id":null,"ok":false,"protocol":1,"error":{"code":"bad-data""#) })
            #expect(peer.hasEnded)
        }
    }

    @Test func `half a line is no request`() throws {
        let exchange = try Exchange()
        let peer = exchange.peer()
        peer.send("{\"id\":1,\"command\":\"lines\"}\n{\"command\":\"record\"}")
        peer.finishSending()
        exchange.settle()
        #expect(
            peer.lines() == [
                #"{"id":1,"ok":true,"protocol":1,"lines":[{"id":"one"}]}"#,
                #"{"id":null,"ok":false,"error":{"code":"bad-data","message":"control: the last line does not end "#
                    + #"with a newline"}}"#,
            ])
        #expect(peer.hasEnded)
        #expect(exchange.recorder.performed == [])
    }

    @Test func `a peer that finishes sending gets its replies before the end`() throws {
        let exchange = try Exchange()
        let peer = exchange.peer()
        peer.send(String(repeating: "{\"id\":1,\"command\":\"pause\"}\n", count: 40))
        peer.finishSending()
        exchange.settle()
        #expect(peer.lines().count == 40)
        #expect(peer.hasEnded)
    }

    @Test func `the request of a peer that leaves at once is carried out`() throws {
        let exchange = try Exchange()
        do {
            let peer = exchange.peer()
            for second in 1...50 { peer.send("{\"command\":\"skip\",\"seconds\":\(second)}\n") }
        }
        exchange.settle()
        #expect(exchange.recorder.performed == (1...50).map { .skip(seconds: Double($0)) })
    }

    // MARK: Late answers

    @Test func `replies keep the order of the requests, and others are served meanwhile`() throws {
        let exchange = try Exchange()
        var waiting: [Answer] = []
        exchange.recorder.perform = { _, answer, _ in waiting.append(answer) }
        let first = exchange.peer()
        first.send("{\"id\":1,\"command\":\"stop\"}\n{\"id\":2,\"command\":\"lines\"}\n")
        exchange.settle()
        #expect(first.lines() == [])
        #expect(exchange.reply(to: "{\"id\":9,\"command\":\"lines\"}\n").count == 1)
        #expect(exchange.recorder.listed == [.lines])

        var finished = Status(version: "0")
        finished.take = "heron07-0042-061811Z"
        waiting[0].succeed(finished)
        exchange.settle()
        let status = idleStatus.replacing("\"take\":null", with: "\"take\":\"heron07-0042-061811Z\"")
        #expect(
            first.lines() == [
                "{\"id\":1,\"ok\":true,\"protocol\":1,\(status)}", #"{"id":2,"ok":true,"lines":[{"id":"one"}]}"#,
            ])
    }

    @Test func `only the first answer counts, and a missing answer is reported`() throws {
        let exchange = try Exchange()
        exchange.recorder.perform = { command, answer, status in
            guard command == .record else { return }
            answer.refuse(Refusal(.io, "no"))
            answer.succeed(status)
        }
        #expect(
            exchange.reply(to: "{\"command\":\"record\"}\n{\"command\":\"stop\"}\n") == [
                #"{"id":null,"ok":false,"protocol":1,"error":{"code":"io","message":"no"}}"#,
                #"{"id":null,"ok":false,"error":{"code":"internal","message":"control: the recorder gave no answer"}}"#,
            ])
    }

    @Test func `a peer that leaves before its answer does no harm, and its other requests are carried out`() throws {
        let exchange = try Exchange()
        var waiting: [Answer] = []
        exchange.recorder.perform = { command, answer, status in
            if command == .stop { waiting.append(answer) } else { answer.succeed(status) }
        }
        do {
            let peer = exchange.peer()
            peer.send("{\"command\":\"stop\"}\n{\"command\":\"record\"}\n")
            exchange.settle()
        }
        exchange.settle()
        #expect(exchange.recorder.performed == [.stop])
        waiting[0].succeed(exchange.recorder.status)
        exchange.settle()
        #expect(exchange.recorder.performed == [.stop, .record])
    }

    // MARK: Watching

    @Test func `a watcher gets changes and levels`() throws {
        let exchange = try Exchange()
        let peer = exchange.peer()
        exchange.server.publish(.adoptStick)
        #expect(!exchange.server.hasWatchers)
        peer.send("{\"id\":2,\"command\":\"watch\"}\n")
        exchange.settle()
        #expect(exchange.server.hasWatchers)

        var status = exchange.recorder.status
        exchange.server.publish(status)
        status.frames = 4800
        status.elapsedSeconds = 0.1
        status.levelDBFS = [Level(peak: -6, rms: nil)]
        exchange.server.publish(status)
        exchange.server.publish(levels: status)
        status.state = .recording
        exchange.server.publish(status)
        exchange.server.publish(status)
        status.state = .idle
        exchange.server.publish(status)
        exchange.server.publish(.adoptStick)
        let moving =
            idleStatus.replacing("\"elapsed_seconds\":0", with: "\"elapsed_seconds\":0.1")
            .replacing("\"frames\":0", with: "\"frames\":4800")
            .replacing("\"level_dbfs\":[]", with: "\"level_dbfs\":[{\"peak\":-6,\"rms\":null}]")
        #expect(
            peer.lines() == [
                "{\"id\":2,\"ok\":true,\"protocol\":1,\(idleStatus)}",
                #"{"event":"level","elapsed_seconds":0.1,"frames":4800,"level_dbfs":[{"peak":-6,"rms":null}],"#
                    + #""synced_seconds":0}"#,
                "{\"event\":\"status\",\(moving.replacing("\"idle\"", with: "\"recording\""))}",
                "{\"event\":\"status\",\(moving)}",
                #"{"event":"panel","what":"adopt-stick"}"#,
            ])
        #expect(Event(line: Array(#"{"event":"panel","what":"adopt-stick"}"#.utf8)) == .panel(.adoptStick))
        #expect(Event(line: Array(#"{"event":"panel","what":"else"}"#.utf8)) == nil)
        #expect(!exchange.isReadable)
    }

    @Test func `a watcher learns when pairing is opened and when it ends`() throws {
        let exchange = try Exchange()
        let peer = exchange.peer()
        peer.send("{\"id\":2,\"command\":\"watch\"}\n")
        exchange.settle()
        var status = exchange.recorder.status
        for isPairing in [true, true, false] {
            status.pairing = isPairing
            exchange.server.publish(status)
        }
        #expect(
            peer.lines().dropFirst() == [
                "{\"event\":\"status\",\(idleStatus.replacing("\"pairing\":false", with: "\"pairing\":true"))}",
                "{\"event\":\"status\",\(idleStatus)}",
            ])
    }

    @Test func `only a watcher that asks for the waveform gets it`() throws {
        let exchange = try Exchange()
        let (plain, drawing) = (exchange.peer(), exchange.peer())
        plain.send("{\"command\":\"watch\"}\n")
        exchange.settle()
        #expect(!exchange.server.hasPeakWatchers)
        drawing.send("{\"command\":\"watch\",\"peaks\":true}\n")
        exchange.settle()
        #expect(exchange.server.hasPeakWatchers)
        exchange.server.publish(
            PeaksEvent(rateHz: 48000, channels: 1, framesPerPixel: 256, firstPixel: 7, data: [-3, 4, -128, 127]))
        #expect(plain.lines().count == 1)
        let line =
            #"{"event":"peaks","channels":1,"data":[-3,4,-128,127],"first_pixel":7,"frames_per_pixel":256,"rate_hz":48000}"#
        #expect(drawing.lines().last == line)
    }

    @Test func `a watcher is informed of what becomes of takes, and only a watcher`() throws {
        let exchange = try Exchange()
        let (watcher, other) = (exchange.peer(), exchange.peer())
        watcher.send("{\"id\":2,\"command\":\"watch\"}\n")
        other.send("{\"command\":\"stop\"}\n")
        exchange.settle()
        #expect(watcher.lines().count == 1)
        #expect(other.lines().count == 1)
        for what in [TakeChange.What.committed, .revised, .discarded] {
            exchange.server.publish(TakeChange(what, take: "heron07-0042-061811Z"))
        }
        #expect(
            watcher.lines() == [
                #"{"event":"take","take":"heron07-0042-061811Z","what":"committed"}"#,
                #"{"event":"take","take":"heron07-0042-061811Z","what":"revised"}"#,
                #"{"event":"take","take":"heron07-0042-061811Z","what":"discarded"}"#,
            ])
        #expect(other.lines() == [])
    }

    @Test func `a watcher may finish sending, and is removed when it leaves`() throws {
        let exchange = try Exchange()
        do {
            let peer = exchange.peer()
            peer.send("{\"command\":\"watch\"}\n")
            peer.finishSending()
            exchange.settle()
            exchange.server.publish(levels: exchange.recorder.status)
            #expect(peer.lines().count == 2)
            #expect(!peer.hasEnded)
        }
        exchange.settle()
        #expect(!exchange.server.hasWatchers)
    }

    // MARK: Indicating

    @Test func `that takes are damaged is handed over beside what the outbox does, and ends with the connection`()
        throws
    {
        let exchange = try Exchange()
        do {
            let library = exchange.peer()
            library.send("{\"command\":\"indicate\",\"what\":\"idle\",\"damaged\":\"takes: one is damaged\"}\n")
            exchange.settle()
            library.send("{\"command\":\"indicate\",\"what\":\"sending\",\"damaged\":\"takes: one is damaged\"}\n")
            exchange.settle()
            #expect(exchange.recorder.uploads == [.idle, .sending])
            #expect(exchange.recorder.damages == ["takes: one is damaged"])
            library.send("{\"command\":\"indicate\",\"what\":\"sending\"}\n")
            exchange.settle()
            #expect(exchange.recorder.damages == ["takes: one is damaged", nil])
            library.send("{\"command\":\"indicate\",\"what\":\"held\",\"damaged\":\"takes: two are\"}\n")
            exchange.settle()
        }
        exchange.settle()
        #expect(exchange.recorder.damages == ["takes: one is damaged", nil, "takes: two are", nil])
    }

    @Test func `an indication holds while its connection lives, and the latest that lives is shown`() throws {
        let exchange = try Exchange()
        let first = exchange.peer()
        first.send("{\"id\":1,\"command\":\"indicate\",\"what\":\"sending\"}\n")
        exchange.settle()
        #expect(first.lines() == [#"{"id":1,"ok":true,"protocol":1}"#])
        do {
            let second = exchange.peer()
            second.send("{\"command\":\"indicate\",\"what\":\"held\"}\n")
            exchange.settle()
            second.send("{\"command\":\"indicate\",\"what\":\"safe-to-remove\"}\n")
            exchange.settle()
            #expect(exchange.recorder.uploads == [.sending, .held, .safeToRemove])
        }
        exchange.settle()
        #expect(exchange.recorder.uploads == [.sending, .held, .safeToRemove, .sending])
        first.send("not JSON\n")
        exchange.settle()
        #expect(exchange.recorder.uploads == [.sending, .held, .safeToRemove, .sending, nil])
    }
}

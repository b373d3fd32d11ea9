import Control
import Foundation
import SeededRandom
import Takes
import TestBench
import Transport

/// The control socket with hostile peers: they send anything, in pieces, read or do not read, and disconnect. Their
/// input is also parsed as the library's messages.
struct ControlSurface: Surface {
    static let name = "control"
    let mutator: Mutator
    private let path: String
    private let recorder = LazyRecorder()
    private let server: ControlServer
    private var now = Instant(nanoseconds: 0)

    init(scratch: String) throws {
        path = "\(scratch)/recorder.sock"
        // The result of an input must not depend on how busy the machine is.
        server = try ControlServer(path: path, handler: recorder, clock: TestClock(at: now))
        let ofRecorder = [
            #"{"id":1,"command":"status"}"#, #"{"id":"a","command":"watch"}"#, #"{"command":"record"}"#,
            #"{"id":null,"command":"stop"}"#, #"{"id":2,"command":"play","take":"heron07-0042-061811Z"}"#,
            #"{"id":2,"command":"play","take":42}"#, #"{"id":3,"command":"skip","seconds":-5.25}"#,
            #"{"id":4,"command":"mark","note":"a heron \ud83c\udfb5 \"here\""}"#,
            #"{"id":5,"command":"select","take":"last"}"#,
            #"{"id":6,"command":"filter","low_pass_hz":8000,"slope_db_per_octave":48,"high_pass_hz":"off"}"#,
            #"{"id":6,"command":"gain","gain_db":-12.5,"agc":true}"#, #"{"command":"gain","gain_db":"keep"}"#,
            #"{"id":7,"command":"volume","volume":0.5}"#,
            #"{"id":8,"command":"discard","take":"heron07-0041-061811Z"}"#,
            #"{"id":8,"command":"discard","take":"heron07-0041-061811Z","now":true}"#,
            #"{"id":8,"command":"restore","take":"heron07-0041-061811Z","day":"2026-11-21"}"#,
            #"{"id":8,"command":"empty"}"#, #"{"id":8,"command":"bin"}"#,
            #"{"id":9,"command":"cards"}"#, #"{"id":10,"command":"lines"}"#, #"{"id":11,"command":"doctor"}"#,
            #"{"id":12,"command":"indicate","what":"stick-offered"}"#, #"{"id":13,"command":"light","lamp":"record"}"#,
            #"{"id":14,"command":"pause","unknown":[1,{"a":[true,false,null]},"x",1.5e3]}"#,
        ]
        let requests = (ofRecorder + LibraryLines.seeds).map { $0 + "\n" }
        let seeds =
            requests + [requests.joined(), requests.shuffledOnce.joined(), String(repeating: requests[0], count: 100)]
        mutator = Mutator(
            seeds: seeds.map { Array($0.utf8) },
            words: requests + [
                "\"id\":", "\"command\":", "\"take\":", "[[[[[[[[1]]]]]]]]", "\"id\":[],", "\"\\u0000\"", "1e127",
                "-1e-127",
                String(repeating: "[1,", count: 10_000), String(repeating: "{\"a\":", count: 9),
                String(repeating: " ", count: 65_536),
                String(repeating: "[[[[[[[", count: 2000), String(repeating: "\"a\",", count: 16_000), "\u{c0}\u{80}",
            ])
    }

    mutating func take(_ input: [UInt8]) throws {
        try LibraryLines.check(input)
        recorder.begin()
        // The pieces depend on the input alone, so that the run can be repeated.
        var random = SeededRandom(seed: input.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })
        var peers: [HostilePeer] = []
        for _ in 0...random.below(3) { peers.append(try HostilePeer(path)) }
        var rest = input[...]
        while !rest.isEmpty {
            let size = random.once(in: 3) ? rest.count : 1 + random.below(min(rest.count, 4000))
            peers[random.below(peers.count)].waiting += rest.prefix(size)
            rest = rest.dropFirst(size)
            if random.once(in: 12) { peers[random.below(peers.count)].finish() }
            try turn(&peers, &random)
        }
        for _ in 0..<20 where peers.contains(where: { !$0.waiting.isEmpty }) { try turn(&peers, &random) }
        peers = []
        recorder.answerAll()
        var turns = 0
        while server.isReadable {
            server.serve(now)
            recorder.answerAll()
            turns += 1
            try hold(turns < 10_000, "the server never comes to rest")
        }
        try hold(!server.hasWatchers && server.turn(now) == nil, "a peer is left")
        try hold(recorder.upload == nil, "an indication is left: \(recorder.upload?.name.rawValue ?? "")")
    }

    private mutating func turn(_ peers: inout [HostilePeer], _ random: inout SeededRandom) throws {
        for index in peers.indices { peers[index].send() }
        if random.once(in: 4) { recorder.answerAll() }
        _ = server.turn(now)
        server.serve(now)
        if random.once(in: 4) { server.publish(levels: recorder.status) }
        if random.once(in: 8) {
            recorder.status.take = recorder.status.take == nil ? "heron07-0042-061811Z" : nil
            server.publish(recorder.status)
        }
        now = now + .milliseconds(random.once(in: 50) ? 11_000 : 10)
        for index in peers.indices where !random.once(in: 3) { try peers[index].read() }
    }
}

extension [String] {
    /// A fixed permutation.
    fileprivate var shuffledOnce: [String] {
        var random = SeededRandom(seed: 1)
        return shuffled(using: &random)
    }
}

extension ControlServer {
    fileprivate var isReadable: Bool {
        var file = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
        return poll(&file, 1, 0) == 1
    }
}

/// The other end of the raw socket, which never blocks.
private final class HostilePeer {
    private let socket: Int32
    var waiting: [UInt8] = []
    private var input: [UInt8] = []

    init(_ path: String) throws {
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let socket = socket
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try hold(code == 0, "cannot connect: \(errno)")
    }

    deinit { close(socket) }

    func send() {
        let count = Glibc.send(socket, waiting, waiting.count, Int32(MSG_NOSIGNAL))
        if count > 0 { waiting.removeFirst(count) }
        if count < 0, errno != EAGAIN { waiting = [] }
    }

    func finish() {
        shutdown(socket, Int32(SHUT_WR))
    }

    /// Reads the available bytes, which must be lines of JSON with `ok` or `event`.
    func read() throws {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            input += buffer[..<count]
        }
        while let end = input.firstIndex(of: 0x0a) {
            let line = input[..<end]
            input.removeSubrange(...end)
            guard let value = try? JSONValue(decoding: line) else {
                throw Broken("what comes back is no JSON: \(String(decoding: line.prefix(200), as: UTF8.self))")
            }
            switch (value["ok"], value["event"]) {
            case (.bool(true), nil), (nil, .string): break
            case (.bool(false), nil):
                let message = value["error"]?["message"]?.text ?? ""
                try hold(
                    !message.isEmpty && message.utf8.count <= 2000, "a refusal of \(message.utf8.count) bytes")
            default: throw Broken("what comes back is no reply: \(value)".prefix(200).description)
            }
        }
    }
}

extension Broken {
    fileprivate init(_ description: Substring) { self.init(String(description)) }
}

/// A recorder without devices, which answers some requests later.
private final class LazyRecorder: ControlHandler {
    var status = Status(version: "0")
    var upload: UploadState?
    private var waiting: [Answer] = []
    private var calls = 0

    func begin() {
        calls = 0
    }

    func answerAll() {
        let answers = waiting
        waiting = []
        for answer in answers { answer.succeed(status) }
    }

    private func later(_ answer: Answer) {
        calls += 1
        if calls % 3 == 0 { waiting.append(answer) } else { answer.succeed(status) }
    }

    func perform(_ command: Command, answer: Answer) {
        if case .mark(let mark) = command { _ = mark.content.note?.count }
        later(answer)
    }

    func list(_ inventory: Inventory, answer: Answer) {
        answer.succeed(inventory, [.object(["id": .string("one")])])
    }

    func light(_ lamp: String, answer: Answer) { later(answer) }

    func setClock(to time: WallTime, answer: Answer) {
        _ = time.iso8601
        later(answer)
    }

    func indicate(_ state: UploadState?) { upload = state }
}

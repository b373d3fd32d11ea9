import Glibc
import Sockets
import Takes
import TestBench
import Testing
import Transport

@testable import Control

extension TestFolder {
    var socket: String { path + "/recorder.sock" }
}

/// A recorder without devices. It records the requests, and answers as the test says.
final class ScriptedRecorder: ControlHandler {
    var status = Status(version: "0")
    var performed: [Command] = []
    var listed: [Inventory] = []
    var lit: [String] = []
    var times: [WallTime] = []
    var uploads: [UploadState?] = []
    var damages: [String?] = []
    /// Called for each command. It must answer itself.
    var perform: (Command, Answer, Status) -> Void = { _, answer, status in answer.succeed(status) }

    func perform(_ command: Command, answer: Answer) {
        performed.append(command)
        perform(command, answer, status)
    }

    func list(_ inventory: Inventory, answer: Answer) {
        listed.append(inventory)
        answer.succeed(inventory, [.object(["id": .string("one")])])
    }

    func light(_ lamp: String, answer: Answer) {
        lit.append(lamp)
        if lamp == "none" { answer.refuse(Refusal(.notFound, "light: none: no such lamp")) } else { answer.succeed() }
    }

    func setClock(to time: WallTime, answer: Answer) {
        times.append(time)
        status.clock = .manual
        answer.succeed(status)
    }

    func indicate(_ state: UploadState?) {
        uploads.append(state)
    }

    func indicate(damage: String?) { damages.append(damage) }
}

/// A server and its peers on a real socket, all on one thread.
final class Exchange {
    let folder = TestFolder()
    let clock = TestClock()
    let recorder = ScriptedRecorder()
    let server: ControlServer
    var now: Instant {
        get { clock.now() }
        set { clock.advance(by: newValue - clock.now()) }
    }

    init(calls: SocketCalls = SocketCalls()) throws {
        server = try ControlServer(path: folder.socket, handler: recorder, clock: clock, calls: calls)
    }

    func peer() -> Peer {
        Peer(folder.socket)
    }

    /// Whether the server has work.
    var isReadable: Bool {
        var file = pollfd(fd: server.fileDescriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&file, 1, 0) == 1
    }

    /// Serves until no work is left. It fails if the server is always ready, because such a server would never sleep.
    func settle(sourceLocation: SourceLocation = #_sourceLocation) {
        for _ in 0..<10_000 {
            guard isReadable else { return }
            server.serve(now)
        }
        Issue.record("the server never comes to rest", sourceLocation: sourceLocation)
    }

    /// The lines that a peer reads after it sent `text`.
    func reply(to text: String) -> [String] {
        let peer = peer()
        peer.send(text)
        settle()
        return peer.lines()
    }
}

/// The client end as a plain socket, which never blocks.
final class Peer {
    let socket: Descriptor
    private var input: [UInt8] = []
    private(set) var hasEnded = false

    init(_ path: String) {
        socket = Descriptor(Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0))
        let number = socket.number
        let code = unsafe SocketAddress.with(path) { unsafe connect(number, $0, $1) }
        if code != 0 { Issue.record("cannot connect: \(SystemError(errno))") }
    }

    /// Sends as much as the socket accepts at once.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Int {
        unsafe bytes.withUnsafeBytes { unsafe Glibc.send(socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    @discardableResult
    func send(_ text: String) -> Int {
        send(Array(text.utf8))
    }

    func finishSending() {
        shutdown(socket.number, Int32(SHUT_WR))
    }

    /// All complete lines received so far.
    func lines() -> [String] {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe recv(socket.number, &buffer, buffer.count, 0)
            guard count > 0 else {
                hasEnded = count == 0 || errno == ECONNRESET
                break
            }
            input += buffer[..<count]
        }
        var lines: [String] = []
        while let end = input.firstIndex(of: 0x0a) {
            lines.append(String(decoding: input[..<end], as: UTF8.self))
            input.removeFirst(end + 1)
        }
        return lines
    }
}

/// `Status(version: "0")` as JSON.
let idleStatus = """
    "agc":null,"armed":false,"card":null,"channels":null,"clock":"unset","directory":null,"elapsed_seconds":0,"expand":false,"faults":[],\
    "format":null,"frames":0,"free_bytes":null,"gain_db":null,"gain_range_db":null,"gaps":0,"high_pass_hz":null,"kit_id":null,"level_dbfs":[],"low_pass_hz":null,"pairing":false,"pitch_cents":0,\
    "position_seconds":null,"rate_hz":null,"reserve_bytes":0,"scheduled":null,"selected":null,"slope_db_per_octave":24,"speed":1,"state":"idle",\
    "synced_seconds":0,"take":null,"time_left_seconds":null,"version":"0","xruns":0
    """

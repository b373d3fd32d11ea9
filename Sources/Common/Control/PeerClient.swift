import FoundationEssentials
import Glibc
import Sockets
public import Takes
public import Transport

/// A client of the recorder's control socket.
public typealias ControlClient = PeerClient<RecorderMessage>

/// A client of the library's control socket.
public typealias LibraryClient = PeerClient<LibraryMessage>

/// A client of a service's control socket, for programs that may block.
public final class PeerClient<Message: PeerMessage> {
    public let path: String
    private let socket: Descriptor
    private let calls = SocketCalls()
    private let clock: any Clock
    private var input: [UInt8] = []
    /// The end of the part of `input` that has no newline.
    private var searched = 0
    private var events: [[UInt8]] = []
    private var nextID = 1

    /// Connects.
    ///
    /// - Throws: `ControlError`, with exit status 69 if no service listens, or 77 if this user lacks the permission.
    public init(
        path: String, timeout: Duration = .seconds(5), clock: any Clock = SystemClock()
    ) throws(ControlError) {
        self.path = path
        self.clock = clock
        socket = Descriptor(Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        guard socket.number >= 0 else { throw ControlError(path, .talk("open a socket", code: errno)) }
        // If the listener's queue is full, connect blocks for up to the send timeout.
        var limit = timeval(tv_sec: Int(timeout.components.seconds), tv_usec: 0)
        unsafe setsockopt(socket.number, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let number = socket.number
        let code = unsafe SocketAddress.with(path) { address, length in
            while unsafe connect(number, address, length) != 0 {
                guard errno == EINTR else { return errno }
            }
            return 0
        }
        switch code {
        case nil: throw ControlError(path, .pathLength)
        case 0: break
        case let code? where code == ENOENT || code == ECONNREFUSED || code == ENOTDIR:
            throw ControlError(path, .notRunning(service: Message.service, code: code))
        case let code? where code == EACCES || code == EPERM: throw ControlError(path, .denied(code: code))
        case let code? where code == EAGAIN: throw ControlError(path, .silent(after: timeout))
        case let code?: throw ControlError(path, .talk("connect", code: code))
        }
    }

    /// Readable when an event may have come.
    public var fileDescriptor: Int32 { socket.number }

    /// Sends a request and waits for the reply. Events that arrive first are kept for `nextEvent`.
    ///
    /// - Returns: the whole reply.
    /// - Throws: `ControlError`, with the cause `.refused` if the service refuses.
    public func ask(_ message: Message, timeout: Duration = .seconds(5)) throws(ControlError) -> JSONValue {
        let line = try reply(to: message, timeout: timeout)
        guard let reply = try? JSONValue(decoding: line) else { throw garbled(line) }
        return reply
    }

    /// Sends a request, waits for the reply and decodes its keys.
    ///
    /// - Throws: `ControlError`, with the cause `.refused` if the service refuses.
    public func ask<Answer: Decodable>(
        _ message: Message, for type: Answer.Type, timeout: Duration = .seconds(5)
    ) throws(ControlError) -> Answer {
        let line = try reply(to: message, timeout: timeout)
        guard let answer = try? JSONDecoder().decode(type, from: Data(line)) else { throw garbled(line) }
        return answer
    }

    /// The keys that classify a line.
    private struct Head: Decodable {
        var id: JSONValue?
        var ok: Bool?
        var event: JSONValue?
        var error: Problem?

        struct Problem: Decodable {
            var code: Refusal.Code
            var message: String
            var reason: String?
            var values: [String: JSONValue]?

            var refusal: Refusal {
                Refusal(code, message, reason.map { Refusal.Reason($0, reading: values ?? [:]) })
            }
        }
    }

    /// The line with the positive reply.
    private func reply(to message: Message, timeout: Duration) throws(ControlError) -> [UInt8] {
        let id = JSONValue.integer(nextID)
        nextID += 1
        try send(Request(id: id, message).line + "\n")
        let limit = clock.now() + timeout
        while let line = try nextLine(until: limit) {
            guard let head = try? JSONDecoder().decode(Head.self, from: Data(line)) else { throw garbled(line) }
            if head.event != nil {
                events.append(line)
                continue
            }
            if head.ok == true, head.id == id { return line }
            // A refusal without an id concerns the connection, or a line that could not be read.
            guard head.ok == false, let error = head.error else { throw garbled(line) }
            throw ControlError(path, .refused(error.refusal))
        }
        throw ControlError(path, .silent(after: timeout))
    }

    private func garbled(_ line: [UInt8]) -> ControlError {
        ControlError(path, .garbled(JSONValue.string(String(decoding: line, as: UTF8.self)).excerpt))
    }

    private func send(_ text: String) throws(ControlError) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            switch calls.send(bytes, to: socket) {
            case .bytes(let count): bytes = bytes.dropFirst(count)
            case .wouldBlock:
                // A request is small, and the previous reply was read before it, so only a service that hangs does not
                // read it.
                guard wait(for: POLLOUT, until: clock.now() + .seconds(5)) else {
                    throw ControlError(path, .silent(after: .seconds(5)))
                }
            case .failed(EPIPE):
                // A service that closed the connection may have sent the reason first. It can still be read.
                return
            case .failed(let code): throw ControlError(path, .talk("send", code: code))
            }
        }
    }

    /// The next line without its newline, or nil if none arrives before `limit`.
    private func nextLine(until limit: Instant) throws(ControlError) -> [UInt8]? {
        while true {
            if let end = input[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(input[..<end])
                input.removeFirst(end + 1)
                searched = 0
                return line
            }
            searched = input.count
            switch calls.receive(from: socket, most: 16 << 10, into: &input) {
            case .bytes(0): throw ControlError(path, .closed)
            case .bytes: continue
            case .wouldBlock: guard wait(for: POLLIN, until: limit) else { return nil }
            case .failed(let code):
                throw ControlError(path, code == ECONNRESET ? .closed : .talk("receive", code: code))
            }
        }
    }

    /// Waits until the socket is ready, or returns false at `limit`.
    private func wait(for events: Int32, until limit: Instant) -> Bool {
        while true {
            let left = limit - clock.now()
            guard left > .zero else { return false }
            var file = pollfd(fd: socket.number, events: Int16(events), revents: 0)
            let milliseconds = min(Int64(Int32.max), left.nanoseconds / 1_000_000 + 1)
            if unsafe poll(&file, 1, Int32(milliseconds)) > 0 { return true }
            guard errno == EINTR || clock.now() < limit else { return false }
        }
    }
}

extension PeerClient where Message == RecorderMessage {
    /// Sends a request whose reply is a status.
    public func askForStatus(
        _ message: Message, timeout: Duration = .seconds(5)
    ) throws(ControlError) -> (Status, JSONValue) {
        let reply = try ask(message, timeout: timeout)
        guard let status = try? JSONDecoder().decode(Status.self, from: Data(reply.description.utf8)) else {
            throw ControlError(path, .garbled(reply.excerpt))
        }
        return (status, reply)
    }

    /// The next event of any kind as its original line, or nil if none arrives before `limit`.
    public func nextEventLine(until limit: Instant) throws(ControlError) -> [UInt8]? {
        try events.isEmpty ? nextLine(until: limit) : events.removeFirst()
    }

    /// The next event with its original line, or nil if none arrives before `limit`. Events of unknown kinds are
    /// skipped.
    public func nextEvent(until limit: Instant) throws(ControlError) -> (Event, line: String)? {
        while let line = try events.isEmpty ? nextLine(until: limit) : events.removeFirst() {
            if let event = Event(line: line) { return (event, String(decoding: line, as: UTF8.self)) }
        }
        return nil
    }
}

import FoundationEssentials
import Glibc
public import Takes
public import Transport

/// The other end of the control socket, for programs that may wait.
public final class ControlClient {
    /// Where the service listens.
    public let path: String
    private let socket: Descriptor
    private let calls = SocketCalls()
    private let clock: any Clock
    private var input: [UInt8] = []
    private var events: [[UInt8]] = []
    private var nextID = 1

    /// Connects.
    ///
    /// - Parameter service: whose socket it is, for the sentence that says it is not running.
    /// - Throws: `ControlError`, exit status 69 if no service listens, 77 if this user may not.
    public init(
        path: String, service: String = "recorder", timeout: Duration = .seconds(5), clock: any Clock = SystemClock()
    ) throws(ControlError) {
        self.path = path
        self.clock = clock
        socket = Descriptor(Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        guard socket.number >= 0 else { throw ControlError(path, .talk("open a socket", code: errno)) }
        // A full queue of the listener makes connect wait, for as long as the sender's timeout says.
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
            throw ControlError(path, .notRunning(service: service, code: code))
        case let code? where code == EACCES || code == EPERM: throw ControlError(path, .denied(code: code))
        case let code? where code == EAGAIN: throw ControlError(path, .silent(after: timeout))
        case let code?: throw ControlError(path, .talk("connect", code: code))
        }
    }

    /// Readable when an event may have come.
    public var fileDescriptor: Int32 { socket.number }

    /// Asks, and waits for the reply. Events that come before it are kept for `nextEvent`.
    ///
    /// - Returns: the whole reply.
    /// - Throws: `ControlError`; what the recorder refuses has the cause `.refused`.
    public func ask(_ message: Request.Message, timeout: Duration = .seconds(5)) throws(ControlError) -> JSONValue {
        let id = JSONValue.integer(nextID)
        nextID += 1
        try send(Request(id: id, message).line + "\n")
        let limit = clock.now() + timeout
        while let line = try nextLine(until: limit) {
            guard let reply = try? JSONValue(decoding: line) else { throw garbled(line) }
            if reply["event"] != nil {
                events.append(line)
                continue
            }
            if reply["ok"] == .bool(true), reply["id"] == id { return reply }
            // A refusal without an id is of the connection, or of the line as such.
            guard reply["ok"] == .bool(false), let error = reply["error"],
                let code = error["code"]?.text.flatMap(Refusal.Code.init(rawValue:)),
                let message = error["message"]?.text
            else { throw garbled(line) }
            throw ControlError(path, .refused(Refusal(code, message)))
        }
        throw ControlError(path, .silent(after: timeout))
    }

    /// Asks for something that is answered with a status.
    public func askForStatus(
        _ message: Request.Message, timeout: Duration = .seconds(5)
    ) throws(ControlError) -> (Status, JSONValue) {
        let reply = try ask(message, timeout: timeout)
        guard let status = try? JSONDecoder().decode(Status.self, from: Data(reply.description.utf8)) else {
            throw ControlError(path, .garbled(reply.excerpt))
        }
        return (status, reply)
    }

    /// The next event, and the line that it came as; nil if none comes before `limit`. Events of other kinds than
    /// these are passed over.
    public func nextEvent(until limit: Instant) throws(ControlError) -> (Event, line: String)? {
        while let line = try events.isEmpty ? nextLine(until: limit) : events.removeFirst() {
            if let event = Event(line: line) { return (event, String(decoding: line, as: UTF8.self)) }
        }
        return nil
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
                // A request is small and its reply was read before the next: only a service that hangs reads none.
                guard wait(for: POLLOUT, until: clock.now() + .seconds(5)) else {
                    throw ControlError(path, .silent(after: .seconds(5)))
                }
            case .failed(EPIPE):
                // A service that closed the connection may have said why: that is still to be read.
                return
            case .failed(let code): throw ControlError(path, .talk("send", code: code))
            }
        }
    }

    /// The next line without its newline; nil if none comes before `limit`.
    private func nextLine(until limit: Instant) throws(ControlError) -> [UInt8]? {
        while true {
            if let end = input.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(input[..<end])
                input.removeFirst(end + 1)
                return line
            }
            switch calls.receive(from: socket, most: 16 << 10, into: &input) {
            case .bytes(0): throw ControlError(path, .closed)
            case .bytes: continue
            case .wouldBlock: guard wait(for: POLLIN, until: limit) else { return nil }
            case .failed(let code):
                throw ControlError(path, code == ECONNRESET ? .closed : .talk("receive", code: code))
            }
        }
    }

    /// Waits until the socket is ready; false if it is not before `limit`.
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

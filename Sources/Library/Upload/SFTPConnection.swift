import Glibc
import Programs
import Takes
import Workers

/// A connection to an SFTP server through a child process, `ssh`. Several tasks may use it at the same time.
///
/// Requests are numbered, and their answers come in any order. A thread passes the packets on; it ends with the child.
/// The connection ends if nobody uses it for a while, or if the server does not answer.
final class SFTPConnection: Sendable {
    private let command: SSHCommand
    private let patience: Patience
    private let child: ChildProcess
    private let orders = Mailbox<Order>()
    private let state = Locked(State())

    /// Time limits.
    struct Patience: Sendable {
        /// For any data to pass while answers are due. `ssh` detects a lost network earlier.
        var answer = Duration.seconds(120)
        /// For the next user, after the last one left.
        var idle = Duration.seconds(60)
        /// For `ssh` to report why it ends.
        var end = Duration.seconds(2)
    }

    private enum Order: Sendable {
        case send([UInt8])
        /// A user has left, so the idle time starts.
        case wait
        case end
    }

    private struct State {
        var phase = Phase.greeting(held: [])
        var users = 0
        var answers: [UInt32: SFTPAnswer] = [:]
        var next: UInt32 = 1
        /// The tasks that wait for the end.
        var closing: [CheckedContinuation<Void, Never>] = []
    }

    private enum Phase {
        /// Nothing may be sent before the server has sent its version.
        case greeting(held: [[UInt8]])
        case open(Set<SFTPExtension>)
        /// The connection was idle for too long. It ends.
        case unused
        case ended(StoreError)
    }

    /// Starts `ssh`.
    /// - Parameter program: replaces `ssh`.
    /// - Throws: `StoreError`.
    init(_ command: SSHCommand, program: String = SSHCommand.program, patience: Patience = Patience())
        throws(StoreError)
    {
        self.command = command
        self.patience = patience
        do {
            child = try ChildProcess(program, command.arguments)
        } catch {
            throw error.code == ENOENT
                ? StoreError(.refused, "outbox: \(program): is not there: apt install openssh-client")
                : StoreError(.busy(nil), "outbox: \(program): cannot be started: \(error)")
        }
        do {
            // The thread keeps the connection alive until the child has ended.
            _ = try Thread(name: "sftp") { self.run() }
        } catch {
            child.kill()
            child.end()
            throw StoreError(.busy(nil), "outbox: \(error)")
        }
    }

    /// Keeps the connection open until `leave`.
    /// - Returns: whether it is open.
    func enter() -> Bool {
        state.withLock { state in
            switch state.phase {
            case .greeting, .open:
                state.users += 1
                return true
            case .unused, .ended: return false
            }
        }
    }

    func leave() {
        state.withLock { $0.users -= 1 }
        orders.post(.wait)
    }

    /// Sends a request after the earlier ones. The caller awaits the answer later, so several requests can be pending.
    func send(_ request: SFTPRequest) -> SFTPAnswer {
        let answer = SFTPAnswer(mostData: request.mostData)
        let failure = state.withLock { state -> StoreError? in
            if case .ended(let error) = state.phase { return error }
            let id = state.next
            state.next &+= 1
            state.answers[id] = answer
            let packet = request.packet(id: id)
            if case .greeting(let held) = state.phase {
                state.phase = .greeting(held: held + [packet])
            } else {
                orders.post(.send(packet))
            }
            return nil
        }
        if let failure { answer.come(.failure(failure)) }
        return answer
    }

    func ask(_ request: SFTPRequest) async throws -> SFTPReply { try await send(request).value() }

    /// Whether the server has an extension. The result is valid only after the first answer.
    func has(_ ability: SFTPExtension) -> Bool {
        state.withLock { if case .open(let all) = $0.phase { all.contains(ability) } else { false } }
    }

    /// Ends the connection. The child has ended when this returns.
    func close() async {
        orders.post(.end)
        await ended()
    }

    func ended() async {
        await withCheckedContinuation { continuation in
            let isEnded = state.withLock { state in
                if case .ended = state.phase { return true }
                state.closing.append(continuation)
                return false
            }
            if isEnded { continuation.resume() }
        }
    }
}

extension SFTPConnection {
    private enum End {
        /// `ssh` has closed its output.
        case byItself(errors: [UInt8])
        case garbled(SFTPGarbled)
        case silent
        case unused
        case ordered
    }

    private func run() {
        var pump = Pump()
        var end: End?
        while end == nil { end = turn(&pump) }
        let place = "outbox: sftp://\(command.address.place)"
        let error: StoreError
        // An `ssh` that has closed its pipes ends by itself, and its status stays available.
        child.kill()
        let status = child.end()
        switch end! {
        case .byItself(let errors):
            let text = String(decoding: errors, as: UTF8.self)
            error = SSHFailure(command: command, text: text, status: status).error
        case .garbled(let garbled):
            error = StoreError(
                .refused,
                "\(place): the server sends \(garbled.found), which is not SFTP: the user's shell there must print nothing"
            )
        case .silent:
            error = StoreError(.away, "\(place): the server does not answer any more")
        case .unused, .ordered:
            error = StoreError(.away, "\(place): the connection was closed")
        }
        let (answers, closing) = state.withLock { state in
            state.phase = .ended(error)
            defer { (state.answers, state.closing) = ([:], []) }
            return (state.answers.map(\.value), state.closing)
        }
        for answer in answers { answer.come(.failure(error)) }
        for continuation in closing { continuation.resume() }
    }

    private struct Pump {
        /// The packets that `ssh` has not accepted yet, and the number of bytes accepted of the first one.
        var waiting = [SFTPRequest.greeting]
        var taken = 0
        var packets = SFTPPackets()
        /// The end of the standard error output of `ssh`.
        var errors: [UInt8] = []
        var hasOutput = true
        var hasErrors = true
        /// When data last passed, or when the last user left.
        var last = SystemClock().now()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
    }

    /// Waits for events, and handles them.
    private func turn(_ pump: inout Pump) -> End? {
        let input = pump.waiting.isEmpty || !pump.hasOutput ? -1 : child.input
        var files = [
            pollfd(fd: orders.fileDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: input, events: Int16(POLLOUT), revents: 0),
            pollfd(fd: pump.hasOutput ? child.output : -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: pump.hasErrors ? child.errors : -1, events: Int16(POLLIN), revents: 0),
        ]
        let (limit, outcome) = state.withLock { state -> (Duration, End) in
            guard pump.hasOutput else { return (patience.end, .byItself(errors: pump.errors)) }
            if case .greeting = state.phase { return (patience.answer, .silent) }
            return state.answers.isEmpty ? (patience.idle, .unused) : (patience.answer, .silent)
        }
        let left = pump.last + limit - SystemClock().now()
        // Safe: the array outlives the call.
        let ready = unsafe poll(
            &files, nfds_t(files.count), Int32(clamping: max(0, left.nanoseconds + 999_999) / 1_000_000))
        if ready == 0, left <= .zero {
            switch outcome {
            case .unused:
                // No new user can enter from here on.
                let isUsed = state.withLock { state in
                    guard state.users == 0 else { return true }
                    state.phase = .unused
                    return false
                }
                guard isUsed else { return .unused }
                pump.last = SystemClock().now()
            case .byItself, .silent, .garbled, .ordered: return outcome
            }
        }
        for order in orders.take() {
            switch order {
            case .send(let packet): pump.waiting.append(packet)
            case .wait: pump.last = SystemClock().now()
            case .end: return .ordered
            }
        }
        if files[1].revents != 0 { write(&pump) }
        if files[3].revents != 0 { readErrors(&pump) }
        do throws(SFTPGarbled) {
            if files[2].revents != 0 { try readOutput(&pump) }
        } catch {
            return .garbled(error)
        }
        return pump.hasOutput || pump.hasErrors ? nil : .byItself(errors: pump.errors)
    }

    private func write(_ pump: inout Pump) {
        while let packet = pump.waiting.first {
            guard let count = child.write(packet[pump.taken...]) else {
                // When `ssh` accepts no more input, it has closed its output as well, and its error output says why.
                pump.waiting = []
                return
            }
            guard count > 0 else { return }
            pump.last = SystemClock().now()
            pump.taken += count
            if pump.taken == packet.count {
                pump.taken = 0
                pump.waiting.removeFirst()
            }
        }
    }

    private func readErrors(_ pump: inout Pump) {
        if let count = child.read(child.errors, &pump.buffer) {
            pump.errors = (pump.errors + pump.buffer[..<count]).suffix(4096)
        } else {
            pump.hasErrors = false
        }
    }

    private func readOutput(_ pump: inout Pump) throws(SFTPGarbled) {
        guard let count = child.read(child.output, &pump.buffer) else {
            pump.hasOutput = false
            pump.last = SystemClock().now()
            return
        }
        guard count > 0 else { return }
        pump.last = SystemClock().now()
        pump.packets.add(pump.buffer[..<count])
        while let packet = try pump.packets.next() { try receive(packet) }
    }

    private func receive(_ packet: [UInt8]) throws(SFTPGarbled) {
        let (id, reply) = try SFTPReply.read(packet)
        guard let id else {
            guard case .version(let version, let extensions) = reply else { return }
            let isFirst = state.withLock { state in
                guard case .greeting(let held) = state.phase else { return false }
                state.phase = .open(extensions)
                for packet in held { orders.post(.send(packet)) }
                return true
            }
            guard isFirst, version >= 3 else { throw SFTPGarbled("version \(version)") }
            return
        }
        let count = if case .data(let bytes) = reply { bytes.count } else { 0 }
        let answer = state.withLock { state -> SFTPAnswer? in
            // No request was sent before the version arrived.
            guard case .open = state.phase, let answer = state.answers[id], count <= answer.mostData else { return nil }
            state.answers[id] = nil
            return answer
        }
        guard let answer else { throw SFTPGarbled("an answer without a request") }
        if !answer.come(.success(reply)), case .handle(let handle) = reply {
            // The handle was opened for a task that was cancelled.
            _ = send(.close(handle))
        }
    }
}

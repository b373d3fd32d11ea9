import Glibc
package import Sockets
package import Takes
import Transport

/// A service's end of its control socket: JSON objects, one per line.
///
/// It never blocks. The caller polls `fileDescriptor` with its other files, calls `serve` when it is readable, and
/// calls `turn` in each of its turns. Each time a peer costs at most one read and a few requests. All peers together
/// cost little more than `PeerLimits.longestTurn`, followed by a rest, so they cannot delay the caller, however many
/// they are.
package final class PeerServer<Message: PeerMessage> {
    package let path: String
    private let listener: Listener
    private var epoll: Epoll
    /// Contains `epoll`, except during a rest.
    private var gate: Epoll
    private var restsUntil: Instant?
    private let calls: SocketCalls
    private let clock: any Clock
    package weak var handler: (any PeerHandler<Message>)?
    private var connections: [UInt64: Connection] = [:]
    private var nextKey: UInt64 = 2
    /// The key of the peer that is served first.
    private var firstKey: UInt64 = 0
    /// A file that is always readable. It is watched while there is work that no peer's descriptor announces.
    private let work: Descriptor
    /// A reserve that is released when no descriptor is left. Without it, a peer that cannot be accepted would wake the
    /// loop again and again.
    private var spare = Descriptor(openNull())
    private var now = Instant(nanoseconds: 0)

    /// Listens at `path`. Only the owner and the group may use the socket (mode 0660).
    ///
    /// - Parameter clock: measures `PeerLimits.longestTurn`.
    /// - Throws: if another service answers there, or the system refuses.
    package init(path: String, clock: any Clock = SystemClock(), calls: SocketCalls = SocketCalls())
        throws(ControlError)
    {
        listener = try Listener.opened(at: path, by: Message.service)
        self.path = path
        self.clock = clock
        self.calls = calls
        do throws(Epoll.Failure) {
            epoll = try Epoll()
            gate = try Epoll()
            try gate.watch(epoll.descriptor, key: 0, for: .readable)
            work = try Descriptor(alwaysReadable: ())
            try epoll.watch(listener.descriptor, key: 0, for: .readable)
        } catch {
            throw ControlError(path, .listen("wait for peers", code: error.code))
        }
    }

    /// Readable when `serve` has something to do.
    package var fileDescriptor: Int32 { gate.descriptor.number }

    /// When the next peer exceeds its time to read, or to complete a line.
    var deadline: Instant? {
        connections.values.compactMap(\.deadline).min()
    }

    // MARK: Serving

    /// Drops peers that left output unread for too long or stopped in the middle of a line, and ends a rest.
    /// - Returns: the latest time for the next call, even if nothing becomes readable.
    package func turn(_ now: Instant) -> Instant? {
        if let end = restsUntil, end <= now {
            restsUntil = nil
            try? gate.watch(epoll.descriptor, key: 0, for: .readable)
        }
        if let deadline, deadline <= now {
            for connection in connections.values {
                connection.flush(now: now)
                guard connection.isLineOverdue(now: now) else { continue }
                let seconds = Connection.longestPause.components.seconds
                refuse(connection, "the line was not continued for \(seconds) s", now)
            }
            sweep()
        }
        return [restsUntil, deadline].compactMap(\.self).min()
    }

    private func rest(after duration: Duration, now: Instant) {
        guard (try? gate.watch(epoll.descriptor, key: 0, for: nil)) != nil else { return }
        restsUntil = now + min(duration * 2, PeerLimits.longestRest)
    }

    /// Does the work that is ready, as far as it can start within `longestTurn`, without blocking.
    package func serve(_ now: Instant) {
        self.now = now
        let start = clock.now()
        let end = start + PeerLimits.longestTurn
        var ready: [UInt64: Epoll.Event] = [:]
        for (key, events) in epoll.ready(most: PeerLimits.mostConnections + 2) { ready[key] = events }
        if ready[0] != nil { accept() }
        let keys = connections.keys.sorted()
        let order = keys.drop { $0 < firstKey } + keys.prefix { $0 < firstKey }
        firstKey = 0
        for key in order {
            guard let connection = connections[key], connection.hasWork || ready[key] != nil else { continue }
            let now = clock.now()
            guard now < end else {
                firstKey = key
                break
            }
            turn(
                connection, hasGone: !(ready[key] ?? []).isDisjoint(with: .gone), key: key,
                until: min(end, now + PeerLimits.longestPeerTurn))
        }
        sweep()
        let over = clock.now()
        if over >= end { rest(after: over - start, now: over) }
    }

    private func accept() {
        for _ in 0..<PeerLimits.mostConnections {
            let number = calls.accept(listener.descriptor.number)
            guard number >= 0 else {
                switch errno {
                case EINTR, ECONNABORTED: continue
                case EMFILE, ENFILE: turnAway()
                default: break
                }
                return
            }
            let connection = Connection(Descriptor(number), calls: calls)
            guard hasRoom(for: connection) else {
                let message = "control: \(connections.count) connections are open already: close one"
                connection.reply(.refused(Refusal(.busy, message)), id: .null, now: now)
                continue
            }
            connections[nextKey] = connection
            nextKey += 1
            updateInterest(nextKey - 1)
        }
    }

    private func hasRoom(for connection: Connection) -> Bool {
        if connection.isPrivileged { return connections.count < PeerLimits.mostConnections }
        let others = connections.values.count { !$0.isPrivileged }
        return connections.count < PeerLimits.mostConnections
            && others < PeerLimits.mostConnections - PeerLimits.keptConnections
    }

    /// Accepts one peer with the spare descriptor and closes its connection.
    private func turnAway() {
        spare = Descriptor(-1)
        let number = calls.accept(listener.descriptor.number)
        if number >= 0 { close(number) }
        spare = Descriptor(openNull())
    }

    /// Serves one peer: sends its pending output, then reads, as long as the peer reads its replies.
    private func turn(_ connection: Connection, hasGone: Bool, key: UInt64, until end: Instant) {
        connection.flush(now: now)
        var mayRead = true
        var requests = 0
        while !connection.isClosed, !connection.isEnding, !connection.isAnswering, !connection.hasOutput,
            requests < PeerLimits.mostRequestsPerTurn, requests == 0 || clock.now() < end
        {
            if let line = connection.nextLine() {
                requests += 1
                handle(line, of: connection, key: key)
            } else if connection.isLineTooLong {
                refuse(connection, "the line has more than \(Connection.longestLine) bytes", now)
            } else if mayRead, !connection.hasInputEnded {
                mayRead = false
                connection.receive(now: now)
            } else {
                break
            }
        }
        if connection.hasInputEnded, !connection.hasLine, !connection.isAnswering, !connection.isEnding {
            if connection.hasHalfLine {
                refuse(connection, "the last line does not end with a newline", now)
            } else if hasGone || connection.isDeaf || !connection.isKept {
                connection.end()
            }
        }
        if hasGone, connection.isAnswering {
            // The system would report the hang-up again and again. The answer ends the wait.
            connection.isAbandoned = true
        }
    }

    /// Replies that the peer's data is wrong, and ends the connection.
    private func refuse(_ connection: Connection, _ problem: String, _ now: Instant) {
        connection.reply(.refused(Refusal(.badData, "control: \(problem)")), id: .null, now: now)
        connection.end()
    }

    private func handle(_ line: ArraySlice<UInt8>, of connection: Connection, key: UInt64) {
        let request: Request<Message>
        do {
            request = try Request.read(line)
        } catch {
            connection.reply(.refused(error.refusal), id: error.id, now: now)
            if error.refusal.code == .badData { connection.end() }
            return
        }
        let answer = answer(to: connection, id: request.id, key: key)
        guard let handler else {
            let message = "control: the \(Message.service.rawValue) is shutting down"
            return answer.refuse(Refusal(.internal, message))
        }
        handler.carryOut(request.message, of: PeerID(key: key), answer: answer)
    }

    private func answer(to connection: Connection, id: JSONValue, key: UInt64) -> Answer {
        connection.isAnswering = true
        return Answer(of: Message.service) { [weak self, weak connection] reply in
            guard let self, let connection, !connection.isClosed else { return }
            connection.isAnswering = false
            connection.reply(reply, id: id, now: time)
            updateInterest(key)
            updateWork()
        }
    }

    /// Answers and events may come long after the last call of `serve`.
    private var time: Instant { max(now, clock.now()) }

    // MARK: Peers

    /// Whether a peer is still connected, so that its request is still worth carrying out.
    package func has(_ peer: PeerID) -> Bool {
        connections[peer.key]?.isAttached ?? false
    }

    /// Keeps a peer's connection open after it has finished sending, until it closes.
    package func keep(_ peer: PeerID) {
        guard has(peer) else { return }
        connections[peer.key]?.isKept = true
    }

    package func send(_ event: String, to peers: some Sequence<PeerID>) {
        let time = time
        for peer in peers {
            connections[peer.key]?.append(event, now: time)
            updateInterest(peer.key)
        }
        updateWork()
    }

    // MARK: Waiting

    /// Removes closed connections, and sets the events to watch for the others.
    private func sweep() {
        for (key, connection) in connections {
            if connection.isFinished {
                connection.close()
                connections[key] = nil
                epoll.drop(key: key)
            } else {
                updateInterest(key)
            }
        }
        handler?.peersMayHaveGone()
        updateWork()
    }

    private func updateWork() {
        let hasWork = connections.values.contains(where: \.hasWork)
        try? epoll.watch(work, key: 1, for: hasWork ? .readable : nil)
    }

    private func updateInterest(_ key: UInt64) {
        guard let connection = connections[key] else { return }
        let events: Epoll.Event?
        if connection.hasOutput {
            events = .writable
        } else if connection.isAnswering {
            events = connection.isAbandoned ? nil : []
        } else {
            events = connection.hasLine || connection.hasInputEnded ? [] : .readable
        }
        do {
            try epoll.watch(connection.socket, key: key, for: events)
        } catch {
            connection.close()
        }
    }
}

private func openNull() -> Int32 {
    unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
}

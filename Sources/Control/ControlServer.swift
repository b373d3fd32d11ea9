import Glibc
public import Takes
public import Transport

/// The recorder's end of the control socket: JSON objects, one a line.
///
/// It never waits. The caller polls `fileDescriptor` with its other files, calls `serve` when it is readable, and `turn` in
/// each of its turns. A peer costs at most one read and a few requests each time, and all of them together little more than
/// `longestTurn`, after which there is a rest: however many there are, and whatever they want, they do not delay the caller.
public final class ControlServer {
    /// The most peers at a time.
    public static let mostConnections = 32
    /// Places that are kept for root and the recorder's own user, so that no other can shut them out.
    public static let keptConnections = 4
    /// The most requests of one peer before the others have their turn.
    static let mostRequestsPerTurn = 16
    /// How long `serve` goes on to begin with requests, whichever peers wait: the others come first the next time. It rests twice as
    /// long as it took then, so that peers have a third of the caller's time at most.
    static let longestTurn = Duration.milliseconds(10)
    /// The same for one peer, so that most have a turn each time.
    static let longestPeerTurn = Duration.milliseconds(1)
    /// No rest is longer: one request that takes long, such as a list of cards, is no flood.
    static let longestRest = Duration.milliseconds(100)

    /// Where peers find it.
    public let path: String
    private let listener: Listener
    private var epoll: Epoll
    /// Holds `epoll`, except while there is a rest.
    private var gate: Epoll
    private var restsUntil: Instant?
    private let calls: SocketCalls
    private let clock: any Clock
    private weak var handler: (any ControlHandler)?
    private var connections: [UInt64: Connection] = [:]
    private var nextKey: UInt64 = 2
    /// Whose turn comes first.
    private var firstKey: UInt64 = 0
    /// A file that is always readable, watched while something is to be done that no peer's file announces.
    private let work: Descriptor
    /// Kept to be given up when there are no more: otherwise a peer that cannot be accepted wakes the loop without end.
    private var spare = Descriptor(openNull())
    private var indicators: [UInt64] = []
    private var shownUpload: UploadState?
    private var now = Instant(nanoseconds: 0)

    /// Listens at `path`. The socket is for its owner and group (mode 0660).
    ///
    /// - Parameter clock: what `longestTurn` is measured by.
    /// - Throws: if another recorder answers there, or the system refuses.
    public convenience init(
        path: String, handler: any ControlHandler, clock: any Clock = SystemClock()
    ) throws(ControlError) {
        try self.init(path: path, handler: handler, clock: clock, calls: SocketCalls())
    }

    init(
        path: String, handler: any ControlHandler, clock: any Clock, calls: SocketCalls
    ) throws(ControlError) {
        listener = try Listener(path: path)
        self.path = path
        self.handler = handler
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
    public var fileDescriptor: Int32 { gate.descriptor.number }

    /// When a peer's time to read, or to go on with a line, is over.
    var deadline: Instant? {
        connections.values.compactMap(\.deadline).min()
    }

    /// Whether there is a watcher, so that levels are worth publishing.
    public var hasWatchers: Bool {
        connections.values.contains { $0.watching != .nothing }
    }

    /// Whether a watcher asked for the waveform, so that peaks are worth publishing.
    public var hasPeakWatchers: Bool {
        connections.values.contains { $0.watching == .statusAndPeaks }
    }

    // MARK: Serving

    /// Drops who left too long unread what waits, or stopped in the middle of a line, and ends a rest.
    /// - Returns: when it is to be called again at the latest, even if nothing is readable.
    public func turn(_ now: Instant) -> Instant? {
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
        restsUntil = now + min(duration * 2, Self.longestRest)
    }

    /// Does what is ready, as far as it can be begun within `longestTurn`, and returns without waiting.
    public func serve(_ now: Instant) {
        self.now = now
        let start = clock.now()
        let end = start + Self.longestTurn
        var ready: [UInt64: Epoll.Event] = [:]
        for (key, events) in epoll.ready(most: Self.mostConnections + 2) { ready[key] = events }
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
                until: min(end, now + Self.longestPeerTurn))
        }
        sweep()
        let over = clock.now()
        if over >= end { rest(after: over - start, now: over) }
    }

    private func accept() {
        for _ in 0..<Self.mostConnections {
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
        if connection.isPrivileged { return connections.count < Self.mostConnections }
        let others = connections.values.count { !$0.isPrivileged }
        return connections.count < Self.mostConnections && others < Self.mostConnections - Self.keptConnections
    }

    /// Accepts one peer with the spare descriptor and lets it go at once.
    private func turnAway() {
        spare = Descriptor(-1)
        let number = calls.accept(listener.descriptor.number)
        if number >= 0 { close(number) }
        spare = Descriptor(openNull())
    }

    /// One peer's turn: what waits for it is sent, then it is read from, while it keeps up with its replies.
    private func turn(_ connection: Connection, hasGone: Bool, key: UInt64, until end: Instant) {
        connection.flush(now: now)
        var mayRead = true
        var requests = 0
        while !connection.isClosed, !connection.isEnding, !connection.isAnswering, !connection.hasOutput,
            requests < Self.mostRequestsPerTurn, requests == 0 || clock.now() < end
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
            } else if hasGone || connection.isDeaf || !(connection.watching != .nothing || connection.upload != nil) {
                connection.end()
            }
        }
        if hasGone, connection.isAnswering {
            // The system would go on reporting it; the answer brings it back.
            connection.upload = nil
            connection.isAbandoned = true
        }
    }

    /// Says what is wrong with what a peer sent, and ends the connection.
    private func refuse(_ connection: Connection, _ problem: String, _ now: Instant) {
        connection.reply(.refused(Refusal(.badData, "control: \(problem)")), id: .null, now: now)
        connection.end()
    }

    private func handle(_ line: ArraySlice<UInt8>, of connection: Connection, key: UInt64) {
        let request: Request
        do {
            request = try Request.read(line)
        } catch {
            connection.reply(.refused(error.refusal), id: error.id, now: now)
            if error.refusal.code == .badData { connection.end() }
            return
        }
        guard let handler else {
            let refusal = Refusal(.internal, "control: the recorder is shutting down")
            connection.reply(.refused(refusal), id: request.id, now: now)
            return
        }
        switch request.message {
        case .status:
            connection.reply(.status(handler.status), id: request.id, now: now)
        case .watch(let peaks):
            let status = handler.status
            connection.watching = peaks ? .statusAndPeaks : .status
            connection.reportedStatus = status.withoutMotion
            connection.reply(.status(status), id: request.id, now: now)
        case .indicate(let state):
            connection.upload = state
            indicators.removeAll { $0 == key }
            indicators.append(key)
            connection.reply(.done, id: request.id, now: now)
            reportUpload()
        case .command(let command):
            handler.perform(command, answer: answer(to: connection, id: request.id, key: key))
        case .inventory(let inventory):
            handler.list(inventory, answer: answer(to: connection, id: request.id, key: key))
        case .light(let lamp):
            handler.light(lamp, answer: answer(to: connection, id: request.id, key: key))
        case .setClock(let time):
            handler.setClock(to: time, answer: answer(to: connection, id: request.id, key: key))
        }
    }

    private func answer(to connection: Connection, id: JSONValue, key: UInt64) -> Answer {
        connection.isAnswering = true
        return Answer { [weak self, weak connection] reply in
            guard let self, let connection, !connection.isClosed else { return }
            connection.isAnswering = false
            connection.reply(reply, id: id, now: self.now)
            updateInterest(key)
            updateWork()
        }
    }

    // MARK: Events

    /// Informs the watching peers if anything changed but what moves all the time.
    public func publish(_ status: Status) {
        guard hasWatchers else { return }
        let still = status.withoutMotion
        var line: String?
        for (key, connection) in connections where connection.watching != .nothing && connection.reportedStatus != still
        {
            line = line ?? Event.status(status).line
            guard let line else { return }
            connection.reportedStatus = still
            send(line, connection, key)
        }
        updateWork()
    }

    /// Sends the watching peers the levels; to be called ten times a second while `hasWatchers`.
    public func publish(levels status: Status) {
        guard hasWatchers, let line = Event.level(LevelEvent(status)).line else { return }
        for (key, connection) in connections where connection.watching != .nothing { send(line, connection, key) }
        updateWork()
    }

    /// Sends the waveform that came since the last call to the watching peers that asked for it.
    public func publish(_ peaks: PeaksEvent) {
        guard hasPeakWatchers, let line = Event.peaks(peaks).line else { return }
        for (key, connection) in connections where connection.watching == .statusAndPeaks {
            send(line, connection, key)
        }
        updateWork()
    }

    /// Informs the watching peers of what became of a take.
    public func publish(_ change: TakeChange) {
        guard hasWatchers, let line = Event.take(change).line else { return }
        for (key, connection) in connections where connection.watching != .nothing { send(line, connection, key) }
        updateWork()
    }

    private func send(_ line: String, _ connection: Connection, _ key: UInt64) {
        connection.append(line, now: now)
        updateInterest(key)
    }

    /// Hands over the state that the last connection reported which still lives.
    private func reportUpload() {
        indicators.removeAll { connections[$0]?.upload == nil }
        let state = indicators.last.flatMap { connections[$0]?.upload }
        guard state != shownUpload else { return }
        shownUpload = state
        handler?.indicate(state)
    }

    // MARK: Waiting

    /// Removes what is closed, and sets what the system waits for on behalf of the others.
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
        reportUpload()
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

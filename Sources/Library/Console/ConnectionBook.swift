import Takes

/// The connected browsers, and which of them must be closed so that a paired phone can connect. Pure: `ConnectionDesk`
/// closes them.
struct ConnectionBook<ID: Hashable> {
    private enum Phase {
        /// It has not sent a request yet, or has received its answer.
        case silent(since: Instant)
        case answering

        var isSilent: Bool { if case .silent = self { true } else { false } }
    }

    private struct Connection {
        var address: BrowserAddress
        /// Whether its last request was a paired phone's.
        var isPaired = false
        var phase: Phase
        /// In the order of connection.
        var number: Int
    }

    private var connections: [ID: Connection] = [:]
    private var last = 0
}

/// The limits of connections.
enum ConnectionLimits {
    /// All connections; more wait in the kernel's queue.
    static let most = 128
    /// The connections of strangers. The other places are for paired phones.
    static let mostOfStrangers = 96
    static let mostOfStrangersAtAnAddress = 16
    /// A stranger that is silent for this time is dropped.
    static let strangersIdle = Duration.seconds(10)
    /// A browser opens several connections at once. Each has this time to show that it belongs to a paired phone.
    static let grace = Duration.seconds(2)
}

extension ConnectionBook {
    var isEmpty: Bool { connections.isEmpty }

    private typealias Stranger = (id: ID, connection: Connection)

    /// The strangers at each address.
    private var strangers: [BrowserAddress: [Stranger]] {
        let all = connections.filter { !$0.value.isPaired }.map { Stranger($0.key, $0.value) }
        return Dictionary(grouping: all) { $0.connection.address }
    }

    /// Adds a connected browser.
    /// - Returns: the connections to close for it.
    mutating func came(_ id: ID, from address: BrowserAddress, at now: Instant) -> [ID] {
        var victims = overdue(at: now)
        let count = connections.values.count { !$0.isPaired }
        if count >= ConnectionLimits.mostOfStrangers || connections.count >= ConnectionLimits.most,
            let victim = dispensable()
        {
            connections[victim] = nil
            victims.append(victim)
        }
        last += 1
        connections[id] = Connection(address: address, phase: .silent(since: now), number: last)
        return victims
    }

    /// Notes that the browser sent the head of a request.
    mutating func asked(_ id: ID, isPaired: Bool) {
        connections[id]?.isPaired = isPaired
        connections[id]?.phase = .answering
    }

    /// Notes that the browser received its answer.
    mutating func answered(_ id: ID, at now: Instant) { connections[id]?.phase = .silent(since: now) }

    mutating func left(_ id: ID) { connections[id] = nil }

    /// Removes strangers that are silent for too long, or are too many at their address.
    /// - Returns: the connections to close.
    mutating func overdue(at now: Instant) -> [ID] {
        var victims: [ID] = []
        for all in strangers.values {
            var excess = all.count - ConnectionLimits.mostOfStrangersAtAnAddress
            for stranger in all.sorted(by: { $0.connection.number < $1.connection.number }) {
                let patience = excess > 0 ? ConnectionLimits.grace : ConnectionLimits.strangersIdle
                guard case .silent(let since) = stranger.connection.phase, now - since >= patience else { continue }
                victims.append(stranger.id)
                excess -= 1
            }
        }
        for victim in victims { connections[victim] = nil }
        return victims
    }

    /// The stranger with the longest connection at the address with the most strangers; silent ones are preferred.
    private func dispensable() -> ID? {
        let addresses = strangers.values.map { all in
            all.sorted { $0.connection.number < $1.connection.number }
        }
        let crowded = addresses.max { left, right in
            left.count == right.count
                ? left[0].connection.number > right[0].connection.number : left.count < right.count
        }
        return (crowded?.first { $0.connection.phase.isSilent } ?? crowded?.first)?.id
    }
}

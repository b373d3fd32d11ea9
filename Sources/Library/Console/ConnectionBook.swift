import Takes

/// The browsers that are connected, and which of them must go so that a phone that is paired gets in. Pure: `ConnectionDesk` closes them.
struct ConnectionBook<ID: Hashable> {
    private enum Phase {
        /// It has not asked yet, or has its answer.
        case silent(since: Instant)
        case answering

        var isSilent: Bool { if case .silent = self { true } else { false } }
    }

    private struct Connection {
        var address: BrowserAddress
        /// Whether its last request was a paired phone's.
        var isPaired = false
        var phase: Phase
        /// In the order in which they came.
        var number: Int
    }

    private var connections: [ID: Connection] = [:]
    private var last = 0
}

/// How many are served, and how long.
enum ConnectionLimits {
    /// All of them; more wait in the kernel's queue.
    static let most = 128
    /// Those of strangers: the other places are for phones that are paired.
    static let mostOfStrangers = 96
    static let mostOfStrangersAtAnAddress = 16
    /// A stranger that is silent for so long is dropped.
    static let strangersIdle = Duration.seconds(10)
    /// A browser opens several connections at once: each may say in this time that it is a paired phone's.
    static let grace = Duration.seconds(2)
}

extension ConnectionBook {
    var isEmpty: Bool { connections.isEmpty }

    private typealias Stranger = (id: ID, connection: Connection)

    /// At each address.
    private var strangers: [BrowserAddress: [Stranger]] {
        let all = connections.filter { !$0.value.isPaired }.map { Stranger($0.key, $0.value) }
        return Dictionary(grouping: all) { $0.connection.address }
    }

    /// A browser connected.
    /// - Returns: the connections that are to be closed for it.
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

    /// It sent the head of a request.
    mutating func asked(_ id: ID, isPaired: Bool) {
        connections[id]?.isPaired = isPaired
        connections[id]?.phase = .answering
    }

    /// It has its answer.
    mutating func answered(_ id: ID, at now: Instant) { connections[id]?.phase = .silent(since: now) }

    /// It is gone.
    mutating func left(_ id: ID) { connections[id] = nil }

    /// Takes strangers off that are silent for too long, or are too many at their address.
    /// - Returns: those that are to be closed.
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

    /// The stranger that has been there longest, of the address that has most of them; rather one that is silent.
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

import Glibc
import Sockets
import Takes

/// Accepts the connections of a socket, and pauses for a while when `accept` fails.
final class PeerAcceptor {
    private let listener: Listener
    private let calls: SocketCalls
    private var state = State.accepting

    private enum State {
        case accepting
        /// `accept` failed, for example because no file descriptor is left.
        case resting(until: Instant)
    }

    /// The pause after a failed `accept`.
    static let rest = Duration.seconds(1)

    init(_ listener: consuming Listener, calls: SocketCalls) {
        self.listener = listener
        self.calls = calls
    }

    /// Accepts all waiting connections.
    /// - Parameter body: gets each connection. A connection that it does not keep is closed.
    func accept(now: Instant, _ body: (consuming Descriptor) -> Void) {
        if case .resting(let until) = state {
            guard now >= until else { return }
            state = .accepting
        }
        while true {
            let number = calls.accept(listener.descriptor.number)
            guard number >= 0 else {
                switch errno {
                case EINTR, ECONNABORTED: continue
                case EAGAIN: return
                // Without the pause, the waiting connection would wake the thread again at once.
                default: return state = .resting(until: now + Self.rest)
                }
            }
            body(Descriptor(number))
        }
    }

    typealias Awaited = (descriptor: Int32, deadline: Instant?)

    /// The socket. During the pause it is a negative descriptor, which poll ignores.
    var awaited: Awaited {
        switch state {
        case .accepting: (listener.descriptor.number, nil)
        case .resting(let until): (-1, until)
        }
    }
}

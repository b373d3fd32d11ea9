import Control
import Glibc
import Takes

/// Accepts the connections of a socket, and rests for a while when the system grants no more.
final class PeerAcceptor {
    private let listener: Listener
    private let calls: SocketCalls
    private var state = State.accepting

    private enum State {
        case accepting
        /// The system has no descriptor left for another peer.
        case resting(until: Instant)
    }

    /// How long no peer is accepted after the system refused one.
    static let rest = Duration.seconds(1)

    init(_ listener: consuming Listener, calls: SocketCalls) {
        self.listener = listener
        self.calls = calls
    }

    /// Accepts all that wait.
    /// - Parameter body: gets each connection, which is closed unless it is kept.
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
                // Without a rest, the connection that cannot be accepted would wake the thread at once again.
                default: return state = .resting(until: now + Self.rest)
                }
            }
            body(Descriptor(number))
        }
    }

    /// What to wait for, and until when.
    typealias Awaited = (descriptor: Int32, deadline: Instant?)

    /// The socket, or while it rests a negative descriptor, which poll leaves out.
    var awaited: Awaited {
        switch state {
        case .accepting: (listener.descriptor.number, nil)
        case .resting(let until): (-1, until)
        }
    }
}

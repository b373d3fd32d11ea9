import Sockets
import Takes
public import Transport

/// Why the socket could not be opened or used.
public struct ControlError: Error, Hashable, Sendable {
    public var path: String
    public var cause: Cause

    public enum Cause: Hashable, Sendable {
        /// The path does not fit into a socket's address.
        case pathLength
        /// A file at the path is not a socket. It is left alone.
        case notASocket
        /// A service of this kind already answers there.
        case taken(by: Service)
        /// A system call failed while listening: the operation and its error code.
        case listen(String, code: Int32)
        /// No server listens there.
        case notRunning(service: Service, code: Int32)
        /// This user lacks the permission.
        case denied(code: Int32)
        /// A system call failed during communication: the operation and its error code.
        case talk(String, code: Int32)
        case closed
        /// No reply came in time.
        case silent(after: Duration)
        /// The service sent something that is not a reply.
        case garbled(String)
        case refused(Refusal)
    }

    init(_ path: String, _ cause: Cause) {
        self.path = path
        self.cause = cause
    }

    /// The exit status of a command that ends with this error, as in `sysexits.h`.
    public var exitStatus: Int32 {
        switch cause {
        case .pathLength: 64
        case .notRunning, .closed, .silent: 69
        case .garbled: 70
        case .notASocket, .taken, .listen: 73
        case .talk: 74
        case .denied: 77
        case .refused(let refusal): refusal.code.exitStatus
        }
    }
}

extension ControlError: CustomStringConvertible {
    public var description: String {
        switch cause {
        case .pathLength:
            "control: \(path): a socket's path has 1 to \(SocketAddress.longestPath) bytes, this one has "
                + "\(path.utf8.count): choose a shorter one"
        case .notASocket:
            "control: \(path): cannot listen: the existing file is not a socket: move it away, or choose another path"
        case .taken(let service):
            "control: \(path): cannot listen: another \(service.rawValue) answers there: stop it first, or choose another path"
        case .listen(let operation, let code):
            "control: \(path): cannot \(operation): \(SystemError(code))"
        case .notRunning(let service, let code):
            "control: \(path): the \(service.rawValue) is not running (\(SystemError(code)))"
                // A development machine lacks the unit.
                + (path.hasPrefix("/run/") ? ": start it with 'systemctl start fieldfare-\(service.rawValue)'" : "")
        case .denied(let code):
            "control: \(path): \(SystemError(code)): is this user in the group 'fieldfare'?"
        case .talk(let operation, let code):
            "control: \(path): cannot \(operation): \(SystemError(code))"
        case .closed:
            "control: \(path): the connection was closed by the other end: try again"
        case .silent(let duration):
            "control: \(path): no reply within \(duration.components.seconds) s: see the service's log"
        case .garbled(let line):
            "control: \(path): not a reply: \(line)"
        case .refused(let refusal):
            refusal.message
        }
    }
}

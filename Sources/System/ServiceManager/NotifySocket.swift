package import Glibc
import Takes

/// The service manager's socket, which receives the state of a service. This is the protocol of `sd_notify(3)`, without
/// libsystemd.
package struct NotifySocket: ~Copyable {
    package enum Notice: Equatable {
        /// The service is ready.
        case ready
        /// The service ends on request.
        case stopping
        /// The start, or the end, takes longer: the manager waits at least this long from now.
        case moreTime(Duration)
        /// The service is alive. Without this notice, the manager restarts it.
        case watchdog
        /// The current activity, in one line for a person.
        case status(String)

        var assignment: String {
            switch self {
            case .ready: "READY=1"
            case .stopping: "STOPPING=1"
            case .moreTime(let duration): "EXTEND_TIMEOUT_USEC=\(duration.nanoseconds / 1000)"
            case .watchdog: "WATCHDOG=1"
            case .status(let text): "STATUS=" + text.split(whereSeparator: \.isNewline).joined(separator: " ")
            }
        }
    }

    private let address: String
    private let descriptor: Int32
    private let calls: NotifyCalls

    /// Opens a socket for sending.
    /// - Parameter address: a path, or `@` and a name in the abstract namespace, as in `NOTIFY_SOCKET`.
    package init(_ address: String, calls: NotifyCalls = NotifyCalls()) throws(NotifyError) {
        // Other addresses, such as vsock, are for containers and virtual machines.
        guard address.hasPrefix("/") || address.hasPrefix("@"), address.utf8.count <= SocketName.longest else {
            throw NotifyError("use it", address, code: EAFNOSUPPORT)
        }
        let descriptor = calls.socket()
        guard descriptor >= 0 else { throw NotifyError("open a socket", address, code: errno) }
        self.descriptor = descriptor
        self.address = address
        self.calls = calls
    }

    deinit { calls.close(descriptor) }

    /// Sends notices without blocking. Several are sent as one message, so that all or none arrive.
    /// - Throws: also if the manager's queue is full. The notices must then be sent again.
    package func send(_ notices: [Notice]) throws(NotifyError) {
        let message = Array(notices.map(\.assignment).joined(separator: "\n").utf8)
        while calls.send(descriptor, message, SocketName(address)) < 0 {
            guard errno == EINTR else { throw NotifyError("send", address, code: errno) }
        }
    }
}

/// The system calls that reach the service manager, one closure each. They return what the system returns and leave the
/// error code in `errno`.
package struct NotifyCalls {
    package var socket: () -> Int32 = {
        Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    }
    package var send: (_ descriptor: Int32, _ message: [UInt8], _ to: SocketName) -> Int = {
        descriptor, message, name in
        unsafe name.withAddress { address, length in
            unsafe sendto(
                descriptor, message, message.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), address, length)
        }
    }
    package var close: (Int32) -> Void = { _ = Glibc.close($0) }

    package init() {}
}

/// The name of a Unix socket: a path, or `@` and a name in the abstract namespace.
package struct SocketName: Equatable {
    /// In bytes, including the NUL that terminates a path.
    package static let longest = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    private let bytes: [UInt8]

    /// - Parameter name: at most `longest` bytes.
    package init(_ name: String) {
        bytes = Array(name.utf8)
    }

    /// Calls `body` with the name as an address, which is valid during the call only.
    package func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isAbstract = bytes.first == UInt8(ascii: "@")
        // Safe: the copy is shorter than the zeroed field, and the address lives during the call.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { path in
            unsafe path.copyBytes(from: bytes.prefix(Self.longest))
            if isAbstract { unsafe path[0] = 0 }
        }
        // An abstract name uses all bytes of the given length. A path ends at its NUL.
        let used = min(bytes.count, Self.longest) + (isAbstract ? 0 : 1)
        let length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + used)
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }
}

package struct NotifyError: Error, Hashable, CustomStringConvertible {
    package var operation: String
    /// The value of `NOTIFY_SOCKET`.
    package var address: String
    /// As in `errno(3)`.
    package var code: Int32

    package init(_ operation: String, _ address: String, code: Int32) {
        self.operation = operation
        self.address = address
        self.code = code
    }

    package var description: String {
        "service: \(address): cannot \(operation): \(SystemError(code)) "
            + "(NOTIFY_SOCKET names the service manager's socket)"
    }
}

import Glibc
import NIOCore
import Settings

/// The sockets that the service manager opened, so that ports below 1024 need no privilege (sd_listen_fds(3)).
struct InheritedSockets: Equatable {
    /// For unencrypted connections; nil if none was passed.
    var plain: Int32?
    /// For TLS.
    var tls: Int32?

    private static let first: Int32 = 3
    /// `FileDescriptorName=` of fieldfare-library-tls.socket.
    private static let tlsName = "tls"

    /// The sockets passed to this process. All others are closed.
    static func take() -> Self {
        // Safe: the string is copied at once, and no thread changes the environment.
        let value = { (name: String) in unsafe getenv(name).map { unsafe String(cString: $0) } }
        guard value("LISTEN_PID").flatMap({ Int32($0) }) == getpid(),
            let count = value("LISTEN_FDS").flatMap({ Int32($0) }), (1...100).contains(count)
        else { return Self() }
        let all = Array(first..<(first + count))
        let found = Self(all, names: value("LISTEN_FDNAMES") ?? "")
        for descriptor in all {
            if descriptor == found.plain || descriptor == found.tls {
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            } else {
                Glibc.close(descriptor)
            }
        }
        return found
    }

    init() {}

    /// - Parameter names: one for each descriptor, separated by colons. A service manager without names passes the
    ///   unencrypted one first.
    init(_ descriptors: [Int32], names: String) {
        let names = names.split(separator: ":", omittingEmptySubsequences: false)
        for (index, descriptor) in descriptors.enumerated() {
            if index < names.count, names[index] == Self.tlsName {
                tls = tls ?? descriptor
            } else {
                plain = plain ?? descriptor
            }
        }
    }

    func close() {
        for descriptor in [plain, tls] { if let descriptor { Glibc.close(descriptor) } }
    }

    /// The address of a listening socket, or nil if it is not an IP address.
    static func address(of descriptor: Int32) -> ListenAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        // Safe: the kernel writes at most `length` bytes, and the value outlives the calls.
        let found = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name -> SocketAddress? in
                guard unsafe getsockname(descriptor, name, &length) == 0 else { return nil }
                // Each address begins with its family.
                switch Int32(unsafe UnsafeRawPointer(name).load(as: sa_family_t.self)) {
                case AF_INET:
                    return unsafe name.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                        SocketAddress(unsafe $0.pointee)
                    }
                case AF_INET6:
                    return unsafe name.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                        SocketAddress(unsafe $0.pointee)
                    }
                default: return nil
                }
            }
        }
        guard let host = found?.ipAddress, let port = found?.port else { return nil }
        return ListenAddress(host: host, port: port)
    }

    /// Whether a socket listens at an address; without a port, whether it listens at that host.
    static func listens(_ descriptor: Int32, at host: String, port: Int? = nil) -> Bool {
        guard let own = address(of: descriptor) else { return false }
        let wanted = try? SocketAddress(ipAddress: host, port: port ?? own.port)
        return wanted != nil && wanted == (try? SocketAddress(ipAddress: own.host, port: own.port))
    }
}

import Glibc
import NIOCore
import Settings

/// A socket that the service manager opened, so that a port below 1024 needs no right (sd_listen_fds(3)).
enum InheritedSocket {
    private static let first: Int32 = 3

    /// The first one that was passed to this process; nil: none was.
    static func take() -> Int32? {
        // Safe: copied at once, and no thread changes the environment.
        let value = { (name: String) in unsafe getenv(name).flatMap { unsafe Int32(String(cString: $0)) } }
        guard value("LISTEN_PID") == getpid(), let count = value("LISTEN_FDS"), count >= 1 else { return nil }
        for descriptor in first..<(first + count) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        return first
    }

    /// Whether a socket listens at an address.
    static func listens(_ descriptor: Int32, at address: ListenAddress) -> Bool {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        // Safe: the kernel writes at most `length` bytes, and the value outlives the calls.
        let found = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name -> SocketAddress? in
                guard unsafe getsockname(descriptor, name, &length) == 0 else { return nil }
                switch Int32(unsafe name.pointee.sa_family) {
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
        return found != nil && found == (try? SocketAddress(ipAddress: address.host, port: address.port))
    }
}

import Glibc

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
}

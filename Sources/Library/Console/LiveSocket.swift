import Glibc
import Takes

/// A connection to the recorder's listening socket before SwiftNIO takes it over. It is closed with its last reference.
/// A browser that is gone before its answer begins therefore leaves no connection behind.
final class LiveSocket: @unchecked Sendable {
    // Safe: the descriptor is set once, and taken under the lock.
    private let file: Locked<Int32?>

    /// Why there is no sound, in a few words.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The time limit for the first bytes. A recorder whose card is closed sends them later.
    private static let patienceMilliseconds: Int32 = 2000

    /// Connects, and waits briefly for the sound. It may wait for the recorder.
    /// - Throws: `Failure` if the recorder is absent, or serves no more listeners.
    init(path: String) throws(Failure) {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw Self.failure() }
        file = Locked(socket)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        // Safe: the buffer is as large as its type, and one byte of it stays 0.
        let fits = unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
            guard bytes.count < place.count else { return false }
            unsafe place.copyBytes(from: bytes)
            return true
        }
        guard fits else { throw Failure(description: "its path is too long") }
        // Safe: the address lives for the call, and has the stated length.
        let status = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe connect(socket, address, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw Self.failure() }
        var readable = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        // Safe: both calls return before their values are released.
        guard unsafe poll(&readable, 1, Self.patienceMilliseconds) > 0 else { return }
        var byte: UInt8 = 0
        guard unsafe recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) != 0 else {
            throw Failure(description: "no more can listen at a time: end another one")
        }
    }

    deinit { if let file = file.withLock({ $0 }) { close(file) } }

    /// Transfers the descriptor to a new owner, which must close it; nil if it was taken before.
    func take() -> Int32? {
        file.withLock { file in
            defer { file = nil }
            return file
        }
    }

    private static func failure() -> Failure {
        Failure(description: "\(SystemError(errno))")
    }
}

internal import CLinux
import Glibc

/// An open file descriptor, closed when it goes out of scope.
package struct Descriptor: ~Copyable {
    package let number: Int32

    package init(_ number: Int32) {
        self.number = number
    }

    deinit { close(number) }
}

extension Descriptor {
    /// One end of a socket pair whose other end is closed, so that it is always readable.
    package init(alwaysReadable: Void) throws(Epoll.Failure) {
        var ends: (Int32, Int32) = (-1, -1)
        let code = unsafe withUnsafeMutableBytes(of: &ends) { bytes in
            unsafe pipe(bytes.assumingMemoryBound(to: Int32.self).baseAddress!)
        }
        guard code == 0 else { throw Epoll.Failure(code: errno) }
        close(ends.1)
        _ = fcntl(ends.0, F_SETFD, FD_CLOEXEC)
        self.init(ends.0)
    }
}

/// The system calls for bytes and connections, one closure each, so that a test can make any of them fail.
///
/// Each returns what the system returns and leaves the error code in `errno`.
@safe package struct SocketCalls {
    package var accept: (Int32) -> Int32 = { listener in
        // Each send and receive passes MSG_DONTWAIT, so the socket itself need not be non-blocking.
        let socket = Glibc.accept(listener, nil, nil)
        if socket >= 0 { _ = fcntl(socket, F_SETFD, FD_CLOEXEC) }
        return socket
    }
    /// Whether the peer is root or this process's own user.
    package var isPrivileged: (Int32) -> Bool = { socket in
        let user = fieldfare_peer_user(socket)
        return user == 0 || user == Int64(geteuid())
    }
    package var receive: (Int32, UnsafeMutableRawBufferPointer) -> Int = { socket, buffer in
        unsafe recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
    }
    package var send: (Int32, UnsafeRawBufferPointer) -> Int = { socket, buffer in
        unsafe Glibc.send(socket, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }

    package init() {}

    package enum Transfer: Equatable {
        case bytes(Int)
        case wouldBlock
        case failed(Int32)
    }

    /// Appends up to `most` available bytes to `bytes`. Zero bytes mean that the peer has finished sending.
    package func receive(from socket: borrowing Descriptor, most: Int, into bytes: inout [UInt8]) -> Transfer {
        unsafe withUnsafeTemporaryAllocation(byteCount: most, alignment: 1) { buffer in
            let transfer = repeatWhileInterrupted { unsafe receive(socket.number, buffer) }
            if case .bytes(let count) = transfer { unsafe bytes.append(contentsOf: buffer.prefix(count)) }
            return transfer
        }
    }

    /// Sends as much of `bytes` as the system accepts.
    package func send(_ bytes: ArraySlice<UInt8>, to socket: borrowing Descriptor) -> Transfer {
        repeatWhileInterrupted { unsafe bytes.withUnsafeBytes { unsafe send(socket.number, $0) } }
    }

    private func repeatWhileInterrupted(_ call: () -> Int) -> Transfer {
        while true {
            let count = call()
            guard count < 0 else { return .bytes(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            case let code: return .failed(code)
            }
        }
    }
}

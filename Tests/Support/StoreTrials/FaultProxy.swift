import Foundation
import Glibc
import Synchronization

/// A simulated bad network between a client and a server on this machine: it forwards bytes, and damages some
/// connections.
package final class FaultProxy: Sendable {
    /// How a connection is damaged.
    package enum Fault: Sendable {
        case none
        /// The connection is reset after this number of bytes from the client.
        case cut(after: Int)
        /// The connection is closed after this number of bytes from the server, so that a response is incomplete.
        case truncated(after: Int)
        /// The proxy forwards nothing more, in either direction, after this number of bytes from the client.
        case stalled(after: Int)
        /// One bit of the client's byte at this offset is changed.
        case flipped(at: Int)
        /// The proxy answers the first request, and closes the connection.
        case answered(status: Int, retryAfter: Int?)
        /// Bytes are forwarded in small pieces.
        case slow
    }

    /// The port to which clients connect.
    package let port: Int
    private let listener: Int32
    private let target: Int
    private let fault: @Sendable (Int) -> Fault
    private let state = Mutex(State())

    private struct State {
        var count = 0
        var sent = 0
        var open: Set<Int32> = []
        var isEnded = false
    }

    /// - Parameters:
    ///   - target: the server's port.
    ///   - fault: the fault of each connection, counted from 0.
    package init(to target: Int, fault: @escaping @Sendable (Int) -> Fault) throws {
        self.target = target
        self.fault = fault
        port = try TestServer.freePort()
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var one: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, 4)
        let isBound = TestServer.with(port) { bind(listener, $0, $1) } == 0
        guard isBound, listen(listener, 64) == 0 else {
            throw TestServer.Failure(text: "no port for the proxy: \(errno)")
        }
        Thread.detachNewThread { [listener] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                self.begin(client)
            }
        }
    }

    /// Closes the listener and all connections.
    package func end() {
        let open = state.withLock { state in
            state.isEnded = true
            return state.open
        }
        shutdown(listener, Int32(SHUT_RDWR))
        for descriptor in open { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    /// How many connections there were.
    package var connections: Int { state.withLock(\.count) }
    /// How many bytes the server received.
    package var sentBytes: Int { state.withLock(\.sent) }

    private func begin(_ client: Int32) {
        let number = state.withLock { state in
            defer { state.count += 1 }
            state.open.insert(client)
            return state.isEnded ? -1 : state.count
        }
        Thread.detachNewThread {
            if number >= 0 { self.serve(client, self.fault(number)) }
            _ = self.state.withLock { $0.open.remove(client) }
            close(client)
        }
    }

    private func serve(_ client: Int32, _ fault: Fault) {
        if case .answered(let status, let retryAfter) = fault { return answer(client, status, retryAfter) }
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(server) }
        guard TestServer.with(target, { connect(server, $0, $1) }) == 0 else { return }
        var (fromClient, fromServer) = (0, 0)
        var room = 64 << 10
        if case .slow = fault { room = 1 << 10 }
        var bytes = [UInt8](repeating: 0, count: room)
        var files = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while poll(&files, 2, -1) > 0 {
            for (index, other) in [server, client].enumerated() where files[index].revents != 0 {
                var count = read(files[index].fd, &bytes, room)
                guard count > 0 else { return }
                let before = index == 0 ? fromClient : fromServer
                var isLast = false
                switch fault {
                case .cut(let limit) where index == 0, .stalled(let limit) where index == 0,
                    .truncated(let limit) where index == 1:
                    isLast = before + count >= limit
                    count = min(count, limit - before)
                case .flipped(let offset) where index == 0 && (before..<before + count).contains(offset):
                    bytes[offset - before] ^= 0x10
                default: break
                }
                guard pass(bytes[..<count], to: other) else { return }
                if index == 0 {
                    fromClient += count
                    state.withLock { $0.sent += count }
                } else {
                    fromServer += count
                }
                if isLast { return finish(client, fault) }
            }
        }
    }

    /// Ends a damaged connection.
    private func finish(_ client: Int32, _ fault: Fault) {
        switch fault {
        case .cut:
            // A linger time of zero makes `close` reset the connection.
            var now = linger(l_onoff: 1, l_linger: 0)
            setsockopt(client, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        case .stalled:
            // Waits until the client gives up, or the proxy ends.
            var hangUp = pollfd(fd: client, events: Int16(0x2000), revents: 0)
            poll(&hangUp, 1, -1)
        default: break
        }
    }

    private func answer(_ client: Int32, _ status: Int, _ retryAfter: Int?) {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        guard read(client, &bytes, bytes.count) > 0 else { return }
        let retry = retryAfter.map { "Retry-After: \($0)\r\n" } ?? ""
        let text = "HTTP/1.1 \(status) Not Now\r\n\(retry)Content-Length: 0\r\nConnection: close\r\n\r\n"
        guard pass(Array(text.utf8)[...], to: client) else { return }
        shutdown(client, Int32(SHUT_WR))
        // The client may still be sending its body.
        while read(client, &bytes, bytes.count) > 0 {}
    }

    private func pass(_ bytes: ArraySlice<UInt8>, to other: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(other, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

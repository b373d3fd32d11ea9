import CLinux
import Glibc
import ServiceLifecycle
import Takes
import Workers

/// Reports when an address or a route is added or removed: rtnetlink(7).
final class NetworkWatch: Service, Sendable {
    private let descriptor: Int32
    private let ending: Mailbox<Void>
    private let changed: @Sendable () -> Void

    /// `struct sockaddr_nl` of `linux/netlink.h`.
    private struct Address {
        var family = UInt16(AF_NETLINK)
        var padding: UInt16 = 0
        var port: UInt32 = 0
        var groups: UInt32
    }

    /// Addresses and routes of IPv4 and IPv6 (`RTMGRP_` of `linux/rtnetlink.h`).
    private static let groups: UInt32 = 0x10 | 0x40 | 0x100 | 0x400
    /// `NETLINK_ROUTE`.
    private static let routes: Int32 = 0

    /// - Parameter changed: called on a thread of this watch.
    /// - Throws: `WatchError` if the system does not provide the socket.
    init(changed: @escaping @Sendable () -> Void) throws {
        self.changed = changed
        ending = Mailbox()
        let kind = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_NETLINK, kind, Self.routes)
        var address = Address(groups: Self.groups)
        // Safe: a netlink address with its own size.
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, socklen_t(MemoryLayout<Address>.size)) == 0
            }
        }
        guard descriptor >= 0, isBound else {
            let code = errno
            if descriptor >= 0 { close(descriptor) }
            throw WatchError(path: "the network", code: code)
        }
    }

    deinit { close(descriptor) }

    func run() async throws {
        let (ended, end) = AsyncStream.makeStream(of: Never.self)
        let thread = try Thread(name: "network") { [descriptor, ending, changed] in
            Self.watch(descriptor, until: ending, changed)
            end.finish()
        }
        await withGracefulShutdownHandler {
            for await _ in ended {}
        } onGracefulShutdown: {
            self.ending.post(())
        }
        thread.join()
    }

    private static func watch(_ descriptor: Int32, until ending: Mailbox<Void>, _ changed: () -> Void) {
        var files = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: ending.fileDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        var bytes = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            // Safe: the array outlives the call.
            guard unsafe poll(&files, nfds_t(files.count), -1) > 0 else { continue }
            if files[1].revents != 0 { return }
            // The content of the messages does not matter: every store that failed is tried again. Safe: `recv` writes
            // at most as many bytes as the array has.
            while unsafe bytes.withUnsafeMutableBytes({ unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }) > 0 {}
            changed()
        }
    }
}

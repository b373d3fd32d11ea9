import Glibc

/// Reports when a sound card is connected or removed, from the kernel's own events (`NETLINK_KOBJECT_UEVENT`), without
/// udev.
///
/// Events can be lost, so an occasional scan is still needed.
public final class CardEvents {
    /// Readable (for `poll`) when there is something to `drain`.
    public let fileDescriptor: Int32

    /// `struct sockaddr_nl` of `linux/netlink.h`.
    private struct Address {
        var family = UInt16(AF_NETLINK)
        var padding: UInt16 = 0
        var port: UInt32 = 0
        var groups: UInt32 = 0
    }

    private static let kobjectEvents: Int32 = 15
    private static let kernelGroup: UInt32 = 1

    /// Subscribes to the events, or returns nil if the system does not allow it.
    public init?() {
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        fileDescriptor = socket(AF_NETLINK, kind, Self.kobjectEvents)
        guard fileDescriptor >= 0 else { return nil }
        var address = Address(groups: Self.kernelGroup)
        // Safe: the length is the size of the netlink address.
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(fileDescriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        guard status == 0 else { return nil }
    }

    deinit {
        if fileDescriptor >= 0 { close(fileDescriptor) }
    }

    /// Reads all pending events.
    /// - Returns: whether one was about a sound card, or events were lost because the receive buffer was full.
    public func drain() -> Bool {
        var found = false
        var bytes = [UInt8](repeating: 0, count: 8192)
        while true {
            var address = Address()
            var length = socklen_t(MemoryLayout<Address>.size)
            // Safe: both lengths are those of the buffers that are written to.
            let count = unsafe withUnsafeMutablePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    unsafe bytes.withUnsafeMutableBytes {
                        unsafe recvfrom(fileDescriptor, $0.baseAddress, $0.count, 0, address, &length)
                    }
                }
            }
            if count < 0 && errno == EINTR { continue }
            if count < 0 && errno == ENOBUFS {
                found = true
                continue
            }
            guard count > 0 else { return found }
            // Port 0 is the kernel. Events of other senders are ignored.
            if address.port == 0 && Self.isAboutSound(bytes[..<count]) { found = true }
        }
    }

    /// Whether a kernel event is about a sound card. The format is `ACTION@PATH`, then `KEY=VALUE` fields, each ended
    /// by a zero byte.
    static func isAboutSound(_ event: ArraySlice<UInt8>) -> Bool {
        event.split(separator: 0).contains { $0.elementsEqual("SUBSYSTEM=sound".utf8) }
    }
}

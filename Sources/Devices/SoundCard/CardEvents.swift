import Glibc

/// Reports when a sound card comes or goes, by the kernel's own events (`NETLINK_KOBJECT_UEVENT`), which need no udev.
///
/// Events can be lost, so a scan now and then is still needed.
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

    /// Subscribes to the events; nil if the system does not allow it.
    public init?() {
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        fileDescriptor = socket(AF_NETLINK, kind, Self.kobjectEvents)
        guard fileDescriptor >= 0 else { return nil }
        var address = Address(groups: Self.kernelGroup)
        // Safe: a netlink address of its own size.
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

    /// Reads what has come.
    /// - Returns: whether a sound card, or so much that it could not be kept, was in it.
    public func drain() -> Bool {
        var found = false
        var bytes = [UInt8](repeating: 0, count: 8192)
        while true {
            var address = Address()
            var length = socklen_t(MemoryLayout<Address>.size)
            // Safe: both lengths are those of what is written to.
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
            // Port 0 is the kernel; events of other senders are ignored.
            if address.port == 0 && Self.isAboutSound(bytes[..<count]) { found = true }
        }
    }

    /// Whether a kernel event is about a sound card: `ACTION@PATH`, then `KEY=VALUE`s, each ended by a zero.
    static func isAboutSound(_ event: ArraySlice<UInt8>) -> Bool {
        event.split(separator: 0).contains { $0.elementsEqual("SUBSYSTEM=sound".utf8) }
    }
}

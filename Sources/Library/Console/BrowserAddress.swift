import Glibc
import NIOCore

/// The address that a browser connects from. For IPv6, only the network counts, because each host can use any number of
/// addresses in it.
struct BrowserAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 bytes of IPv4, 8 of IPv6; empty if unknown.
    private let network: [UInt8]
    let description: String

    init(_ address: SocketAddress?) {
        let text = address?.ipAddress ?? ""
        description = text.isEmpty ? "an unknown address" : text
        if let bytes = Self.bytes(of: text, AF_INET, count: 4) {
            network = bytes
        } else if let bytes = Self.bytes(of: text, AF_INET6, count: 16) {
            // An IPv4 address in the form of IPv6 (RFC 4291, 2.5.5.2).
            let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10..<12] == [0xff, 0xff]
            network = Array(isMapped ? bytes[12...] : bytes[..<8])
        } else {
            network = []
        }
    }

    /// Whether the browser runs on this machine.
    var isThisMachine: Bool { network.count == 4 ? network[0] == 127 : description == "::1" }

    private static func bytes(of text: String, _ family: Int32, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        // Safe: the buffer has the length of an address of this family.
        return unsafe inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }

    static func == (left: Self, right: Self) -> Bool { left.network == right.network }
    func hash(into hasher: inout Hasher) { hasher.combine(network) }
}

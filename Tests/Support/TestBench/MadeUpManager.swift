import Glibc
import ServiceManager

/// A service manager's socket, which keeps the messages that it receives. The socket is closed with this object.
package final class MadeUpManager {
    package let address: String
    private let descriptor: Int32

    /// - Parameter name: `@` and a name in the abstract namespace, or a path.
    package init(_ name: String) {
        address = name
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        let status = SocketName(name).withAddress { bind(descriptor, $0, $1) }
        precondition(status == 0, "cannot bind \(name)")
    }

    deinit {
        close(descriptor)
        if address.hasPrefix("/") { unlink(address) }
    }

    /// The messages since the last call.
    package func received() -> [String] {
        var messages: [String] = []
        var bytes = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(descriptor, &bytes, bytes.count, 0), count >= 0 {
            messages.append(String(decoding: bytes.prefix(count), as: UTF8.self))
        }
        return messages
    }

    /// A name that no other test uses.
    package static func name(_ form: String) -> String {
        "\(form)fieldfare-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    }
}

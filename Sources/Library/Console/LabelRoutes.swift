import Control
import Files
import Hummingbird
import Library
import NIOPosix
import Settings
import Takes

/// The content of the kit's label, with which a paired phone helps to pair another one.
struct LabelRoutes: Sendable {
    let library: LibraryDesk
    let pool: NIOThreadPool

    var routes: [Route] {
        [
            Route(.get, "/api/label", for: .all) { _, context in
                // With open access, a stranger may do all else, but the Wi-Fi has other users as well.
                let isPaired = context.phone != nil
                return Response(json: try await pool.runIfActive { label(hasPassword: isPaired) })
            }
        ]
    }

    private func label(hasPassword: Bool) -> Label {
        let console = library.settings.console
        let password = hasPassword ? try? FileSystem().contents(AccessPoint.passwordFile, limit: 4096) : nil
        let accessPoint = password.flatMap { AccessPoint(hostName: KitName.hostName, passwordFile: $0) }
        return Label(
            name: library.settings.kitName, address: console.address(hostName: KitName.hostName),
            code: library.pairing.code.digits, fingerprint: library.certificate?.fingerprint.description,
            wifi: accessPoint.map {
                Label.Network(
                    name: $0.name, password: $0.password, address: AccessPoint.address(port: console.listen?.port))
            })
    }
}

private struct Label: Encodable, Sendable {
    var name: String
    @ExplicitNull var address: String?
    /// The digits that pair a phone while play is held.
    var code: String
    /// The fingerprint of the certificate for TLS, or null without a certificate.
    @ExplicitNull var fingerprint: String?
    /// The kit's own Wi-Fi. Null if the library cannot read the password.
    @ExplicitNull var wifi: Network?

    struct Network: Codable, Sendable {
        var name: String
        var password: String
        var address: String
    }
}

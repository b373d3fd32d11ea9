import Glibc
import Library
import Logging
import NIOCore
import NIOSSL
import Settings

/// A port that browsers connect to.
struct ConsolePort {
    var address: ListenAddress
    /// The socket from the service manager, or nil if it opened none.
    var inherited: Int32?
    /// The encryption, or nil for unencrypted connections.
    var tls: NIOSSLContext?

    /// The port in the settings.
    static func plain(_ library: LibraryDesk, _ address: ListenAddress, _ inherited: Int32?) -> Self {
        guard let inherited, !InheritedSockets.listens(inherited, at: address.host, port: address.port) else {
            return Self(address: address, inherited: inherited, tls: nil)
        }
        library.log.notice(
            "console: it listens at \(address), as [console] listen says, and not where fieldfare-library.socket does")
        close(inherited)
        return Self(address: address, inherited: nil, tls: nil)
    }

    /// The port for TLS. A failure here does not affect the other port.
    /// - Parameters:
    ///   - plain: the unencrypted address.
    ///   - wanted: the address if no socket was inherited.
    /// - Returns: the port, or nil if TLS is not served.
    static func secure(
        _ library: LibraryDesk, beside plain: ListenAddress, _ inherited: Int32?, orAt wanted: ListenAddress?
    ) -> Self? {
        guard let address = inherited.map({ InheritedSockets.address(of: $0) }) ?? wanted,
            let certificate = library.certificate
        else {
            if let inherited { close(inherited) }
            return nil
        }
        // A console restricted to one address must not be opened at others.
        if let inherited, !InheritedSockets.listens(inherited, at: plain.host) {
            library.log.notice(
                "console: https is off: fieldfare-library-tls.socket listens at \(address), and [console] listen has another host"
            )
            close(inherited)
            return nil
        }
        do {
            return Self(address: address, inherited: inherited, tls: try NIOSSLContext(certificate))
        } catch {
            library.log.error("console: the certificate cannot be used: \(error): https is off")
            if let inherited { close(inherited) }
            return nil
        }
    }
}

extension NIOSSLContext {
    /// A browser that does not confirm the end of its TLS connection is disconnected after this time, because another
    /// one may wait for its place.
    private static let longestEnd = TimeAmount.seconds(1)

    /// A server configuration with this certificate.
    fileprivate convenience init(_ file: CertificateFile) throws {
        let pem = Array(file.pem.utf8)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: pem, format: .pem))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: pem, format: .pem)))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        configuration.shutdownTimeout = Self.longestEnd
        try self.init(configuration: configuration)
    }
}

public import Control
import Digests
import Files
import Glibc
import Settings

/// The console's certificate and private key, in a file of the library's folder that only its owner may read.
public struct CertificateFile: Sendable {
    public let pem: String
    /// The fingerprint that browsers show.
    public let fingerprint: CertificateFingerprint

    /// Reads the certificate, or makes one if there is none for the kit's names.
    /// - Parameters:
    ///   - directory: the library's folder.
    ///   - names: the host names and addresses by which phones reach the kit.
    /// - Returns: the certificate, or nil if none can be made; and why an earlier one is no longer used or the new one
    ///   cannot be saved.
    static func open(
        in directory: String, names: [String], files: FileSystem = FileSystem()
    ) -> (CertificateFile?, problem: String?) {
        let path = "\(directory)/\(CertificateFingerprint.fileName)"
        let advice = "a new certificate was made, of which browsers warn: 'fieldfare label' prints its fingerprint"
        var problem: String?
        do throws(FileError) {
            if let found = CertificateFile(try files.contents(path, limit: longest)) {
                if found.certificate.has(names: names) { return (found, nil) }
                problem = "console: \(path): is not for the names that the kit has now: \(advice)"
            } else {
                problem = "console: \(path): is damaged: \(advice)"
            }
        } catch {
            if error.code != ENOENT { problem = "console: \(error.fact): \(advice)" }
        }
        guard let certificate = ServerCertificate(names: names) else {
            return (
                nil, "console: libcrypto makes no certificate for \(names.joined(separator: ", ")): https is off"
            )
        }
        let file = CertificateFile(certificate)
        do throws(FileError) {
            try file.write(to: path, files)
        } catch {
            problem = "console: \(error.fact): the certificate is another one after each start of the library"
        }
        return (file, problem)
    }

    private static let longest = 1 << 14
    private let certificate: ServerCertificate

    private init(_ certificate: ServerCertificate) {
        self.certificate = certificate
        pem = certificate.pem
        fingerprint = CertificateFingerprint(sha256: certificate.sha256)
    }

    private init?(_ bytes: [UInt8]) {
        guard let certificate = ServerCertificate(pem: String(decoding: bytes, as: UTF8.self)) else { return nil }
        self.init(certificate)
        guard CertificateFingerprint(file: bytes) == fingerprint else { return nil }
    }

    private func write(to path: String, _ files: FileSystem) throws(FileError) {
        let file = try files.create(path + ".tmp", isNew: false, mode: 0o600)
        try files.write(Array("\(fingerprint)\n\(pem)".utf8), to: file, at: 0)
        try files.sync(file)
        try files.move(path + ".tmp", to: path)
        let end = path.lastIndex(of: "/") ?? path.startIndex
        try files.syncFolder(try files.openFolder(String(path[..<end])))
    }
}

extension CertificateFile {
    /// The names by which phones reach a kit: its host names, and its addresses in the networks where the kit assigns
    /// the phone's address (`access-point`, `usb.nmconnection`).
    static func names(_ settings: Settings, hostName: String = KitName.hostName) -> [String] {
        var names: [String] = []
        let hosts = [hostName.lowercased(), settings.kitName].filter(isHostName)
        let address = settings.console.listen.map(\.host) ?? "0.0.0.0"
        let own = ["0.0.0.0", "::"].contains(address) ? [] : [address]
        for name in hosts.flatMap({ ["\($0).local", $0] }) + ["10.42.0.1", "10.43.0.1"] + own
        where !names.contains(name) {
            names.append(name)
        }
        return names
    }

    /// Whether a certificate may contain this host name (RFC 1123, 2.1). A name of digits only would be an address.
    private static func isHostName(_ name: String) -> Bool {
        (1...63).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7a).contains($0) || $0 == 0x2d }
            && !name.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}

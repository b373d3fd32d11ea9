/// The only host that may receive a secret, as the secret's file names it: `HOST` or `HOST:PORT`.
public struct SecretHost: Hashable, Sendable {
    private let text: String

    public init(_ text: String) { self.text = text.lowercased() }

    /// Why the secret must not be used.
    /// - Parameters:
    ///   - file: the file of the secret.
    ///   - address: the store's address, such as `https://HOST:PORT/PATH`.
    /// - Returns: nil if the address has this host.
    public func problem(in file: String, at address: String) -> String? {
        let parts = address.lowercased().split(separator: "/", omittingEmptySubsequences: false)
        let authority = parts.count > 2 ? parts[2] : ""
        var host = authority
        if !authority.hasSuffix("]"), let colon = authority.lastIndex(of: ":") { host = authority[..<colon] }
        guard text != authority, text != host else { return nil }
        return
            "\(file): names the host \(text), and the store is at \(authority): nothing is sent there: correct the store's address, or host in that file"
    }
}

extension Settings.Outbox {
    /// For each store that must not get its secret, a sentence with the reason. Only readable files are checked.
    public func misplacedSecrets(_ read: (_ file: String) -> String?) -> [String] {
        stores.compactMap { store in
            let (file, address): (String, String)
            switch store {
            case .s3: (file, address) = (s3.credentialsFile, s3.address)
            case .webdav: (file, address) = (webdav.credentialsFile, webdav.url ?? "")
            case .automatic, .folder, .rclone, .sftp, .firebase, .nowhere: return nil
            }
            guard let host = read(file).flatMap({ SecretLines($0)["host"] }) else { return nil }
            return SecretHost(host).problem(in: file, at: address)
        }
    }
}

extension Settings.Outbox.S3 {
    /// Scheme and host of the service.
    public var address: String {
        endpoint ?? "https://s3.\(region).amazonaws.com" + (region.hasPrefix("cn-") ? ".cn" : "")
    }
}

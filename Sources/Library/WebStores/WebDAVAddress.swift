import Settings
import Upload

struct WebDAVAddress: Hashable, Sendable {
    /// Scheme, host and port.
    let server: String
    /// Percent-encoded, without a slash at the end: `/remote.php/dav/files/kit/recordings`.
    let path: String

    /// The folder in the settings. Spaces and umlauts may or may not be percent-encoded there.
    init(_ settings: Settings.Outbox.WebDAV) throws(StoreError) {
        guard let url = settings.url else {
            throw StoreError(.refused, "outbox: the folder is missing: write url = \"https://…\" in [outbox.webdav]")
        }
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        // In lower case, so that HTTP:// is not treated as encrypted.
        let scheme = parts[0].lowercased()
        guard parts.count >= 3, ["http:", "https:"].contains(scheme), parts[1].isEmpty, !parts[2].isEmpty,
            !url.contains(where: { "?#".contains($0) })
        else {
            throw StoreError(
                .refused, "outbox: url in [outbox.webdav] is not a folder's address: write https://HOST/PATH")
        }
        guard !parts[2].contains("@") else {
            throw StoreError(
                .refused, "outbox: url in [outbox.webdav] holds a user: write it into credentials_file instead")
        }
        server = "\(scheme)//\(parts[2])"
        path = (parts.count > 3 ? parts[3] : "").split(separator: "/").map { name in
            "/" + SignatureV4.encoded(PercentCoding.decoded(name) ?? String(name))
        }.joined()
    }

    private init(server: String, path: String) {
        self.server = server
        self.path = path
    }

    var url: String { server + path }

    /// The address of a file or folder below this one.
    subscript(_ names: String...) -> WebDAVAddress {
        WebDAVAddress(server: server, path: names.reduce(path) { $0 + "/" + SignatureV4.encoded($1) })
    }

    /// With the final slash of a folder, because Apache redirects requests without it.
    var asFolder: WebDAVAddress { WebDAVAddress(server: server, path: path + "/") }

    var isEncrypted: Bool { server.hasPrefix("https:") }

    /// The folder for chunks in Nextcloud and ownCloud, or nil for other servers.
    var uploads: WebDAVAddress? {
        guard let range = path.firstRange(of: "/remote.php/dav/files/") else { return nil }
        let user = path[range.upperBound...].prefix { $0 != "/" }
        guard !user.isEmpty else { return nil }
        return WebDAVAddress(server: server, path: "\(path[..<range.lowerBound])/remote.php/dav/uploads/\(user)")
    }
}

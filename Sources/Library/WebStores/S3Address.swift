import Settings
import Upload

/// The address of a bucket.
///
/// A request names the bucket in its path or in the host. Services require one of the two, or accept both. `S3Bucket`
/// finds out which.
struct S3Address: Sendable {
    /// One way to name the bucket.
    struct Target: Hashable, Sendable {
        /// The scheme, host and port of the connection.
        var server: String
        /// The value of the `Host` header.
        var host: String
        /// Percent-encoded, without a slash at the end.
        var path: String
    }

    /// The ways to name the bucket, the usual one first.
    let targets: [Target]
    /// The name in sentences and receipts, independent of the target.
    let place: String

    /// The usual scheme, host and port.
    var server: String { targets[0].server }
    /// The usual `Host` header.
    var host: String { targets[0].host }
    var path: String { targets[0].path }

    /// With an endpoint in the settings, the bucket is usually in the path. On Amazon it is in the host, if its name
    /// fits Amazon's certificate.
    init(_ settings: Settings.Outbox.S3) throws(StoreError) {
        guard let bucket = settings.bucket else {
            throw StoreError(.refused, "outbox: a bucket is missing: write bucket = \"…\" in [outbox.s3]")
        }
        let encoded = SignatureV4.encoded(bucket)
        let isLabel = bucket.utf8.allSatisfy {
            (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
        }
        guard let endpoint = settings.endpoint else {
            let domain = String(settings.address.dropFirst("https://".count))
            let inPath = Target(server: "https://\(domain)", host: domain, path: "/\(encoded)")
            let inHost = Target(server: "https://\(bucket).\(domain)", host: "\(bucket).\(domain)", path: "")
            targets = isLabel ? [inHost, inPath] : [inPath]
            place = "https://\(domain)/\(bucket)"
            return
        }
        guard let service = ServiceAddress(endpoint) else {
            throw StoreError(
                .refused,
                "outbox: endpoint in [outbox.s3] is not a service's address: write https://HOST or https://HOST:PORT, without a user"
            )
        }
        let server = "\(service.scheme)//\(service.authority)"
        let usual = service.scheme == "https:" ? ":443" : ":80"
        let host = String(
            service.authority.hasSuffix(usual) ? service.authority.dropLast(usual.count) : service.authority[...])
        let base = (service.path ?? "").split(separator: "/").map { "/\($0)" }.joined()
        var targets = [Target(server: server, host: host, path: "\(base)/\(encoded)")]
        if isLabel, !host.hasPrefix("[") {
            let isAddress = ProxyRules.bytes(of: String(host.prefix { $0 != ":" })) != nil
            if !isAddress {
                targets.append(
                    Target(
                        server: "\(service.scheme)//\(bucket).\(service.authority)", host: "\(bucket).\(host)",
                        path: base))
            }
            // For a service in a network without such DNS names.
            targets.append(Target(server: server, host: "\(bucket).\(host)", path: base))
        }
        self.targets = targets
        place = "\(server)\(base)/\(bucket)"
    }
}

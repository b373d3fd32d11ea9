import Settings
import Upload

/// Where a bucket is.
///
/// A request names the bucket in its path or in the host. Services want one of them, or take both: `S3Bucket` finds out which.
struct S3Address: Sendable {
    /// One way to name the bucket.
    struct Target: Hashable, Sendable {
        /// Scheme, host and port that are connected to.
        var server: String
        /// As the `Host` header has it.
        var host: String
        /// Percent-encoded, without a slash at its end.
        var path: String
    }

    /// The ways to name the bucket, the usual one first.
    let targets: [Target]
    /// As sentences and receipts call it, however the bucket is named.
    let place: String

    /// Scheme, host and port, as is usual.
    var server: String { targets[0].server }
    /// As the `Host` header usually has it.
    var host: String { targets[0].host }
    /// The usual path of the bucket.
    var path: String { targets[0].path }

    /// A service that is named usually has the bucket in the path. Amazon's own has it in the host, if its certificate fits such a name.
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
                "outbox: endpoint in [outbox.s3] is no address of a service: it is https://HOST or https://HOST:PORT, without a user"
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
            // For a service in a network without such names.
            targets.append(Target(server: server, host: "\(bucket).\(host)", path: base))
        }
        self.targets = targets
        place = "\(server)\(base)/\(bucket)"
    }
}

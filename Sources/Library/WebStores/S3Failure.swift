import NIOHTTP1
import Settings
import Upload

/// A server's answer without success. An answer to HEAD has no body, so it has neither code nor message.
struct S3Failure: Error {
    var status: Int
    /// For example `NoSuchKey`; empty if the server did not state it.
    var code = ""
    var message = ""
    /// The header that the server refers to.
    var header = ""
    /// The region of the bucket, as the server states it.
    var region: String?
    var retryAfter: Duration?

    /// A server's answer if the object does not meet a condition.
    static let ofCondition = S3Failure(status: 412, headers: [:], body: [])

    init(status: Int, headers: HTTPHeaders, body: [UInt8]) {
        self.status = status
        region = headers.first(name: "x-amz-bucket-region")
        retryAfter = headers.first(name: "retry-after").flatMap { Int64($0) }.map { .seconds(max(0, min($0, 86_400))) }
        guard let document = WebXML(body), document.name == "Error" else { return }
        code = document["Code"] ?? ""
        message = document["Message"] ?? ""
        header = document["Header"] ?? ""
        region = region ?? document["Region"]
    }

    private static let conditions: Set = ["if-none-match", "if-match"]
    /// Each request is signed with its body's hash, also without these headers.
    private static let checksums: Set = [
        "x-amz-checksum-mode", "x-amz-checksum-algorithm", "x-amz-checksum-sha256", "x-amz-sdk-checksum-algorithm",
    ]

    /// The optional headers of a request that the server does not know. Some servers ignore unknown headers, others
    /// refuse the request: Backblaze B2 with 400 and the header's name, and S3 itself formerly with 501 for conditions.
    func unknown(of headers: [String]) -> Set<String> {
        guard status == 400 || status == 501 else { return [] }
        let sent = Self.conditions.union(Self.checksums).intersection(headers)
        let said = "\(header) \(message)".lowercased()
        let named = sent.filter { said.contains($0) }
        if !named.isDisjoint(with: Self.checksums) { return Self.checksums }
        if !named.isEmpty { return named }
        if status == 400, !code.isEmpty { return [] }
        // The server does not say which one.
        return sent.isDisjoint(with: Self.checksums) ? sent : sent.union(Self.checksums)
    }

    /// The service requires the bucket elsewhere in the request: in the host (Alibaba, Tencent), or in the path.
    var isOfAddressing: Bool {
        guard (300..<500).contains(status) else { return false }
        if code.contains("SecondLevelDomain") || code.contains("PathStyle") || code.contains("VirtualHost") {
            return true
        }
        let said = message.lowercased()
        return said.contains("virtual") && ["host", "style", "domain"].contains { said.contains($0) }
            || said.contains("path-style") || said.contains("path style")
    }

    /// Answers that services also give if they do not find the bucket in its place in the request.
    var mayBeOfAddressing: Bool {
        [400, 403, 404, 405].contains(status)
            && ["AccessDenied", "NoSuchBucket", "InvalidBucketName", "MethodNotAllowed"].contains(code)
    }

    /// The answer is from an S3 service, or has no body.
    var isOfService: Bool { !code.isEmpty || (status == 404 || status == 403) }

    /// The MD5 of the body is missing, which a bucket with Object Lock requires.
    var isOfMissingMD5: Bool {
        status == 400 && "\(code) \(message) \(header)".lowercased().filter { $0 != "-" }.contains("contentmd5")
    }

    /// This key lacks the right. An answer to HEAD has only the status.
    var isOfRights: Bool {
        status == 403 && ["", "AccessDenied", "Forbidden", "AllAccessDisabled", "UnauthorizedAccess"].contains(code)
    }

    /// The object does not meet the request's condition.
    var isOfCondition: Bool { status == 412 || code == "PreconditionFailed" }

    /// The object does not exist.
    var isOfObject: Bool { status == 404 && code != "NoSuchBucket" }

    /// The multipart upload does not exist, or no longer exists.
    var isOfUpload: Bool { code == "NoSuchUpload" }

    /// The listed parts differ from the server's.
    var isOfParts: Bool { ["InvalidPart", "InvalidPartOrder", "EntityTooSmall"].contains(code) }

    private static let ofKeys: Set = [
        "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "InvalidSecurity",
        "AuthorizationHeaderMalformed",
        "AuthorizationQueryParametersError", "NotSignedUp", "AccountProblem",
    ]
    private static let ofTheMoment: Set = [
        "SlowDown", "InternalError", "ServiceUnavailable", "RequestTimeout", "OperationAborted",
        "ConditionalRequestConflict", "TooManyRequests", "RequestLimitExceeded",
    ]
    private static let ofDamage: Set = [
        "BadDigest", "InvalidDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch", "IncompleteBody",
    ]

    /// The server certainly did not carry out the request. After 500, 502 or 504 it may have done so.
    var isUndone: Bool { status >= 400 && ![500, 502, 504].contains(status) }

    /// The error if this key may not read the objects.
    func hidden(by bucket: S3Bucket) -> StoreError {
        let error = error(of: bucket)
        guard error.problem == .refused, region == nil || region == bucket.settings.region else { return error }
        let said = code.isEmpty ? "HTTP status \(status)" : code
        return StoreError(
            .hidden,
            "outbox: \(bucket.address.place): does not show what is there (\(said)), so that nothing is verified, and no take "
                + "is deleted from the kit: grant the key in \(bucket.credentialsPath) the rights to list and read below "
                + "\"\(bucket.settings.prefix)\"")
    }

    func error(of bucket: S3Bucket) -> StoreError {
        let place = "outbox: \(bucket.address.place)"
        let settings = bucket.settings
        let said = bucket.withoutSecrets(
            code.isEmpty ? "HTTP status \(status)" : message.isEmpty ? code : "\(code): \(message)")
        if code == "NoSuchBucket" {
            return StoreError(
                .refused, "\(place): no such bucket: make it, or correct bucket in [outbox.s3]")
        }
        if isOfAddressing {
            return StoreError(
                .refused,
                "\(place): wants the bucket in the host's name (\(said)), and does not answer at "
                    + "\(bucket.address.targets.map(\.host).filter { $0 != bucket.address.host }.first ?? "such a name"): write "
                    + "the service's own name into endpoint in [outbox.s3]")
        }
        if let region, region != settings.region, !region.isEmpty, [301, 307, 400, 403].contains(status) {
            return StoreError(
                .refused,
                "\(place): the bucket is in another region: write region = \"\(bucket.withoutSecrets(region))\" in "
                    + "[outbox.s3], not \"\(settings.region)\"")
        }
        if (300..<400).contains(status) {
            return StoreError(
                .refused, "\(place): the bucket is at another address (\(said)): correct endpoint in [outbox.s3]")
        }
        if status == 507 || code.contains("QuotaExceeded") || code.contains("StorageFull") {
            return StoreError(.full, "\(place): is full (\(said)): delete what is not needed there, or get more space")
        }
        if status == 413 || code == "EntityTooLarge" {
            return StoreError(
                .rejected, "\(place): does not take files of this length (\(said)): raise its limit for files")
        }
        if Self.ofTheMoment.contains(code) || [408, 429, 500, 502, 503, 504].contains(status) {
            return StoreError(.busy(retryAfter), "\(place): is busy, or fails for the moment (\(said))")
        }
        if Self.ofDamage.contains(code) {
            return StoreError(.damaged, "\(place): received other bytes than were sent (\(said))")
        }
        if code == "RequestTimeTooSkewed" {
            return StoreError(.refused, "\(place): says that the kit's clock is wrong (\(said)): set the clock")
        }
        if Self.ofKeys.contains(code) || status == 401 {
            return StoreError(
                .refused,
                "\(place): does not accept the key (\(said)): correct access_key_id and secret_access_key in "
                    + bucket.credentialsPath)
        }
        if status == 403 {
            return StoreError(
                .refused,
                "\(place): does not allow it (\(said)): the key in \(bucket.credentialsPath) must be right, and needs the "
                    + "rights to list, read, write and delete below \"\(settings.prefix)\"")
        }
        if status == 404 { return StoreError(.missing, "\(place): no such object (\(said))") }
        return StoreError(.refused, "\(place): refuses (\(said))")
    }
}

import FoundationEssentials
import Glibc
import NIOHTTP1
public import Settings
public import Takes
public import Upload

/// A bucket of Firebase Storage, which is a bucket of Google Cloud Storage, by its JSON API.
///
/// The objects of all days are in one folder, because a Firebase client lists one folder at a time. The day is in their
/// metadata.
public final class FirebaseStore: ServerStore {
    /// `firebase:ENDPOINT/BUCKET/PREFIX`.
    public let name: String
    let endpoint: String
    let bucket: String
    let web: Web
    let resume: ResumeStates
    /// Nil for an emulator on this machine, which needs no token.
    let account: FirebaseAccount?
    private let prefix: String

    /// The key of the metadata text that a Firebase client's `getDownloadURL` requires.
    static let downloadToken = "firebaseStorageDownloadTokens"

    /// - Throws: `StoreError`, `.refused` if no bucket is named, or the service account's key cannot be used.
    public init(
        _ settings: Settings.Outbox.Firebase, web: Web, resume: ResumeStates, clock: any Clock = SystemClock()
    ) throws(StoreError) {
        guard let bucket = settings.bucket, !bucket.isEmpty else {
            throw StoreError(.refused, "outbox: a bucket is missing: write bucket = \"…\" in [outbox.firebase]")
        }
        let endpoint = Self.trimmed(settings.endpoint)
        guard ServiceAddress(endpoint) != nil else {
            throw StoreError(
                .refused,
                "outbox: endpoint in [outbox.firebase] is not a service's address: write https://HOST or https://HOST:PORT, "
                    + "without a user")
        }
        try Web.check(endpoint, for: "an access token of the account in \(settings.serviceAccountFile)")
        do {
            account = try FirebaseAccount(SecretFile(settings.serviceAccountFile), web: web, clock: clock)
        } catch {
            guard Web.isLoopback(endpoint), unsafe access(settings.serviceAccountFile, F_OK) != 0 else { throw error }
            account = nil
        }
        if let problem = account?.host?.problem(in: settings.serviceAccountFile, at: endpoint) {
            throw StoreError(.refused, "outbox: \(problem)")
        }
        self.endpoint = endpoint
        self.bucket = bucket
        self.web = web
        self.resume = resume
        prefix = settings.prefix
        name = Self.name(of: settings)
    }

    static func name(of settings: Settings.Outbox.Firebase) -> String {
        guard let bucket = settings.bucket else { return "firebase" }
        // A user and password before the host must not appear in the name.
        let parts = trimmed(settings.endpoint).split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        let path = parts.count > 3 ? "/\(parts[3])" : ""
        return "firebase:\(Web.host(of: settings.endpoint))\(path)/\(bucket)/\(settings.prefix)"
    }

    private static func trimmed(_ endpoint: String) -> String {
        var endpoint = endpoint
        while endpoint.hasSuffix("/") { endpoint.removeLast() }
        return endpoint
    }

    /// The object's state, or nil if it does not exist.
    public func head(_ object: ObjectName) async throws -> StoredObject? {
        try await resource(of: object).map { stored($0, as: object) }
    }

    /// Lists all objects of takes, one page at a time.
    public func list(_ receive: ([StoredObject]) async throws -> Void) async throws {
        var query =
            "\(endpoint)/storage/v1/b/\(Self.encoded(bucket))/o?prefix=\(Self.encoded(prefix))&delimiter=%2F&maxResults=1000"
        query += "&fields=\(Self.encoded("nextPageToken,items(\(Resource.fields))"))"
        var next: String?
        var pageCount = 0
        repeat {
            pageCount += 1
            let answer = try await send(.GET, query + (next.map { "&pageToken=\(Self.encoded($0))" } ?? ""))
            guard answer.status == 200 else { throw try await problem(answer, "listing") }
            let page: Page = try await decoded(answer)
            try await receive(
                (page.items ?? []).compactMap { resource in name(of: resource).map { stored(resource, as: $0) } })
            guard pageCount < 10_000, page.nextPageToken != next || next == nil else {
                throw StoreError(
                    .busy(nil), "outbox: \(Web.host(of: endpoint)): the list of bucket \(bucket) does not end")
            }
            next = page.nextPageToken
        } while next != nil
    }

    /// Reads an object, and compares its checksum.
    /// - Throws: `StoreError`, `.missing`, `.damaged`.
    public func get(_ object: ObjectName, _ receive: ([UInt8]) async throws -> Void) async throws {
        let answer = try await send(.GET, url(of: object) + "?alt=media")
        guard answer.status == 200 else { throw try await problem(answer, "reading from", object) }
        var checksum = CRC32C()
        try await answer.read { piece in
            checksum.update(piece)
            try await receive(piece)
        }
        let found = Self.text(of: checksum.value)
        for hash in answer.headers[canonicalForm: "X-Goog-Hash"] where hash.hasPrefix("crc32c=") {
            guard hash.dropFirst("crc32c=".count) == found else {
                throw StoreError(.damaged, "outbox: bucket \(bucket): \(object.file): was damaged while it was read")
            }
        }
    }

    /// Deletes an object, if it exists.
    public func delete(_ object: ObjectName) async throws {
        try await delete(object, generation: nil)
    }

    public func close() async { await web.close() }

    /// Deletes an object.
    /// - Parameter generation: if not nil, the object is deleted only if it still has this generation.
    func delete(_ object: ObjectName, generation: Int64?) async throws {
        let answer = try await send(.DELETE, url(of: object) + (generation.map { "?ifGenerationMatch=\($0)" } ?? ""))
        switch answer.status {
        case 200, 204: _ = try await answer.bytes()
        case 412 where generation != nil: _ = try await answer.bytes()
        default:
            let problem = try await problem(answer, "deleting from", object)
            guard problem.problem == .missing else { throw problem }
        }
    }

    /// The service's description of an object, or nil if it does not exist.
    func resource(of object: ObjectName) async throws -> Resource? {
        let answer = try await send(.GET, url(of: object) + "?fields=\(Self.encoded(Resource.fields))")
        guard answer.status == 200 else {
            let problem = try await problem(answer, "asking", object)
            guard problem.problem == .missing else { throw problem }
            return nil
        }
        return try await decoded(answer)
    }

    func stored(_ resource: Resource, as object: ObjectName) -> StoredObject {
        StoredObject(
            name: object, byteCount: resource.byteCount, sha256: resource.sha256,
            mark: resource.crc32c.map { "crc32c:\($0)" }, metadata: ObjectMetadata(texts: resource.texts))
    }

    /// The name of an object within the bucket.
    func key(of object: ObjectName) -> String { prefix + object.file }

    func decoded<Content: Decodable>(_ answer: Web.Answer) async throws -> Content {
        let body = try await answer.bytes()
        guard let content = try? JSONDecoder().decode(Content.self, from: Data(body)) else {
            throw StoreError(
                .refused,
                "outbox: \(Web.host(of: endpoint)): the answer is not Google Cloud Storage's: see [outbox.firebase] endpoint"
            )
        }
        return content
    }

    /// A checksum in the form of the service.
    static func text(of checksum: UInt32) -> String {
        Data([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: checksum >> $0) }).base64EncodedString()
    }

    private func url(of object: ObjectName) -> String {
        "\(endpoint)/storage/v1/b/\(Self.encoded(bucket))/o/\(Self.encoded(key(of: object)))"
    }

    /// The object name of a take's file, or nil for other objects.
    private func name(of resource: Resource) -> ObjectName? {
        guard resource.name.hasPrefix(prefix) else { return nil }
        let day = resource.texts["day"] ?? resource.texts["started"].map { String($0.prefix(10)) }
        return day.flatMap { ObjectName(path: "\($0)/\(resource.name.dropFirst(prefix.count))") }
    }
}

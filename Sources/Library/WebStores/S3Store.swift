import Digests
import FoundationEssentials
import NIOHTTP1
public import Settings
import Takes
public import Upload

/// A bucket of Amazon S3, or of another service with the S3 protocol.
///
/// Files above 8 MiB are sent in parts, and an interrupted upload resumes. Each request and each part is signed with
/// the hash of its bytes, which the server compares.
public final class S3Store: ServerStore {
    /// `s3:https://s3.example.org/recordings/heron07/`.
    public let name: String
    let bucket: S3Bucket
    let resume: ResumeStates
    let kit: String
    /// The ways of sending for which a trial showed that the server honours `If-None-Match`.
    let kept = Locked(Set<Sending>())
    private let mostPages: Int

    /// - Parameter kit: the kit whose unfinished uploads `tidy` aborts.
    /// - Throws: `.refused` if the settings or the key file cannot be used.
    public convenience init(
        _ settings: Settings.Outbox.S3, web: Web, resume: ResumeStates, kit: String
    ) throws(StoreError) {
        try self.init(settings, web: web, resume: resume, kit: kit) { SystemClock().wallTime() }
    }

    /// - Parameters:
    ///   - mostPages: the most pages of a list to read. A page usually has 1000 objects, and a server's list may be
    ///     endless.
    ///   - now: this machine's clock.
    init(
        _ settings: Settings.Outbox.S3, web: Web, resume: ResumeStates, kit: String, mostPages: Int = 10_000,
        now: @escaping @Sendable () -> WallTime
    ) throws(StoreError) {
        bucket = try S3Bucket(settings, web: web, now: now)
        name = Self.name(of: bucket.address, prefix: settings.prefix)
        self.resume = resume
        self.kit = kit
        self.mostPages = mostPages
    }

    static func name(of address: S3Address, prefix: String) -> String { "s3:\(address.place)/\(prefix)" }

    /// A server compares hashes of parts, and shows its own hashes.
    public func wantedChecksum(byteCount: Int64) -> (any Checksum)? { Self.prints(byteCount) }

    private static func prints(_ byteCount: Int64) -> S3Prints { S3Prints(S3Parts(byteCount: byteCount)) }

    public func put(
        _ source: UploadSource, _ checksum: (any Checksum)?, as object: ObjectName, _ metadata: ObjectMetadata,
        mode: PutMode, report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject {
        try await asking {
            let prints = try await source.checksum(Self.prints(source.byteCount), known: checksum)
            guard try await source.sha256() == metadata.sha256 else { throw UploadSource.changed(source.path) }
            // Servers that do not know If-None-Match ignore or refuse it. There, only a check beforehand protects
            // another object from being overwritten.
            var condition = [(name: "if-none-match", value: "*")]
            var replaced: String?
            let existing: Found?
            do {
                existing = try await found(object, like: source.byteCount, mode)
            } catch let error as StoreError where error.problem == .hidden {
                return try await putUnseen(source, as: object, prints, metadata, mode, error, report)
            }
            if let there = existing {
                switch try await compare(there, source, prints, metadata) {
                case .same(let same):
                    await resume.remove(object, in: name)
                    return same
                case .unproven(let error):
                    await resume.remove(object, in: name)
                    return there.object.unverified(since: error)
                case .damaged: break
                case .other: guard mode.allows(there.object.sha256) else { throw try await conflict(object) }
                }
                replaced = there.tag
                condition = there.tag.map { [("if-match", $0)] } ?? []
            }
            let tag: String?
            do {
                let replaced = replaced
                tag = try await send(source, object, prints, metadata, condition, report) { [self] in
                    try await look(object)?.tag == replaced
                }
            } catch let failure as S3Failure where failure.isOfCondition {
                // Another object took the name in between.
                guard let there = try await found(object, like: source.byteCount, mode) else {
                    throw try await conflict(object)
                }
                switch try await compare(there, source, prints, metadata) {
                case .same(let same): return same
                case .unproven(let error): return there.object.unverified(since: error)
                case .damaged, .other: throw try await conflict(object)
                }
            }
            report(.verifying)
            return try await verified(source, object, prints, metadata, sentAs: tag)
        }
    }

    public func head(_ object: ObjectName) async throws -> StoredObject? {
        try await asking { try await look(object)?.object }
    }

    /// Lists all objects of takes. The list has no metadata.
    public func list(_ receive: ([StoredObject]) async throws -> Void) async throws {
        try await asking {
            var token = ""
            for _ in 0..<mostPages {
                var query = [(name: "list-type", value: "2")]
                // An empty prefix is left out.
                if !bucket.settings.prefix.isEmpty { query.append(("prefix", bucket.settings.prefix)) }
                if !token.isEmpty { query.append(("continuation-token", token)) }
                let page = try await bucket.document("ListBucket", .init(method: .GET, query: query))
                try await receive(
                    page.all("Contents").compactMap { item in
                        guard let object = objectName(item["Key"], in: page),
                            let byteCount = item["Size"].flatMap({ Int64($0) })
                        else { return nil }
                        return StoredObject(name: object, byteCount: byteCount, sha256: nil)
                    })
                guard page["IsTruncated"] == "true" else { return }
                guard let next = page["NextContinuationToken"], !next.isEmpty, next != token else {
                    throw StoreError(
                        .refused,
                        "outbox: \(bucket.address.place): lists only a part, and no way to the rest: see its server")
                }
                token = next
            }
            throw endless("a list")
        }
    }

    private func endless(_ what: String) -> StoreError {
        StoreError(.refused, "outbox: \(bucket.address.place): gives \(what) that does not end: see its server")
    }

    public func get(_ object: ObjectName, _ receive: ([UInt8]) async throws -> Void) async throws {
        try await asking {
            do {
                try await bucket.send(.init(method: .GET, key: key(object))).read(receive)
            } catch let failure as S3Failure where failure.isOfObject {
                throw StoreError(
                    .missing, "outbox: \(bucket.address.place)/\(key(object)): no such object")
            } catch let failure as S3Failure where failure.isOfRights {
                throw failure.hidden(by: bucket)
            }
        }
    }

    /// Deletes an object, if it exists.
    public func delete(_ object: ObjectName) async throws {
        try await asking {
            do {
                try await bucket.ask(.init(method: .DELETE, key: key(object)))
            } catch let failure as S3Failure where failure.isOfObject {}
        }
    }

    /// Aborts this kit's multipart uploads that no delivery will resume. Their parts occupy space until then.
    public func tidy() async throws {
        try await asking {
            let uploads: [(ObjectName, id: String)]
            do {
                uploads = try await unfinished()
            } catch let failure as S3Failure where [405, 501].contains(failure.status) {
                // The server cannot list uploads.
                return
            }
            for (object, id) in uploads {
                if await resume.load(S3Upload.self, of: object, in: name)?.id == id { continue }
                do {
                    try await bucket.ask(.init(method: .DELETE, key: key(object), query: [("uploadId", id)]))
                } catch let failure as S3Failure where failure.isOfUpload {}
            }
        }
    }

    public func close() async { await bucket.close() }

    /// The headers that make the server compare the received bytes.
    static func checksum(_ sha256: String) -> [(name: String, value: String)] {
        [
            ("x-amz-sdk-checksum-algorithm", "SHA256"),
            ("x-amz-checksum-sha256", S3Upload.base64(hexadecimal: sha256)),
        ]
    }

    /// Converts server failures to errors of this store.
    private func asking<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let failure as S3Failure {
            throw failure.error(of: bucket)
        }
    }

    func key(_ object: ObjectName) -> String { bucket.settings.prefix + object.path }

    /// The object of a key in a list.
    private func objectName(_ key: String?, in list: WebXML) -> ObjectName? {
        guard var key else { return nil }
        if list["EncodingType"] == "url" {
            guard let decoded = PercentCoding.decoded(key, plusIsSpace: true) else { return nil }
            key = decoded
        }
        guard key.hasPrefix(bucket.settings.prefix) else { return nil }
        return ObjectName(path: key.dropFirst(bucket.settings.prefix.count))
    }

    /// The error for another object with the same name, after a list request confirmed that the service is there. A
    /// captive portal would also answer that every object exists.
    func conflict(_ object: ObjectName) async throws -> StoreError {
        let query = [(name: "list-type", value: "2"), ("max-keys", "1"), ("prefix", key(object))]
        do {
            _ = try await bucket.document("ListBucket", .init(method: .GET, query: query))
        } catch let failure as S3Failure where !failure.code.isEmpty {
            // The service is there, but this key may not list.
        }
        return StoreError(
            .conflict,
            "outbox: \(bucket.address.place)/\(key(object)): there is another file of that name, which is not overwritten: "
                + "compare the two")
    }
}

extension S3Store {
    private struct Found {
        var object: StoredObject
        var tag: String?
        /// Its SHA-256 in base64, as the server states it; for a multipart object with `-COUNT` at the end.
        var checksum: String?
    }

    /// The result of comparing an existing object with a file.
    private enum Comparison {
        /// The object has a mark if the server's own tag is a hash of the bytes.
        case same(StoredObject)
        /// The metadata match, and the object cannot be read.
        case unproven(StoreError)
        /// The metadata match, and the content differs: it was damaged in transit or later.
        case damaged
        case other
    }

    /// Compares an object with a file by the server's own hashes, or by reading it back. The metadata do not prove
    /// which bytes arrived.
    private func compare(
        _ there: Found, _ source: UploadSource, _ prints: S3Prints, _ metadata: ObjectMetadata
    ) async throws -> Comparison {
        guard there.object.sha256 == metadata.sha256 else { return .other }
        guard there.object.byteCount == source.byteCount else { return .damaged }
        do {
            guard try await isSame(there, prints, metadata) else { return .damaged }
            var same = there.object
            // The tags of some services look like a hash, and do not change when the bytes change.
            if !prints.isHash(tag: there.tag) { same.mark = nil }
            return .same(same)
        } catch let error as StoreError where error.problem == .hidden {
            return .unproven(error)
        }
    }

    private func isSame(_ there: Found, _ prints: S3Prints, _ metadata: ObjectMetadata) async throws -> Bool {
        if let match = prints.match(tag: there.tag, checksum: there.checksum, sha256: metadata.sha256) { return match }
        return try await sha256(of: there.object.name, byteCount: there.object.byteCount) == metadata.sha256
    }

    /// - Parameter attempts: the most requests. A hostile server may report a new bucket address after each one.
    private func look(_ object: ObjectName, attempts: Int? = nil) async throws -> Found? {
        let attempts = attempts ?? bucket.address.targets.count
        let headers: HTTPHeaders
        do {
            headers = try await bucket.ask(
                .init(method: .HEAD, key: key(object), headers: [("x-amz-checksum-mode", "ENABLED")])
            ).headers
        } catch let failure as S3Failure {
            if failure.status == 404 { return nil }
            let target = bucket.target
            let reason = await explained(failure, object)
            if bucket.target != target, attempts > 1 { return try await look(object, attempts: attempts - 1) }
            guard let reason = reason as? S3Failure, reason.isOfRights else { throw reason }
            throw reason.hidden(by: bucket)
        }
        guard let byteCount = headers.first(name: "content-length").flatMap({ Int64($0) }) else {
            throw StoreError(
                .refused, "outbox: \(bucket.address.place)/\(key(object)): its length is not told: see its server")
        }
        let mark = "x-amz-meta-"
        let texts = headers.filter { $0.name.lowercased().hasPrefix(mark) }
            .map { (String($0.name.dropFirst(mark.count)), $0.value) }
        let metadata = ObjectMetadata(texts: Dictionary(texts) { first, _ in first })
        let sha256 = metadata.map(\.sha256).flatMap { $0.isEmpty ? nil : $0 }
        // A weak tag is neither a condition nor a hash.
        let tag = headers.first(name: "etag").flatMap { $0.hasPrefix("W/") ? nil : $0 }
        let hash = S3Prints.bare(tag)
        return Found(
            object: StoredObject(
                name: object, byteCount: byteCount, sha256: sha256,
                mark: S3Prints.isMD5(hash) ? "etag:\(hash)" : nil, metadata: metadata),
            tag: tag,
            checksum: headers.first(name: "x-amz-checksum-sha256"))
    }

    /// An answer to HEAD has no body and so no reason; GET returns it.
    private func explained(_ failure: S3Failure, _ object: ObjectName) async -> any Error {
        guard failure.code.isEmpty, (300..<500).contains(failure.status) else { return failure }
        do {
            try await bucket.ask(.init(method: .GET, key: key(object), headers: [("range", "bytes=0-0")]))
        } catch let reason as S3Failure where !reason.code.isEmpty {
            return reason
        } catch {}
        return failure
    }

    /// An object. Its hash is read back if it could be the same or may be overwritten.
    private func found(_ object: ObjectName, like byteCount: Int64, _ mode: PutMode) async throws -> Found? {
        guard var found = try await look(object) else { return nil }
        if found.object.sha256 == nil, found.object.byteCount == byteCount || mode.replaces {
            // The object has no hash in its metadata, so no kit sent it.
            found.object.sha256 = try await sha256(of: object, byteCount: found.object.byteCount)
        }
        return found
    }

    /// The incomplete multipart uploads of this kit.
    private func unfinished() async throws -> [(ObjectName, id: String)] {
        var found: [(ObjectName, id: String)] = []
        var marker: (key: String, id: String)?
        for _ in 0..<mostPages {
            var query = [(name: "uploads", value: "")]
            if !bucket.settings.prefix.isEmpty { query.append(("prefix", bucket.settings.prefix)) }
            if let marker { query += [("key-marker", marker.key), ("upload-id-marker", marker.id)] }
            let page = try await bucket.document("ListMultipartUploads", .init(method: .GET, query: query))
            for upload in page.all("Upload") {
                guard let object = objectName(upload["Key"], in: page), let id = upload["UploadId"] else { continue }
                if object.kit == kit { found.append((object, id)) }
            }
            guard found.count <= Self.mostUploads else { break }
            guard page["IsTruncated"] == "true", let key = page["NextKeyMarker"], let id = page["NextUploadIdMarker"],
                marker.map({ $0 != (key, id) }) ?? true
            else { return found }
            marker = (key, id)
        }
        throw endless("a list of uploads")
    }

    private static let mostUploads = 20_000
}

extension S3Store {
    func send(
        _ source: UploadSource, _ object: ObjectName, _ prints: S3Prints, _ metadata: ObjectMetadata,
        _ condition: [(name: String, value: String)], _ report: @escaping @Sendable (PutProgress) -> Void,
        isUnseen: Bool = false, mayComplete: @escaping @Sendable () async throws -> Bool
    ) async throws -> String? {
        // Some servers drop a header with an empty value.
        var headers = metadata.texts.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
            .map { (name: "x-amz-meta-\($0.key)", value: $0.value) }
        headers.append(("content-type", object.contentType))
        guard source.byteCount <= S3Parts.usual else {
            let run = S3UploadRun(
                bucket: bucket, resume: resume, store: name, object: object, key: key(object), source: source,
                metadata: metadata, prints: prints, report: report, isUnseen: isUnseen, mayComplete: mayComplete)
            return try await run.send(headers: headers, condition: condition)
        }
        let answer = try await bucket.ask(
            .init(
                method: .PUT, key: key(object), headers: headers + condition + Self.checksum(metadata.sha256),
                body: .part(
                    source, 0..<source.byteCount, sha256: metadata.sha256,
                    md5: prints.parts.first?.md5 ?? Digest.of([UInt8](), .md5)
                ) { report(.sent($0)) },
                // After a lost answer, a repeated request would find this kit's own file and report a conflict.
                mayRepeat: isUnseen ? false : nil, needsCondition: isUnseen && !condition.isEmpty))
        return answer.headers.first(name: "etag")
    }

    /// Compares the stored object with the sent file. A damaged object is deleted, unless another one has replaced it.
    func verified(
        _ source: UploadSource, _ object: ObjectName, _ prints: S3Prints, _ metadata: ObjectMetadata,
        sentAs tag: String?
    ) async throws -> StoredObject {
        guard let there = try await found(object, like: source.byteCount, .create) else {
            throw StoreError(
                .damaged, "outbox: \(bucket.address.place)/\(key(object)): was sent, but is not there: see its server")
        }
        switch try await compare(there, source, prints, metadata) {
        case .same(let same): return same
        case .unproven(let error): return there.object.unverified(since: error)
        case .damaged, .other:
            // If it cannot be deleted, the next attempt overwrites it: its metadata show that this kit sent it.
            if let found = there.tag, found == tag { try? await delete(object) }
            throw StoreError(
                .damaged,
                "outbox: \(bucket.address.place)/\(key(object)): has arrived with another content or length than \(source.path)"
            )
        }
    }
}

import FoundationEssentials
import NIOHTTP1
import Takes
public import Upload

/// Resumable uploads. A session starts with the metadata, chunks follow, and the last chunk creates the object
/// (cloud.google.com/storage/docs/performing-resumable-uploads).
extension FirebaseStore {
    /// The saved state of a session. Its URI is enough to send data without a token, so it is never shown.
    private struct Session: Codable {
        var uri: String
        var sha256: String
        var byteCount: Int64
        /// The required generation of the existing object; 0 if there must be none.
        var generation: Int64
    }

    /// The answer to a chunk, or to a query about a session.
    private enum Reply {
        /// The service has this many bytes.
        case has(Int64)
        case finished(Resource)
        /// The session does not exist, or no longer exists.
        case gone
        /// The object changed since the session started.
        case overtaken
    }

    /// A multiple of 256 KiB, as the service requires.
    private static let chunkByteCount: Int64 = 8 << 20
    /// The service stores multiples of this.
    private static let keptByteCount: Int64 = 256 << 10
    /// How often the service may accept no bytes of a chunk.
    private static let mostIdleReplies = 3

    /// The service has a CRC-32C of each object.
    public func wantedChecksum(byteCount: Int64) -> (any Checksum)? { CRC32C() }

    /// Sends a file in chunks, resumes an earlier attempt, and verifies the checksum.
    public func put(
        _ source: UploadSource, _ checksum: (any Checksum)?, as object: ObjectName, _ metadata: ObjectMetadata,
        mode: PutMode, report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject {
        var known = checksum
        var existing: Resource?
        do {
            existing = try await found(object, like: source.byteCount, mode)
        } catch let error as StoreError where error.problem == .hidden {
            return try await putUnseen(source, known, as: object, metadata, mode, error, report)
        }
        // Two attempts, because another client may create the object in between.
        for _ in 0..<2 {
            let isSent = existing?.sha256 == metadata.sha256
            if let existing, isSent {
                report(.verifying)
                do {
                    if try await isSame(existing, source, &known, object, metadata) {
                        await resume.remove(object, in: name)
                        return stored(existing, as: object)
                    }
                } catch let error as StoreError where error.problem == .hidden {
                    return stored(existing, as: object).unverified(since: error)
                }
                // The metadata say that this file was sent, but the content differs: it was damaged in transit or
                // later.
            }
            if let existing, !isSent, !mode.allows(existing.sha256) { break }
            if let sent = try await send(source, object, metadata, replacing: existing, report) {
                report(.verifying)
                return try await verified(sent, source, known, object, metadata)
            }
            existing = try await found(object, like: source.byteCount, mode)
        }
        throw conflict(object)
    }

    /// Sends a file with an account that may create objects but not read them. The service answers with the checksum of
    /// the new object.
    private func putUnseen(
        _ source: UploadSource, _ known: (any Checksum)?, as object: ObjectName, _ metadata: ObjectMetadata,
        _ mode: PutMode, _ reason: StoreError, _ report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject {
        guard !mode.replaces else {
            throw StoreError(
                .hidden,
                "outbox: bucket \(bucket): \(object.file): was sent before, and \(user) may not replace what it cannot look at: "
                    + Self.grant)
        }
        let attempts = UnseenAttempts(resume, of: object, in: name)
        let wasBegun = await attempts.earlier(metadata.sha256) != nil
        if !wasBegun { try await attempts.note(UnseenAttempt(sha256: metadata.sha256)) }
        let unverified = StoredObject(
            name: object, byteCount: source.byteCount, sha256: metadata.sha256, metadata: metadata,
            unverified: reason.sentence)
        guard let sent = try await send(source, object, metadata, replacing: nil, report) else {
            await attempts.end()
            guard wasBegun || mode.knows(metadata.sha256) else { throw conflict(object) }
            return unverified
        }
        await attempts.end()
        report(.verifying)
        return try await verified(sent, source, known, object, metadata)
    }

    private func conflict(_ object: ObjectName) -> StoreError {
        StoreError(
            .conflict,
            "outbox: bucket \(bucket): \(object.file): there is another object of that name, which is not overwritten: "
                + "compare the two")
    }

    /// The existing object. Its hash is read back if it could be the same or may be overwritten.
    private func found(_ object: ObjectName, like byteCount: Int64, _ mode: PutMode) async throws -> Resource? {
        guard var found = try await resource(of: object) else { return nil }
        if found.sha256 == nil, found.byteCount == byteCount || mode.replaces {
            // The object has no hash in its metadata, so no kit sent it.
            found.metadata = try await found.texts.merging([
                "sha256": sha256(of: object, byteCount: found.byteCount)
            ]) { $1 }
        }
        return found
    }

    /// Whether the object has the source's content.
    /// - Parameter known: the source's checksum. If it is nil, it is computed.
    /// - Throws: `.unreadable` if the source has changed since it was hashed.
    private func isSame(
        _ resource: Resource, _ source: UploadSource, _ known: inout (any Checksum)?, _ object: ObjectName,
        _ metadata: ObjectMetadata
    ) async throws -> Bool {
        let checksum = try await source.checksum(CRC32C(), known: known)
        known = checksum
        guard try await source.sha256() == metadata.sha256 else { throw UploadSource.changed(source.path) }
        guard resource.byteCount == source.byteCount else { return false }
        if let found = resource.crc32c { return found == Self.text(of: checksum.value) }
        // Without a checksum from the server, nothing is proven yet.
        return try await sha256(of: object, byteCount: resource.byteCount) == metadata.sha256
    }

    /// Compares the new object with the source, and deletes it if they differ.
    private func verified(
        _ resource: Resource, _ source: UploadSource, _ known: (any Checksum)?, _ object: ObjectName,
        _ metadata: ObjectMetadata
    ) async throws -> StoredObject {
        var known = known
        var failure = StoreError(
            .damaged,
            "outbox: bucket \(bucket): \(object.file): has arrived with another content than \(source.path) (CRC-32C "
                + "\(resource.crc32c ?? "missing")): it is sent again")
        do {
            if try await isSame(resource, source, &known, object, metadata) { return stored(resource, as: object) }
        } catch let error as StoreError where error.problem == .hidden {
            return stored(resource, as: object).unverified(since: error)
        } catch let error as StoreError where error.problem == .unreadable {
            failure = error
        }
        // If it cannot be deleted, the next attempt replaces it: its metadata show that this kit sent it.
        if let generation = resource.generation?.value { try? await delete(object, generation: generation) }
        throw failure
    }

    /// Sends a file.
    /// - Returns: the new object, or nil if another object appeared meanwhile.
    private func send(
        _ source: UploadSource, _ object: ObjectName, _ metadata: ObjectMetadata, replacing existing: Resource?,
        _ report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> Resource? {
        let generation = existing?.generation?.value ?? 0
        var begun = try await saved(object, source, metadata, generation)
        // A saved session may be gone or unusable, so a new one may start once.
        for _ in 0..<2 {
            let session: Session
            var reply: Reply
            if let kept = begun {
                session = kept
                reply = try await ask(session, object)
            } else {
                guard let new = try await begin(source, object, metadata, existing, generation) else { return nil }
                session = new
                reply = .has(0)
                try await resume.save(session, of: object, in: name)
            }
            if case .has(let count) = reply {
                reply = try await sendChunks(source, object, session, from: count, report)
            }
            if case .gone = reply {
                begun = nil
                continue
            }
            await resume.remove(object, in: name)
            guard case .finished(let resource) = reply else { return nil }
            return resource
        }
        await resume.remove(object, in: name)
        throw StoreError(
            .busy(nil),
            "outbox: \(Web.host(of: endpoint)): \(object.file): the upload was given up by the service twice")
    }

    /// The saved session of an earlier attempt, or nil if there is none for this content.
    private func saved(
        _ object: ObjectName, _ source: UploadSource, _ metadata: ObjectMetadata, _ generation: Int64
    ) async throws -> Session? {
        guard let session = await resume.load(Session.self, of: object, in: name) else { return nil }
        if session.sha256 == metadata.sha256, session.byteCount == source.byteCount, session.generation == generation {
            return session
        }
        await resume.remove(object, in: name)
        // The bytes in the old session are not needed any more.
        if let answer = try? await web.send(.DELETE, session.uri) { _ = try? await answer.bytes() }
        try Task.checkCancellation()
        return nil
    }

    /// Begins a session.
    /// - Returns: nil if another object is there now.
    private func begin(
        _ source: UploadSource, _ object: ObjectName, _ metadata: ObjectMetadata, _ existing: Resource?,
        _ generation: Int64
    ) async throws -> Session? {
        var texts = metadata.texts
        texts["day"] = object.day
        texts[Self.downloadToken] = existing?.texts[Self.downloadToken] ?? UUID().uuidString.lowercased()
        let body = try JSONEncoder().encode(Description(contentType: object.contentType, metadata: texts))
        let url =
            "\(endpoint)/upload/storage/v1/b/\(Self.encoded(bucket))/o?uploadType=resumable&name=\(Self.encoded(key(of: object)))"
            + "&ifGenerationMatch=\(generation)"
        let headers: HTTPHeaders = [
            "Content-Type": "application/json; charset=UTF-8", "X-Upload-Content-Type": object.contentType,
            "X-Upload-Content-Length": "\(source.byteCount)",
        ]
        // A second session that starts by a repeated request expires by itself.
        let answer = try await send(.POST, url, headers: headers, body: .bytes(Array(body)), mayRepeat: true)
        if answer.status == 412 {
            _ = try await answer.bytes()
            return nil
        }
        guard answer.status == 200 || answer.status == 201 else { throw try await problem(answer, "sending to") }
        _ = try await answer.bytes()
        guard let uri = answer.headers.first(name: "Location") else {
            throw StoreError(
                .refused, "outbox: \(Web.host(of: endpoint)): began an upload without saying where it goes")
        }
        // The address may point to another server, and it is enough to send data.
        try Web.check(uri, for: "the address of an upload that \(Web.host(of: endpoint)) began")
        return Session(uri: uri, sha256: metadata.sha256, byteCount: source.byteCount, generation: generation)
    }

    private struct Description: Encodable {
        var contentType: String
        var metadata: [String: String]
    }

    private func sendChunks(
        _ source: UploadSource, _ object: ObjectName, _ session: Session, from start: Int64,
        _ report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> Reply {
        let total = source.byteCount
        var offset = start
        var most = start
        var idleReplies = 0
        while true {
            let count = min(Self.chunkByteCount, total - offset)
            let range = count > 0 ? "bytes \(offset)-\(offset + count - 1)/\(total)" : "bytes */\(total)"
            let body: Web.Body =
                count > 0 ? .source(source, offset..<offset + count, report: { report(.sent($0)) }) : .none
            let reply = try await reply(
                to: web.send(
                    .PUT, session.uri, headers: ["Content-Range": range], body: body, subject: Web.host(of: endpoint)),
                object)
            guard case .has(let received) = reply else { return reply }
            // A service that repeatedly forgets received bytes must not keep the upload in an endless loop.
            idleReplies = received > most ? 0 : idleReplies + 1
            most = max(most, received)
            guard received <= total, idleReplies < Self.mostIdleReplies else {
                throw StoreError(
                    .busy(nil),
                    "outbox: \(Web.host(of: endpoint)): \(object.file): the service takes nothing after byte \(offset)")
            }
            offset = received
        }
    }

    /// Asks for the state of a session.
    private func ask(_ session: Session, _ object: ObjectName) async throws -> Reply {
        let range: HTTPHeaders = ["Content-Range": "bytes */\(session.byteCount)"]
        return try await reply(
            to: web.send(.PUT, session.uri, headers: range, subject: Web.host(of: endpoint)), object)
    }

    private func reply(to answer: Web.Answer, _ object: ObjectName) async throws -> Reply {
        switch answer.status {
        case 200, 201: return .finished(try await decoded(answer))
        case 308:
            _ = try await answer.bytes()
            let last = answer.headers.first(name: "Range")?.split(separator: "-").last.flatMap { Int64($0) }
            // `&+` because a server may state the highest number.
            let count = last.map { $0 &+ 1 } ?? 0
            // An emulator reports one byte when it has none. The service ignores bytes that are sent twice.
            return .has(count < Self.keptByteCount ? 0 : count)
        // 400: the sent range does not continue the session.
        case 400, 404, 410:
            _ = try await answer.bytes()
            return .gone
        case 412:
            _ = try await answer.bytes()
            return .overtaken
        default: throw try await problem(answer, "sending to", object)
        }
    }
}

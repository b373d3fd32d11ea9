import Digests
import NIOHTTP1
import Settings
import Takes
import Upload

/// Uploads with a key that may write but not read. The sent bytes cannot be compared, and each object is marked as
/// unverified.
extension S3Store {
    /// Sends a file without reading the current object. Only the request's own condition protects another object from
    /// being overwritten. To replace an object that this kit sent before, the request has no condition.
    /// - Parameter reason: why nothing can be read.
    func putUnseen(
        _ source: UploadSource, as object: ObjectName, _ prints: S3Prints, _ metadata: ObjectMetadata, _ mode: PutMode,
        _ reason: StoreError, _ report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject {
        if !mode.replaces { try await checkCondition(of: source.byteCount <= S3Parts.usual ? .whole : .inParts) }
        let attempts = UnseenAttempts(resume, of: object, in: name)
        let wasBegun = await attempts.earlier(metadata.sha256) != nil
        let unverified = StoredObject(
            name: object, byteCount: source.byteCount, sha256: metadata.sha256, metadata: metadata,
            unverified: reason.sentence)
        if !wasBegun { try await attempts.note(UnseenAttempt(sha256: metadata.sha256)) }
        let condition = mode.replaces ? [] : [(name: "if-none-match", value: "*")]
        let tag: String?
        do {
            tag = try await send(source, object, prints, metadata, condition, report, isUnseen: true) { true }
        } catch let failure as S3Failure where failure.isOfCondition {
            await attempts.end()
            guard wasBegun || mode.knows(metadata.sha256) else { throw try await conflict(object) }
            return unverified
        } catch let failure as S3Failure where failure.isUndone && !wasBegun {
            // An object found there at the next attempt is another's.
            await attempts.end()
            throw failure
        }
        report(.verifying)
        let stored: StoredObject
        do {
            // Some keys may read existing objects but not ask for missing ones.
            stored = try await verified(source, object, prints, metadata, sentAs: tag)
        } catch let error as StoreError where error.problem == .hidden {
            stored = unverified
        }
        await attempts.end()
        return stored
    }

    enum Sending {
        case whole, inParts
    }

    /// Tests once whether the server honours `If-None-Match`. Some servers ignore it and would overwrite another's
    /// object. The test object is this kit's own. It stays there, because the key may not delete it.
    /// - Throws: `.refused` if the server does not honour the condition.
    private func checkCondition(of way: Sending) async throws {
        guard !kept.withLock({ $0.contains(way) }) else { return }
        let trial = UnseenTrial(key: "\(bucket.settings.prefix).\(kit).trial", bucket: bucket)
        // The object may be there from an earlier trial.
        var isKept = try await trial.isWholeKept()
        if !isKept { isKept = try await trial.isWholeKept() }
        if isKept, way == .inParts { isKept = try await trial.isInPartsKept() }
        guard isKept else { throw bucket.overwriting }
        kept.withLock { _ = $0.insert(way) }
    }
}

/// Overwrites a small object of this kit under the condition that it does not exist.
private struct UnseenTrial {
    let key: String
    let bucket: S3Bucket
    private let bytes = Array("trial\n".utf8)
    private let condition = [(name: "if-none-match", value: "*")]
    private var sha256: String { Digest.sha256(bytes).hexadecimal }

    func isWholeKept() async throws -> Bool {
        try await isKept {
            _ = try await bucket.ask(
                .init(
                    method: .PUT, key: key,
                    headers: condition + [("content-type", "text/plain")] + S3Store.checksum(sha256),
                    body: .bytes(bytes), needsCondition: true))
        }
    }

    func isInPartsKept() async throws -> Bool {
        let begun = try await bucket.document(
            "InitiateMultipartUpload",
            .init(
                method: .POST, key: key, query: [("uploads", "")], headers: [("x-amz-checksum-algorithm", "SHA256")],
                mayRepeat: true))
        var upload = S3Upload(id: begun["UploadId"] ?? "", sha256: sha256, byteCount: Int64(bytes.count))
        let part = try await bucket.ask(
            .init(
                method: .PUT, key: key, query: [("partNumber", "1"), ("uploadId", upload.id)],
                headers: S3Store.checksum(sha256), body: .bytes(bytes)))
        upload.add(.init(number: 1, tag: part.headers.first(name: "etag") ?? "", sha256: sha256))
        let completion = upload.completion(withChecksums: !bucket.refuses("x-amz-checksum-algorithm"))
        let isKept = try await isKept {
            _ = try await bucket.document(
                "CompleteMultipartUpload",
                .init(
                    method: .POST, key: key, query: [("uploadId", upload.id)],
                    headers: [("content-type", "application/xml")] + condition, body: .bytes(completion),
                    needsCondition: true))
        }
        // If the key may not abort it, the service's own rule for unfinished uploads removes it.
        if isKept { _ = try? await bucket.ask(.init(method: .DELETE, key: key, query: [("uploadId", upload.id)])) }
        return isKept
    }

    private func isKept(_ request: () async throws -> Void) async throws -> Bool {
        do {
            try await request()
            return false
        } catch let failure as S3Failure where failure.isOfCondition {
            return true
        }
    }
}

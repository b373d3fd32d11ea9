import Digests
import NIOHTTP1
import Settings
import Takes
import Upload

/// Sending with a key that may write and not read: what arrived is never compared, and each object says so.
extension S3Store {
    /// Sends a file without having seen what is there. Nothing but the request's own condition keeps another object from being
    /// overwritten; in place of an object that this kit sent before, it is sent without one.
    /// - Parameter reason: why nothing can be seen.
    func putUnseen(
        _ source: UploadSource, as object: ObjectName, _ prints: S3Prints, _ metadata: ObjectMetadata, _ mode: PutMode,
        _ reason: StoreError, _ report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject {
        if !mode.replaces { try await checkCondition() }
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
            // What is there at the next attempt is another's.
            await attempts.end()
            throw failure
        }
        report(.verifying)
        let stored: StoredObject
        do {
            // Some keys may look at what is there, and not for what is missing.
            stored = try await verified(source, object, prints, metadata, sentAs: tag)
        } catch let error as StoreError where error.problem == .hidden {
            stored = unverified
        }
        await attempts.end()
        return stored
    }

    /// Tries out once whether the server keeps what is there under `If-None-Match`: some ignore it, and would overwrite another's object. The
    /// object for that is this kit's own. It stays: the key may not delete it.
    /// - Throws: `.refused`, if the server does not keep it.
    private func checkCondition() async throws {
        guard !keepsUnseen.withLock({ $0 }) else { return }
        let bytes = Array("trial\n".utf8)
        let trial = S3Bucket.Request(
            method: .PUT, key: "\(bucket.settings.prefix).\(kit).trial",
            headers: [("if-none-match", "*"), ("content-type", "text/plain")]
                + Self.checksum(Digest.sha256(bytes).hexadecimal),
            body: .bytes(bytes), needsCondition: true)
        // It may be there from an earlier trial.
        for _ in 1...2 {
            do {
                _ = try await bucket.ask(trial)
            } catch let failure as S3Failure where failure.isOfCondition {
                return keepsUnseen.withLock { $0 = true }
            }
        }
        throw bucket.overwriting
    }
}

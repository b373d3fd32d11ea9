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
}

/// An attempt to send an object to a store that hides its content. If the answer is lost, the next attempt finds the
/// name taken by the same file. Only this note distinguishes that file from another kit's.
package struct UnseenAttempt: Codable, Sendable {
    /// The hash of the file, in hexadecimal.
    package var sha256: String
    /// The step that began; nil means `naming`.
    package var step: Step?

    package enum Step: String, Codable, Sendable {
        /// One request makes the object with all of its content.
        case naming
        /// The object is made first and written afterwards.
        case making
        /// This kit made the object, which may have a part of the content.
        case writing
    }

    package init(sha256: String, _ step: Step = .naming) {
        self.sha256 = sha256
        self.step = step
    }
}

/// The notes about attempts to send one object to one store.
package struct UnseenAttempts: Sendable {
    private let resume: ResumeStates
    private let object: ObjectName
    /// Separate from the resume state of an upload in parts.
    private let place: String

    /// - Parameter store: the store's name.
    package init(_ resume: ResumeStates, of object: ObjectName, in store: String) {
        self.resume = resume
        self.object = object
        place = "\(store) (attempts)"
    }

    /// The last step of an earlier attempt to send this content that did not end, or nil if there was none.
    package func earlier(_ sha256: String) async -> UnseenAttempt.Step? {
        guard let attempt = await resume.load(UnseenAttempt.self, of: object, in: place), attempt.sha256 == sha256
        else { return nil }
        return attempt.step ?? .naming
    }

    /// Notes an attempt. The note is on the disk when this returns.
    /// - Throws: `StoreError`, `.unreadable`.
    package func note(_ attempt: UnseenAttempt) async throws {
        try await resume.save(attempt, of: object, in: place)
    }

    /// Removes the note after the attempt ended.
    package func end() async { await resume.remove(object, in: place) }
}

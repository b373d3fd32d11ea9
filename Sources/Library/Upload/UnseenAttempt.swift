/// An attempt to send an object to a store that does not show what is there. If its answer is lost, the next attempt finds the name taken
/// by the same file, and only this note tells that from another's.
package struct UnseenAttempt: Codable, Sendable {
    /// Of the file, hexadecimal.
    package var sha256: String
    /// What was begun; nil: `naming`.
    package var step: Step?

    /// What an attempt does.
    package enum Step: String, Codable, Sendable {
        /// One request makes the object with all of its content.
        case naming
        /// The object is made, and written afterwards.
        case making
        /// This kit made the object, which may have a part of the content.
        case writing
    }

    /// An attempt that begins.
    package init(sha256: String, _ step: Step = .naming) {
        self.sha256 = sha256
        self.step = step
    }
}

/// What is noted of the attempts to send an object to a store.
package struct UnseenAttempts: Sendable {
    private let resume: ResumeStates
    private let object: ObjectName
    /// Apart from what an upload in parts goes on with.
    private let place: String

    /// - Parameter store: its name.
    package init(_ resume: ResumeStates, of object: ObjectName, in store: String) {
        self.resume = resume
        self.object = object
        place = "\(store) (attempts)"
    }

    /// The last step of an earlier attempt to send this content that did not end; nil: there was none.
    package func earlier(_ sha256: String) async -> UnseenAttempt.Step? {
        guard let attempt = await resume.load(UnseenAttempt.self, of: object, in: place), attempt.sha256 == sha256
        else { return nil }
        return attempt.step ?? .naming
    }

    /// Notes an attempt; it is on the disk when this returns.
    /// - Throws: `StoreError`, `.unreadable`.
    package func note(_ attempt: UnseenAttempt) async throws {
        try await resume.save(attempt, of: object, in: place)
    }

    /// Forgets the attempt: it ended.
    package func end() async { await resume.remove(object, in: place) }
}

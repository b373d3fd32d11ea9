import HTTPTypes
import Synchronization
import Transport

/// A lock for an action that only one browser at a time may request.
final class Turn: Sendable {
    private let isTaken = Mutex(false)
    private let refusal: String

    /// - Parameter refusal: the answer for another browser meanwhile.
    init(_ refusal: String) { self.refusal = refusal }

    /// - Throws: `Problem` while another browser has the turn, and the errors of `body`.
    func take<Result>(_ body: () async throws -> Result) async throws -> Result {
        guard
            isTaken.withLock({ isTaken in
                defer { isTaken = true }
                return !isTaken
            })
        else { throw Problem(.turnTaken(message: refusal)) }
        defer { isTaken.withLock { $0 = false } }
        return try await body()
    }
}

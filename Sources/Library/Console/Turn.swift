import HTTPTypes
import Synchronization
import Transport

/// What one browser at a time may ask for.
final class Turn: Sendable {
    private let isTaken = Mutex(false)
    private let refusal: String

    /// - Parameter refusal: what another one is answered meanwhile.
    init(_ refusal: String) { self.refusal = refusal }

    /// - Throws: `Problem` while somebody else has it, and what the body throws.
    func take<Result>(_ body: () async throws -> Result) async throws -> Result {
        guard
            isTaken.withLock({ isTaken in
                defer { isTaken = true }
                return !isTaken
            })
        else { throw Problem(.conflict, .busy, refusal) }
        defer { isTaken.withLock { $0 = false } }
        return try await body()
    }
}

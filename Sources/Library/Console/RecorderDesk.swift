import Control
import NIOPosix
import Takes
import Transport

/// Sends requests to the recorder, one connection for each, on threads that may wait for it.
struct RecorderDesk: Sendable {
    private let path: String
    private let pool: NIOThreadPool

    /// The time limit for a bounded answer, such as a list of cards.
    static let patience = Duration.seconds(20)

    /// - Parameters:
    ///   - path: the recorder's socket.
    ///   - pool: threads that may wait.
    init(path: String, pool: NIOThreadPool) {
        self.path = path
        self.pool = pool
    }

    /// Sends a request, and waits for the reply.
    /// - Throws: `Problem`, also in place of a `ControlError`.
    func ask(_ message: RecorderMessage, patience: Duration = Self.patience) async throws -> JSONValue {
        try await pool.runIfActive { [path] in
            do throws(ControlError) {
                return try ControlClient(path: path).ask(message, timeout: patience)
            } catch {
                throw Problem(error)
            }
        }
    }

    /// The reply without the keys that belong to the connection.
    func object(_ message: RecorderMessage, patience: Duration = Self.patience) async throws -> JSONValue {
        guard case .object(var members) = try await ask(message, patience: patience) else { return .null }
        for key in ["id", "ok", "protocol"] { members[key] = nil }
        return .object(members)
    }
}

import Control
import NIOPosix
import Takes
import Transport

/// Asks the recorder, a connection for each request, on threads that may wait for it.
struct RecorderDesk: Sendable {
    private let path: String
    private let pool: NIOThreadPool

    /// What is bounded to one answer, such as a list of cards, may take this long.
    static let patience = Duration.seconds(20)

    /// - Parameters:
    ///   - path: the recorder's socket.
    ///   - pool: threads for what waits.
    init(path: String, pool: NIOThreadPool) {
        self.path = path
        self.pool = pool
    }

    /// Asks, and waits for the reply.
    /// - Throws: `Problem`; `ControlError` as one.
    func ask(_ message: RecorderMessage, patience: Duration = Self.patience) async throws -> JSONValue {
        try await pool.runIfActive { [path] in
            do throws(ControlError) {
                return try ControlClient(path: path).ask(message, timeout: patience)
            } catch {
                throw Problem(error)
            }
        }
    }

    /// The same; the reply without what belongs to the connection.
    func object(_ message: RecorderMessage, patience: Duration = Self.patience) async throws -> JSONValue {
        guard case .object(var members) = try await ask(message, patience: patience) else { return .null }
        for key in ["id", "ok", "protocol"] { members[key] = nil }
        return .object(members)
    }
}

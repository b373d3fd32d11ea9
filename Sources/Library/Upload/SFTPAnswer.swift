import Takes

/// The answer to one request, now or later.
final class SFTPAnswer: Sendable {
    /// The most file bytes that the answer may have.
    let mostData: Int
    private let state = Locked(State.open)

    private enum State {
        case open
        case awaited(CheckedContinuation<SFTPReply, any Error>)
        case come(Result<SFTPReply, any Error>)
        /// The waiting task was cancelled.
        case abandoned
    }

    init(mostData: Int = 0) { self.mostData = mostData }

    /// Waits for the answer. It may be called once.
    /// - Throws: `StoreError` if the connection ends before.
    func value() async throws -> SFTPReply {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<SFTPReply, any Error>? in
                    switch state {
                    case .open:
                        state = .awaited(continuation)
                        return nil
                    case .come(let result): return result
                    case .awaited, .abandoned: return .failure(CancellationError())
                    }
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiting = state.withLock { state -> CheckedContinuation<SFTPReply, any Error>? in
                defer { if case .come = state {} else { state = .abandoned } }
                if case .awaited(let continuation) = state { return continuation }
                return nil
            }
            waiting?.resume(throwing: CancellationError())
        }
    }

    /// Delivers the answer.
    /// - Returns: whether a task may still need it.
    @discardableResult
    func come(_ result: Result<SFTPReply, any Error>) -> Bool {
        let (isWanted, waiting) = state.withLock { state -> (Bool, CheckedContinuation<SFTPReply, any Error>?) in
            switch state {
            case .open:
                state = .come(result)
                return (true, nil)
            case .awaited(let continuation):
                state = .come(result)
                return (true, continuation)
            case .come, .abandoned: return (false, nil)
            }
        }
        waiting?.resume(with: result)
        return isWanted
    }
}

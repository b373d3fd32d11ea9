import Takes

/// The finished takes that may continue. May be used by any thread.
final class Resumptions: Sendable {
    enum State {
        /// It has a tail.
        case possible
        /// It is being recorded again.
        case underWay
    }

    private let takes = Locked<[TakeName: State]>([:])

    /// Whether a finished take has a tail or is being recorded again.
    func contains(_ take: TakeName) -> Bool { takes.withLock { $0[take] != nil } }

    /// All takes that have a tail or are being recorded again.
    var all: Set<TakeName> { takes.withLock { Set($0.keys) } }

    /// Records how a take may continue, or nil if it does not. Waits for a call of `hold` in progress.
    func note(_ state: State?, of take: TakeName) { takes.withLock { $0[take] = state } }

    /// Calls `body` with the state of a take. No state changes meanwhile.
    func hold<Result: Sendable, Failure: Error>(
        _ take: TakeName, _ body: (State?) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try takes.withLock { takes throws(Failure) in try body(takes[take]) }
    }
}

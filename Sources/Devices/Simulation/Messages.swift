import Takes

/// What the log says while a panel is drawn in the terminal: kept until the panel takes it. For any thread.
public final class Messages: Sendable {
    fileprivate struct State {
        var isOpen = false
        var lines: [String] = []
    }

    private let state = Locked(State())

    /// Messages are not taken yet.
    public init() {}

    /// Adds a message.
    /// - Returns: false if messages are not taken: it has to be shown in another way.
    public func post(_ message: String) -> Bool {
        state.withLock { state in
            if state.isOpen { state.lines.append(message) }
            return state.isOpen
        }
    }

    /// From now on messages are taken.
    func open() {
        state.withLock { $0.isOpen = true }
    }

    /// Messages are no longer taken.
    /// - Returns: the last ones.
    func close() -> [String] {
        state.withLock { state in
            state.isOpen = false
            return state.takeLines()
        }
    }

    /// The messages since the last time.
    func take() -> [String] {
        state.withLock { $0.takeLines() }
    }
}

extension Messages.State {
    fileprivate mutating func takeLines() -> [String] {
        defer { lines = [] }
        return lines
    }
}

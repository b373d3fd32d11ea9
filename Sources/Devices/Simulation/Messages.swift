import Takes

/// Log messages while a panel is drawn in the terminal, kept until the panel takes them. Any thread may use this.
public final class Messages: Sendable {
    fileprivate struct State {
        var isOpen = false
        var lines: [String] = []
    }

    private let state = Locked(State())

    public init() {}

    /// - Returns: false if messages are not accepted, and the caller must show this one in another way.
    public func post(_ message: String) -> Bool {
        state.withLock { state in
            if state.isOpen { state.lines.append(message) }
            return state.isOpen
        }
    }

    /// Messages are accepted from now on.
    func open() {
        state.withLock { $0.isOpen = true }
    }

    /// Messages are no longer accepted.
    /// - Returns: the messages that were not yet taken.
    func close() -> [String] {
        state.withLock { state in
            state.isOpen = false
            return state.takeLines()
        }
    }

    /// The messages since the last call.
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

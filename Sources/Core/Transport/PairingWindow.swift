public import Takes

/// The window in which a phone may be paired. It opens when play was held. It closes when the time is over, after a
/// phone was paired, or after too many wrong codes.
public struct PairingWindow: Equatable, Sendable {
    private enum State: Equatable {
        case closed
        case open(until: Instant, wrongCodes: Int)
    }

    private var state = State.closed

    public static let length = Duration.seconds(120)
    /// This many wrong codes close the window.
    public static let mostWrongCodes = 5

    /// The result of a code.
    public enum Answer: Equatable, Sendable {
        /// The code is right. This phone may be paired, and no other.
        case accepted
        /// The code is wrong. This many more wrong codes close the window.
        case wrong(left: Int)
        /// The code is wrong, and it was the last attempt: the window is closed.
        case lastWrong
        /// The window was already closed.
        case closed
    }

    public init() {}

    /// When the window closes by time, or nil if it is closed.
    public var end: Instant? {
        switch state {
        case .closed: nil
        case .open(let end, _): end
        }
    }

    public func isOpen(at now: Instant) -> Bool { end.map { now < $0 } ?? false }

    /// Opens the window, or restarts it.
    public mutating func open(at now: Instant) { state = .open(until: now + Self.length, wrongCodes: 0) }

    /// Closes the window if its time is over.
    /// - Returns: whether that changed anything.
    public mutating func settle(at now: Instant) -> Bool {
        guard let end, now >= end else { return false }
        state = .closed
        return true
    }

    /// Takes the code of a phone.
    public mutating func take(codeThatIsRight isRight: Bool, at now: Instant) -> Answer {
        guard case .open(let end, let wrongCodes) = state, now < end else { return .closed }
        guard !isRight else {
            state = .closed
            return .accepted
        }
        let left = Self.mostWrongCodes - wrongCodes - 1
        guard left > 0 else {
            state = .closed
            return .lastWrong
        }
        state = .open(until: end, wrongCodes: wrongCodes + 1)
        return .wrong(left: left)
    }
}

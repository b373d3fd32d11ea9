public import Takes

/// The time in which a phone may be paired: from when play was held until it is over, a phone was paired, or too many codes were wrong.
public struct PairingWindow: Equatable, Sendable {
    private enum State: Equatable {
        case closed
        case open(until: Instant, wrongCodes: Int)
    }

    private var state = State.closed

    /// How long it is open.
    public static let length = Duration.seconds(120)
    /// The wrong code that closes it.
    public static let mostWrongCodes = 5

    /// What becomes of a code.
    public enum Answer: Equatable, Sendable {
        /// It is right: the phone may be paired, and no other.
        case accepted
        /// It is wrong, and as many more close the window.
        case wrong(left: Int)
        /// It is wrong, and the last one: the window is closed.
        case lastWrong
        /// The window was closed before.
        case closed
    }

    /// A closed window.
    public init() {}

    /// When it closes by itself; nil: it is closed.
    public var end: Instant? {
        switch state {
        case .closed: nil
        case .open(let end, _): end
        }
    }

    /// Whether phones may be paired.
    public func isOpen(at now: Instant) -> Bool { end.map { now < $0 } ?? false }

    /// Opens it, or has it begin anew.
    public mutating func open(at now: Instant) { state = .open(until: now + Self.length, wrongCodes: 0) }

    /// Closes it if its time is over.
    /// - Returns: whether that changed anything.
    public mutating func settle(at now: Instant) -> Bool {
        guard let end, now >= end else { return false }
        state = .closed
        return true
    }

    /// A phone gave a code.
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

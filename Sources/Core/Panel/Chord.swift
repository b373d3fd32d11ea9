import Takes
import Transport

/// Two buttons that are held down together.
///
/// It takes the decisions about both buttons in their order, so that its own decision depends only on their edges. Once
/// both are down, neither repeats nor shuts down until it was released.
struct Chord: Sendable {
    let buttons: [Button]
    private let length: Duration
    private var holds: [Button: Hold] = [:]

    private enum Hold {
        case down(since: Instant)
        /// Both buttons were down during this press.
        case joined(since: Instant)

        var since: Instant {
            switch self {
            case .down(let since), .joined(let since): since
            }
        }
    }

    /// The time at which both were held long enough, if they stay down. Nil if they are not both down, or the decision
    /// was made.
    private(set) var due: Instant?

    /// - Parameter length: how long both must be held.
    init(_ first: Button, _ second: Button, length: Duration) {
        buttons = [first, second]
        self.length = length
    }

    /// When the button was pressed, or nil if it is up.
    func since(_ button: Button) -> Instant? { holds[button]?.since }

    mutating func take(_ button: Button, _ turn: Debouncer.Turn) {
        guard case .pressed(let pressed) = turn else { return release(button) }
        holds[button] = .down(since: pressed)
        let all = buttons.compactMap(since)
        guard all.count == buttons.count, let last = all.max() else { return }
        for button in buttons { holds[button] = holds[button].map { .joined(since: $0.since) } }
        due = last + length
    }

    /// The button is up, or no longer counts as down.
    mutating func release(_ button: Button) {
        holds[button] = nil
        due = nil
    }

    /// Both were held long enough. Holding them longer has no further effect.
    mutating func decide() -> Instant? {
        defer { due = nil }
        return due
    }

    /// Whether the effects of holding this button alone are suppressed.
    func suppresses(_ button: Button) -> Bool {
        if case .joined = holds[button] { return true }
        return false
    }
}

import Takes
import Transport

/// Two buttons that are held down together.
///
/// It takes in what was decided about the two in the order of the decisions, so that its own decision depends on their edges alone. Once
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

    /// When both were held long enough, if they stay down; nil: they are not both down, or it was decided.
    private(set) var due: Instant?

    /// - Parameter length: how long both are held.
    init(_ first: Button, _ second: Button, length: Duration) {
        buttons = [first, second]
        self.length = length
    }

    /// Since when a button is down; nil: it is up.
    func since(_ button: Button) -> Instant? { holds[button]?.since }

    mutating func take(_ button: Button, _ turn: Debouncer.Turn) {
        guard case .pressed(let pressed) = turn else { return release(button) }
        holds[button] = .down(since: pressed)
        let all = buttons.compactMap(since)
        guard all.count == buttons.count, let last = all.max() else { return }
        for button in buttons { holds[button] = holds[button].map { .joined(since: $0.since) } }
        due = last + length
    }

    /// A button is up, or no longer counts as down.
    mutating func release(_ button: Button) {
        holds[button] = nil
        due = nil
    }

    /// Both were held long enough: holding on brings nothing else.
    mutating func decide() -> Instant? {
        defer { due = nil }
        return due
    }

    /// Whether what holding this button on would bring does not count.
    func suppresses(_ button: Button) -> Bool {
        if case .joined = holds[button] { return true }
        return false
    }
}

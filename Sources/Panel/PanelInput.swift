public import Takes
public import Transport

/// Edges in, gestures out.
///
/// A loop takes the time, then drains the edges, then asks for the gestures up to that time:
/// ```
/// let now = clock.now()
/// for edge in edges { input.edge(edge) }
/// for gesture in input.advance(to: now, reading: level) { … }
/// sleep(until: input.nextDeadline)
/// ```
/// Time goes by the edges' own timestamps: a loop that wakes late gets the same gestures in the same order, with the
/// same instants.
public struct PanelInput: Sendable {
    private let timing: PanelTiming
    private var keys: [Button: Key]
    private var decided: [Decision] = []

    /// Buttons at rest.
    /// - Parameter down: buttons that are down already: stuck, or held while the power came. Each gives nothing
    ///   until it was released.
    public init(timing: PanelTiming = PanelTiming(), down: Set<Button> = []) {
        self.timing = timing
        keys = [:]
        for button in Button.allCases {
            keys[button] = Key(Debouncer(window: timing.debounce, isDown: down.contains(button)))
        }
    }

    /// When `advance` has something to decide, if no edge comes before; nil when all buttons are at rest.
    public var nextDeadline: Instant? {
        (keys.values.compactMap(\.deadline) + decided.map(\.at)).min()
    }

    /// Takes in an edge.
    public mutating func edge(_ edge: Edge) {
        run(edge.button, to: edge.at)
        keys[edge.button]?.debouncer.edge(isDown: edge.isDown, at: edge.at)
    }

    /// Takes in the level of a button's line as read at `instant`, after every edge before it: what was lost is mended.
    public mutating func level(_ button: Button, isDown: Bool, at instant: Instant) {
        keys[button]?.debouncer.level(isDown: isDown, at: instant)
    }

    /// The gestures that are decided by `now`, in the order in which they were.
    /// - Parameters:
    ///   - now: an instant from before the edges were drained.
    ///   - level: tells whether a button's line is down right now, nil when it cannot be read. It is asked only
    ///     for a button about which something is due, so that neither a lone edge of a spike nor a lost
    ///     release decides anything.
    public mutating func advance(to now: Instant, reading level: (Button) -> Bool?) -> [Gesture] {
        for button in Button.allCases {
            if let deadline = keys[button]?.deadline, deadline <= now, let isDown = level(button) {
                self.level(button, isDown: isDown, at: now)
            }
        }
        return advance(to: now)
    }

    /// The gestures that are decided by `now` as far as the edges tell, in the order in which they were.
    public mutating func advance(to now: Instant) -> [Gesture] {
        for button in Button.allCases {
            run(button, to: now)
        }
        decided.sort { ($0.at, $0.rank) < ($1.at, $1.rank) }
        let count = decided.prefix { $0.at <= now }.count
        defer { decided.removeFirst(count) }
        return decided.prefix(count).map(\.gesture)
    }

    private mutating func run(_ button: Button, to now: Instant) {
        guard var key = keys[button] else { return }
        while let deadline = key.deadline, deadline <= now {
            guard let gesture = key.decide(button, timing: timing, at: deadline) else { continue }
            decided.append(Decision(gesture: gesture, at: deadline, rank: Button.allCases.firstIndex(of: button) ?? 0))
        }
        keys[button] = key
    }

    private struct Decision {
        var gesture: Gesture
        var at: Instant
        var rank: Int
    }

    private struct Key {
        var debouncer: Debouncer
        var hold: Hold?
        /// Nothing is decided before this: an open burst held back what was due.
        var decidedUpTo: Instant?

        init(_ debouncer: Debouncer) {
            self.debouncer = debouncer
        }

        /// A gesture that holding on brings is sure only if no burst began before it was due.
        private var sureHold: Instant? {
            guard let due = hold?.due else { return nil }
            if let since = debouncer.unsettledSince, since <= due { return nil }
            return max(due, decidedUpTo ?? due)
        }

        var deadline: Instant? {
            [sureHold, debouncer.settles].compactMap(\.self).min()
        }

        mutating func decide(_ button: Button, timing: PanelTiming, at instant: Instant) -> Gesture? {
            if sureHold == instant { return hold?.next() }
            let turn = debouncer.settle(by: instant)
            decidedUpTo = instant
            switch turn {
            case .pressed(let pressed):
                hold = Hold(button, pressedAt: pressed, timing: timing)
                return .press(button, at: pressed)
            case .released:
                hold = nil
                return nil
            case nil: return nil
            }
        }
    }
}

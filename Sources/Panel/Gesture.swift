public import Takes
public import Transport

/// What a hand does on the panel.
public enum Gesture: Hashable, Sendable {
    /// A button went down, at its first edge. It acts at once; there is no double tap.
    case press(Button, at: Instant)
    /// Back or forward is held on.
    case `repeat`(Button, at: Instant)
    /// Stop was held on: power off.
    case shutdown(at: Instant)
}

/// The times that make gestures out of edges.
public struct PanelTiming: Hashable, Sendable {
    /// How long a level must be stable before it counts.
    public var debounce: Duration
    /// How long back and forward are held before they repeat.
    public var hold: Duration
    /// How long stop is held to shut down.
    public var shutdownHold: Duration

    /// From one repeat to the next. A selection's two flashes are over by then, so that each step can be counted;
    /// while playing, more than half a second is heard between skips, enough to know the place.
    public static let repeatInterval: Duration = .milliseconds(600)

    /// The times of the settings' section `panel`, by default its defaults.
    public init(
        debounce: Duration = .milliseconds(15), hold: Duration = .milliseconds(600),
        shutdownHold: Duration = .seconds(3)
    ) {
        self.debounce = debounce
        self.hold = hold
        self.shutdownHold = shutdownHold
    }
}

/// One button held down, and what it does next if it stays so.
struct Hold: Hashable, Sendable {
    private let button: Button
    /// When the next gesture is due; nil when nothing more comes of holding on.
    private(set) var due: Instant?

    init(_ button: Button, pressedAt: Instant, timing: PanelTiming) {
        self.button = button
        switch button {
        case .back, .forward: due = pressedAt + timing.hold
        case .stop: due = pressedAt + timing.shutdownHold
        case .record, .play: due = nil
        }
    }

    /// The gesture that is due; sets up the one after it.
    mutating func next() -> Gesture? {
        guard let due else { return nil }
        if button == .stop {
            self.due = nil
            return .shutdown(at: due)
        }
        self.due = due + PanelTiming.repeatInterval
        return .repeat(button, at: due)
    }
}

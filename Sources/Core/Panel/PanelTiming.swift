import Takes
import Transport

/// The times that make events out of edges.
public struct PanelTiming: Hashable, Sendable {
    /// How long a level must be stable before it counts.
    public var debounce: Duration
    /// How long back and forward are held before they repeat.
    public var hold: Duration
    /// How long stop is held to give the stick back; nil: that does nothing.
    public var ejectHold: Duration?
    /// How long stop is held to shut down.
    public var shutdownHold: Duration
    /// How long back and stop are held to lock or unlock the panel; nil: that does nothing.
    public var lockHold: Duration?
    /// How long play is held to open pairing.
    public var pairHold: Duration
    /// How long back and forward are held to ask for the kit's own access point.
    public var accessHold: Duration
    /// How long stop and play are held to make the stick that is in one that takes are sent to.
    public var adoptHold: Duration

    /// From one repeat to the next. A selection's two flashes are over by then, so that each step can be counted;
    /// while playing, more than half a second sounds between skips, enough to know the place.
    public static let repeatInterval: Duration = .milliseconds(600)

    /// No hand holds a button for so long.
    public static let longestPress: Duration = .seconds(60)

    /// The times of the settings' section `panel`, by default its defaults.
    public init(
        debounce: Duration = .milliseconds(15), hold: Duration = .milliseconds(600),
        ejectHold: Duration? = nil, shutdownHold: Duration = .seconds(3), lockHold: Duration? = .seconds(2),
        pairHold: Duration = .seconds(3), accessHold: Duration = .seconds(3), adoptHold: Duration = .seconds(3)
    ) {
        self.debounce = debounce
        self.hold = hold
        self.ejectHold = ejectHold.flatMap { $0 < shutdownHold ? $0 : nil }
        self.shutdownHold = shutdownHold
        self.lockHold = lockHold
        self.pairHold = pairHold
        self.accessHold = accessHold
        self.adoptHold = adoptHold
    }
}

/// One button held down, and what it does next if it stays so.
struct Hold: Hashable, Sendable {
    private let button: Button
    private let pressedAt: Instant
    /// When holding on shuts down.
    private let shutdown: Instant
    /// When the next event is due; nil when nothing more comes of holding on.
    private(set) var due: Instant?

    init(_ button: Button, pressedAt: Instant, timing: PanelTiming) {
        self.button = button
        self.pressedAt = pressedAt
        shutdown = pressedAt + timing.shutdownHold
        switch button {
        case .back, .forward: due = pressedAt + timing.hold
        case .stop: due = timing.ejectHold.map { pressedAt + $0 } ?? shutdown
        case .play: due = pressedAt + timing.pairHold
        case .record: due = nil
        }
    }

    /// The event that is due; sets up the one after it.
    mutating func next() -> TransportEvent? {
        guard let due else { return nil }
        switch button {
        case .stop:
            self.due = due < shutdown ? shutdown : nil
            return due < shutdown ? .eject(pressed: pressedAt) : .shutdown(at: due)
        case .play:
            self.due = nil
            return .pair(pressed: pressedAt)
        case .record, .back, .forward:
            self.due = due + PanelTiming.repeatInterval
            return .press(button, at: due)
        }
    }
}

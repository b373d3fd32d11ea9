import Takes
import Transport

/// The durations that convert edges to events.
public struct PanelTiming: Hashable, Sendable {
    /// How long a level must be stable before it counts.
    public var debounce: Duration
    /// How long back and forward are held before they repeat.
    public var hold: Duration
    /// How long stop is held to eject the stick, or nil to disable it.
    public var ejectHold: Duration?
    /// How long stop is held to shut down.
    public var shutdownHold: Duration
    /// How long back and stop are held to lock or unlock the panel, or nil to disable it.
    public var lockHold: Duration?
    /// How long play is held to open pairing.
    public var pairHold: Duration
    /// How long back and forward are held to request the kit's own access point.
    public var accessHold: Duration
    /// How long stop and play are held to adopt the inserted stick, so that takes are sent to it.
    public var adoptHold: Duration

    /// The time between two repeats. The two flashes of a selection are over by then, so that each step can be counted.
    /// During playback more than half a second sounds between skips, which is enough to recognise the place.
    public static let repeatInterval: Duration = .milliseconds(600)

    /// Nobody holds a button for this long.
    public static let longestPress: Duration = .seconds(60)

    /// The durations of the section `panel` of the settings. The arguments default to the settings' defaults.
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

/// One button that is held down, and its next event if it stays down.
struct Hold: Hashable, Sendable {
    private let button: Button
    private let pressedAt: Instant
    /// The time of the shutdown if the button stays down.
    private let shutdown: Instant
    /// The time of the next event, or nil if there are no further events.
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

    /// Returns the event that is due, and prepares the next one.
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

public import Takes

/// Tells one button's presses from the bouncing of its contacts and from spikes on its wire, by timestamps alone.
///
/// A level counts once it has been stable for the window, and is dated to the first edge of the burst that led to it.
/// Edges may be missing or doubled, as the kernel keeps only 16 of a line that nobody reads: an edge that repeats
/// the level before it says that another went missing, so it counts as movement; `level` mends the rest.
public struct Debouncer: Hashable, Sendable {
    /// How long a level must be stable.
    public let window: Duration
    /// The level that counts.
    public private(set) var isDown: Bool

    private var lastLevel: Bool
    private var burst: Burst?
    /// The last instant at which the level was known.
    private var known: Instant?

    private struct Burst: Hashable {
        var first: Instant
        var last: Instant
    }

    /// A level that counts from now on.
    public enum Turn: Hashable, Sendable {
        case pressed(at: Instant)
        case released(at: Instant)
    }

    /// A button at rest, or held down since before anybody looked.
    public init(window: Duration, isDown: Bool = false) {
        self.window = window
        self.isDown = isDown
        lastLevel = isDown
    }

    /// When the burst that is under way began.
    public var unsettledSince: Instant? {
        burst?.first
    }

    /// When the level will count if nothing moves until then; nil at rest.
    public var settles: Instant? {
        burst.map { $0.last + window }
    }

    /// Takes in an edge; what was due before it must have been taken with `settle(by:)`.
    public mutating func edge(isDown: Bool, at instant: Instant) {
        lastLevel = isDown
        moved(first: instant, last: instant)
    }

    /// Takes in the line's level as read at `instant`, after every edge before it.
    ///
    /// A level that no edge announced means that an edge was lost at an unknown time. A press is then dated to
    /// `instant`, and a release to when the button was last known to be down: neither invents time that it was held.
    public mutating func level(isDown: Bool, at instant: Instant) {
        defer { known = max(known ?? instant, instant) }
        guard isDown != lastLevel else { return }
        lastLevel = isDown
        moved(first: isDown ? instant : known ?? instant, last: instant)
    }

    /// What counts by `now`; nil when nothing changes. The button is at rest afterwards if the window has passed.
    public mutating func settle(by now: Instant) -> Turn? {
        guard let burst, let settles, settles <= now else { return nil }
        self.burst = nil
        known = max(known ?? settles, settles)
        guard lastLevel != isDown else { return nil }
        isDown = lastLevel
        return isDown ? .pressed(at: burst.first) : .released(at: burst.first)
    }

    private mutating func moved(first: Instant, last: Instant) {
        burst = Burst(first: min(burst?.first ?? first, first), last: max(burst?.last ?? last, last))
        known = max(known ?? last, last)
    }
}

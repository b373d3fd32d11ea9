public import Takes

/// Separates one button's presses from the bouncing of its contacts, from spikes on its wire and from storms of edges, by
/// timestamps alone.
///
/// A level counts once it has been stable for the window, and is dated to the first edge of the burst that led to it.
/// Edges may be missing or doubled, as the kernel keeps only 16 of a line until they are read: an edge that repeats
/// the level before it shows that another was lost, so it counts as movement; `level` makes up for the rest.
///
/// A line that gives more edges than a hand can make, as one does that floats, is muted until it is at rest again.
public struct Debouncer: Hashable, Sendable {
    /// How long a level must be stable.
    public let window: Duration
    /// The level that counts.
    public private(set) var isDown: Bool

    /// So many edges within `stormWindow` are a storm. A worn contact bounces some 50 times at a press.
    public static let stormEdges = 200
    /// The time in which the edges of a storm come.
    public static let stormWindow: Duration = .seconds(1)
    /// How long a muted line has to be at rest before its edges count again.
    public static let rest: Duration = .seconds(10)
    /// How often a muted line is checked for edges.
    public static let checkInterval: Duration = .seconds(1)

    private var lastLevel: Bool
    private var burst: Burst?
    /// The last instant at which the level was known.
    private var known: Instant?
    private var line = Line.listening([])

    private enum Line: Hashable {
        /// The instants of the edges within the last `stormWindow`.
        case listening([Instant])
        case muted(restingSince: Instant, nextCheck: Instant)
    }

    private struct Burst: Hashable {
        var first: Instant
        var last: Instant
    }

    /// A level that counts from now on.
    public enum Turn: Hashable, Sendable {
        case pressed(at: Instant)
        case released(at: Instant)
    }

    /// A button at rest, or one that is down already.
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

    /// Whether the line's edges do not count.
    public var isMuted: Bool { nextCheck != nil }

    /// When a muted line is to be checked; nil: it is not muted.
    public var nextCheck: Instant? {
        switch line {
        case .listening: nil
        case .muted(_, let next): next
        }
    }

    /// Takes in an edge; what was due before it must have been taken with `settle(by:)`.
    /// - Returns: whether the line is muted by it: the button then counts as up.
    @discardableResult
    public mutating func edge(isDown: Bool, at instant: Instant) -> Bool {
        guard case .listening(var recent) = line else { return false }
        recent.removeAll { instant - $0 >= Self.stormWindow }
        recent.append(instant)
        guard recent.count < Self.stormEdges else {
            self = Debouncer(window: window)
            line = .muted(restingSince: instant, nextCheck: instant + Self.checkInterval)
            return true
        }
        line = .listening(recent)
        lastLevel = isDown
        moved(first: instant, last: instant)
        return false
    }

    /// Takes in whether a muted line has moved since it was muted or last checked.
    /// - Parameter isDown: reads whether the button is down, when its edges count again.
    /// - Returns: whether its edges count again from here on.
    public mutating func check(hasMoved: Bool, isDown: () -> Bool, at now: Instant) -> Bool {
        guard case .muted(let since, _) = line else { return false }
        guard hasMoved || now - since < Self.rest else {
            self = Debouncer(window: window, isDown: isDown())
            return true
        }
        line = .muted(restingSince: hasMoved ? now : since, nextCheck: now + Self.checkInterval)
        return false
    }

    /// Takes in the line's level as read at `instant`, after every edge before it; that of a muted line does not count.
    ///
    /// A level without an edge before it means that an edge was lost at an unknown time. A press is then dated to
    /// `instant`, and a release to when the button was last known to be down: both make the hold no longer than it was.
    public mutating func level(isDown: Bool, at instant: Instant) {
        guard !isMuted else { return }
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

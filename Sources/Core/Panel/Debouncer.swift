public import Takes

/// Separates one button's presses from contact bounce, spikes on its wire and storms of edges, by timestamps alone.
///
/// A level counts once it has been stable for the window, and is dated to the first edge of its burst. Edges may be
/// missing or doubled, since the kernel keeps only 16 edges of a line until they are read. An edge that repeats the
/// previous level shows that another was lost, so it counts as movement. `level` corrects other losses.
///
/// A line with more edges than a hand can produce, such as a floating one, is muted until it is at rest again.
public struct Debouncer: Hashable, Sendable {
    /// How long a level must be stable.
    public let window: Duration
    /// The debounced level.
    public private(set) var isDown: Bool

    /// This many edges within `stormWindow` are a storm. A worn contact bounces about 50 times at a press.
    public static let stormEdges = 200
    public static let stormWindow: Duration = .seconds(1)
    /// How long a muted line must be at rest before its edges count again.
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

    /// A change of the debounced level.
    public enum Turn: Hashable, Sendable {
        case pressed(at: Instant)
        case released(at: Instant)
    }

    public init(window: Duration, isDown: Bool = false) {
        self.window = window
        self.isDown = isDown
        lastLevel = isDown
    }

    /// The start of the current burst.
    public var unsettledSince: Instant? {
        burst?.first
    }

    /// When the level will count if no edge comes before, or nil at rest.
    public var settles: Instant? {
        burst.map { $0.last + window }
    }

    /// Whether the line's edges are ignored.
    public var isMuted: Bool { nextCheck != nil }

    /// The time of the next check of a muted line, or nil if it is not muted.
    public var nextCheck: Instant? {
        switch line {
        case .listening: nil
        case .muted(_, let next): next
        }
    }

    /// Takes an edge. `settle(by:)` must have been called for all earlier deadlines.
    /// - Returns: whether the edge muted the line. Then the button counts as up.
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

    /// Checks a muted line.
    /// - Parameters:
    ///   - hasMoved: whether the line had edges since it was muted or last checked.
    ///   - isDown: reads whether the button is down, if its edges count again.
    /// - Returns: whether its edges count again from now on.
    public mutating func check(hasMoved: Bool, isDown: () -> Bool, at now: Instant) -> Bool {
        guard case .muted(let since, _) = line else { return false }
        guard hasMoved || now - since < Self.rest else {
            self = Debouncer(window: window, isDown: isDown())
            return true
        }
        line = .muted(restingSince: hasMoved ? now : since, nextCheck: now + Self.checkInterval)
        return false
    }

    /// Takes the line's level as read at `instant`, after all earlier edges. The level of a muted line is ignored.
    ///
    /// A level without an edge before it means that an edge was lost at an unknown time. Then a press is dated to
    /// `instant`, and a release to the time when the button was last known to be down. Either way the hold does not
    /// become longer than it was.
    public mutating func level(isDown: Bool, at instant: Instant) {
        guard !isMuted else { return }
        defer { known = max(known ?? instant, instant) }
        guard isDown != lastLevel else { return }
        lastLevel = isDown
        moved(first: isDown ? instant : known ?? instant, last: instant)
    }

    /// The change that counts by `now`, or nil. If the window has passed, the button is at rest afterwards.
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

import Takes

/// Lets a number of events through each hour: a button that is stuck, or a fault that comes and goes, must not push a winter's events
/// out of a bounded history.
struct HourlyLimit {
    /// The most events of an hour.
    let most: Int
    private var hourEnd: Instant?
    private var admitted = 0
    private var leftOut = 0

    init(most: Int) { self.most = most }

    /// Whether an event is let through.
    mutating func admits(at now: Instant) -> Bool {
        if hourEnd.map({ now >= $0 }) ?? true {
            hourEnd = now + .seconds(3600)
            admitted = 0
        }
        guard admitted < most else {
            leftOut += 1
            return false
        }
        admitted += 1
        return true
    }

    /// How many were not let through since the last call.
    mutating func takeLeftOut() -> Int {
        defer { leftOut = 0 }
        return leftOut
    }
}

import Takes

/// Admits a limited number of events per hour. A button that is stuck, or a fault that comes and goes, must not
/// displace a winter's events from a bounded history.
struct HourlyLimit {
    /// The maximum number of events per hour.
    let most: Int
    private var hourEnd: Instant?
    private var admitted = 0
    private var leftOut = 0

    init(most: Int) { self.most = most }

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

    /// The number of events that were rejected since the last call.
    mutating func takeLeftOut() -> Int {
        defer { leftOut = 0 }
        return leftOut
    }
}

public import Takes

/// The hours of the day in which takes are uploaded.
public enum UploadWindow: Hashable, Sendable {
    case always
    case daily(HoursOfDay)

    /// Reads `always` or `22:00-06:00`, or returns nil for anything else.
    public init?(_ text: String) {
        if text == "always" {
            self = .always
        } else if let hours = HoursOfDay(text) {
            self = .daily(hours)
        } else {
            return nil
        }
    }

    /// The next time at which takes may be sent: `time` itself if it is within the hours.
    public func opening(from time: WallTime) -> WallTime {
        guard case .daily(let hours) = self else { return time }
        let today = LocalDay(of: time)
        // A clock change may skip the hours of one day.
        let next = (-1...2).lazy.compactMap { hours.span($0, from: today) }.first { $0.upperBound > time }
        return next.map { max(time, $0.lowerBound) } ?? time
    }

    /// - Parameter minute: of the day, 0 to 1439.
    public func contains(minuteOfDay minute: Int) -> Bool {
        switch self {
        case .always: true
        case .daily(let hours): hours.contains(minuteOfDay: minute)
        }
    }
}

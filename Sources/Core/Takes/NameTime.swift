/// The clock by which takes and the folders of their days are named.
public enum NameTime: String, CaseIterable, Sendable {
    /// UTC.
    case utc
    /// The kit's time zone; an hour that comes twice gives the same names twice.
    case local

    /// The day of an instant: `2026-11-21`.
    public func day(of time: WallTime) -> String {
        switch self {
        case .utc: time.date
        case .local: time.localDate
        }
    }

    /// The second in which an instant lies: `20261121_061811`.
    func stamp(of time: WallTime) -> String {
        let timeOfDay =
            switch self {
            case .utc: time.timeOfDay
            case .local: time.localTimeOfDayInSeconds
            }
        return [day(of: time).split(separator: "-"), timeOfDay.split(separator: ":")].map { $0.joined() }.joined(
            separator: "_")
    }
}

/// The clock that names takes and the folders of their days.
public enum NameTime: String, CaseIterable, Sendable {
    case utc
    /// The kit's time zone. An hour that repeats when clocks change gives the same names twice.
    case local

    /// The day of a time: `2026-11-21`.
    public func day(of time: WallTime) -> String {
        switch self {
        case .utc: time.date
        case .local: time.localDate
        }
    }

    /// The second of a time: `20261121_061811`.
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

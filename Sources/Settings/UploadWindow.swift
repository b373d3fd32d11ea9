/// The hours of the day in which takes are uploaded.
public enum UploadWindow: Hashable, Sendable {
    case always
    case daily(HoursOfDay)

    /// Reads `always` or `22:00-06:00`; nil for anything else.
    public init?(_ text: String) {
        if text == "always" {
            self = .always
        } else if let hours = HoursOfDay(text) {
            self = .daily(hours)
        } else {
            return nil
        }
    }

    /// Whether a minute of the day, 0 to 1439, is within the hours.
    public func contains(minuteOfDay minute: Int) -> Bool {
        switch self {
        case .always: true
        case .daily(let hours): hours.contains(minuteOfDay: minute)
        }
    }
}

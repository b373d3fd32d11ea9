/// The hours of the day in which takes are uploaded, in local time.
public enum UploadWindow: Hashable, Sendable {
    case always
    /// From one minute of the day up to, and without, another; past midnight if that is the earlier one.
    case daily(from: Int, until: Int)

    /// Reads `always` or `22:00-06:00`; nil for anything else, and for two equal times.
    public init?(_ text: String) {
        guard text != "always" else {
            self = .always
            return
        }
        let times = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard times.count == 2, let from = Self.minuteOfDay(times[0]), let until = Self.minuteOfDay(times[1]),
            from != until
        else { return nil }
        self = .daily(from: from, until: until)
    }

    /// Whether a minute of the day, 0 to 1439, is within the hours.
    public func contains(minuteOfDay minute: Int) -> Bool {
        switch self {
        case .always: true
        case .daily(let from, let until) where from < until: from <= minute && minute < until
        case .daily(let from, let until): from <= minute || minute < until
        }
    }

    /// Reads `HH:MM`.
    private static func minuteOfDay(_ text: Substring.UTF8View) -> Int? {
        let digits = text.map { Int($0) - 0x30 }
        guard digits.count == 5, digits[2] == 10, [0, 1, 3, 4].allSatisfy({ 0...9 ~= digits[$0] }) else { return nil }
        let (hour, minute) = (digits[0] * 10 + digits[1], digits[3] * 10 + digits[4])
        return hour < 24 && minute < 60 ? hour * 60 + minute : nil
    }
}

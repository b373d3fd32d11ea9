import Takes

extension WallTime {
    /// Reads a time that a person typed.
    /// - Parameter place: the command and the option that it was typed for.
    init(typed text: String, for place: String) throws(Failure) {
        try self.init(text, for: place, allowed: Self.typedForm)
    }

    /// Reads a day or a time that a person typed. A day means its first moment in UTC.
    /// - Parameters:
    ///   - place: the command and the option that it was typed for.
    ///   - now: decides which days 'today', 'yesterday' and the names of weekdays mean.
    init(typedDay text: String, for place: String, now: WallTime) throws(Failure) {
        if let days = Self.days(beforeToday: text, now: now) {
            self.init(microseconds: now.microseconds - now.microsecondsOfDay - days * Self.dayMicroseconds)
            return
        }
        try self.init(
            text + (TakeName.isDay(text) ? "T00:00Z" : ""), for: place,
            allowed: "a day such as 2026-11-21, today, yesterday or monday, or \(Self.typedForm)")
    }

    private static let typedForm = "a date and time such as 2026-11-21T06:18:11Z"
    private static let dayMicroseconds: Int64 = 86_400_000_000
    private static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    /// The number of days from a named day to today, or nil if the text is not a day's name. A weekday is one of the
    /// seven days that end with today.
    private static func days(beforeToday text: String, now: WallTime) -> Int64? {
        let name = text.lowercased()
        if name == "today" { return 0 }
        if name == "yesterday" { return 1 }
        guard let weekday = weekdays.firstIndex(of: name) else { return nil }
        let date = (now.microseconds - now.microsecondsOfDay) / dayMicroseconds
        // 1970-01-01 was a Thursday.
        let today = ((date + 3) % 7 + 7) % 7
        return (today - Int64(weekday) + 7) % 7
    }

    private init(_ text: String, for place: String, allowed: String) throws(Failure) {
        do {
            self = try WallTime(reading: text)
        } catch {
            switch error {
            case .form:
                throw Failure(exitStatus: 64, "fieldfare \(place): found \(text), allowed is \(allowed)")
            case .zone:
                throw Failure(
                    exitStatus: 64,
                    "fieldfare \(place): \(text): of which zone is not said: add Z for UTC, or an offset such as +01:00"
                )
            case .calendar:
                throw Failure(
                    exitStatus: 65, "fieldfare \(place): \(text): no such day or time of day")
            }
        }
    }
}

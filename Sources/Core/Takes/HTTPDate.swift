/// Dates in the form that HTTP uses: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
public enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Writes a time, to the second.
    public static func text(_ time: WallTime) -> String {
        let date = time.date.split(separator: "-").map(String.init)
        let microsecondsOfDay: Int64 = 86_400_000_000
        let day = (time.microseconds - time.microsecondsOfDay) / microsecondsOfDay
        // 1970-01-01 was a Thursday.
        let weekday = days[Int(((day % 7) + 7) % 7)]
        let month = Int(date[1]).map { months[$0 - 1] } ?? date[1]
        return "\(weekday), \(date[2]) \(month) \(date[0]) \(time.timeOfDay) GMT"
    }
}

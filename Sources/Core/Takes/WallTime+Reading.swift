/// The reason why a text is not a date and time.
public enum TimeTextProblem: Error, Hashable {
    /// The text does not have the required form.
    case form
    /// The time zone is missing.
    case zone
    /// The day or the time of day does not exist.
    case calendar
}

extension WallTime {
    /// Reads a date and time as people and programs write it (ISO 8601, RFC 3339): `2026-11-21T06:18:11Z`. A space may
    /// replace the T, seconds may be omitted or have decimals, and an offset may replace the Z (`+01:00`, `+0100`,
    /// `+01`). Digits below a microsecond are cut off.
    public init(reading text: String) throws(TimeTextProblem) {
        var rest = Array(text.utf8)[...]
        func digits(_ count: Int) throws(TimeTextProblem) -> Int {
            let taken = rest.prefix(count)
            guard taken.count == count, taken.allSatisfy({ (0x30...0x39).contains($0) }) else { throw .form }
            rest = rest.dropFirst(count)
            return taken.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        func take(_ allowed: String) -> Bool {
            guard let next = rest.first, allowed.utf8.contains(next) else { return false }
            rest = rest.dropFirst()
            return true
        }
        func expect(_ allowed: String) throws(TimeTextProblem) {
            guard take(allowed) else { throw .form }
        }
        let year = try digits(4)
        try expect("-")
        let month = try digits(2)
        try expect("-")
        let day = try digits(2)
        try expect("Tt ")
        let hour = try digits(2)
        try expect(":")
        let minute = try digits(2)
        var second = 0
        var fraction = 0
        if take(":") {
            second = try digits(2)
            if take(".,") {
                let places = rest.prefix { (0x30...0x39).contains($0) }
                guard !places.isEmpty else { throw .form }
                let zeros = [UInt8](repeating: 0x30, count: 6)
                fraction = (places + zeros).prefix(6).reduce(0) { $0 * 10 + Int($1 - 0x30) }
                rest = rest.dropFirst(places.count)
            }
        }
        _ = take(" ")
        guard let sign = rest.first else { throw .zone }
        var ahead = 0
        if take("+-") {
            let hours = try digits(2)
            let minutes = rest.isEmpty ? 0 : try (take(":"), digits(2)).1
            guard hours < 24, minutes < 60 else { throw .calendar }
            ahead = (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -1 : 1)
        } else {
            try expect("Zz")
        }
        guard rest.isEmpty else { throw .form }
        let utc =
            "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(padded(hour, 2)):\(padded(minute, 2)):"
            + "\(padded(second, 2)).\(padded(fraction, 6))Z"
        guard let local = WallTime(iso8601: utc) else { throw .calendar }
        self = local - .seconds(ahead * 60)
    }
}

/// Formats numbers for a person.
enum Figures {
    /// Rounded to `digits` decimal places.
    static func decimal(_ value: Double, digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let scaled = (value.magnitude * scale).rounded()
        guard let units = Int64(exactly: scaled) else { return "\(value)" }
        let sign = value < 0 && units > 0 ? "-" : ""
        guard digits > 0 else { return sign + String(units) }
        let places = String(units % Int64(scale))
        let padding = String(repeating: "0", count: digits - places.count)
        return "\(sign)\(units / Int64(scale)).\(padding)\(places)"
    }

    /// At most `digits` decimal places, without trailing zeros: `21600`, `0.5`.
    static func short(_ value: Double, digits: Int = 2) -> String {
        var text = decimal(value, digits: digits)
        while text.contains("."), text.last == "0" || text.last == "." { text.removeLast() }
        return text
    }

    /// Hours, minutes, seconds and tenths, rounded down: `0:01:23.4`.
    static func time(_ seconds: Double) -> String {
        let tenths = Int64(max(0, min(seconds, 1e9)) * 10 + 1e-6)
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(tenths / 36000):\(two(tenths / 600 % 60)):\(two(tenths / 10 % 60)).\(tenths % 10)"
    }

    /// In decimal units, as disks are sold: `12.3 GB`.
    static func size(_ bytes: Int64) -> String {
        for (unit, name) in [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")] where Double(bytes) >= unit {
            return "\(decimal(Double(bytes) / unit, digits: 1)) \(name)"
        }
        return "\(bytes) B"
    }

    /// A remaining time, rounded down: `17 h 46 min`, `3 min`.
    static func lasting(_ seconds: Double) -> String {
        let minutes = Int64(max(0, min(seconds, 1e12)) / 60)
        return minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
    }

    /// In dBFS, with a word for silence.
    static func level(_ level: Double?) -> String {
        level.map { decimal($0, digits: 1) } ?? "silent"
    }
}

extension Sequence<Int64> {
    /// The sum of numbers from other programs. They may have any value, so the sum must not overflow.
    var total: Int64 {
        reduce(0) { sum, number in
            let (sum, isTooLarge) = sum.addingReportingOverflow(Swift.max(0, number))
            return isTooLarge ? .max : sum
        }
    }
}

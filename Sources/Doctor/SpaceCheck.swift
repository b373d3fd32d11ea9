import Takes

/// How much can still be recorded.
struct SpaceCheck {
    var directory: String
    /// Nil: it could not be found out.
    var freeBytes: Int64?
    /// A recording leaves so much free.
    var reserveBytes: Int64
    /// Of the card that is open; nil: there is none.
    var format: StreamFormat?
    /// Whether the unfiltered sound is written as well.
    var isTwinKept: Bool

    /// From here on the fault lamp warns as well.
    static let least = 600.0
    /// What a card is as a rule, where none is open.
    static let usual = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16)

    /// Bytes that a second of a take needs.
    var bytesPerSecond: Double {
        let format = format ?? Self.usual
        return Double(format.stored.bytesPerFrame * format.rateHz * (isTwinKept ? 2 : 1))
    }

    var finding: Finding {
        guard let freeBytes else {
            return .failure(
                .space, "\(directory): cannot tell what is free: see that the storage is mounted",
                ["free_bytes": .unknown])
        }
        let seconds = Double(max(0, freeBytes - reserveBytes)) / bytesPerSecond
        let format = format ?? Self.usual
        let rate = format.stored.summary
        let figures = [
            "free_bytes": Figure.count(freeBytes), "reserve_bytes": .count(reserveBytes),
            "seconds_left": .number(seconds.rounded(.down)), "bytes_per_second": .number(bytesPerSecond),
        ]
        let free = "\(directory): \(freeBytes >> 20) MiB free"
        guard seconds > 0 else {
            return .failure(
                .space,
                "\(free), and \(reserveBytes >> 20) MiB are kept in reserve: nothing can be recorded: free some space",
                figures)
        }
        let left = Self.lasting(seconds)
        guard seconds >= Self.least else {
            return .failure(.space, "\(free): only \(left) can be recorded (\(rate)): free some space", figures)
        }
        return .ok(.space, "\(free): \(left) can be recorded (\(rate))", figures)
    }

    /// `17.7 h`, `45 min`, `30 s`: never more than there is.
    static func lasting(_ seconds: Double) -> String {
        if seconds < 60 { return "\(Int(seconds)) s" }
        if seconds < 7200 { return "\(Int(seconds / 60)) min" }
        return "\(rounded((min(seconds, 1e9) / 360).rounded(.down) / 10)) h"
    }
}

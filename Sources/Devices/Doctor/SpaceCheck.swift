import Takes

/// How long the free space lasts.
struct SpaceCheck {
    var directory: String
    /// Nil if it is not known.
    var freeBytes: Int64?
    /// A recording ends before less than this is free.
    var reserveBytes: Int64
    /// The format of the open card, or nil if no card is open.
    var format: StreamFormat?
    /// Whether the unfiltered sound is also written.
    var isTwinKept: Bool

    /// If less time is left (in seconds), the fault lamp also warns.
    static let least = 600.0
    /// A usual format, used while no card is open.
    static let usual = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16)

    /// The data rate of a take.
    var bytesPerSecond: Double {
        let format = format ?? Self.usual
        return Double(format.stored.bytesPerFrame * format.rateHz * (isTwinKept ? 2 : 1))
    }

    var finding: Finding {
        guard let freeBytes else {
            return .failure(
                .space, "\(directory): cannot read how much space is free: check that the storage is mounted",
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

    /// `17.7 h`, `45 min`, `30 s`: rounded down.
    static func lasting(_ seconds: Double) -> String {
        if seconds < 60 { return "\(Int(seconds)) s" }
        if seconds < 7200 { return "\(Int(seconds / 60)) min" }
        return "\(rounded((min(seconds, 1e9) / 360).rounded(.down) / 10)) h"
    }
}

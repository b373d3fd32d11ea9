package import Takes
package import Transport

/// Estimates how much longer the free space lasts.
package enum StorageWatch {
    /// The technician is warned if less than this can still be recorded.
    package static let warning = Duration.seconds(600)

    /// How long the free space above the reserve lasts, in seconds.
    package static func secondsLeft(freeBytes: Int64, reserveBytes: Int64, format: StreamFormat, isTwinKept: Bool)
        -> Double
    {
        Double(max(0, freeBytes - reserveBytes)) / Double(bytesPerSecond(format, isTwinKept: isTwinKept))
    }

    /// A take ends, and none begins, when less than this is free: the reserve, and one second's sound, which may arrive
    /// until the free space is read again.
    package static func least(reserveBytes: Int64, format: StreamFormat, isTwinKept: Bool) -> Int64 {
        reserveBytes + bytesPerSecond(format, isTwinKept: isTwinKept)
    }

    private static func bytesPerSecond(_ format: StreamFormat, isTwinKept: Bool) -> Int64 {
        Int64(format.stored.bytesPerFrame * format.rateHz) * (isTwinKept ? 2 : 1)
    }

    package static func fault(
        directory: String, freeBytes: Int64, reserveBytes: Int64, format: StreamFormat, isTwinKept: Bool
    ) -> Fault? {
        guard freeBytes >= least(reserveBytes: reserveBytes, format: format, isTwinKept: isTwinKept) else {
            return Fault(
                .diskFull,
                "storage: \(directory): full: \(freeBytes >> 20) MiB free, and \(reserveBytes >> 20) MiB are kept in "
                    + "reserve: free some space")
        }
        let seconds = secondsLeft(
            freeBytes: freeBytes, reserveBytes: reserveBytes, format: format, isTwinKept: isTwinKept)
        guard seconds < warning.inSeconds else { return nil }
        return Fault(
            .diskFull,
            // To the minute, so that the log does not get a line every second.
            "storage: \(directory): nearly full: less than \(Int(seconds) / 60 + 1) min can be recorded: "
                + "free some space")
    }
}

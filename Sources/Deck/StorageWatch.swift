import Takes
import Transport

/// How much longer the disk lasts.
enum StorageWatch {
    /// The technician is warned when less than this can still be recorded.
    static let warning = Duration.seconds(600)

    /// How long the free space above the reserve lasts, in seconds.
    static func secondsLeft(freeBytes: Int64, reserveBytes: Int64, format: StreamFormat, isTwinKept: Bool) -> Double {
        let bytesPerSecond = Double(format.stored.bytesPerFrame * format.rateHz * (isTwinKept ? 2 : 1))
        return Double(max(0, freeBytes - reserveBytes)) / bytesPerSecond
    }

    static func fault(
        directory: String, freeBytes: Int64, reserveBytes: Int64, format: StreamFormat, isTwinKept: Bool
    ) -> Fault? {
        guard freeBytes >= reserveBytes else {
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
            // To the minute, so that the log is not told of every second.
            "storage: \(directory): nearly full: less than \(Int(seconds) / 60 + 1) min can be recorded: "
                + "free some space")
    }
}

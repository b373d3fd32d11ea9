import Files
import Takes

/// The time after a stop in which pressing record continues the same take. Until it ends, the take stays on the kit.
struct RejoinWindow {
    /// `[takes] rejoin_seconds`.
    var length: Duration
    /// The kernel's id of this boot.
    var bootID: String

    /// The recorder counts from the end of the writes to disk, which is later than the last frame.
    private static let longestFinish = Duration.seconds(10)

    /// Whether the take may be continued, as far as its sidecar says.
    /// - Parameter now: a time of this boot.
    func isOpen(for sidecar: Sidecar, at now: Instant) -> Bool {
        guard length > .zero, sidecar.endedBy == .stop, sidecar.bootID == bootID, sidecar.rateHz > 0 else {
            return false
        }
        // The numbers in a sidecar can be arbitrary. Floating point avoids an integer overflow.
        let age = (Double(now.nanoseconds) - Double(sidecar.startedMonotonicNs)) / 1e9
        let recorded = Double(sidecar.frames) / Double(sidecar.rateHz)
        return age >= 0 && age < recorded + (length + Self.longestFinish).inSeconds
    }
}

extension RejoinWindow {
    /// The configured window, in this boot.
    init(_ length: Duration) {
        let text = (try? FileSystem().contents("/proc/sys/kernel/random/boot_id", limit: 64)) ?? []
        self.init(length: length, bootID: String(decoding: text.prefix { $0 != 0x0a }, as: UTF8.self))
    }
}

import TakeFiles
import Takes

/// The time after a stop in which record goes on with the same take: until its end the take stays on the kit.
struct RejoinWindow {
    /// How long it is: `[takes] rejoin_seconds`.
    var length: Duration
    /// The kernel's id of this boot.
    var bootID: String

    /// The recorder counts from when the take is finished on the disk, which is later than its last frame.
    private static let longestFinish = Duration.seconds(10)

    /// Whether a take may go on, as far as its sidecar says.
    /// - Parameter now: of this boot.
    func isOpen(for sidecar: Sidecar, at now: Instant) -> Bool {
        guard length > .zero, sidecar.endedBy == .stop, sidecar.bootID == bootID, sidecar.rateHz > 0 else {
            return false
        }
        // A sidecar may say anything: sums of numbers must not run over.
        let age = (Double(now.nanoseconds) - Double(sidecar.startedMonotonicNs)) / 1e9
        let recorded = Double(sidecar.frames) / Double(sidecar.rateHz)
        return age >= 0 && age < recorded + (length + Self.longestFinish).inSeconds
    }
}

extension RejoinWindow {
    /// The window of the settings, in this boot.
    init(_ length: Duration) {
        let text = (try? FileSystem().contents("/proc/sys/kernel/random/boot_id", limit: 64)) ?? []
        self.init(length: length, bootID: String(decoding: text.prefix { $0 != 0x0a }, as: UTF8.self))
    }
}

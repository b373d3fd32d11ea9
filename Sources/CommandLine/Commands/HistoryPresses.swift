import Doctor
import Files
import History
import Takes
import Transport

/// Presses on a panel whose lines the recorder holds. The recorder carries out each press and records it in the kit's
/// history, where this type reads it.
final class HistoryPresses: PressSource {
    private let history: HistoryFolder
    /// The time of the last known press, in seconds since boot.
    private var known: Double

    let fileDescriptor: Int32 = -1
    let heldDown: Set<Button> = []

    /// - Throws: `FileError`, if this user cannot read a history.
    init(_ path: String, at now: Instant) throws(FileError) {
        history = HistoryFolder(path)
        _ = try FileSystem().entries(path)
        _ = try history.records(newest: 1)
        known = now.inSeconds
    }

    func problem(of button: Button) -> String? { nil }

    func presses() -> [Button] {
        // More than a hand can press between two reads.
        guard let records = try? history.records(newest: 500).records else { return [] }
        var presses: [Button] = []
        // Presses of this boot come after the last start.
        let start = records.lastIndex { if case .started = $0.event { true } else { false } } ?? 0
        for record in records[start...] where record.uptime > known {
            guard case .pressed(let press) = record.event, let button = Button(rawValue: press.button) else { continue }
            presses.append(button)
            known = record.uptime
        }
        return presses
    }
}

extension Instant {
    /// Seconds since the clock's zero, which is the boot.
    fileprivate var inSeconds: Double { Double(nanoseconds) / 1e9 }
}

package import Deck
package import Doctor
package import Takes
import Workers

/// The kit's date and time: remembers their origin during this boot, and detects when it changes.
///
/// `ClockProbe` reads and writes only files in memory, so the recorder's loop may call it.
package final class KitClock {
    /// Readable once the date was set.
    package var fileDescriptor: Int32 { watch.fileDescriptor }

    private let clock: any Clock
    private let probe: ClockProbe
    private let report: (Report) -> Void
    private let bootID: String
    private var watch: ClockWatch
    private var record: ClockRecord?
    private var isChangePending = false

    /// - Parameter report: receives the steps of the date.
    package init(clock: any Clock, probe: ClockProbe = ClockProbe(), report: @escaping (Report) -> Void) {
        self.clock = clock
        self.probe = probe
        self.report = report
        bootID = probe.bootID
        record = probe.record
        watch = ClockWatch(clock)
    }

    /// - Parameter newestTake: the day of the newest take, `2026-11-21`.
    package func origin(newestTake: String?) -> ClockOrigin {
        let evidence = probe.evidence(clock)
        if let known = ClockRecord.after(evidence, known: record, bootID: bootID), known != record { learn(known) }
        return record?.origin(at: evidence.offset, today: clock.wallTime().latestDate, newestTake: newestTake) ?? .unset
    }

    /// Call it when the file descriptor is readable.
    package func drain() { watch.drain() }

    /// Call it when a person set the date or confirmed it.
    package func wasSetByHand() {
        learn(ClockRecord(bootID: bootID, origin: .manual, offset: clock.offset()))
    }

    /// Whether the date was set since the last call, or its origin became known. The takes of this boot must then be
    /// dated.
    package func hasChanged() -> Bool {
        if let step = watch.step(clock) {
            isChangePending = true
            let way = step < .zero ? "back" : "forward"
            let seconds = (abs(step.inSeconds) * 1000).rounded() / 1000
            report(Report(.notice, "clock: set \(way) by \(seconds) s: it says \(clock.wallTime().iso8601) now"))
        }
        defer { isChangePending = false }
        return isChangePending
    }

    private func learn(_ known: ClockRecord) {
        // After a step the date may be right again with the same origin as before.
        let isSame = record.map {
            $0.origin == known.origin && $0.offset.distance(to: known.offset) < ClockWatch.smallest
        }
        isChangePending = isChangePending || isSame != true
        record = known
        // If the folder is missing, the record lasts as long as this process.
        try? probe.remember(known)
    }
}

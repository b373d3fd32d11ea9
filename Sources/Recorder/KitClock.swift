import Deck
import Doctor
import Takes

/// The kit's calendar: remembers in this boot how it is known to be right, and notices when that changes.
final class KitClock {
    /// Readable once somebody set the date.
    var fileDescriptor: Int32 { watch.fileDescriptor }

    private let clock: any Clock
    private let probe: ClockProbe
    private let report: (Report) -> Void
    private let bootID: String
    private var watch: ClockWatch
    private var record: ClockRecord?
    private var isNews = false

    /// - Parameter report: where the steps of the date are told.
    init(clock: any Clock, probe: ClockProbe = ClockProbe(), report: @escaping (Report) -> Void) {
        self.clock = clock
        self.probe = probe
        self.report = report
        bootID = probe.bootID
        record = probe.record
        watch = ClockWatch(clock)
    }

    /// Where the date comes from.
    /// - Parameter newestTake: the day of the newest take, `2026-11-21`.
    func origin(newestTake: String?) -> ClockOrigin {
        let evidence = probe.evidence(clock)
        if let known = ClockRecord.after(evidence, known: record, bootID: bootID), known != record { learn(known) }
        return record?.origin(at: evidence.offset, today: clock.wallTime().date, newestTake: newestTake) ?? .unset
    }

    /// A person set the date, and it is what that person said.
    func wasSetByHand() {
        learn(ClockRecord(bootID: bootID, origin: .manual, offset: clock.offset()))
    }

    /// Whether since this was last asked the date was set, or it became known where it comes from: then takes of this boot are
    /// to be dated.
    func hasChanged() -> Bool {
        if let step = watch.step(clock) {
            isNews = true
            let way = step < .zero ? "back" : "forward"
            let seconds = (abs(step.inSeconds) * 1000).rounded() / 1000
            report(Report(.notice, "clock: set \(way) by \(seconds) s: it says \(clock.wallTime().iso8601) now"))
        }
        defer { isNews = false }
        return isNews
    }

    private func learn(_ known: ClockRecord) {
        // What was right before a step, and is right again elsewhere, has the same origin.
        let isSame = record.map {
            $0.origin == known.origin && $0.offset.distance(to: known.offset) < ClockWatch.smallest
        }
        isNews = isNews || isSame != true
        record = known
        // Where there is no such folder, it is remembered as long as this process runs.
        try? probe.remember(known)
    }
}

import Deck
import Settings
import Takes
import Transport
import Workers

/// Watches whether the battery is nearly empty, on a thread of its own: a sensor's bus may hang.
final class BatteryWatch {
    private let worker: Worker<Never, BatteryLevel.Outcome>
    private let report: (Report) -> Void
    /// Called once, when the battery has been low for a while.
    var onLow: () -> Void = {}

    /// How often it is read.
    static let interval = Duration.seconds(5)

    /// - Returns: nil, if the settings name nothing to be watched.
    /// - Throws: `ThreadError` if the system grants no thread.
    init?(
        _ settings: Settings.Power, clock: any Clock, report: @escaping (Report) -> Void
    ) throws(ThreadError) {
        guard let battery = Battery(settings) else { return nil }
        self.report = report
        var level = BatteryLevel()
        worker = Worker(clock: clock) { _, now, outcomes in
            if let outcome = level.take(battery.read()) { outcomes.post(outcome) }
            return now + Self.interval
        }
        try worker.start(name: "battery", priority: .low)
    }

    /// Readable while there is something to collect.
    var fileDescriptor: Int32 { worker.fileDescriptor }

    /// Reports what the thread reports.
    func collect() {
        for outcome in worker.outcomes() {
            switch outcome {
            case .low(let why):
                report(Report(.warning, "power: \(why): the take is ended, and the kit switched off"))
                onLow()
            case .unreadable(let why): report(Report(.warning, "power: \(why): the battery is not watched"))
            case .readable: report(Report(.notice, "power: the battery is watched again"))
            }
        }
    }
}

package import Deck
package import Settings
package import Takes
import Transport
package import Workers

/// Watches for an empty battery on its own thread, because a sensor's bus may hang.
package final class BatteryWatch: LoopPart {
    private let worker: Worker<Never, BatteryLevel.Outcome>
    private let report: (Report) -> Void
    /// Called once, when the battery is nearly empty.
    package var onLow: () -> Void = {}

    static let interval = Duration.seconds(5)

    /// - Returns: nil if the settings name no battery input.
    /// - Throws: `ThreadError` if the system grants no thread.
    package init?(
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

    package var fileDescriptors: [Int32] { [worker.fileDescriptor] }

    package func ready(now: Instant) {
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

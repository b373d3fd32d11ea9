import Deck
import Settings
import TakeFiles
import Takes
import Transport

/// Keeps the schedule: has the deck begin and end takes, and the kit switched off between them.
final class ScheduleKeeper {
    private let deck: Deck
    private let clock: any Clock
    private let report: (Report) -> Void
    private let alarm: WakeAlarm
    private var schedule: TakeSchedule
    /// Why the deck refused what was asked for last; nil: it did that.
    private var problem: String?
    /// nil: the kit stays on.
    private var rest: RestBetween?
    /// Called before the kit is switched off.
    var onLeave: () -> Void = {}

    /// The folder where systemd-logind has a file for each session.
    private static let sessions = "/run/systemd/sessions"

    /// - Returns: nil, if the settings have no hours.
    init?(_ settings: Settings.Schedule, deck: Deck, clock: any Clock, report: @escaping (Report) -> Void) {
        guard !settings.record.isEmpty else { return nil }
        self.deck = deck
        self.clock = clock
        self.report = report
        alarm = WakeAlarm(clock: clock)
        schedule = TakeSchedule(settings)
        rest = settings.isOffBetween ? RestBetween(now: clock.now()) : nil
    }

    /// Takes over what happened at the deck.
    func note(_ event: DeckEvent) {
        switch event {
        case .finished(let sidecar): if let ending = sidecar.endedBy { schedule.ended(ending) }
        case .pressed: use()
        case .began, .faults, .opened: break
        }
    }

    /// A person uses the kit.
    func use() { rest?.use(now: clock.now()) }

    /// Does what is due.
    /// - Parameter isWatched: whether a phone shows what the microphone delivers.
    /// - Returns: when it is to be called again at the latest.
    func turn(_ now: Instant, isWatched: Bool) -> Instant? {
        let wallTime = deck.clockOrigin == .unset ? nil : clock.wallTime()
        if let action = schedule.turn(now, wallTime, activity) { carryOut(action) }
        deck.scheduled = schedule.span?.hours
        if let wallTime { settleRest(now, wallTime, isWatched: isWatched) }
        return [schedule.deadline(now, wallTime), alarm.turn(now: now)].compactMap(\.self).min()
    }

    private var activity: TakeSchedule.Activity {
        switch deck.recordedBy {
        case .schedule: .ownTake
        case .button, .command: .busy
        // Sound behind a take that was stopped would be joined to the next one.
        case nil: deck.isPlaying || deck.isArmed && deck.allowsOpening ? .free : .busy
        }
    }

    private func carryOut(_ action: TakeSchedule.Action) {
        deck.perform(action == .record ? .record : .stop, by: .schedule) { [unowned self] result in
            switch result {
            case .success:
                problem = nil
                let text = action == .record ? "a take of these hours begins" : "the hours end"
                report(Report(.notice, "schedule: \(text)"))
                schedule.answered(action, isDone: true, now: clock.now())
            case .failure(let refusal):
                // It is tried again every few seconds.
                if refusal.message != problem { report(Report(.warning, "schedule: \(refusal.message)")) }
                problem = refusal.message
                schedule.answered(action, isDone: false, now: clock.now())
            }
        }
    }

    // MARK: Off between the hours

    private func settleRest(_ now: Instant, _ wallTime: WallTime, isWatched: Bool) {
        if isUsed || isWatched { use() }
        let next = schedule.span.flatMap { $0.contains(wallTime) ? nil : $0.from }
        guard let time = rest?.turn(now: now, wallTime, next: next) else { return }
        alarm.set(time) { [unowned self] problem in
            let isUsed = isUsed || isSomebodyLoggedIn
            let leaves = rest?.answered(isSet: problem == nil, isUsed: isUsed, now: clock.now()) ?? false
            if let problem {
                report(
                    Report(
                        .warning, "schedule: the kit stays on, as its clock chip cannot switch it on again: \(problem)")
                )
            } else if leaves {
                report(Report(.notice, "schedule: the kit is switched off until \(time.iso8601)"))
                onLeave()
                deck.handle(.shutdown(at: clock.now(), because: .schedule))
            }
        }
    }

    private var isUsed: Bool { deck.isRecording || deck.isPlaying || deck.isPairing || deck.upload == .sending }

    private var isSomebodyLoggedIn: Bool {
        let names = (try? FileSystem().entries(Self.sessions)) ?? []
        return names.contains { !$0.hasSuffix(".ref") }
    }
}

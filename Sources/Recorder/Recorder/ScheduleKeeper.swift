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
    /// Who was logged in when that was reported last.
    private var reportedSession: String?
    /// Called before the kit is switched off.
    var onLeave: () -> Void = {}

    /// The folder where systemd-logind has a file for each session.
    private static let sessions = "/run/systemd/sessions"

    /// - Parameter isSimulated: a simulated board switches nothing off.
    /// - Returns: nil, if the settings have no hours.
    init?(
        _ settings: Settings.Schedule, isSimulated: Bool, deck: Deck, clock: any Clock,
        report: @escaping (Report) -> Void
    ) {
        guard !settings.record.isEmpty else { return nil }
        self.deck = deck
        self.clock = clock
        self.report = report
        alarm = WakeAlarm(clock: clock)
        schedule = TakeSchedule(settings)
        rest = settings.isOffBetween && !isSimulated ? RestBetween(now: clock.now()) : nil
    }

    /// Takes over what happened at the deck.
    func note(_ event: DeckEvent) {
        switch event {
        case .ending(let ending): schedule.ended(ending, now: clock.now())
        case .pressed: use()
        case .began, .finished, .faults, .opened, .phone: break
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
        case nil: deck.canRecord || deck.mayRecordInstead ? .free : .busy
        }
    }

    private func carryOut(_ action: TakeSchedule.Action) {
        deck.perform(action == .record ? .record : .stop, by: .schedule) { [unowned self] result in
            switch result {
            case .success:
                problem = nil
                let text = action == .record ? "a take of these hours begins" : "the hours end"
                report(Report(.notice, "schedule: \(text)"))
                schedule.answered(isDone: true, now: clock.now())
            case .failure(let refusal):
                // It is tried again every few seconds.
                if refusal.message != problem { report(Report(.warning, "schedule: \(refusal.message)")) }
                problem = refusal.message
                schedule.answered(isDone: false, now: clock.now())
            }
        }
    }

    // MARK: Off between the hours

    private func settleRest(_ now: Instant, _ wallTime: WallTime, isWatched: Bool) {
        if isUsed || isWatched { use() }
        let next = schedule.span.flatMap { $0.contains(wallTime) ? nil : $0.from }
        guard let time = rest?.turn(now: now, wallTime, next: next) else { return }
        if let session = sessionOfSomebody {
            if session != reportedSession {
                report(Report(.notice, "schedule: the kit stays on while somebody is logged in: \(session)"))
            }
            reportedSession = session
            return use()
        }
        alarm.set(time) { [unowned self] problem in
            let leaves = rest?.answered(isSet: problem == nil, now: clock.now()) ?? false
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

    /// The battery is nearly empty: has the clock chip switch the kit on for later hours, as a battery that the sun charges needs nobody.
    /// - Parameter completion: is called in any case: without an alarm, or if the kit is not off between the hours, as well.
    func prepareForEmptyBattery(_ completion: @escaping () -> Void) {
        guard rest != nil, deck.clockOrigin != .unset,
            let begin = schedule.begin(after: clock.wallTime() + RestBetween.shortest)
        else { return completion() }
        let time = begin - RestBetween.lead
        // No other alarm takes the place of this one.
        rest = nil
        alarm.set(time) { [unowned self] problem in
            if let problem {
                report(
                    Report(
                        .warning, "schedule: the kit stays off, as its clock chip cannot switch it on again: \(problem)"
                    ))
            } else {
                report(Report(.notice, "schedule: the kit is switched off until \(time.iso8601)"))
            }
            completion()
        }
    }

    /// Whether the deck, a phone that pairs, or the library does something.
    private var isUsed: Bool {
        !deck.allowsOpening || deck.isPairing || deck.isArchiving || deck.upload == .sending
    }

    /// The file of a session at a terminal, or by SSH; nil: there is none.
    private var sessionOfSomebody: String? {
        let names = (try? FileSystem().entries(Self.sessions)) ?? []
        return names.first { !$0.hasSuffix(".ref") }.map { "session \($0)" }
    }
}

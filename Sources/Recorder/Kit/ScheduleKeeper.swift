package import Deck
import Files
package import Settings
package import Takes
import Transport
import Workers

/// Carries the schedule out: makes the deck begin and end takes, and switches the kit off between them.
package final class ScheduleKeeper: LoopPart {
    private let deck: Deck
    private let clock: any Clock
    private let report: (Report) -> Void
    private let alarm: WakeAlarm
    private var schedule: TakeSchedule
    /// The reason for which the deck refused the last request, or nil if it succeeded.
    private var problem: String?
    /// Nil if the kit stays on between the hours.
    private var rest: RestBetween?
    /// The login session that was reported last.
    private var reportedSession: String?
    /// Called before the kit is switched off.
    package var onLeave: () -> Void = {}

    /// The folder in which systemd-logind keeps a file per session.
    private static let sessions = "/run/systemd/sessions"

    /// - Parameter isSimulated: a simulated board is never switched off.
    /// - Returns: nil if the settings have no hours.
    package init?(
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

    package func note(_ event: KitEvent) {
        switch event {
        case .ending(let ending): schedule.ended(ending, now: clock.now())
        case .pressed: use()
        case .began, .finished, .faults, .opened, .phone: break
        }
    }

    /// Call it when a person uses the kit.
    package func use() { rest?.use(now: clock.now()) }

    /// Advances the schedule.
    /// - Returns: the deadline for the next call.
    package func turn(now: Instant) -> Instant? {
        let wallTime = deck.clockOrigin == .unset ? nil : clock.wallTime()
        if let action = schedule.turn(now, wallTime, activity) { carryOut(action) }
        deck.scheduled = schedule.span?.hours
        if let wallTime { settleRest(now, wallTime) }
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
                // The schedule retries every few seconds, so a message is reported only when it changes.
                if refusal.message != problem { report(Report(.warning, "schedule: \(refusal.message)")) }
                problem = refusal.message
                schedule.answered(isDone: false, now: clock.now())
            }
        }
    }

    // MARK: Off between the hours

    private func settleRest(_ now: Instant, _ wallTime: WallTime) {
        if isUsed { use() }
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

    /// Call it when the battery is nearly empty. It sets the clock chip to switch the kit on for later hours, because a
    /// solar battery recovers without a person.
    /// - Parameter completion: always called, also without an alarm and if the kit stays on between the hours.
    package func prepareForEmptyBattery(_ completion: @escaping () -> Void) {
        guard rest != nil, deck.clockOrigin != .unset,
            let begin = schedule.begin(after: clock.wallTime() + RestBetween.shortest)
        else { return completion() }
        let time = begin - RestBetween.lead
        // No other alarm may replace this one.
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

    /// Whether the deck, a phone that pairs, or the library is active.
    private var isUsed: Bool {
        !deck.allowsOpening || deck.isPairing || deck.isArchiving || deck.upload == .sending
    }

    /// The file of a session at a terminal or over SSH, or nil if there is none.
    private var sessionOfSomebody: String? {
        let names = (try? FileSystem().entries(Self.sessions)) ?? []
        return names.first { !$0.hasSuffix(".ref") }.map { "session \($0)" }
    }
}

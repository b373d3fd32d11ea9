package import Deck
import Files
import Glibc
package import Takes
package import Transport
import Workers

/// Sets the clock to the time that a person gives: directly if this process is permitted to, otherwise through a
/// privileged unit.
///
/// The unit, fieldfare-set-clock, sets the clock and then the clock chip, if there is one.
package final class ClockSetting: LoopPart {
    private let clock: any Clock
    private let calls: ClockSettingCalls
    private let unit: UnitRequest
    private let path: String
    private let report: (Report) -> Void
    private var state = State.idle

    /// Called when the clock was set, before the request is answered.
    package var onSet: () -> Void = {}

    /// Called once. The argument is nil if the clock was set.
    package typealias Completion = (Refusal?) -> Void

    private enum State {
        case idle
        /// The unit has not set the clock yet.
        case requested(Request)
        /// The clock is set, and the unit has not written the chip yet.
        case set(Request)
    }

    private struct Request {
        var time: WallTime
        var since: Instant
        var completion: Completion
    }

    /// How often the clock is read while a request is pending.
    private static let interval = Duration.milliseconds(100)
    /// The unit's timeout is 10 s; it needs some more time to end.
    private static let patience = Duration.seconds(14)
    /// The request file holds whole seconds.
    private static let accuracy = Duration.milliseconds(1500)

    /// - Parameter report: receives a line for each step.
    package convenience init(clock: any Clock, report: @escaping (Report) -> Void) {
        self.init(clock: clock, path: "/run/fieldfare/set-clock", report: report)
    }

    /// - Parameter path: the request file that the unit watches.
    init(
        clock: any Clock, path: String, files: FileSystem = FileSystem(),
        calls: ClockSettingCalls = ClockSettingCalls(), report: @escaping (Report) -> Void
    ) {
        self.clock = clock
        self.path = path
        unit = UnitRequest(path: path, files: files, exists: calls.exists)
        self.calls = calls
        self.report = report
    }

    /// Sets the clock to `time`, the current time according to a person.
    package func begin(_ time: WallTime, _ completion: @escaping Completion) {
        guard case .idle = state else {
            return completion(Refusal(.clockBeingSet))
        }
        switch calls.set(time) {
        case 0:
            wasSet(time)
            completion(nil)
        case EPERM, EACCES: ask(time, completion)
        case let code:
            // The time is before the boot, or too large for the kernel's nanoseconds.
            let problem = "clock: \(time.iso8601): the clock cannot have this time: \(SystemError(code))"
            completion(Refusal(.clockNotSet(.badData, message: problem)))
        }
    }

    /// Advances the state.
    /// - Returns: the deadline for the next call, or nil if no request is pending.
    package func turn(now: Instant) -> Instant? {
        switch state {
        case .idle: return nil
        case .requested(let request):
            let isTaken = unit.isTaken
            if isTaken, isSet(request, now: now) {
                wasSet(request.time)
                state = .set(request)
                return turn(now: now)
            }
            let isLate = now - request.since >= Self.patience
            guard isLate || isTaken && unit.takeResult() != nil else { return now + Self.interval }
            // A unit that starts later must not set an outdated time.
            if !isTaken { unit.withdraw() }
            let problem =
                isTaken
                ? "fieldfare-set-clock did not set it: see 'journalctl -u fieldfare-set-clock'"
                : "\(path) was not read within \(Self.patience.components.seconds) s: is fieldfare-set-clock.path running?"
            let message = "clock: cannot set it to \(request.time.iso8601): \(problem)"
            return finish(request, Refusal(.clockNotSet(.io, message: message)))
        case .set(let request):
            let isLate = now - request.since >= Self.patience
            guard let result = unit.takeResult() ?? (isLate ? "timeout" : nil) else { return now + Self.interval }
            guard result != "success" else { return finish(request, nil) }
            let message =
                "clock: set to \(request.time.iso8601), but its chip cannot be written (fieldfare-set-clock: \(result)), so this "
                + "time is lost when the power goes: see 'journalctl -u fieldfare-set-clock'"
            return finish(request, Refusal(.clockChip(message: message)))
        }
    }

    /// Answers the request.
    /// - Parameter refusal: nil after success.
    private func finish(_ request: Request, _ refusal: Refusal?) -> Instant? {
        state = .idle
        if let refusal { report(Report(.error, refusal.message)) }
        request.completion(refusal)
        return nil
    }

    private func ask(_ time: WallTime, _ completion: @escaping Completion) {
        let nearest = time + .milliseconds(500)
        do throws(FileError) {
            try unit.write("\(nearest.date)T\(nearest.timeOfDay)Z\n")
        } catch {
            let problem =
                "clock: cannot set it: \(SystemError(EPERM)), and \(path) cannot be written for fieldfare-set-clock: "
                + "\(SystemError(error.code))"
            let message = problem + ": run the recorder as its service, or set the clock as root"
            return completion(Refusal(.clockNotSet(.denied, message: message)))
        }
        state = .requested(Request(time: time, since: clock.now(), completion: completion))
    }

    /// Whether the wall clock shows what it would show if it had been set at any moment since the request.
    private func isSet(_ request: Request, now: Instant) -> Bool {
        let wallTime = clock.wallTime()
        return wallTime >= request.time - Self.accuracy
            && wallTime <= request.time + (now - request.since) + Self.accuracy
    }

    private func wasSet(_ time: WallTime) {
        report(Report(.notice, "clock: set by hand to \(time.iso8601)"))
        onSet()
    }
}

/// The system calls that set the clock, one closure per call.
struct ClockSettingCalls {
    /// `clock_settime(2)` of `CLOCK_REALTIME`. Returns 0 or the errno.
    var set: (WallTime) -> Int32 = { time in
        var value = timespec(time)
        return unsafe clock_settime(CLOCK_REALTIME, &value) == 0 ? 0 : errno
    }
    /// `access(2)` with `F_OK`.
    var exists: (String) -> Bool = { unsafe access($0, F_OK) == 0 }

    /// The argument of `clock_settime`, which refuses times before 1970.
    static func timespec(_ time: WallTime) -> timespec {
        let (seconds, rest) = time.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return Glibc.timespec(tv_sec: Int(seconds), tv_nsec: Int(rest) * 1000)
    }
}

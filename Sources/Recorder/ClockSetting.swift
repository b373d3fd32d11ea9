import Deck
import Glibc
import TakeFiles
import Takes
import Transport

/// Sets the clock as a person says: by itself where it may, else through the unit that may, and it sees to it that it was done.
///
/// The unit, fieldfare-set-clock, takes the instant from a file; it tells nobody how that went, so the clock is looked at.
final class ClockSetting {
    private let clock: any Clock
    private let calls: ClockSettingCalls
    private let files: FileSystem
    private let path: String
    private let report: (Report) -> Void
    private var request: Request?

    /// Called when the clock is set, before whoever asked is told.
    var onSet: () -> Void = {}

    /// Told once how it went; nil: it is set.
    typealias Completion = (Refusal?) -> Void

    private struct Request {
        var time: WallTime
        var asked: Instant
        var completion: Completion
    }

    /// How often the clock is looked at meanwhile.
    private static let interval = Duration.milliseconds(100)
    /// The unit has 10 s.
    private static let patience = Duration.seconds(12)
    /// The file has whole seconds.
    private static let accuracy = Duration.milliseconds(1500)

    /// - Parameters:
    ///   - path: the file that the unit waits for.
    ///   - report: where it is told that somebody set the clock.
    init(
        clock: any Clock, path: String = "/run/fieldfare/set-clock", files: FileSystem = FileSystem(),
        calls: ClockSettingCalls = ClockSettingCalls(), report: @escaping (Report) -> Void
    ) {
        self.clock = clock
        self.path = path
        self.files = files
        self.calls = calls
        self.report = report
    }

    /// Sets the clock to what it is at this moment by a person's account.
    func begin(_ time: WallTime, _ completion: @escaping Completion) {
        guard request == nil else {
            return completion(Refusal(.busy, "clock: it is being set: try again in a moment"))
        }
        switch calls.set(time) {
        case 0: succeed(time, completion)
        case EPERM, EACCES: ask(time, completion)
        case let code:
            // Before the machine was switched on, or so late that the kernel's nanoseconds end.
            completion(Refusal(.badData, "clock: \(time.iso8601): the clock cannot have this time: \(text(code))"))
        }
    }

    /// Does what is due.
    /// - Returns: when it wants to be called again at the latest; nil: nothing is under way.
    func turn(now: Instant) -> Instant? {
        guard let request else { return nil }
        let isTaken = !calls.isThere(path)
        if isTaken, isSet(request, now: now) {
            self.request = nil
            succeed(request.time, request.completion)
            return nil
        }
        guard now - request.asked >= Self.patience else { return now + Self.interval }
        self.request = nil
        // Whatever takes it later must not set what is over by then.
        if !isTaken { try? files.remove(path) }
        let problem =
            isTaken
            ? "fieldfare-set-clock did not set it: see 'journalctl -u fieldfare-set-clock'"
            : "nobody took \(path) within \(Self.patience.components.seconds) s: is fieldfare-set-clock.path running?"
        report(Report(.error, "clock: cannot set it to \(request.time.iso8601): \(problem)"))
        request.completion(Refusal(.io, "clock: cannot set it to \(request.time.iso8601): \(problem)"))
        return nil
    }

    /// Leaves a request for the unit, whole and by rename.
    private func ask(_ time: WallTime, _ completion: @escaping Completion) {
        let nearest = time + .milliseconds(500)
        let draft = path + ".tmp"
        do throws(FileError) {
            let content = Array("\(nearest.date)T\(nearest.timeOfDay)Z\n".utf8)
            try files.write(content, to: files.create(draft, isNew: false), at: 0)
            try files.rename(draft, to: path)
        } catch {
            let problem =
                "clock: cannot set it: \(text(EPERM)), and \(path) cannot be written for fieldfare-set-clock: \(text(error.code))"
            return completion(Refusal(.denied, problem + ": run the recorder as its service, or set the clock as root"))
        }
        request = Request(time: time, asked: clock.now(), completion: completion)
    }

    /// Whether the clock says what it should, if it was set at any moment since it was asked for.
    private func isSet(_ request: Request, now: Instant) -> Bool {
        let wallTime = clock.wallTime()
        return wallTime >= request.time - Self.accuracy
            && wallTime <= request.time + (now - request.asked) + Self.accuracy
    }

    private func succeed(_ time: WallTime, _ completion: Completion) {
        report(Report(.notice, "clock: set by hand to \(time.iso8601)"))
        onSet()
        completion(nil)
    }

    private func text(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
}

/// The calls by which the clock is set, one door each.
struct ClockSettingCalls {
    /// `clock_settime(2)` of `CLOCK_REALTIME`: 0, or the error's number.
    var set: (WallTime) -> Int32 = { time in
        var value = timespec(time)
        return unsafe clock_settime(CLOCK_REALTIME, &value) == 0 ? 0 : errno
    }
    /// `access(2)`: whether there is such a file.
    var isThere: (String) -> Bool = { unsafe access($0, F_OK) == 0 }

    /// What `clock_settime` takes; what lies before 1970 it refuses.
    static func timespec(_ time: WallTime) -> timespec {
        let (seconds, rest) = time.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return Glibc.timespec(tv_sec: Int(seconds), tv_nsec: Int(rest) * 1000)
    }
}

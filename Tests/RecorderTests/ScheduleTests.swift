import Glibc
import Settings
import TakeFiles
import Takes
import Testing

@testable import Recorder

/// A time in UTC, which is the tests' local time unless they say otherwise.
private func time(_ text: String) throws -> WallTime { try #require(WallTime(iso8601: "\(text):00.000000Z")) }

private func schedule(_ hours: String...) throws -> TakeSchedule {
    var settings = Settings().schedule
    settings.record = try hours.map { try #require(HoursOfDay($0)) }
    return TakeSchedule(settings)
}

/// The time zone is the process's: these tests run one after the other.
@Suite(.serialized) struct RecordingHoursTests {
    private func span(_ hours: [String], at text: String, zone: String = "UTC") throws -> String? {
        let before = getenv("TZ").map { String(cString: $0) }
        setenv("TZ", zone, 1)
        defer { before.map { _ = setenv("TZ", $0, 1) } ?? { _ = unsetenv("TZ") }() }
        var hours = RecordingHours(try hours.map { try #require(HoursOfDay($0)) })
        let span = hours.span(at: try time(text))
        return span.map { "\($0.from.iso8601.prefix(16)) \($0.until.iso8601.prefix(16))" }
    }

    @Test func `hours that are now, or the next ones`() throws {
        let hours = ["19:00-21:00", "05:00-07:30"]
        #expect(try span(hours, at: "2026-11-21T04:59") == "2026-11-21T05:00 2026-11-21T07:30")
        #expect(try span(hours, at: "2026-11-21T05:00") == "2026-11-21T05:00 2026-11-21T07:30")
        #expect(try span(hours, at: "2026-11-21T07:29") == "2026-11-21T05:00 2026-11-21T07:30")
        #expect(try span(hours, at: "2026-11-21T07:30") == "2026-11-21T19:00 2026-11-21T21:00")
        #expect(try span(hours, at: "2026-11-21T23:00") == "2026-11-22T05:00 2026-11-22T07:30")
        #expect(try span([], at: "2026-11-21T23:00") == nil)
    }

    @Test func `hours past midnight`() throws {
        #expect(try span(["22:00-02:00"], at: "2026-12-31T23:00") == "2026-12-31T22:00 2027-01-01T02:00")
        #expect(try span(["22:00-02:00"], at: "2027-01-01T01:59") == "2026-12-31T22:00 2027-01-01T02:00")
        #expect(try span(["22:00-02:00"], at: "2027-01-01T02:00") == "2027-01-01T22:00 2027-01-02T02:00")
    }

    @Test func `hours that touch or overlap are one`() throws {
        #expect(
            try span(["05:00-06:00", "06:00-07:00", "06:30-08:00"], at: "2026-11-21T05:30")
                == "2026-11-21T05:00 2026-11-21T08:00")
        let allDay = try #require(try span(["00:00-12:00", "12:00-00:00"], at: "2026-11-21T05:30"))
        #expect(allDay == "2026-11-20T00:00 2026-11-24T00:00")
    }

    @Test func `local time, also on the days when clocks change`() throws {
        let zone = "CET-1CEST,M3.5.0,M10.5.0/3"
        #expect(
            try span(["05:00-07:00"], at: "2026-11-21T03:00", zone: zone) == "2026-11-21T04:00 2026-11-21T06:00")
        #expect(
            try span(["05:00-07:00"], at: "2026-07-21T02:00", zone: zone) == "2026-07-21T03:00 2026-07-21T05:00")
        // From 2 o'clock on it is 3 o'clock.
        #expect(
            try span(["01:00-04:00"], at: "2026-03-28T23:30", zone: zone) == "2026-03-29T00:00 2026-03-29T02:00")
        // From 3 o'clock on it is 2 o'clock again.
        #expect(
            try span(["01:00-04:00"], at: "2026-10-24T22:30", zone: zone) == "2026-10-24T23:00 2026-10-25T03:00")
    }
}

@Suite struct TakeScheduleTests {
    private let now = Instant(nanoseconds: 5_000_000_000)

    @Test func `a take begins and ends with the hours`() throws {
        var schedule = try schedule("05:00-07:00")
        #expect(schedule.turn(now, try time("2026-11-21T04:59"), .free) == nil)
        #expect(schedule.deadline(now, try time("2026-11-21T04:59")) == now + .seconds(60))
        #expect(schedule.turn(now, try time("2026-11-21T05:00"), .free) == .record)
        #expect(schedule.turn(now, try time("2026-11-21T05:00"), .free) == nil)
        schedule.answered(.record, isDone: true, now: now)
        #expect(schedule.turn(now, try time("2026-11-21T06:59"), .ownTake) == nil)
        #expect(schedule.deadline(now, try time("2026-11-21T06:59")) == now + .seconds(60))
        #expect(schedule.turn(now, try time("2026-11-21T07:00"), .ownTake) == .stop)
        #expect(schedule.turn(now, try time("2026-11-21T07:00"), .ownTake) == nil)
        schedule.ended(.stop)
        schedule.answered(.stop, isDone: true, now: now)
        #expect(schedule.turn(now, try time("2026-11-21T07:01"), .free) == nil)
        #expect(schedule.turn(now, try time("2026-11-22T05:00"), .free) == .record)
    }

    @Test func `within the hours it begins as soon as the kit can record`() throws {
        var schedule = try schedule("05:00-07:00")
        #expect(schedule.turn(now, nil, .free) == nil, "the clock is not set")
        #expect(schedule.span == nil && schedule.deadline(now, nil) == nil)
        #expect(schedule.turn(now, try time("2026-11-21T06:00"), .busy) == nil)
        #expect(schedule.turn(now, try time("2026-11-21T06:00"), .free) == .record)
    }

    @Test(arguments: [Sidecar.Ending.stop, .limit]) func `who ends it ends it until the next hours`(
        ending: Sidecar.Ending
    ) throws {
        var schedule = try schedule("05:00-07:00", "12:00-13:00")
        _ = schedule.turn(now, try time("2026-11-21T05:00"), .free)
        schedule.answered(.record, isDone: true, now: now)
        schedule.ended(ending)
        for minute in ["05:01", "06:59", "07:00"] {
            #expect(schedule.turn(now, try time("2026-11-21T\(minute)"), .free) == nil)
        }
        #expect(schedule.turn(now, try time("2026-11-21T12:00"), .free) == .record)
    }

    @Test func `of a day of 24 hours the next hours are the next day's`() throws {
        var schedule = try schedule("00:00-12:00", "12:00-00:00")
        _ = schedule.turn(now, try time("2026-11-21T05:00"), .free)
        schedule.answered(.record, isDone: true, now: now)
        #expect(schedule.turn(now, try time("2026-11-30T05:00"), .ownTake) == nil, "they never end")
    }

    @Test(arguments: [Sidecar.Ending.cardLost, .diskFull, .storageError, .next])
    func `after a failure the next take follows`(ending: Sidecar.Ending) throws {
        var schedule = try schedule("05:00-07:00")
        _ = schedule.turn(now, try time("2026-11-21T05:00"), .free)
        schedule.answered(.record, isDone: true, now: now)
        schedule.ended(ending)
        #expect(schedule.turn(now, try time("2026-11-21T05:10"), .free) == nil)
        let later = now + TakeSchedule.pause
        #expect(schedule.deadline(now, try time("2026-11-21T05:10")) == later)
        #expect(schedule.turn(later, try time("2026-11-21T05:10"), .busy) == nil)
        #expect(schedule.turn(later, try time("2026-11-21T05:11"), .free) == .record)
        schedule.answered(.record, isDone: false, now: later)
        #expect(schedule.turn(later, try time("2026-11-21T05:11"), .free) == nil)
        #expect(schedule.turn(later + TakeSchedule.pause, try time("2026-11-21T05:11"), .free) == .record)
    }

    @Test func `a take of the schedule that goes on elsewhere is still its own`() throws {
        var schedule = try schedule("05:00-07:00")
        _ = schedule.turn(now, try time("2026-11-21T05:00"), .free)
        schedule.answered(.record, isDone: true, now: now)
        #expect(schedule.turn(now, try time("2026-11-21T05:10"), .busy) == nil)
        #expect(schedule.turn(now, try time("2026-11-21T05:10"), .ownTake) == nil)
        schedule.ended(.stop)
        #expect(schedule.turn(now + .seconds(60), try time("2026-11-21T05:11"), .free) == nil)
    }
}

@Suite struct RestBetweenTests {
    private let begin = Instant(nanoseconds: 5_000_000_000)

    @Test func `the kit is switched off once it is quiet, and the next hours are far`() throws {
        var rest = RestBetween(now: begin)
        let wallTime = try time("2026-11-21T08:00")
        let next = try time("2026-11-21T19:00")
        let quiet = begin + RestBetween.quiet
        #expect(rest.turn(now: quiet - .seconds(1), wallTime, next: next) == nil)
        #expect(rest.turn(now: quiet, wallTime, next: nil) == nil)
        #expect(rest.turn(now: quiet, wallTime, next: wallTime + RestBetween.shortest) == nil)
        #expect(rest.turn(now: quiet, wallTime, next: next) == next - RestBetween.lead)
        #expect(rest.turn(now: quiet, wallTime, next: next) == nil)
        #expect(rest.answered(isSet: true, isUsed: false, now: quiet) == true)
        #expect(rest.turn(now: quiet + .seconds(9999), wallTime, next: next) == nil)
    }

    @Test func `who uses the kit keeps it on`() throws {
        var rest = RestBetween(now: begin)
        let wallTime = try time("2026-11-21T08:00")
        let next = try time("2026-11-21T19:00")
        let quiet = begin + RestBetween.quiet
        rest.use(now: quiet - .seconds(1))
        #expect(rest.turn(now: quiet, wallTime, next: next) == nil)
        let later = quiet - .seconds(1) + RestBetween.quiet
        #expect(rest.turn(now: later, wallTime, next: next) != nil)
        #expect(
            rest.answered(isSet: true, isUsed: true, now: later) == false, "it was used while the alarm was being set")
        #expect(rest.turn(now: later + .seconds(1), wallTime, next: next) == nil)
    }

    @Test func `without an alarm it stays on, and tries again in an hour`() throws {
        var rest = RestBetween(now: begin)
        let wallTime = try time("2026-11-21T08:00")
        let next = try time("2026-11-21T19:00")
        let quiet = begin + RestBetween.quiet
        _ = rest.turn(now: quiet, wallTime, next: next)
        #expect(rest.answered(isSet: false, isUsed: false, now: quiet) == false)
        rest.use(now: quiet)
        #expect(rest.turn(now: quiet + RestBetween.pause - .seconds(1), wallTime, next: next) == nil)
        #expect(rest.turn(now: quiet + RestBetween.pause, wallTime, next: next) != nil)
    }
}

@Suite struct WakeAlarmTests {
    private let clock = SetClock()
    private let root = RootFolder()

    @Test func `the unit receives whole seconds, and its result is the answer`() throws {
        for (result, expected) in [
            ("success", "set"),
            ("exit-code", "fieldfare-wake did not set it (exit-code): see 'journalctl -u fieldfare-wake'"),
        ] {
            let alarm = WakeAlarm(clock: clock, path: root.path + "/run/fieldfare/wake")
            var answers: [String] = []
            alarm.set(WallTime(microseconds: 1_800_000_000_900_000)) { answers.append($0 ?? "set") }
            #expect(root.text("/run/fieldfare/wake") == "1800000000\n")
            #expect(alarm.turn(now: clock.now()) != nil && answers.isEmpty)
            unlink(root.path + "/run/fieldfare/wake")
            root.write(result + "\n", to: "/run/fieldfare/wake.result")
            #expect(alarm.turn(now: clock.now()) == nil)
            #expect(answers == [expected] && root.run.isEmpty)
        }
    }

    @Test func `a unit that does not run, and a folder that is not there, are named`() {
        let alarm = WakeAlarm(clock: clock, path: root.path + "/run/fieldfare/wake")
        var answers: [String] = []
        alarm.set(WallTime(microseconds: 1_800_000_000_000_000)) { answers.append($0 ?? "set") }
        clock.pass(.seconds(15))
        #expect(alarm.turn(now: clock.now()) == nil)
        #expect(answers.first?.contains("was not read within 14 s: is fieldfare-wake.path running?") == true)
        #expect(root.run.isEmpty, "a unit that starts later finds no request")
        WakeAlarm(clock: clock, path: "/nowhere/wake").set(clock.wallTime()) { answers.append($0 ?? "set") }
        #expect(answers.last == "/nowhere/wake cannot be written for fieldfare-wake: No such file or directory")
    }
}

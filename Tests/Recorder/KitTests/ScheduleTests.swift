import Glibc
import Settings
import Takes
import TestBench
import Testing
import Transport

@testable import Kit

/// A time in UTC, which is the tests' local time unless stated otherwise.
private func time(_ text: String) throws -> WallTime { try #require(WallTime(iso8601: "\(text):00.000000Z")) }

private func schedule(_ hours: String...) throws -> TakeSchedule {
    var settings = Settings().schedule
    settings.record = try hours.map { try #require(HoursOfDay($0)) }
    return TakeSchedule(settings)
}

/// The time zone is a property of the process, so these tests run one after the other.
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

    @Test func `the first hours that begin after a time`() throws {
        let hours = RecordingHours(try ["05:00-07:30", "22:00-02:00"].map { try #require(HoursOfDay($0)) })
        #expect(try hours.begin(after: time("2026-11-21T06:00")) == time("2026-11-21T22:00"))
        #expect(try hours.begin(after: time("2026-11-21T22:00")) == time("2026-11-22T05:00"))
        #expect(RecordingHours([]).begin(after: try time("2026-11-21T22:00")) == nil)
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
        // On this day, 2 o'clock becomes 3 o'clock.
        #expect(
            try span(["01:00-04:00"], at: "2026-03-28T23:30", zone: zone) == "2026-03-29T00:00 2026-03-29T02:00")
        for hours in ["02:30-05:00", "02:00-05:00", "03:00-05:00"] {
            #expect(try span([hours], at: "2026-03-29T00:30", zone: zone) == "2026-03-29T01:00 2026-03-29T03:00")
        }
        #expect(try span(["02:15-03:30"], at: "2026-03-29T00:30", zone: zone) == "2026-03-29T01:00 2026-03-29T01:30")
        #expect(try span(["01:00-02:30"], at: "2026-03-28T23:30", zone: zone) == "2026-03-29T00:00 2026-03-29T01:00")
        // Hours within the skipped hour do not occur on that day.
        #expect(try span(["02:15-02:45"], at: "2026-03-29T00:30", zone: zone) == "2026-03-30T00:15 2026-03-30T00:45")
        // On this day, 3 o'clock becomes 2 o'clock.
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
        schedule.answered(isDone: true, now: now)
        #expect(schedule.turn(now, try time("2026-11-21T06:59"), .ownTake) == nil)
        #expect(schedule.deadline(now, try time("2026-11-21T06:59")) == now + .seconds(60))
        #expect(schedule.turn(now, try time("2026-11-21T07:00"), .ownTake) == .stop)
        #expect(schedule.turn(now, try time("2026-11-21T07:00"), .ownTake) == nil)
        schedule.ended(.stop, now: now)
        schedule.answered(isDone: true, now: now)
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

    @Test(arguments: [TakeEnding.stop, .limit]) func `who ends it ends it until the next hours`(
        ending: TakeEnding
    ) throws {
        var schedule = try schedule("05:00-07:00", "12:00-13:00")
        _ = schedule.turn(now, try time("2026-11-21T05:00"), .free)
        schedule.answered(isDone: true, now: now)
        schedule.ended(ending, now: now)
        for minute in ["05:01", "06:59", "07:00"] {
            #expect(schedule.turn(now, try time("2026-11-21T\(minute)"), .free) == nil)
        }
        #expect(schedule.turn(now, try time("2026-11-21T12:00"), .free) == .record)
    }

    @Test func `where hours follow each other all day, who ends it ends it for a day`() throws {
        var schedule = try schedule("00:00-12:00", "12:00-00:00")
        _ = schedule.turn(now, try time("2026-11-21T05:00"), .free)
        schedule.answered(isDone: true, now: now)
        #expect(schedule.turn(now, try time("2026-11-30T05:00"), .ownTake) == nil, "they never end")
        schedule.ended(.stop, now: now)
        #expect(schedule.turn(now, try time("2026-12-01T04:59"), .free) == nil)
        #expect(schedule.turn(now, try time("2026-12-01T05:00"), .free) == nil)
        #expect(schedule.turn(now, try time("2026-12-01T05:00"), .free) == .record)
    }

    @Test func `a stop before the take has begun is obeyed`() throws {
        var schedule = try schedule("05:00-07:00")
        _ = schedule.turn(now, try time("2026-11-21T05:00"), .free)
        schedule.ended(.stop, now: now)
        schedule.answered(isDone: true, now: now)
        #expect(schedule.turn(now, try time("2026-11-21T05:00"), .busy) == nil, "it is being ended")
        #expect(schedule.turn(now + .seconds(60), try time("2026-11-21T05:01"), .free) == nil)
    }

    @Test func `after a person's own take one of the schedule follows a minute later`() throws {
        var schedule = try schedule("05:00-07:00")
        #expect(schedule.turn(now, try time("2026-11-21T05:00"), .busy) == nil)
        schedule.ended(.stop, now: now)
        #expect(schedule.turn(now + .seconds(59), try time("2026-11-21T05:00"), .free) == nil)
        #expect(schedule.turn(now + .seconds(60), try time("2026-11-21T05:01"), .free) == .record)
    }

    @Test func `a person's stop just before the hours costs none of them`() throws {
        var schedule = try schedule("05:00-07:00")
        #expect(schedule.turn(now, try time("2026-11-21T04:59"), .busy) == nil)
        schedule.ended(.stop, now: now)
        #expect(schedule.turn(now + .seconds(1), try time("2026-11-21T05:00"), .free) == .record)
    }

    @Test func `a clock that is set back over the begin of the hours does not end the take`() throws {
        var schedule = try schedule("05:00-07:00")
        _ = schedule.turn(now, try time("2026-11-21T05:00"), .free)
        schedule.answered(isDone: true, now: now)
        #expect(schedule.turn(now, try time("2026-11-21T04:59"), .ownTake) == nil)
        #expect(schedule.turn(now, try time("2026-11-21T05:01"), .ownTake) == nil)
        #expect(schedule.turn(now, try time("2026-11-20T12:00"), .ownTake) == .stop, "another day")
    }

    @Test(arguments: [TakeEnding.cardLost, nil])
    func `after a failure the next take follows`(ending: TakeEnding?) throws {
        var schedule = try schedule("05:00-07:00")
        _ = schedule.turn(now, try time("2026-11-21T05:00"), .free)
        schedule.answered(isDone: true, now: now)
        if let ending { schedule.ended(ending, now: now) }
        #expect(schedule.turn(now, try time("2026-11-21T05:10"), .free) == nil)
        let later = now + TakeSchedule.pause
        #expect(schedule.deadline(now, try time("2026-11-21T05:10")) == later)
        #expect(schedule.turn(later, try time("2026-11-21T05:10"), .busy) == nil)
        #expect(schedule.turn(later, try time("2026-11-21T05:11"), .free) == .record)
        schedule.answered(isDone: false, now: later)
        #expect(schedule.turn(later, try time("2026-11-21T05:11"), .free) == nil)
        #expect(schedule.turn(later + TakeSchedule.pause, try time("2026-11-21T05:11"), .free) == .record)
    }

    @Test func `a take of the schedule that goes on elsewhere is still its own`() throws {
        var schedule = try schedule("05:00-07:00")
        _ = schedule.turn(now, try time("2026-11-21T05:00"), .free)
        schedule.answered(isDone: true, now: now)
        #expect(schedule.turn(now, try time("2026-11-21T05:10"), .busy) == nil)
        #expect(schedule.turn(now, try time("2026-11-21T05:10"), .ownTake) == nil)
        schedule.ended(.stop, now: now)
        #expect(schedule.turn(now + .seconds(60), try time("2026-11-21T05:11"), .free) == nil)
    }
}

@Suite struct RestBetweenTests {
    private let begin = Instant(nanoseconds: 5_000_000_000)
    private let quiet = Instant(nanoseconds: 5_000_000_000) + RestBetween.quiet

    private func turn(_ rest: inout RestBetween, _ now: Instant) throws -> WallTime? {
        rest.turn(now: now, try time("2026-11-21T08:00"), next: try time("2026-11-21T19:00"))
    }

    @Test func `the kit is switched off once it is quiet, and the next hours are far`() throws {
        var rest = RestBetween(now: begin)
        let wallTime = try time("2026-11-21T08:00")
        #expect(try turn(&rest, quiet - .seconds(1)) == nil)
        #expect(rest.turn(now: quiet, wallTime, next: nil) == nil)
        #expect(rest.turn(now: quiet, wallTime, next: wallTime + RestBetween.shortest) == nil)
        #expect(try turn(&rest, quiet) == time("2026-11-21T18:58"))
        #expect(try turn(&rest, quiet) == nil)
        #expect(rest.answered(isSet: true, now: quiet) == true)
        #expect(try turn(&rest, quiet + RestBetween.pause - .seconds(1)) == nil)
        #expect(try turn(&rest, quiet + RestBetween.pause) != nil, "the power stayed on")
    }

    @Test func `who uses the kit keeps it on, also while the alarm is being set`() throws {
        var rest = RestBetween(now: begin)
        rest.use(now: quiet - .seconds(1))
        #expect(try turn(&rest, quiet) == nil)
        let later = quiet - .seconds(1) + RestBetween.quiet
        #expect(try turn(&rest, later) != nil)
        rest.use(now: later)
        #expect(rest.answered(isSet: true, now: later) == false)
        #expect(try turn(&rest, later + .seconds(1)) == nil)
    }

    @Test func `without an alarm it stays on, and tries again in an hour, unless it is used then`() throws {
        var rest = RestBetween(now: begin)
        _ = try turn(&rest, quiet)
        #expect(rest.answered(isSet: false, now: quiet) == false)
        let due = quiet + RestBetween.pause
        #expect(try turn(&rest, due - .seconds(1)) == nil)
        var used = rest
        used.use(now: due - .seconds(5))
        #expect(try turn(&used, due) == nil)
        #expect(try turn(&rest, due) != nil)
    }
}

@Suite struct WakeAlarmTests {
    private let clock = TestClock()
    private let root = TestFolder.root()

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
        clock.advance(by: .seconds(15))
        #expect(alarm.turn(now: clock.now()) == nil)
        #expect(answers.first?.contains("was not read within 14 s: is fieldfare-wake.path running?") == true)
        #expect(root.run.isEmpty, "a unit that starts later finds no request")
        WakeAlarm(clock: clock, path: "/nowhere/wake").set(clock.wallTime()) { answers.append($0 ?? "set") }
        #expect(answers.last == "/nowhere/wake cannot be written for fieldfare-wake: No such file or directory")
    }
}

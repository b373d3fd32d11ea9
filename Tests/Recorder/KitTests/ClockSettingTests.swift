import Deck
import Glibc
import Takes
import TestBench
import Testing
import Transport

@testable import Kit

@Suite struct ClockSettingTests {
    private final class Received {
        var answers: [String] = []
        var reports: [String] = []
        var timesSet = 0
        var attempts: [WallTime] = []
    }

    private let clock = TestClock()
    private let root = TestFolder.root()
    private let received = Received()
    private let time = WallTime(microseconds: 1_800_000_000_400_000)
    private var path: String { root.path + "/run/fieldfare/set-clock" }

    /// - Parameter code: the result of `clock_settime`; 0 means that the clock was set.
    private func setting(_ code: Int32, path: String? = nil) -> ClockSetting {
        var calls = ClockSettingCalls()
        calls.set = { [clock, received] time in
            received.attempts.append(time)
            if code == 0 { clock.set(to: time) }
            return code
        }
        let setting = ClockSetting(clock: clock, path: path ?? self.path, calls: calls) { [received] in
            received.reports.append($0.message)
        }
        setting.onSet = { [received] in received.timesSet += 1 }
        return setting
    }

    private func begin(_ setting: ClockSetting, _ time: WallTime? = nil) {
        setting.begin(time ?? self.time) { [received] refusal in
            received.answers.append(refusal.map { "\($0.code.rawValue): \($0.message)" } ?? "set")
        }
    }

    /// Handles a request like the unit.
    private func obey(_ setsClock: Bool = true, result: String? = "success") throws {
        let text = try #require(root.text("/run/fieldfare/set-clock"))
        unlink(path)
        if setsClock { clock.set(to: try WallTime(reading: String(text.dropLast()))) }
        if let result { leave(result) }
    }

    /// Writes the unit's result file.
    private func leave(_ result: String) { root.write(result + "\n", to: "run/fieldfare/set-clock.result") }

    @Test func `a process that may set the clock does so at once`() {
        let setting = setting(0)
        begin(setting)
        #expect(clock.wallTime() == time)
        #expect(received.answers == ["set"])
        #expect(received.timesSet == 1)
        #expect(received.reports == ["clock: set by hand to 2027-01-15T08:00:00.400000Z"])
        #expect(setting.turn(now: clock.now()) == nil)
        #expect(root.run == [])
    }

    @Test func `a process that may not asks the unit, and answers when the clock is set`() throws {
        let setting = setting(EPERM)
        begin(setting)
        #expect(root.run == ["set-clock"])
        #expect(root.text("/run/fieldfare/set-clock") == "2027-01-15T08:00:00Z\n")
        for _ in 0..<30 {
            clock.advance(by: .milliseconds(100))
            #expect(setting.turn(now: clock.now()) == clock.now() + .milliseconds(100))
        }
        #expect(received.answers == [])
        try obey(result: nil)
        #expect(setting.turn(now: clock.now()) != nil)
        #expect(received.timesSet == 1)
        clock.advance(by: .milliseconds(1500))
        #expect(setting.turn(now: clock.now()) != nil)
        #expect(received.answers == [])
        leave("success")
        #expect(setting.turn(now: clock.now()) == nil)
        #expect(received.answers == ["set"])
        #expect(received.timesSet == 1)
        #expect(setting.turn(now: clock.now()) == nil)
        #expect(root.run == [])
    }

    @Test(arguments: [("exit-code", "exit-code"), (nil, "timeout")])
    func `a chip that the unit cannot write is reported, though the clock is set`(result: String?, name: String) throws
    {
        let setting = setting(EPERM)
        begin(setting)
        try obey(result: result)
        if result == nil {
            #expect(setting.turn(now: clock.now()) != nil)
            clock.advance(by: .seconds(14))
        }
        #expect(setting.turn(now: clock.now()) == nil)
        let sentence =
            "clock: set to 2027-01-15T08:00:00.400000Z, but its chip cannot be written (fieldfare-set-clock: \(name)), so this "
            + "time is lost when the power goes: see 'journalctl -u fieldfare-set-clock'"
        #expect(received.answers == ["io: " + sentence])
        #expect(received.reports.last == sentence)
        #expect(received.timesSet == 1)
    }

    @Test func `the result of a request of before is not this one's`() throws {
        leave("exit-code")
        let setting = setting(EPERM)
        begin(setting)
        #expect(root.run == ["set-clock"])
        try obey()
        #expect(setting.turn(now: clock.now()) == nil)
        #expect(received.answers == ["set"])
    }

    @Test func `a request is rounded to the nearest second`() {
        let setting = setting(EPERM)
        begin(setting, WallTime(microseconds: 1_800_000_000_500_000))
        #expect(root.text("/run/fieldfare/set-clock") == "2027-01-15T08:00:01Z\n")
    }

    @Test func `a request that the unit has read is done only when the clock has the time`() throws {
        let setting = setting(EPERM)
        begin(setting)
        try obey(false, result: nil)
        #expect(setting.turn(now: clock.now()) != nil)
        clock.set(to: time + .seconds(9))
        #expect(setting.turn(now: clock.now()) != nil)
        clock.set(to: time - .seconds(2))
        #expect(setting.turn(now: clock.now()) != nil)
        #expect(received.answers == [])
        clock.set(to: time - .seconds(1))
        leave("success")
        #expect(setting.turn(now: clock.now()) == nil)
        #expect(received.answers == ["set"])
    }

    @Test func `a clock that is right already is no answer before the unit has read the request`() throws {
        let setting = setting(EPERM)
        begin(setting, clock.wallTime())
        #expect(setting.turn(now: clock.now()) != nil)
        #expect(received.answers == [])
        try obey()
        #expect(setting.turn(now: clock.now()) == nil)
        #expect(received.answers == ["set"])
    }

    @Test func `a request that the unit does not read is withdrawn`() {
        let setting = setting(EPERM)
        begin(setting)
        clock.advance(by: .milliseconds(13_999))
        #expect(setting.turn(now: clock.now()) != nil)
        clock.advance(by: .milliseconds(1))
        #expect(setting.turn(now: clock.now()) == nil)
        let sentence =
            "clock: cannot set it to 2027-01-15T08:00:00.400000Z: \(path) was not read within 14 s: "
            + "is fieldfare-set-clock.path running?"
        #expect(received.answers == ["io: " + sentence])
        #expect(received.reports == [sentence])
        #expect(received.timesSet == 0)
        #expect(root.run == [])
    }

    @Test func `a unit that reads the request and fails is reported`() throws {
        let setting = setting(EPERM)
        begin(setting)
        try obey(false, result: "exit-code")
        #expect(setting.turn(now: clock.now()) == nil)
        #expect(
            received.answers == [
                "io: clock: cannot set it to 2027-01-15T08:00:00.400000Z: fieldfare-set-clock did not set it: "
                    + "see 'journalctl -u fieldfare-set-clock'"
            ])
    }

    @Test func `a second request is refused while the clock is being set, and served afterwards`() throws {
        let setting = setting(EPERM)
        begin(setting)
        begin(setting)
        #expect(received.answers == ["busy: clock: it is being set: try again in a moment"])
        try obey()
        _ = setting.turn(now: clock.now())
        begin(setting)
        #expect(received.answers.count == 2)
        #expect(root.run == ["set-clock"])
    }

    @Test func `a time that the clock cannot have is bad data`() {
        let setting = setting(EINVAL)
        begin(setting, WallTime(microseconds: -1_000_000))
        #expect(
            received.answers == [
                "bad-data: clock: 1969-12-31T23:59:59.000000Z: the clock cannot have this time: Invalid argument"
            ])
        #expect(received.timesSet == 0)
        #expect(setting.turn(now: clock.now()) == nil)
    }

    @Test func `without the right and without the unit, the error says what to do`() {
        let setting = setting(EPERM, path: "/nowhere/set-clock")
        begin(setting)
        #expect(
            received.answers == [
                "denied: clock: cannot set it: Operation not permitted, and /nowhere/set-clock cannot be written for "
                    + "fieldfare-set-clock: No such file or directory: run the recorder as its service, or set the clock as root"
            ])
        #expect(setting.turn(now: clock.now()) == nil)
    }

    @Test(arguments: [
        (Int64(1_800_000_000_250_000), Int(1_800_000_000), 250_000_000), (-1, 0, -1000), (0, 0, 0),
    ])
    func `seconds and nanoseconds are split as the kernel wants them`(
        microseconds: Int64, seconds: Int, nanoseconds: Int
    ) {
        let value = ClockSettingCalls.timespec(WallTime(microseconds: microseconds))
        #expect(value.tv_sec == seconds)
        #expect(value.tv_nsec == nanoseconds)
    }
}

import Deck
import Glibc
import TakeFiles
import Takes
import Testing
import Transport

@testable import Recorder

@Suite struct ClockSettingTests {
    private final class Told {
        var answers: [String] = []
        var reports: [String] = []
        var timesSet = 0
        var attempts: [WallTime] = []
    }

    private let clock = SetClock()
    private let root = RootFolder()
    private let told = Told()
    private let time = WallTime(microseconds: 1_800_000_000_400_000)
    private var path: String { root.path + "/run/fieldfare/set-clock" }

    /// - Parameter code: what the kernel answers to who sets the clock; 0: it is set.
    private func setting(_ code: Int32, path: String? = nil) -> ClockSetting {
        var calls = ClockSettingCalls()
        calls.set = { [clock, told] time in
            told.attempts.append(time)
            if code == 0 { clock.set(time) }
            return code
        }
        let setting = ClockSetting(clock: clock, path: path ?? self.path, calls: calls) { [told] in
            told.reports.append($0.message)
        }
        setting.onSet = { [told] in told.timesSet += 1 }
        return setting
    }

    private func begin(_ setting: ClockSetting, _ time: WallTime? = nil) {
        setting.begin(time ?? self.time) { [told] refusal in
            told.answers.append(refusal.map { "\($0.code.rawValue): \($0.message)" } ?? "set")
        }
    }

    /// What the unit does with a request.
    private func obey(_ setsClock: Bool = true) throws {
        let text = try #require(root.text("/run/fieldfare/set-clock"))
        unlink(path)
        if setsClock { clock.set(try WallTime(reading: String(text.dropLast()))) }
    }

    @Test func `who may set the clock does so at once`() {
        let setting = setting(0)
        begin(setting)
        #expect(clock.wallTime() == time)
        #expect(told.answers == ["set"])
        #expect(told.timesSet == 1)
        #expect(told.reports == ["clock: set by hand to 2027-01-15T08:00:00.400000Z"])
        #expect(setting.turn(now: clock.now()) == nil)
        #expect(root.run == [])
    }

    @Test func `who may not asks the unit, and answers when the clock is set`() throws {
        let setting = setting(EPERM)
        begin(setting)
        #expect(root.run == ["set-clock"])
        #expect(root.text("/run/fieldfare/set-clock") == "2027-01-15T08:00:00Z\n")
        for _ in 0..<30 {
            clock.pass(.milliseconds(100))
            #expect(setting.turn(now: clock.now()) == clock.now() + .milliseconds(100))
        }
        #expect(told.answers == [])
        try obey()
        #expect(setting.turn(now: clock.now()) == nil)
        #expect(told.answers == ["set"])
        #expect(told.timesSet == 1)
        #expect(setting.turn(now: clock.now()) == nil)
    }

    @Test func `a request is rounded to the nearest second`() {
        let setting = setting(EPERM)
        begin(setting, WallTime(microseconds: 1_800_000_000_500_000))
        #expect(root.text("/run/fieldfare/set-clock") == "2027-01-15T08:00:01Z\n")
    }

    @Test func `a request that is taken is done only when the clock says so`() throws {
        let setting = setting(EPERM)
        begin(setting)
        try obey(false)
        #expect(setting.turn(now: clock.now()) != nil)
        clock.set(time + .seconds(9))
        #expect(setting.turn(now: clock.now()) != nil)
        clock.set(time - .seconds(2))
        #expect(setting.turn(now: clock.now()) != nil)
        #expect(told.answers == [])
        clock.set(time - .seconds(1))
        #expect(setting.turn(now: clock.now()) == nil)
        #expect(told.answers == ["set"])
    }

    @Test func `a clock that is right already is no answer before the request is taken`() throws {
        let setting = setting(EPERM)
        begin(setting, clock.wallTime())
        #expect(setting.turn(now: clock.now()) != nil)
        #expect(told.answers == [])
        try obey()
        #expect(setting.turn(now: clock.now()) == nil)
        #expect(told.answers == ["set"])
    }

    @Test func `a request that nobody takes is taken back`() {
        let setting = setting(EPERM)
        begin(setting)
        clock.pass(.milliseconds(11_999))
        #expect(setting.turn(now: clock.now()) != nil)
        clock.pass(.milliseconds(1))
        #expect(setting.turn(now: clock.now()) == nil)
        let sentence =
            "clock: cannot set it to 2027-01-15T08:00:00.400000Z: nobody took \(path) within 12 s: "
            + "is fieldfare-set-clock.path running?"
        #expect(told.answers == ["io: " + sentence])
        #expect(told.reports == [sentence])
        #expect(told.timesSet == 0)
        #expect(root.run == [])
    }

    @Test func `a unit that takes the request and fails is told`() throws {
        let setting = setting(EPERM)
        begin(setting)
        try obey(false)
        clock.pass(.seconds(12))
        #expect(setting.turn(now: clock.now()) == nil)
        #expect(
            told.answers == [
                "io: clock: cannot set it to 2027-01-15T08:00:00.400000Z: fieldfare-set-clock did not set it: "
                    + "see 'journalctl -u fieldfare-set-clock'"
            ])
    }

    @Test func `who asks while the clock is being set is told to wait, and may ask again afterwards`() throws {
        let setting = setting(EPERM)
        begin(setting)
        begin(setting)
        #expect(told.answers == ["busy: clock: it is being set: try again in a moment"])
        try obey()
        _ = setting.turn(now: clock.now())
        begin(setting)
        #expect(told.answers.count == 2)
        #expect(root.run == ["set-clock"])
    }

    @Test func `a time that the clock cannot have is bad data`() {
        let setting = setting(EINVAL)
        begin(setting, WallTime(microseconds: -1_000_000))
        #expect(
            told.answers == [
                "bad-data: clock: 1969-12-31T23:59:59.000000Z: the clock cannot have this time: Invalid argument"
            ])
        #expect(told.timesSet == 0)
        #expect(setting.turn(now: clock.now()) == nil)
    }

    @Test func `where there is neither the right nor the unit, it says what to do`() {
        let setting = setting(EPERM, path: "/nowhere/set-clock")
        begin(setting)
        #expect(
            told.answers == [
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

import Lines
import Panel
import Takes
import Testing
import Transport

@testable import Recorder

struct LineWatchTests {
    private func second(_ count: Double) -> Instant { Instant(nanoseconds: Int64(count * 1e9)) }

    /// A watch that has just checked its lines, at second 100.
    private func watch() -> LineWatch {
        var watch = LineWatch(isWired: true)
        #expect(watch.awake(at: second(100), decision: nil) == .check)
        return watch
    }

    /// The actions of a thread that is awake at these seconds, while these lines are missing.
    private func trace(
        _ watch: inout LineWatch, _ turns: [(second: Double, missing: [LineWatch.Line])]
    ) -> [LineWatch.Action?] {
        turns.map { watch.missing($0.missing, at: second($0.second)) }
    }

    @Test func `lines are checked every two seconds while the thread is awake, which wakes for it after five`() {
        var watch = watch()
        let turns: [(Double, LineWatch.Action?)] = [
            (100.1, nil), (101.9, nil), (102, .check), (103, nil), (107, .check), (108, nil),
        ]
        for (at, action) in turns {
            #expect(watch.awake(at: second(at), decision: nil) == action, "\(at)")
        }
        #expect(watch.deadline == second(112))
    }

    @Test func `a gesture is decided by lines that were checked just then`() {
        var watch = watch()
        #expect(watch.awake(at: second(100.5), decision: second(100.6)) == nil)
        #expect(watch.awake(at: second(100.6), decision: second(100.6)) == .check)
        #expect(watch.deadline == second(105.6))
    }

    @Test func `the thread does not wake for a panel without lines`() {
        var watch = LineWatch(isWired: false)
        _ = watch.awake(at: second(100), decision: nil)
        #expect(watch.missing([], at: second(100)) == nil)
        #expect(watch.deadline == nil)
    }

    @Test func `missing lines are opened every five seconds, until none is missing`() {
        var watch = watch()
        let (record, fault) = (LineWatch.Line.button(.record), LineWatch.Line.lamp(.fault))
        #expect(
            trace(&watch, [(100, [record, fault]), (104.9, [record, fault]), (105, [record, fault])])
                == [nil, nil, .open])
        #expect(watch.tried(missing: [fault], []) == .init(news: [], opened: [record]))
        #expect(trace(&watch, [(105, [fault]), (109.9, [fault]), (110.5, [fault])]) == [nil, nil, .open])
        #expect(watch.tried(missing: [], []) == .init(news: [], opened: [fault]))
        #expect(trace(&watch, [(110.5, []), (120, [])]) == [nil, nil])
    }

    @Test func `a line that went away is opened five seconds later, one that joins others with them`() {
        var watch = watch()
        let (record, stop) = (LineWatch.Line.button(.record), LineWatch.Line.button(.stop))
        #expect(trace(&watch, [(200, []), (201, [record]), (204, [record, stop])]) == [nil, nil, nil])
        #expect(watch.deadline == second(105))
        _ = watch.awake(at: second(204), decision: nil)
        #expect(watch.deadline == second(206))
        #expect(trace(&watch, [(206, [record, stop])]) == [.open])
        #expect(watch.tried(missing: [record, stop], []).opened == [])
        #expect(watch.deadline == second(209))
        #expect(trace(&watch, [(207, []), (208, [stop]), (212, [stop]), (213, [stop])]) == [nil, nil, nil, .open])
    }

    @Test func `each message about a missing line is reported once`() {
        var watch = watch()
        let busy = LineError(.buttons, "GPIO17", index: 0, .noChips)
        let lamp = LineError(.lamps, "ACT", index: 3, .led(path: "/sys/class/leds/ACT/brightness", code: 13))
        #expect(watch.news([busy]) == [busy])
        #expect(trace(&watch, [(100, [.lamp(.fault)]), (105, [.lamp(.fault)])]) == [nil, .open])
        #expect(watch.tried(missing: [.lamp(.fault)], [busy, lamp]).news == [lamp])
        #expect(watch.tried(missing: [], [busy, lamp]) == .init(news: [], opened: [.lamp(.fault)]))
    }

    @Test func `lines are named as the settings name them`() {
        #expect(
            ["\(LineWatch.Line.button(.record))", "\(LineWatch.Line.lamp(.all))"] == ["button record", "lamp all"])
    }
}

import Takes
import Testing

@testable import History

@Suite struct RunEndTests {
    private func records(_ events: HistoryEvent...) -> [HistoryRecord] {
        events.map { HistoryRecord(at: WallTime(microseconds: 0), uptime: 0, $0) }
    }

    private let start = HistoryEvent.started(.init(version: "1", bootID: "this boot", before: .none))

    @Test func `a run that noted its end was ended by that`() {
        for (cause, end) in [
            (HistoryEvent.RecorderEnd.Cause.signal, RunEnd.signal), (.person, .person),
        ] {
            let history = records(start, .pressed(.init("record")), .ended(.init(by: cause)))
            #expect(RunEnd(before: history, bootID: "another", wasReset: true) == end)
            #expect(RunEnd(before: history, bootID: "this boot", wasReset: false) == end)
        }
    }

    @Test func `a run without an end crashed in the same boot, and lost its power before another`() {
        let history = records(start, .ended(.init(by: .signal)), start, .pressed(.init("record")))
        #expect(RunEnd(before: history, bootID: "this boot", wasReset: false) == .crash)
        #expect(RunEnd(before: history, bootID: "another", wasReset: false) == .powerCut)
        #expect(RunEnd(before: history, bootID: "another", wasReset: true) == .watchdog)
    }

    @Test func `without a start there was no run`() {
        #expect(RunEnd(before: records(.pressed(.init("stop"))), bootID: "b", wasReset: false) == .none)
    }
}

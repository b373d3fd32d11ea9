import Takes
import Testing

@testable import History

struct PastFaultTests {
    private func at(_ second: Int) -> WallTime { WallTime(microseconds: 1_795_241_891_000_000) + .seconds(second) }

    private func record(_ second: Int, _ event: HistoryEvent) -> HistoryRecord {
        HistoryRecord(at: at(second), uptime: Double(second), event)
    }

    private func began(_ second: Int, _ code: Int, _ message: String = "m") -> HistoryRecord {
        record(second, .faultBegan(.init(code: code, message: message)))
    }

    private func ended(_ second: Int, _ code: Int, after seconds: Double) -> HistoryRecord {
        record(second, .faultEnded(.init(code: code, seconds: seconds)))
    }

    private func fault(_ code: Int, _ message: String = "m", from: Int, until: Int?) -> PastFault {
        PastFault(code: code, message: message, from: at(from), until: until.map(at))
    }

    @Test func `a fault lasts from its beginning to its end, and one that is shown has no end`() {
        let records = [began(10, 3), began(12, 1), record(13, .pressed(.init("record"))), ended(20, 3, after: 10)]
        #expect(PastFault.all(in: records) == [fault(3, from: 10, until: 20), fault(1, from: 12, until: nil)])
    }

    @Test func `an end without its beginning says when that was`() {
        #expect(PastFault.all(in: [ended(20, 3, after: 30)]) == [fault(3, "", from: -10, until: 20)])
    }

    @Test func `a duration that a disk damaged does no harm`() {
        let faults = PastFault.all(in: [ended(20, 3, after: 1e300), ended(30, 4, after: -5)])
        #expect(faults.map(\.until) == [at(20), at(30)] && faults.map(\.code) == [3, 4])
    }

    @Test func `a fault whose end has an earlier date, because the clock was set back, lasts no time`() {
        #expect(PastFault.all(in: [began(5000, 3), ended(20, 3, after: 10)]) == [fault(3, from: 5000, until: 5000)])
    }

    @Test func `of two faults with one code, the one of that duration ends`() {
        let records = [began(10, 8, "a"), began(15, 8, "b"), ended(20, 8, after: 5), ended(30, 8, after: 20)]
        #expect(PastFault.all(in: records) == [fault(8, "a", from: 10, until: 30), fault(8, "b", from: 15, until: 20)])
    }

    @Test func `faults end with the recorder, or with the last sign of it before it started again`() {
        let start = HistoryEvent.started(.init(version: "1", bootID: "b", before: .powerCut))
        let records = [
            began(10, 1), record(20, .ended(.init(by: .signal))), record(100, start), began(110, 3),
            record(120, .measured(Measurement())), record(500, start), began(510, 2),
        ]
        #expect(
            PastFault.all(in: records) == [
                fault(1, from: 10, until: 20), fault(3, from: 110, until: 120), fault(2, from: 510, until: nil),
            ])
    }
}

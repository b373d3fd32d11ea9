import DiskCalls
import Testing

@testable import Exports

@Suite(.waitsOnNamedThreads) struct DayColumnsTests {
    @Test func `a time is shown by each column that it touches, and by none outside of the stretch`() {
        let columns = DayColumns(10, of: 100..<200)
        #expect(columns.columns(showing: 100..<200) == 0..<10)
        #expect(columns.columns(showing: 110..<120) == 1..<2)
        #expect(columns.columns(showing: 119.9..<120.1) == 1..<3)
        #expect(columns.columns(showing: 0..<100.5) == 0..<1)
        #expect(columns.columns(showing: 195..<999) == 9..<10)
        for time in [0..<100.0, 200..<300, 150..<150] { #expect(columns.columns(showing: time).isEmpty) }
    }

    @Test func `whole columns are drawn at once, and the others each alone`() {
        let columns = DayColumns(10, of: 0..<100)
        #expect(columns.runs(showing: 15..<58) == [1..<2, 2..<5, 5..<6])
        #expect(columns.runs(showing: 20..<50) == [2..<5])
        #expect(columns.runs(showing: 21..<29) == [2..<3])
        #expect(columns.runs(showing: -50..<150) == [0..<10])
    }

    @Test func `a column shows the frames of its time, at least one, and none that the sound lacks`() {
        let columns = DayColumns(10, of: 0..<100)
        let time = 15..<55.0
        func frames(_ column: Int) -> Range<Int64> { columns.frames(of: column, in: time, rateHz: 10, frames: 400) }
        #expect((1...5).map(frames) == [0..<50, 50..<150, 150..<250, 250..<350, 350..<400])
        #expect(frames(0) == 0..<1 && frames(9) == 399..<400)
        #expect(DayColumns(2000, of: 0..<1).frames(of: 999, in: 0..<1, rateHz: 10, frames: 10) == 4..<5)
    }

    @Test func `their number is limited`() {
        #expect(DayColumns(0, of: 0..<1).count == 1)
        #expect(DayColumns(5000, of: 0..<1).count == 2000)
    }
}

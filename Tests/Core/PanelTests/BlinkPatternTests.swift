import Panel
import Testing
import Transport

@Suite struct BlinkPatternTests {
    @Test func `a pattern that is shown once shows nothing before and after`() {
        let pattern = BlinkPattern.once([.lit(.milliseconds(30)), .dark(.milliseconds(20))])
        let answers = [-1, 0, 29, 30, 49, 50].map { pattern.isLit(after: .milliseconds($0)) }
        #expect(answers == [nil, true, true, false, false, nil])
        let borders = [-5, 0, 29, 30, 49, 50].map { pattern.border(after: .milliseconds($0)) }
        #expect(borders == [0, 30, 30, 50, 50, nil].map { $0.map { .milliseconds($0) } })
    }

    @Test func `a pattern that repeats never ends`() {
        let pattern = BlinkPattern.repeating([.lit(.milliseconds(30)), .dark(.milliseconds(20))])
        #expect(
            [-1, 0, 29, 30, 49, 50, 80, 5_000_000_030].map { pattern.isLit(after: .milliseconds($0)) }
                == [nil, true, true, false, false, true, false, false])
        #expect(pattern.border(after: .milliseconds(5_000_000_030)) == .milliseconds(5_000_000_050))
    }

    @Test func `a steady pattern has no borders once it has begun`() {
        #expect(BlinkPattern.solid.border(after: .zero) == nil)
        #expect(BlinkPattern.off.border(after: .seconds(1)) == nil)
    }

    @Test(arguments: Fault.Code.allCases) func `a fault flashes as often as its code`(_ code: Fault.Code) {
        let segments = BlinkPattern.fault(code).segments
        #expect(segments.filter(\.isLit).count == code.rawValue)
        #expect(segments.last == .dark(.milliseconds(1200)))
    }

    @Test func `no two patterns of one lamp look alike`() {
        let play: [BlinkPattern] = [.off, .solid, .armed, .paused, .selected, .atTheEnd, .refused, .lockChanged]
        #expect(Set(play).count == play.count)
        let upload: [BlinkPattern] = [.off, .solid, .sending, .pairing]
        #expect(Set(upload).count == upload.count)
        let faults = Fault.Code.allCases.map { BlinkPattern.fault($0) }
        let all = Set(play + upload + faults + [.syncWink, .unsynced, .refusedWinks, .lockChangedWinks])
        #expect(all.count == play.count + upload.count - 2 + faults.count + 4)
    }

    @Test func `a selection's flashes are over before the next one can follow`() {
        #expect(BlinkPattern.selected.length < PanelTiming.repeatInterval)
    }
}

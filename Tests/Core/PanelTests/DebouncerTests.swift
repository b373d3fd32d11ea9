import Panel
import Takes
import Testing

@Suite struct DebouncerTests {
    /// The turns for some edges, each a time in milliseconds and whether the button goes down.
    private func turns(_ edges: [(Double, Bool)], isDown: Bool = false) -> [Debouncer.Turn] {
        var debouncer = Debouncer(window: .milliseconds(15), isDown: isDown)
        var turns: [Debouncer.Turn] = []
        for (time, isDown) in edges {
            if let turn = debouncer.settle(by: at(time)) { turns.append(turn) }
            debouncer.edge(isDown: isDown, at: at(time))
        }
        if let end = debouncer.settles, let turn = debouncer.settle(by: end) { turns.append(turn) }
        #expect(debouncer.settles == nil)
        return turns
    }

    @Test func `a clean press and release`() {
        #expect(turns([(0, true), (200, false)]) == [.pressed(at: at(0)), .released(at: at(200))])
    }

    @Test func `bouncing contacts give one press and one release, dated to their first edges`() {
        let bounces: [(Double, Bool)] = [
            (0, true), (0.4, false), (1.1, true), (3, false), (9, true),
            (300, false), (301, true), (304, false), (310, true), (311, false),
        ]
        #expect(turns(bounces) == [.pressed(at: at(0)), .released(at: at(300))])
    }

    @Test func `a spike shorter than the window is no press`() {
        #expect(turns([(0, true), (14.9, false), (100, true), (100.01, false)]).isEmpty)
    }

    @Test func `a level is stable after exactly the window`() {
        #expect(turns([(0, true), (15, false)]) == [.pressed(at: at(0)), .released(at: at(15))])
    }

    @Test func `a spike while held is no release and no second press`() {
        #expect(turns([(0, true), (500, false), (503, true)]) == [.pressed(at: at(0))])
    }

    @Test func `doubled edges change nothing`() {
        #expect(
            turns([(0, true), (1, true), (400, true), (800, false), (801, false)])
                == [.pressed(at: at(0)), .released(at: at(800))])
        #expect(turns([(0, false), (50, false)]).isEmpty)
    }

    @Test func `a doubled edge moves the moment from which the level is stable`() {
        var debouncer = Debouncer(window: .milliseconds(15))
        debouncer.edge(isDown: true, at: at(0))
        debouncer.edge(isDown: true, at: at(10))
        #expect(debouncer.settles == at(25))
        #expect(debouncer.settle(by: at(24.9)) == nil)
        #expect(debouncer.settle(by: at(25)) == .pressed(at: at(0)))
    }

    @Test func `a button that is down at the start changes first when it is released`() {
        #expect(
            turns([(100, false), (900, true)], isDown: true) == [.released(at: at(100)), .pressed(at: at(900))])
    }

    @Test func `a lone edge that the level contradicts is no press, however late the level is read`() {
        for delay in [1.0, 15, 5000] {
            var debouncer = Debouncer(window: .milliseconds(15))
            debouncer.edge(isDown: true, at: at(0))
            debouncer.level(isDown: false, at: at(delay))
            #expect(debouncer.settle(by: at(delay + 15)) == nil)
            #expect(debouncer.settles == nil)
            #expect(!debouncer.isDown)
        }
    }

    @Test func `a level without an edge is a press from then on`() {
        var debouncer = Debouncer(window: .milliseconds(15))
        debouncer.level(isDown: true, at: at(40))
        #expect(debouncer.settle(by: at(54)) == nil)
        #expect(debouncer.settle(by: at(55)) == .pressed(at: at(40)))
    }

    @Test func `an edge that comes after the level that it made dates the press`() {
        var debouncer = Debouncer(window: .milliseconds(15))
        debouncer.level(isDown: true, at: at(40))
        debouncer.edge(isDown: true, at: at(39.8))
        #expect(debouncer.settle(by: at(55)) == .pressed(at: at(39.8)))
    }

    @Test func `a lost release is dated to when the button was last known to be down`() {
        var debouncer = Debouncer(window: .milliseconds(15))
        debouncer.edge(isDown: true, at: at(0))
        #expect(debouncer.settle(by: at(20)) == .pressed(at: at(0)))
        debouncer.level(isDown: true, at: at(600))
        debouncer.level(isDown: false, at: at(3000))
        #expect(debouncer.settle(by: at(3015)) == .released(at: at(600)))
    }

    // MARK: Storms

    /// Takes edges at regular intervals, in milliseconds.
    /// - Returns: the indexes of the edges that muted the line.
    private func edges(_ count: Int, every interval: Double, into line: inout Debouncer) -> [Int] {
        (0..<count).filter { line.edge(isDown: true, at: at(Double($0) * interval)) }
    }

    @Test func `two hundred edges within a second mute the line, once`() {
        var line = Debouncer(window: .milliseconds(15))
        let muting = edges(1000, every: 5, into: &line)
        #expect(muting == [199])
        #expect(line.isMuted)
        #expect(line.nextCheck == at(199 * 5 + 1000))
    }

    @Test func `199 edges a second never do`() {
        var line = Debouncer(window: .milliseconds(15))
        let muting = edges(5000, every: 1000 / 199, into: &line)
        #expect(muting == [])
        #expect(!line.isMuted)
        #expect(line.nextCheck == nil)
    }

    @Test func `a second is any second, whenever it begins`() {
        var line = Debouncer(window: .milliseconds(15))
        _ = edges(150, every: 1, into: &line)
        let more = (0..<60).filter { line.edge(isDown: true, at: at(980 + Double($0) * 0.1)) }
        #expect(more == [49])
    }

    @Test func `its edges count again after ten seconds of rest`() {
        var line = Debouncer(window: .milliseconds(15))
        _ = edges(200, every: 0, into: &line)
        var now = 0.0
        var trace: [String] = []
        // The line moves in the first three seconds, is checked every second, and then rests.
        while let next = line.nextCheck {
            now += 1000
            #expect(next == at(now))
            if line.check(hasMoved: now <= 3000, isDown: { false }, at: next) { trace.append("listens at \(now)") }
        }
        #expect(trace == ["listens at 13000.0"])
        #expect(!line.isMuted)
        let muting = edges(400, every: 0, into: &line)
        #expect(muting == [199])
    }

    @Test func `a line that never rests stays muted`() {
        var line = Debouncer(window: .milliseconds(15))
        _ = edges(200, every: 0, into: &line)
        let again = (1...600).filter { line.check(hasMoved: true, isDown: { false }, at: at(Double($0) * 1000)) }
        #expect(again == [])
        let muting = edges(1, every: 0, into: &line)
        #expect(muting == [])
    }
}

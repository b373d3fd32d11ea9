import Panel
import SeededRandom
import Takes
import Testing
import Transport

@Suite struct PanelInputTests {
    /// The events up to `end` of a loop that wakes `late` milliseconds after each deadline and edge.
    private func events(
        _ edges: [Edge], until end: Double, late: () -> Double = { 0 }, timing: PanelTiming = PanelTiming(),
        down: Set<Button> = []
    ) -> [TransportEvent] {
        var input = PanelInput(timing: timing, down: down)
        var events: [TransportEvent] = []
        var left = edges[...]
        while let wake = [input.nextDeadline, left.first?.at].compactMap(\.self).min(), wake <= at(end) {
            let now = wake + .nanoseconds(Int64(late() * 1e6))
            while let edge = left.first, edge.at <= now {
                input.edge(edge)
                left.removeFirst()
            }
            events += input.advance(to: now)
        }
        return events
    }

    private func hold(_ button: Button, _ down: Double, _ up: Double) -> [Edge] {
        [Edge(button, isDown: true, at: at(down)), Edge(button, isDown: false, at: at(up))]
    }

    @Test(arguments: Button.allCases) func `every button acts at its press`(_ button: Button) {
        var input = PanelInput()
        #expect(input.nextDeadline == nil)
        input.edge(Edge(button, isDown: true, at: at(0)))
        #expect(input.nextDeadline == at(15))
        #expect(input.advance(to: at(14.9)).isEmpty)
        #expect(input.advance(to: at(15)) == [.press(button, at: at(0))])
        input.edge(Edge(button, isDown: false, at: at(100)))
        #expect(input.advance(to: at(115)).isEmpty)
        #expect(input.nextDeadline == nil)
    }

    @Test func `back and forward repeat while they are held`() {
        for button in [Button.back, .forward] {
            #expect(
                events(hold(button, 0, 1900), until: 10000) == [
                    .press(button, at: at(0)), .press(button, at: at(600)), .press(button, at: at(1200)),
                    .press(button, at: at(1800)),
                ])
        }
    }

    @Test func `stop held on to three seconds shuts down, once`() {
        #expect(
            events(hold(.stop, 0, 20000), until: 30000) == [.press(.stop, at: at(0)), .shutdown(at: at(3000))])
        #expect(events(hold(.stop, 0, 2999), until: 30000) == [.press(.stop, at: at(0))])
    }

    @Test func `stop held on gives the stick back on the way to shutting down, if that comes later`() {
        let press = TransportEvent.press(.stop, at: at(0))
        let eject = TransportEvent.eject(pressed: at(0))
        var timing = PanelTiming(ejectHold: .milliseconds(1500))
        #expect(events(hold(.stop, 0, 1499), until: 30000, timing: timing) == [press])
        #expect(events(hold(.stop, 0, 1600), until: 30000, timing: timing) == [press, eject])
        #expect(
            events(hold(.stop, 0, 20000), until: 30000, timing: timing) == [press, eject, .shutdown(at: at(3000))])
        timing = PanelTiming(ejectHold: .milliseconds(1500), shutdownHold: .seconds(1))
        #expect(events(hold(.stop, 0, 20000), until: 30000, timing: timing) == [press, .shutdown(at: at(1000))])
    }

    @Test func `a button that is down from the start is closed until it opens`() {
        var input = PanelInput(down: [.record])
        #expect(input.closed(at: at(0)) == [.record])
        input.edge(Edge(.record, isDown: false, at: at(1000)))
        _ = input.advance(to: at(1014))
        #expect(input.closed(at: at(1014)) == [.record])
        _ = input.advance(to: at(1015))
        #expect(input.closed(at: at(1015)) == [])
        input.edge(Edge(.record, isDown: true, at: at(2000)))
        #expect(input.advance(to: at(2015)) == [.press(.record, at: at(2000))])
        #expect(input.closed(at: at(2015)) == [])
    }

    @Test func `a button that is closed when its line comes back, or is at rest again, is closed until it opens`() {
        var input = PanelInput()
        input.reset(.stop, isDown: true)
        #expect(input.closed(at: at(0)) == [.stop])
        input.reset(.stop, isDown: false)
        #expect(input.closed(at: at(0)) == [])
        for number in 0..<Debouncer.stormEdges {
            input.edge(Edge(.play, isDown: number % 2 == 0, at: at(1000 + Double(number))))
        }
        #expect(input.muted == [.play] && input.closed(at: at(2000)) == [])
        let listens = input.check(.play, hasMoved: false, isDown: { true }, at: at(12000))
        #expect(listens)
        #expect(input.closed(at: at(12000)) == [.play])
    }

    @Test func `a button that is held for longer than any hand does is closed`() {
        var input = PanelInput()
        input.edge(Edge(.record, isDown: true, at: at(0)))
        _ = input.advance(to: at(59_999))
        #expect(input.closed(at: at(59_999)) == [])
        #expect(input.closed(at: at(60_000)) == [.record])
        input.edge(Edge(.record, isDown: false, at: at(70_000)))
        _ = input.advance(to: at(70_015))
        #expect(input.closed(at: at(200_000)) == [])
    }

    @Test func `record held on does nothing more`() {
        #expect(events(hold(.record, 0, 20000), until: 30000) == [.press(.record, at: at(0))])
    }

    @Test func `play acts at its press, and held on to three seconds opens pairing, once`() {
        let press = TransportEvent.press(.play, at: at(0))
        let pair = TransportEvent.pair(pressed: at(0))
        #expect(events(hold(.play, 0, 20000), until: 30000) == [press, pair])
        #expect(events(hold(.play, 0, 2999), until: 30000) == [press])
        #expect(events(hold(.play, 0, 2999) + hold(.play, 3100, 6000), until: 30000).count == 2)
        #expect(
            events(hold(.play, 0, 3100) + hold(.play, 4000, 7100), until: 30000) == [
                press, pair, .press(.play, at: at(4000)), .pair(pressed: at(4000)),
            ])
        // The event is known when it is due, and not before.
        var input = PanelInput()
        input.edge(Edge(.play, isDown: true, at: at(0)))
        #expect(input.advance(to: at(2999.9)) == [press])
        #expect(input.nextDeadline == at(3000))
        #expect(input.advance(to: at(3000)) == [pair])
        #expect(input.nextDeadline == nil)
        let timing = PanelTiming(pairHold: .seconds(5))
        #expect(events(hold(.play, 0, 4999), until: 30000, timing: timing) == [press])
        #expect(events(hold(.play, 0, 5001), until: 30000, timing: timing) == [press, pair])
    }

    @Test func `a button that is stuck at the start gives nothing until it was released`() {
        var input = PanelInput(down: [.stop, .forward])
        #expect(input.nextDeadline == nil)
        #expect(input.advance(to: at(10000)).isEmpty)
        #expect(
            events(
                [Edge(.stop, isDown: false, at: at(20000))] + hold(.stop, 20100, 20200), until: 30000, down: [.stop])
                == [.press(.stop, at: at(20100))])
        // The contacts bounce while the button is held, which has no effect either.
        input.edge(Edge(.stop, isDown: false, at: at(20000)))
        input.edge(Edge(.stop, isDown: true, at: at(20002)))
        #expect(input.advance(to: at(30000)).isEmpty)
    }

    @Test func `a spike while stop is held does not keep the kit on`() {
        let edges = [
            Edge(.stop, isDown: true, at: at(0)), Edge(.stop, isDown: false, at: at(2995)),
            Edge(.stop, isDown: true, at: at(2998)),
        ]
        #expect(events(edges, until: 30000) == [.press(.stop, at: at(0)), .shutdown(at: at(3000))])
    }

    @Test func `a release that begins just before a hold is due brings nothing`() {
        let edges = [
            Edge(.stop, isDown: true, at: at(0)), Edge(.stop, isDown: false, at: at(2995)),
            Edge(.stop, isDown: true, at: at(2998)), Edge(.stop, isDown: false, at: at(3001)),
        ]
        #expect(events(edges, until: 30000) == [.press(.stop, at: at(0))])
    }

    @Test func `events of several buttons come in the order in which they were decided`() {
        let edges = [
            Edge(.back, isDown: true, at: at(0)), Edge(.record, isDown: true, at: at(2)),
            Edge(.back, isDown: false, at: at(4)), Edge(.back, isDown: true, at: at(10)),
        ]
        #expect(
            events(edges, until: 1000)
                == [.press(.record, at: at(2)), .press(.back, at: at(0)), .press(.back, at: at(600))])
    }

    @Test func `waking late changes nothing, whatever the edges`() {
        var dice = SeededRandom(seed: 1)
        var presses = 0
        let rounds = full(100, usually: 20)
        for _ in 0..<rounds {
            var edges: [Edge] = []
            for button in Button.allCases {
                var time = Double.random(in: 0..<500, using: &dice)
                for _ in 0..<Int.random(in: 0..<12, using: &dice) {
                    edges.append(Edge(button, isDown: Bool.random(using: &dice), at: at(time)))
                    time += [0.1, 3, 14.99, 15, 16, 80, 600, 2999, 3000, 3100].randomElement(using: &dice) ?? 0
                }
            }
            edges.sort { $0.at < $1.at }
            let punctual = events(edges, until: 40000)
            for lateness in [1.0, 20, 700, 5000] {
                let late = events(edges, until: 40000) { .random(in: 0..<lateness, using: &dice) }
                // The last repeats of a held button are cut off at different places.
                let count = min(punctual.count, late.count)
                #expect(late.prefix(count) == punctual.prefix(count))
                #expect(abs(punctual.count - late.count) <= 20)
            }
            presses += punctual.count
        }
        #expect(presses > 5 * rounds)
    }

    @Test func `the level is read only when something is due`() {
        var input = PanelInput()
        var read: [Button] = []
        input.edge(Edge(.back, isDown: true, at: at(0)))
        func level(_ button: Button) -> Bool? {
            read.append(button)
            return true
        }
        #expect(input.advance(to: at(5), reading: level).isEmpty)
        #expect(read.isEmpty)
        #expect(input.advance(to: at(15), reading: level) == [.press(.back, at: at(0))])
        #expect(input.advance(to: at(300), reading: level).isEmpty)
        #expect(input.advance(to: at(600), reading: level) == [.press(.back, at: at(600))])
        #expect(read == [.back, .back])
    }

    @Test func `a lone edge of a spike is no press when the level is read`() {
        var input = PanelInput()
        input.edge(Edge(.record, isDown: true, at: at(0)))
        #expect(input.advance(to: at(15), reading: { _ in false }).isEmpty)
        #expect(input.nextDeadline == at(30))
        #expect(input.advance(to: at(30), reading: { _ in false }).isEmpty)
        #expect(input.nextDeadline == nil)
    }

    @Test func `a lost release does not shut the kit down`() {
        var input = PanelInput()
        input.edge(Edge(.stop, isDown: true, at: at(0)))
        #expect(input.advance(to: at(15), reading: { _ in true }) == [.press(.stop, at: at(0))])
        #expect(input.advance(to: at(3000), reading: { _ in false }).isEmpty)
        #expect(input.advance(to: at(3015), reading: { _ in false }).isEmpty)
        #expect(input.nextDeadline == nil)
        // The next press counts.
        input.edge(Edge(.stop, isDown: true, at: at(4000)))
        #expect(input.advance(to: at(4015), reading: { _ in true }) == [.press(.stop, at: at(4000))])
    }

    @Test func `what began on a line that went away brings nothing, and the next press counts`() {
        var input = PanelInput(timing: PanelTiming(lockHold: .seconds(2)))
        for button in [Button.stop, .back, .forward] { input.edge(Edge(button, isDown: true, at: at(0))) }
        #expect(input.advance(to: at(15)).contains(.press(.stop, at: at(0))))
        input.edge(Edge(.record, isDown: true, at: at(495)))
        for button in Button.allCases { input.reset(button, isDown: false) }
        #expect(input.nextDeadline == nil)
        #expect(input.advance(to: at(9000)).isEmpty)
        input.edge(Edge(.stop, isDown: true, at: at(9000)))
        #expect(input.advance(to: at(9015)) == [.press(.stop, at: at(9000))])
    }

    @Test func `a button that is down when its line is opened gives nothing until it was released`() {
        var input = PanelInput()
        input.reset(.record, isDown: true)
        #expect(input.isDown(.record))
        // A spike on a shorted line.
        input.edge(Edge(.record, isDown: false, at: at(100)))
        input.edge(Edge(.record, isDown: true, at: at(100.05)))
        #expect(input.advance(to: at(9000)).isEmpty)
        let edges = [(false, 9000.0), (true, 9500)].map { Edge(.record, isDown: $0.0, at: at($0.1)) }
        for edge in edges { input.edge(edge) }
        #expect(input.advance(to: at(9515)) == [.press(.record, at: at(9500))])
    }

    @Test func `a line that came back is not muted`() {
        var input = PanelInput()
        for edge in 0..<200 { input.edge(Edge(.play, isDown: edge % 2 == 0, at: at(Double(edge)))) }
        #expect(input.muted == [.play])
        input.reset(.play, isDown: false)
        #expect(input.muted.isEmpty && input.nextDeadline == nil)
    }

    @Test func `a line that cannot be read goes by its edges`() {
        var input = PanelInput()
        input.edge(Edge(.play, isDown: true, at: at(0)))
        #expect(input.advance(to: at(15), reading: { _ in nil }) == [.press(.play, at: at(0))])
    }

    @Test func `the settings' times are kept`() {
        var input = PanelInput(
            timing: PanelTiming(debounce: .milliseconds(40), hold: .seconds(1), shutdownHold: .seconds(5)))
        input.edge(Edge(.forward, isDown: true, at: at(0)))
        input.edge(Edge(.stop, isDown: true, at: at(0)))
        #expect(input.nextDeadline == at(40))
        #expect(
            input.advance(to: at(5000)) == [
                .press(.stop, at: at(0)), .press(.forward, at: at(0)), .press(.forward, at: at(1000)),
                .press(.forward, at: at(1600)), .press(.forward, at: at(2200)), .press(.forward, at: at(2800)),
                .press(.forward, at: at(3400)), .press(.forward, at: at(4000)), .press(.forward, at: at(4600)),
                .shutdown(at: at(5000)),
            ])
    }
}

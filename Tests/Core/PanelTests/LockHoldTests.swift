import Panel
import SeededRandom
import Takes
import Testing
import Transport

@Suite struct LockHoldTests {
    private func down(_ button: Button, _ time: Double) -> Edge { Edge(button, isDown: true, at: at(time)) }
    private func up(_ button: Button, _ time: Double) -> Edge { Edge(button, isDown: false, at: at(time)) }

    /// The events of a loop that wakes `late` milliseconds after each deadline and edge.
    private func events(
        _ edges: [Edge], timing: PanelTiming = PanelTiming(), until end: Double = 30_000, late: () -> Double = { 0 }
    ) -> [TransportEvent] {
        var input = PanelInput(timing: timing)
        var events: [TransportEvent] = []
        var left = edges.sorted { $0.at < $1.at }[...]
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

    @Test func `back, then stop, held for two seconds lock, once, and stop does not end a take`() {
        #expect(
            events([down(.back, 0), down(.stop, 100), up(.stop, 20_000), up(.back, 20_000)])
                == [.press(.back, at: at(0)), .lock(at: at(2100))])
    }

    @Test func `either may go down first, and the later press counts`() {
        #expect(
            events([down(.stop, 0), down(.back, 2500), up(.stop, 20_000), up(.back, 20_000)])
                == [.press(.stop, at: at(0)), .press(.back, at: at(2500)), .lock(at: at(4500))])
    }

    @Test func `back repeats until stop goes down as well`() {
        #expect(
            events([down(.back, 0), down(.stop, 1300), up(.stop, 5000), up(.back, 5000)])
                == [
                    .press(.back, at: at(0)), .press(.back, at: at(600)), .press(.back, at: at(1200)),
                    .press(.stop, at: at(1300)), .lock(at: at(3300)),
                ])
    }

    @Test func `held less than two seconds they do nothing more than their presses`() {
        #expect(
            events([down(.back, 0), down(.stop, 100), up(.stop, 2099), up(.back, 2200)])
                == [.press(.back, at: at(0)), .press(.stop, at: at(100))])
    }

    @Test func `a lock hold that is released too early neither shuts down nor repeats`() {
        #expect(
            events([down(.stop, 0), down(.back, 100), up(.back, 1000), up(.stop, 20_000)])
                == [.press(.stop, at: at(0)), .press(.back, at: at(100))])
        #expect(
            events([down(.back, 0), down(.stop, 100), up(.stop, 1000), up(.back, 20_000)])
                == [.press(.back, at: at(0)), .press(.stop, at: at(100))])
    }

    @Test func `the second hold unlocks`() {
        let hold = { (time: Double) in
            [
                down(.back, time), down(.stop, time + 10), up(.back, time + 2500), up(.stop, time + 2500),
            ]
        }
        let locks = events(hold(0) + hold(5000)).filter { if case .lock = $0 { true } else { false } }
        #expect(locks == [.lock(at: at(2010)), .lock(at: at(7010))])
    }

    @Test func `a spike while both are held changes nothing, a release that begins before it is due does`() {
        let held = [down(.back, 0), down(.stop, 0)]
        let presses: [TransportEvent] = [.press(.stop, at: at(0)), .press(.back, at: at(0))]
        #expect(
            events(held + [up(.back, 1995), down(.back, 1998), up(.back, 9000), up(.stop, 9000)])
                == presses + [.lock(at: at(2000))])
        #expect(events(held + [up(.back, 1999), up(.stop, 9000)]) == presses)
    }

    @Test func `a lost release does not lock`() {
        var input = PanelInput()
        input.edge(down(.back, 0))
        input.edge(down(.stop, 0))
        let presses = input.advance(to: at(15), reading: { _ in true })
        #expect(presses.count == 2)
        let rest = [600.0, 2000, 2015, 9000].flatMap { input.advance(to: at($0), reading: { $0 == .stop }) }
        #expect(rest.isEmpty)
    }

    @Test func `without the setting both go on as they do alone`() {
        let timing = PanelTiming(lockHold: nil)
        #expect(
            events([down(.back, 0), down(.stop, 0), up(.back, 700), up(.stop, 5000)], timing: timing)
                == [
                    .press(.stop, at: at(0)), .press(.back, at: at(0)), .press(.back, at: at(600)),
                    .shutdown(at: at(3000)),
                ])
    }

    @Test func `waking late changes nothing, whatever back and stop do`() {
        var dice = SeededRandom(seed: 4)
        var locks = 0
        let rounds = full(300, usually: 50)
        for _ in 0..<rounds {
            var edges: [Edge] = []
            for button in [Button.back, .stop, .record] {
                var time = Double.random(in: 0..<300, using: &dice)
                for number in 0..<Int.random(in: 0..<14, using: &dice) {
                    edges.append(Edge(button, isDown: number % 2 == 0, at: at(time)))
                    time +=
                        [0.1, 3, 14.99, 20, 80, 1900, 1999, 2000, 2001, 2020, 3100].randomElement(using: &dice) ?? 0
                }
            }
            let punctual = events(edges, until: 40_000)
            for lateness in [1.0, 20, 700, 5000] {
                let late = events(edges, until: 40_000) { .random(in: 0..<lateness, using: &dice) }
                let count = min(punctual.count, late.count)
                #expect(late.prefix(count) == punctual.prefix(count))
            }
            locks += punctual.count { if case .lock = $0 { true } else { false } }
        }
        #expect(locks > rounds / 6)
    }

    @Test func `a button whose line is muted is neither held nor part of a lock`() {
        var input = PanelInput()
        input.edge(down(.back, 0))
        input.edge(down(.stop, 0))
        let presses = input.advance(to: at(500))
        #expect(presses.count == 2)
        // Together with the press there are 200 edges.
        let muting = (1...300).filter { input.edge(.stop, isDown: $0 % 2 == 0, at: at(500 + Double($0))) }
        #expect(muting == [199])
        #expect(input.muted == [.stop])
        #expect(!input.isDown(.stop) && input.isDown(.back))
        input.edge(up(.back, 701))
        let rest = input.advance(to: at(1600))
        #expect(rest.isEmpty)
        #expect(input.nextDeadline == at(1699))
        #expect(input.checks(by: at(1698)) == [])
        #expect(input.checks(by: at(1699)) == [.stop])
        // The line rests, and the button is down when its edges count again. That is not a press.
        var now = 1699.0
        while !input.check(.stop, hasMoved: false, isDown: { true }, at: at(now)) { now += 1000 }
        #expect(now == 10_699)
        #expect(input.isDown(.stop))
        #expect(input.muted == [])
        #expect(input.nextDeadline == nil)
    }
}

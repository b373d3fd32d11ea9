import Panel
import Takes
import Testing
import Transport

/// Back and forward held together request the kit's own access point. Stop and play adopt a stick.
@Suite struct ChordTests {
    private func down(_ button: Button, _ time: Double) -> Edge { Edge(button, isDown: true, at: at(time)) }
    private func up(_ button: Button, _ time: Double) -> Edge { Edge(button, isDown: false, at: at(time)) }

    /// The events of a loop that wakes at deadlines and edges.
    private func events(_ edges: [Edge], _ timing: PanelTiming = PanelTiming()) -> [TransportEvent] {
        var input = PanelInput(timing: timing)
        var events: [TransportEvent] = []
        var left = edges.sorted { $0.at < $1.at }[...]
        while let wake = [input.nextDeadline, left.first?.at].compactMap(\.self).min(), wake <= at(30_000) {
            while let edge = left.first, edge.at <= wake {
                input.edge(edge)
                left.removeFirst()
            }
            events += input.advance(to: wake)
        }
        return events
    }

    @Test func `back and forward held for three seconds ask once, and do not repeat meanwhile`() {
        #expect(
            events([down(.back, 0), down(.forward, 200), up(.forward, 20_000), up(.back, 20_000)])
                == [.press(.back, at: at(0)), .press(.forward, at: at(200)), .openAccess(at: at(3200))])
    }

    @Test func `held for less they do nothing more than their presses`() {
        #expect(
            events([down(.forward, 0), down(.back, 200), up(.forward, 3199), up(.back, 9000)])
                == [.press(.forward, at: at(0)), .press(.back, at: at(200))])
    }

    @Test func `forward repeats until back goes down as well`() {
        #expect(
            events([down(.forward, 0), down(.back, 700), up(.back, 4000), up(.forward, 4000)])
                == [
                    .press(.forward, at: at(0)), .press(.forward, at: at(600)), .press(.back, at: at(700)),
                    .openAccess(at: at(3700)),
                ])
    }

    @Test func `a spike does not end it`() {
        let spike = [up(.back, 1500), down(.back, 1501)]
        #expect(
            events([down(.back, 0), down(.forward, 0), up(.forward, 5000), up(.back, 5000)] + spike).last
                == .openAccess(at: at(3000)))
    }

    @Test func `with stop as well, the panel is locked, and the access point is asked for too`() {
        let all = events([down(.back, 0), down(.forward, 50), down(.stop, 100)])
        #expect(Array(all.suffix(2)) == [.lock(at: at(2100)), .openAccess(at: at(3050))])
    }

    @Test(arguments: [true, false])
    func `stop and play held for three seconds adopt a stick, and bring nothing else`(isStopFirst: Bool) {
        let (first, second) = isStopFirst ? (Button.stop, Button.play) : (.play, .stop)
        let timing = PanelTiming(ejectHold: .milliseconds(1500))
        #expect(
            events([down(first, 0), down(second, 300), up(second, 20_000), up(first, 20_000)], timing)
                == [
                    .press(first, at: at(0)), .press(second, at: at(300)),
                    .adoptStick(pressed: at(isStopFirst ? 300 : 0)),
                ])
    }

    @Test func `stop and play held for less do nothing more than their presses`() {
        #expect(
            events([down(.play, 0), down(.stop, 100), up(.stop, 3099), up(.play, 9000)])
                == [.press(.play, at: at(0)), .press(.stop, at: at(100))])
    }
}

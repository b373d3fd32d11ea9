import Control
import Panel
import Takes
import Transport

/// Lights single lamps one after the other, each long enough for a person to identify it.
struct LampRound {
    static let length = Duration.milliseconds(700)

    private var waiting: [(lamp: Lamp, answer: Answer)] = []
    private var until: Instant?

    /// The lamp that is lit alone now, or nil for normal operation.
    private(set) var lit: Lamp?

    /// Queues a lamp.
    mutating func add(_ lamp: Lamp, answer: Answer) {
        waiting.append((lamp, answer))
    }

    /// Ends at once, for example when a take begins.
    mutating func stop() {
        for (lamp, answer) in waiting {
            answer.refuse(Refusal(.lampsInUse(lamp: lamp.rawValue, advice: "")))
        }
        waiting = []
        lit = nil
        until = nil
    }

    /// Advances the state. A request is answered when its lamp is lit.
    /// - Returns: the deadline for the next call, or nil while the queue is empty.
    mutating func turn(now: Instant) -> Instant? {
        if let until, now < until { return until }
        guard !waiting.isEmpty else {
            lit = nil
            until = nil
            return nil
        }
        let (lamp, answer) = waiting.removeFirst()
        lit = lamp
        until = now + Self.length
        answer.succeed()
        return until
    }
}

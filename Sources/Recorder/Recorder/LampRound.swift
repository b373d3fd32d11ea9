import Control
import Panel
import Takes
import Transport

/// Lights single lamps, one after the other, each as long as a person needs to see which it is.
struct LampRound {
    /// How long a lamp is lit.
    static let length = Duration.milliseconds(700)

    private var waiting: [(lamp: Lamp, answer: Answer)] = []
    private var until: Instant?

    /// The lamp that is lit alone now; nil: all show what there is to show.
    private(set) var lit: Lamp?

    /// Lights a lamp after those that were added before.
    mutating func add(_ lamp: Lamp, answer: Answer) {
        waiting.append((lamp, answer))
    }

    /// Ends at once, as for a take.
    mutating func stop() {
        for (lamp, answer) in waiting {
            answer.refuse(Refusal(.busy, "light: \(lamp.rawValue): the lamps show a take now"))
        }
        waiting = []
        lit = nil
        until = nil
    }

    /// Does what is due. A request for a lamp is answered when the lamp is lit.
    /// - Returns: when it is to be called again at the latest; nil: when a lamp is added.
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

package import Ring
import Takes
import Workers

/// What the deck orders from the worker of the card.
package enum CardOrder: Sendable {
    /// Open the card and start to capture into a ring.
    case open(CaptureRequest)
    /// Stop the capture and close the card.
    case close
}

/// What the worker of the card reports; one outcome for each order.
package enum CardOutcome: Sendable {
    /// `from`: the ring's position at that time; `receivedBefore`: frames that it had received, kept or not.
    case opened(CaptureGrant, Ring, from: RingPosition, receivedBefore: Int64)
    /// One sentence says why it cannot be opened.
    case failed(String)
    case closed
}

/// Opens and closes the capture card: what may last as long as the card and its bus do.
final class CardWork {
    private let card: any CaptureSource
    private let ringDuration: Duration
    private let pool: RingPool

    /// - Parameters:
    ///   - ringDuration: how much sound the ring is to hold.
    ///   - memoryBytes: of the machine.
    init(card: any CaptureSource, ringDuration: Duration, memoryBytes: Int) {
        self.card = card
        self.ringDuration = ringDuration
        pool = RingPool(memoryBytes: memoryBytes)
    }

    /// A worker of the card.
    static func worker(
        _ card: any CaptureSource, ringDuration: Duration, memoryBytes: Int, clock: any Clock
    ) -> Worker<CardOrder, CardOutcome> {
        let work = CardWork(card: card, ringDuration: ringDuration, memoryBytes: memoryBytes)
        return Worker(clock: clock) { orders, _, outcomes in
            for order in orders {
                let outcome = work.carryOut(order)
                outcomes.post(outcome)
                work.complete(outcome)
            }
            return nil
        }
    }

    private func carryOut(_ order: CardOrder) -> CardOutcome {
        switch order {
        case .open(let request): return open(request)
        case .close:
            card.stop()
            return .closed
        }
    }

    /// Does what nothing waits for, while sound is captured already.
    private func complete(_ outcome: CardOutcome) {
        switch outcome {
        case .opened(_, let ring, from: _, receivedBefore: _):
            ring.prefault()
            card.complete()
        case .failed, .closed: break
        }
    }

    private func open(_ request: CaptureRequest) -> CardOutcome {
        // One that ended by itself is closed before it is opened again.
        card.stop()
        do {
            let grant = try card.open(request)
            guard
                let ring = pool.ring(
                    format: grant.format, holding: ringDuration, periodFrames: grant.periodFrames)
            else {
                card.stop()
                return .failed(
                    "capture: \(grant.card): waits until the sound before is written: it runs at another rate now")
            }
            let (position, received) = (ring.position, ring.delivered)
            try card.start(into: ring)
            return .opened(grant, ring, from: position, receivedBefore: received)
        } catch {
            card.stop()
            return .failed("\(error)")
        }
    }
}

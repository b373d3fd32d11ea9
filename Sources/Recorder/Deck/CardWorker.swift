package import Ring
package import Takes
package import Transport
import Workers

package enum CardOrder: Sendable {
    case open(CaptureRequest)
    /// Set the gain and the automatic gain control, of the open card and of each card opened later. Nil keeps the last
    /// requested value. The outcome is for the asker.
    case setGain(GainSetting?, agc: Bool?, by: Asker)
    /// Find out which cards are present, and whether one is better than the open one.
    case look
    /// Read the open card's gain, which another program may have changed.
    case readGain
    case close
}

/// The reports of the card's worker, one for each order.
package enum CardOutcome: Sendable {
    /// `from` is the ring's position at the opening, `receivedBefore` the frames that it had received by then, kept or
    /// not.
    case opened(CaptureGrant, Ring, from: RingPosition, receivedBefore: Int64)
    /// One sentence says why the card cannot be opened.
    case failed(String)
    /// `change` is the gain that the open card's mixer confirmed, and when, or nil if nothing was set. `failure` says
    /// why not all of it was set.
    case gain(change: (CardGain, at: Instant)?, failure: GainError?, for: Asker)
    case looked(BetterCard)
    /// The gain of the open card's mixer, or nil if no card is open or the mixer does not answer.
    case readGain((CardGain, at: Instant)?)
    case closed
}

/// Opens and closes the capture card, in a worker, because the card and its bus may block.
final class CardWork {
    private let card: any CaptureSource
    private let ringDuration: Duration
    private let pool: RingPool
    private let clock: any Clock
    /// The gain and the gain control requested since the start. They override the settings.
    private var gain: GainSetting?
    private var agc: Bool?

    /// - Parameters:
    ///   - ringDuration: the length of sound that the ring holds.
    ///   - memoryBytes: the memory of the machine.
    init(card: any CaptureSource, ringDuration: Duration, memoryBytes: Int, clock: any Clock) {
        self.clock = clock
        self.card = card
        self.ringDuration = ringDuration
        pool = RingPool(memoryBytes: memoryBytes)
    }

    static func worker(
        _ card: any CaptureSource, ringDuration: Duration, memoryBytes: Int, clock: any Clock
    ) -> Worker<CardOrder, CardOutcome> {
        let work = CardWork(
            card: card, ringDuration: ringDuration, memoryBytes: memoryBytes, clock: clock)
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
        case .setGain(let gain, let agc, let asker): return setGain(gain, agc, asker)
        case .look: return .looked(card.look())
        case .readGain:
            let found = try? card.setGain(gainDB: nil, agc: nil)
            return .readGain(found.map { ($0, clock.now()) })
        case .close:
            card.stop()
            return .closed
        }
    }

    /// Does work that nothing waits for, while sound is already being captured.
    private func complete(_ outcome: CardOutcome) {
        switch outcome {
        case .opened(_, let ring, from: _, receivedBefore: _):
            ring.prefault()
            card.complete()
        case .failed, .gain, .readGain, .looked, .closed: break
        }
    }

    private func open(_ request: CaptureRequest) -> CardOutcome {
        // After a capture that ended by itself, the card must be closed before it is opened again.
        card.stop()
        var request = request
        if let gain { request.gainDB = gain.decibels }
        request.agc = agc ?? request.agc
        do {
            let grant = try card.open(request)
            guard
                let ring = pool.ring(
                    format: grant.format, holding: ringDuration, periodFrames: grant.periodFrames)
            else {
                card.stop()
                return .failed(
                    "capture: \(grant.card): waits until the sound before is written: it runs in another format now")
            }
            let (position, received) = (ring.position, ring.delivered)
            try card.start(into: ring)
            return .opened(grant, ring, from: position, receivedBefore: received)
        } catch {
            card.stop()
            return .failed("\(error)")
        }
    }

    private func setGain(_ gain: GainSetting?, _ agc: Bool?, _ asker: Asker) -> CardOutcome {
        var change: (CardGain, at: Instant)?
        do throws(GainError) {
            // Without a new value there is nothing to set.
            if gain?.decibels != nil || agc != nil {
                change = try card.setGain(gainDB: gain?.decibels, agc: agc).map { ($0, clock.now()) }
            }
        } catch {
            return .gain(change: error.gain.map { ($0, clock.now()) }, failure: error, for: asker)
        }
        self.gain = gain ?? self.gain
        self.agc = agc ?? self.agc
        return .gain(change: change, failure: nil, for: asker)
    }
}

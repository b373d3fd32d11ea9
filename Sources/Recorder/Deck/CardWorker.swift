package import Ring
package import Takes
package import Transport
import Workers

/// What the deck orders from the worker of the card.
package enum CardOrder: Sendable {
    /// Open the card and start to capture into a ring.
    case open(CaptureRequest)
    /// Set the gain and the automatic gain control of the card that is open, and of each that is opened from then on; nil: as they
    /// were asked for before. The outcome is for the asker.
    case setGain(GainSetting?, agc: Bool?, by: Asker)
    /// Take note of which cards are there, and whether one of them is better than the open one.
    case look
    /// Read the gain of the card that is open: another program may have changed it.
    case readGain
    /// Stop the capture and close the card.
    case close
}

/// What the worker of the card reports; one outcome for each order.
package enum CardOutcome: Sendable {
    /// `from`: the ring's position at that time; `receivedBefore`: frames that it had received, kept or not.
    case opened(CaptureGrant, Ring, from: RingPosition, receivedBefore: Int64)
    /// One sentence says why it cannot be opened.
    case failed(String)
    /// `change`: what the open card's mixer confirmed, and when; nil: nothing was set. `failure`: why not all of it was set.
    case gain(change: (CardGain, at: Instant)?, failure: GainError?, for: Asker)
    case looked(BetterCard)
    /// The gain that the open card's mixer has; or nil if none is open, or the mixer does not answer.
    case readGain((CardGain, at: Instant)?)
    case closed
}

/// Opens and closes the capture card: what may last as long as the card and its bus do.
final class CardWork {
    private let card: any CaptureSource
    private let ringDuration: Duration
    private let pool: RingPool
    private let clock: any Clock
    /// What was asked for since the start, in place of what the settings say.
    private var gain: GainSetting?
    private var agc: Bool?

    /// - Parameters:
    ///   - ringDuration: how much sound the ring is to hold.
    ///   - memoryBytes: of the machine.
    init(card: any CaptureSource, ringDuration: Duration, memoryBytes: Int, clock: any Clock) {
        self.clock = clock
        self.card = card
        self.ringDuration = ringDuration
        pool = RingPool(memoryBytes: memoryBytes)
    }

    /// A worker of the card.
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

    /// Does what nothing waits for, while sound is captured already.
    private func complete(_ outcome: CardOutcome) {
        switch outcome {
        case .opened(_, let ring, from: _, receivedBefore: _):
            ring.prefault()
            card.complete()
        case .failed, .gain, .readGain, .looked, .closed: break
        }
    }

    private func open(_ request: CaptureRequest) -> CardOutcome {
        // One that ended by itself is closed before it is opened again.
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
            // A gain that is kept is not set.
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

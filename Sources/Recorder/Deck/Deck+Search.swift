import Ring
import Takes
import Transport
import Workers

// A better card replaces one that the settings do not name, while that disturbs nothing.
extension Deck {
    /// Finds out which cards are present, after some came or went.
    func look() {
        guard card.open != nil else {
            cardNews = .missed
            return
        }
        cardNews = .none
        workers.card.post(.look)
    }

    func opened() {
        if options.capture.card == .automatic { search.opened(now: clock.now()) }
        if cardNews == .missed { look() }
    }

    /// Moves to a better card, or checks again whether one can be opened.
    func settleSearch(now: Instant) {
        let mayMove = card.open != nil && allowsOpening && !isExamined
        switch search.next(now: now, mayMove: mayMove) {
        case .look: workers.card.post(.look)
        case .move(let better):
            guard let open = card.open, let name = better.first else { return }
            report(.moves(from: open.grant, to: name))
            carryOut(card.move(to: better, now: now))
        case nil: break
        }
    }

    /// The better card could not be opened, or delivered nothing.
    func keep(_ grant: CaptureGrant, because reason: String) {
        report(Report(.warning, "\(reason): \(grant.card) is used again"))
    }
}

import Filters
import Recording
import Ring
import Takes
import Transport
import Workers

// The card of a take in progress comes back with other channels.
extension Deck {
    /// The card of the take in progress delivers again. If it has other channels than before, the take ends where the
    /// card went away, and the sound continues in another take.
    func cardIsBack() {
        guard let open = card.open, let before = card.awaitedBy, card.hasOtherChannels, let recorded,
            case .recording(let take) = transport.phase, take.stage == .running, case .away = take.card
        else {
            cardIsBackAgain()
            return decide(.cardReturned)
        }
        report(.goesOnInAnother(take.name, with: open.grant, insteadOf: before))
        changed = [open]
        decide(.cardChanged(at: open.beforeFirstFrame ?? open.openedAt, startedBy: recorded.initiator))
        // If the card goes away before the other take begins, it is expected back as it is now.
        card.expect(open.grant)
    }

    /// The card went and came back once more before the other take began. That take gets the sound of both openings.
    private func cardIsBackAgain() {
        guard !transport.isFree, let open = card.open, let last = changed.last, !card.isOpen(since: last),
            open.grant.layout.kept == last.grant.layout.kept
        else { return }
        changed.append(open)
    }

    /// Begins the other take with the sound that the card has delivered since it came back. If the card has gone again,
    /// the take waits for it.
    func beginOther(at instant: Instant, by initiator: TakeInitiator) {
        guard let first = changed.first, let last = changed.last else {
            return decide(.takeFailed(Refusal(.cardAway)))
        }
        let later = changed.dropFirst()
        changed = []
        begin(at: instant, by: initiator, with: first, design(of: first))
        for opening in later {
            workers.writer.post(.suspend)
            workers.writer.post(
                .resume(
                    ResumeOrder(
                        ring: opening.ring, opened: opening.start, filter: design(of: opening),
                        gain: opening.grant.gain, card: opening.grant.place)))
        }
        guard !card.isOpen(since: last) else { return }
        decide(.cardLost)
        if card.isListening { cardIsBack() }
    }

    private func design(of opening: OpenCard) -> FilterDesign { InputWatch(opening, filter: filter).design }
}

import Doctor
import Lines
import SoundCard
import Takes

/// The lists of the machine's devices.
struct Listings {
    /// The sound cards, with what they offer.
    let cards: Listing<[CardReport]>
    /// The GPIO lines.
    let lines: Listing<LineList>

    /// The GPIO lines, and why some could not be read.
    struct LineList: Sendable {
        var lines: [LineReport]
        var problems: [String]
    }

    /// Lists of this machine's own devices.
    init(clock: any Clock) {
        cards = Listing("cards", clock: clock) { brake, asking in
            SoundCards().reports(mayOpen: { !brake.isPulled }, asking: { asking("\($0.name) (\($0.stableID))") })
        }
        lines = Listing("lines", clock: clock) { _, _ in
            let (lines, errors) = LineReport.list()
            return LineList(lines: lines, problems: errors.map(\.description))
        }
    }

    init(cards: Listing<[CardReport]>, lines: Listing<LineList>) {
        self.cards = cards
        self.lines = lines
    }

    /// Does what is due.
    /// - Returns: when it is to be called again at the latest; nil: when something was requested.
    func turn(now: Instant) -> Instant? {
        [cards.turn(now: now), lines.turn(now: now)].compactMap(\.self).min()
    }
}

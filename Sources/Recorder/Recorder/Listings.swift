import Doctor
import Lines
import SoundCard
import Takes

struct Listings {
    /// The sound cards and their capabilities.
    let cards: Listing<[CardReport]>
    let lines: Listing<LineList>

    /// The GPIO lines, and the reasons why some could not be read.
    struct LineList: Sendable {
        var lines: [LineReport]
        var problems: [String]
    }

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
}

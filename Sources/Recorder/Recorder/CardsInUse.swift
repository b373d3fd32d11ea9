import Settings
import SoundCard
import Takes

/// The machine's own cards that a simulated board uses, or nil where there is none.
///
/// A card that the settings name is used whether it is present or not. `auto` is resolved once, so that a card that is
/// unplugged is reported as missing and not replaced by another. A dummy card is never used: it captures silence and
/// plays nothing.
struct CardsInUse: Hashable {
    var capture: CardReference?
    var playback: CardReference?

    init(_ settings: Settings, among cards: [CardDescription]) {
        let cards = cards.filter { $0.kind != .dummy }
        capture =
            settings.capture.card == .automatic
            ? CardChoice.choose(.automatic, among: cards)?.stableID : settings.capture.card
        playback =
            settings.playback.card == .automatic
            ? CardChoice.choose(.automatic, for: .playback, beside: capture, among: cards)?.stableID
            : settings.playback.card
    }
}

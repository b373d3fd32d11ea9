import Settings
import SoundCard
import Takes

/// The machine's own cards that a simulated board uses; nil: none is worth it.
///
/// What the settings name is used whether it is there or not. `auto` is settled once, so that a card that is pulled out is missed,
/// and not replaced by another. A dummy, which hears silence and is not heard, shows nothing of what a recorder does.
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

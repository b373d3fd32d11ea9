import Ring
import Takes
import Transport

// What a supervisor asks of the deck.
extension Deck {
    /// How many frames cards have delivered, kept or not; nil while capture is rightly closed: there is no card, the deck rests,
    /// or it listens only while it records. A card that is there and delivers nothing, however often it is opened, stands still.
    public var capturePosition: Int64? {
        if let input { return deliveredBefore + input.ring.delivered }
        return isStalled ? deliveredBefore : nil
    }

    /// What goes on, in one line for a person: the state, the take, and the faults there are.
    public var summary: String {
        var activity = isArmed ? "armed" : state.rawValue
        if case .recording(let take) = phase, let name = take.name { activity = "recording \(name.stem)" }
        if case .playing(let play) = phase { activity = "\(state.rawValue) \(play.name.stem)" }
        return ([activity] + faults.list.map { "fault \($0.code.rawValue): \($0.message)" }).joined(separator: "; ")
    }
}

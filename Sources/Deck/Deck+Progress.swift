import Ring
import Takes
import Transport

// What a supervisor asks of the deck.
extension Deck {
    /// How many frames the open card has delivered since it was opened, kept or not; nil while capture is rightly closed: there is no
    /// card, the deck rests, or it listens only while it records.
    public var capturePosition: Int64? {
        guard let input, !input.isLost else { return nil }
        return input.ring.delivered
    }

    /// What goes on, in one line for a person: the state, the take, and the faults there are.
    public var summary: String {
        var activity = isArmed ? "armed" : state.rawValue
        if case .recording(let take) = phase, let name = take.name { activity = "recording \(name.stem)" }
        if case .playing(let play) = phase { activity = "\(state.rawValue) \(play.name.stem)" }
        return ([activity] + faults.list.map { "fault \($0.code.rawValue): \($0.message)" }).joined(separator: "; ")
    }
}

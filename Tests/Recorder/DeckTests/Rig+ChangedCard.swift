import Takes
import Transport

@testable import Deck

extension Rig {
    /// A kit that lost a two-channel card one second into a take, a second ago.
    static func afterLoss(
        by button: Bool = true, _ configure: (inout DeckOptions) -> Void = { _ in }
    ) throws -> Rig {
        let rig = try Rig(channels: 2, configure)
        rig.run(.seconds(1))
        if button { rig.press(.record) } else { rig.deck.perform(.record, by: .schedule) { _ in } }
        rig.run(.milliseconds(985))
        rig.card.unplug()
        rig.run(.seconds(1))
        return rig
    }

    /// Plugs the card in, with as many channels as before or with others.
    func plugIn(channels: Int? = nil) {
        card.plugIn(channels: channels)
        deck.rescan()
    }

    /// Stops the take, and returns the sidecars of all takes.
    func stopTake() throws -> [Sidecar] {
        press(.stop)
        settle()
        return try sidecars()
    }
}

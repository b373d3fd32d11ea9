import Deck
import Doctor
import Panel
import Simulation
import Takes
import Transport
import Workers

/// Passes the panel's events to the deck, and shows the deck's state on the panel.
final class PanelPart: LoopPart {
    private let panel: any FrontPanel
    private let deck: Deck
    private let handler: RecorderHandler

    init(_ panel: any FrontPanel, _ deck: Deck, _ handler: RecorderHandler) {
        self.panel = panel
        self.deck = deck
        self.handler = handler
    }

    var fileDescriptors: [Int32] { [panel.fileDescriptor] }

    func ready(now: Instant) { panel.deliver(to: deck, at: now) }

    func turn(now: Instant) -> Instant? {
        if deck.isRecording || deck.isPlaying { handler.lampRound.stop() }
        let nextLamp = handler.lampRound.turn(now: now)
        panel.litAlone = handler.lampRound.lit
        let next = panel.show(deck.indication, at: now) { PanelReadout(deck.status) }
        return [nextLamp, next].compactMap(\.self).min()
    }
}

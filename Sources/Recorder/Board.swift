import Deck
import Ring
import Settings
import Simulation
import SoundCard
import Takes

/// The hardware that a recorder runs on, real or simulated.
struct Board {
    /// Where sound comes from.
    var card: any CaptureSource
    /// Which card it is to open.
    var cardReference: CardReference
    /// Buttons and lamps.
    var panel: any FrontPanel
    /// The log, which a panel with a screen shows too.
    var log: Log

    /// The machine's own sound cards and lines.
    static func real(_ settings: Settings, log: Log) -> Board {
        Board(
            card: CaptureCard(), cardReference: settings.capture.card,
            panel: PanelDevice(settings: settings.panel, log: log), log: log)
    }

    /// A panel in the terminal; the machine's sound card if it has one that records, otherwise a synthetic voice.
    static func simulated(_ settings: Settings, clock: any Clock, log: Log) -> Board {
        let messages = Messages()
        let terminal = Terminal().map {
            TerminalPanel($0, messages: messages, scrollsMessages: Log.isOnTerminal)
        }
        let log = terminal == nil ? log : log.shown(by: messages)
        let panel = SimulatedPanel(terminal, clock: clock, log: log)
        if let reference = cardReference(settings, cards: SoundCards().list()),
            settings.capture.card != .automatic || opens(reference, settings, log: log)
        {
            return Board(card: CaptureCard(), cardReference: reference, panel: panel, log: log)
        }
        return Board(card: SyntheticVoice(clock: clock), cardReference: .automatic, panel: panel, log: log)
    }

    /// The card that a simulated board records from; nil: none that is worth it.
    ///
    /// What the settings name is used whether it is there or not. `auto` is settled once, so that a card that is pulled out is
    /// missed, and not replaced by another; a dummy, which captures silence, shows nothing of what the recorder does.
    static func cardReference(_ settings: Settings, cards: [CardDescription]) -> CardReference? {
        guard settings.capture.card == .automatic else { return settings.capture.card }
        return CardChoice.choose(.automatic, among: cards.filter { $0.kind != .dummy })?.stableID
    }

    /// Whether a card can be recorded from now: many a desktop holds its own, and many a container has none to give.
    private static func opens(_ reference: CardReference, _ settings: Settings, log: Log) -> Bool {
        let card = CaptureCard()
        defer { card.stop() }
        var request = DeckOptions(settings: settings, version: "").capture
        request.card = reference
        do {
            // Some of these are told but once.
            for warning in try card.open(request).warnings { log.write(Report(.warning, warning)) }
            return true
        } catch {
            log.write(Report(.notice, "\(error): a synthetic voice is recorded instead"))
            return false
        }
    }
}

import Deck
import Doctor
import Ring
import Settings
import Simulation
import SoundCard
import Takes

/// The hardware that a recorder runs on, real or simulated.
struct Board {
    var card: any CaptureSource
    /// The card that `card` opens.
    var captureCard: CardReference
    /// Makes another source for the same card.
    var newCard: @Sendable () -> any CaptureSource = { CaptureCard() }
    var sink: any PlaybackSink
    /// The card that `sink` opens.
    var playbackCard: CardReference
    /// Opens buttons and lamps. Call it at most once.
    var panel: () -> any FrontPanel
    /// The log; a panel with a screen shows it too.
    var log: Log

    static func real(_ settings: Settings, clock: any Clock, log: Log) -> Board {
        Board(
            card: CaptureCard(), captureCard: settings.capture.card, sink: PlaybackCard(),
            playbackCard: settings.playback.card,
            panel: { PanelThread(settings: settings.panel, clock: clock, log: log) }, log: log)
    }

    /// A panel in the terminal, and the machine's sound cards if it has any that record and play; otherwise a synthetic voice,
    /// and a sink that discards the sound.
    static func simulated(_ settings: Settings, clock: any Clock, log: Log) -> Board {
        let messages = Messages()
        let terminal = Terminal().map {
            TerminalPanel($0, messages: messages, scrollsMessages: Log.isOnTerminal)
        }
        let log = terminal == nil ? log : log.shown(by: messages)
        let choice = CardsInUse(settings, among: SoundCards().list())
        var board = Board(
            card: SyntheticVoice(clock: clock), captureCard: .automatic,
            newCard: { SyntheticVoice(clock: clock) }, sink: SilentSink(clock: clock),
            playbackCard: .automatic, panel: { SimulatedPanel(terminal, log: log) }, log: log)
        if let capture = choice.capture,
            settings.capture.card != .automatic || board.records(from: capture, settings)
        {
            board.card = CaptureCard()
            board.newCard = { CaptureCard() }
            board.captureCard = capture
        }
        if let playback = choice.playback, settings.playback.card != .automatic || board.plays(on: playback) {
            board.sink = PlaybackCard()
            board.playbackCard = playback
        }
        return board
    }

    /// Whether the card can be opened for recording now. A desktop may hold it, and a container may have no access to
    /// it.
    private func records(from reference: CardReference, _ settings: Settings) -> Bool {
        let card = CaptureCard()
        defer { card.stop() }
        var request = DeckOptions(settings: settings, version: "").capture
        request.card = reference
        do {
            // The card reports some of these warnings only once.
            for warning in try card.open(request).warnings { log.write(Report(.warning, warning)) }
            return true
        } catch {
            log.write(Report(.notice, "\(error): a synthetic voice is recorded instead"))
            return false
        }
    }

    private func plays(on reference: CardReference) -> Bool {
        let card = PlaybackCard()
        defer { card.close() }
        let format = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16)
        do {
            _ = try card.open(PlaybackRequest(card: reference, format: format))
            return true
        } catch {
            log.write(Report(.notice, "\(error): takes are played silently"))
            return false
        }
    }
}

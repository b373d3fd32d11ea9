import Control
import Deck
import Lines
import Panel
import SoundCard
import Transport

/// Carries out what comes in at the control socket.
final class RecorderHandler: ControlHandler {
    private let deck: Deck
    private let log: Log

    init(deck: Deck, log: Log) {
        self.deck = deck
        self.log = log
    }

    var status: Status { deck.status }

    func perform(_ command: Command, answer: Answer) {
        deck.perform(command) { result in
            switch result {
            case .success(let status): answer.succeed(status)
            case .failure(let refusal): answer.refuse(refusal)
            }
        }
    }

    func list(_ inventory: Inventory, answer: Answer) {
        switch inventory {
        case .cards: answer.succeed(.cards, SoundCards().reports())
        case .lines:
            let (lines, errors) = LineReport.list()
            for error in errors { log.write(Report(.warning, "\(error)")) }
            answer.succeed(.lines, lines)
        }
    }

    func indicate(_ indication: Control.Indication?) {
        deck.upload = indication.flatMap { Panel.Indication.Upload(rawValue: $0.rawValue) } ?? .idle
    }
}

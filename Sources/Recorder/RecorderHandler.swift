import Control
import Deck
import Lines
import Panel
import SoundCard
import Takes
import Transport

/// Carries out what comes in at the control socket.
final class RecorderHandler: ControlHandler {
    private let deck: Deck
    private let checkUp: CheckUp
    private let lamps: [Lamp]
    private let log: Log
    private let clockSetting: ClockSetting
    /// The lamps that somebody wants to see lit.
    var lampRound = LampRound()

    /// - Parameter lamps: those that there are.
    init(deck: Deck, checkUp: CheckUp, clockSetting: ClockSetting, lamps: [Lamp], log: Log) {
        self.clockSetting = clockSetting
        self.deck = deck
        self.checkUp = checkUp
        self.lamps = lamps
        self.log = log
    }

    var status: Status { deck.status }

    func perform(_ command: Command, answer: Answer) {
        switch command {
        case .record, .play: checkUp.giveWay()
        case .stop, .pause, .skip, .mark, .select, .filter, .volume, .discard: break
        }
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
        case .doctor: checkUp.begin(answer)
        }
    }

    func light(_ lamp: String, answer: Answer) {
        guard !deck.isRecording, !deck.isPlaying else {
            return answer.refuse(Refusal(.busy, "light: \(lamp): the lamps tell of a take now: stop it first"))
        }
        guard let lamp = lamps.first(where: { $0.rawValue == lamp }) else {
            let there = lamps.isEmpty ? "none" : lamps.map(\.rawValue).joined(separator: ", ")
            return answer.refuse(Refusal(.notFound, "light: \(lamp): no such lamp, there are: \(there)"))
        }
        lampRound.add(lamp, answer: answer)
    }

    func setClock(to time: WallTime, answer: Answer) {
        clockSetting.begin(time) { [deck] refusal in
            if let refusal { answer.refuse(refusal) } else { answer.succeed(deck.status) }
        }
    }

    func indicate(_ indication: Control.Indication?) {
        deck.upload = indication.flatMap { Panel.Indication.Upload(rawValue: $0.rawValue) } ?? .idle
    }
}

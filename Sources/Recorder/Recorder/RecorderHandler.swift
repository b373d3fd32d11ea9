import Control
import Deck
import Kit
import Lines
import Panel
import SoundCard
import Takes
import Transport

/// Carries out the requests that arrive at the control socket.
final class RecorderHandler: ControlHandler {
    private let deck: Deck
    private let checkUp: CheckUp
    private let listings: Listings
    private let lamps: [Lamp]
    private let log: Log
    private let clockSetting: ClockSetting?
    /// The requested lamps, lit one at a time.
    var lampRound = LampRound()
    /// Called with each request of a person, that is, all except those for the status.
    var onRequest: () -> Void = {}

    /// - Parameters:
    ///   - clockSetting: nil if this recorder may not set the clock.
    ///   - lamps: the wired lamps.
    init(deck: Deck, checkUp: CheckUp, listings: Listings, clockSetting: ClockSetting?, lamps: [Lamp], log: Log) {
        self.clockSetting = clockSetting
        self.deck = deck
        self.checkUp = checkUp
        self.listings = listings
        self.lamps = lamps
        self.log = log
    }

    var status: Status { deck.status }

    func perform(_ command: Command, answer: Answer) {
        onRequest()
        deck.perform(command) { result in
            switch result {
            case .success(let status): answer.succeed(status)
            case .failure(let refusal): answer.refuse(refusal)
            }
        }
    }

    func list(_ inventory: Inventory, answer: Answer) {
        onRequest()
        switch inventory {
        case .cards:
            listings.cards.request(mayOpen: deck.allowsOpening) { result in
                switch result {
                case .success(let cards): answer.succeed(.cards, cards)
                case .failure(let refusal): answer.refuse(refusal)
                }
            }
        case .lines:
            listings.lines.request(mayOpen: deck.allowsOpening) { [log] result in
                switch result {
                case .success(let list):
                    for problem in list.problems { log.write(Report(.warning, problem)) }
                    answer.succeed(.lines, list.lines)
                case .failure(let refusal): answer.refuse(refusal)
                }
            }
        case .doctor: checkUp.begin(answer)
        case .bin: answer.succeed(.bin, deck.binnedTakes)
        }
    }

    func light(_ lamp: String, answer: Answer) {
        onRequest()
        guard !deck.isRecording, !deck.isPlaying else {
            return answer.refuse(Refusal(.lampsInUse(lamp: lamp, advice: ": stop it first")))
        }
        guard let lamp = lamps.first(where: { $0.rawValue == lamp }) else {
            let known = lamps.isEmpty ? "none" : lamps.map(\.rawValue).joined(separator: ", ")
            return answer.refuse(Refusal(.notFound, "light: \(lamp): no such lamp, the lamps are: \(known)"))
        }
        lampRound.add(lamp, answer: answer)
    }

    func setClock(to time: WallTime, answer: Answer) {
        onRequest()
        guard let clockSetting else {
            let message = "clock: a simulated board does not set the clock of this machine: use 'timedatectl set-time'"
            return answer.refuse(Refusal(.clockNotSet(.denied, message: message)))
        }
        clockSetting.begin(time) { [deck] refusal in
            if let refusal { answer.refuse(refusal) } else { answer.succeed(deck.status) }
        }
    }

    func take(codeThatIsRight isRight: Bool) -> PairingWindow.Answer {
        onRequest()
        return deck.take(codeThatIsRight: isRight)
    }

    func note(_ event: PhoneEvent) { deck.note(event) }

    func indicate(_ state: UploadState?) {
        deck.upload = state ?? .idle
    }

    func indicate(damage: String?) {
        deck.damagedTakes = damage
    }
}

import CALSA
import Glibc
import Synchronization
public import Takes

/// The sound cards of the machine.
public struct SoundCards: Sendable {
    private let root: String

    /// The machine's own cards; in tests those of a tree of `/sys/class/sound` and `/proc/asound` below `root`, which cannot be opened.
    public init(root: String = "") {
        self.root = root
    }

    /// To be called first in a process that uses ALSA, before its second thread: every PCM is used by one thread at a time,
    /// so ALSA's own locks, which the capture thread must not meet, are switched off.
    public static func prepareProcess() {
        unsafe setenv("LIBASOUND_THREAD_SAFE", "0", 1)
    }

    /// The cards that are there, in ALSA's order. None is opened.
    public func list() -> [CardDescription] {
        var cards = CardTree(root: root).cards()
        guard root.isEmpty else { return cards }
        for index in cards.indices where cards[index].name == cards[index].alsaID {
            // Without /proc/asound only the driver knows what the card is called.
            guard let names = try? CardControl(opening: cards[index].index).names() else { continue }
            cards[index].name = names.name
            cards[index].driver = names.driver
        }
        return cards
    }

    /// The card that a recording is made from, or that a take is played on.
    /// - Parameters:
    ///   - direction: what it is for.
    ///   - companion: of a card that plays, the one that records: `auto` takes that one, if it plays.
    /// - Throws: an error that lists the cards that are there.
    public func find(
        _ reference: CardReference, for direction: PCMDirection = .capture, beside companion: CardReference? = nil
    ) throws(SoundCardError) -> CardDescription {
        let cards = list()
        guard let card = CardChoice.choose(reference, for: direction, beside: companion, among: cards) else {
            throw CardChoice.absence(of: reference, for: direction, among: cards)
        }
        return card
    }

    /// The cards that are there, each with what its hardware offers either way. Every free card is opened for a moment; of a
    /// busy one, what this process found when it was free is told.
    public func reports() -> [CardReport] {
        list().map { CardReport($0, capture: survey($0, .capture), playback: survey($0, .playback)) }
    }

    /// What a card offers in one direction, or why that is not known.
    private func survey(_ card: CardDescription, _ direction: PCMDirection) -> CardSurvey {
        guard let device = card.device(for: direction), root.isEmpty else { return CardSurvey() }
        do throws(SoundCardError) {
            let pcm = try OpenPCM(opening: card.hardwareName(device: device), direction, automatic: false)
            let offers = try pcm.offers()
            Self.remember(offers, of: card, for: direction)
            return CardSurvey(offers: offers)
        } catch {
            let error = explain(error, card: card, device: device)
            let owner = PCMOwner.of(direction, card: card.index, device: device, root: root)
            let isBusy = error.code == EBUSY && owner != nil
            return CardSurvey(
                offers: Self.remembered(card, for: direction), busyBy: isBusy ? owner : nil,
                error: isBusy ? nil : error.description)
        }
    }

    /// Adds to an error of a device that is busy who holds it, where its name says which it is: `hw:CARD=Mic,DEV=1`, `hw:1,0`.
    func explain(_ error: SoundCardError) -> SoundCardError {
        guard error.code == EBUSY, let colon = error.subject.firstIndex(of: ":") else { return error }
        let fields = error.subject[error.subject.index(after: colon)...].split(separator: ",")
        func field(_ number: Int, _ key: String) -> Substring? {
            fields.first { $0.hasPrefix("\(key)=") }?.dropFirst(key.count + 1)
                ?? (fields.indices.contains(number) && !fields[number].contains("=") ? fields[number] : nil)
        }
        guard let name = field(0, "CARD"), let device = Int(field(1, "DEV") ?? "0"),
            let card = Int(name) ?? CardTree(root: root).cards().first(where: { $0.alsaID == name })?.index,
            let owner = PCMOwner.of(error.direction, card: card, device: device, root: root)
        else { return error }
        var error = error
        error.detail = "held by \(owner.summary)"
        return error
    }

    /// Adds to an error of a card that is there who holds it, or what right is missing: without it ALSA finds no card.
    func explain(_ error: SoundCardError, card: CardDescription, device: Int) -> SoundCardError {
        let node = "\(root)/dev/snd/pcmC\(card.index)D\(device)\(error.direction.letter)"
        guard unsafe access(node, R_OK | W_OK) != 0, errno == EACCES || errno == EPERM else { return explain(error) }
        return SoundCardError(
            error.subject, error.operation, status: -EACCES,
            detail: "the user must be in the group that owns \(node), as a rule audio", direction: error.direction)
    }

    // MARK: What was offered

    private static let offers = Mutex<[PCMDirection: [[CardReference]: Offers]]>([:])

    static func remember(_ offered: Offers, of card: CardDescription, for direction: PCMDirection) {
        offers.withLock { $0[direction, default: [:]][card.references] = offered }
    }

    static func remembered(_ card: CardDescription, for direction: PCMDirection) -> Offers? {
        offers.withLock { $0[direction]?[card.references] }
    }
}

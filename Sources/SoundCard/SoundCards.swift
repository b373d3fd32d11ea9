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

    /// The card that a recording is made from.
    /// - Throws: an error that lists the cards that are there.
    public func find(_ reference: CardReference) throws(SoundCardError) -> CardDescription {
        let cards = list()
        guard let card = CardChoice.choose(reference, among: cards) else {
            throw CardChoice.absence(of: reference, among: cards)
        }
        return card
    }

    /// The cards that are there, each with what its hardware offers. Every free card is opened for a moment; of a busy one,
    /// what this process found when it was free is told.
    public func reports() -> [CardReport] {
        list().map { card in
            guard let device = card.captureDevice, root.isEmpty else { return CardReport(card, offers: nil) }
            do throws(SoundCardError) {
                let pcm = try CapturePCM(opening: card.hardwareName(device: device))
                let offers = try pcm.offers()
                Self.remember(offers, of: card)
                return CardReport(card, offers: offers)
            } catch {
                let error = explain(error, card: card, device: device)
                let owner = PCMOwner.ofCapture(card: card.index, device: device, root: root)
                let isBusy = error.code == EBUSY && owner != nil
                return CardReport(
                    card, offers: Self.remembered(card), busyBy: isBusy ? owner : nil,
                    error: isBusy ? nil : error.description)
            }
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
            let owner = PCMOwner.ofCapture(card: card, device: device, root: root)
        else { return error }
        var error = error
        error.detail = "held by \(owner.summary)"
        return error
    }

    /// Adds to an error of a card that is there who holds it, or what right is missing: without it ALSA finds no card.
    func explain(_ error: SoundCardError, card: CardDescription, device: Int) -> SoundCardError {
        let node = "\(root)/dev/snd/pcmC\(card.index)D\(device)c"
        guard unsafe access(node, R_OK | W_OK) != 0, errno == EACCES || errno == EPERM else { return explain(error) }
        return SoundCardError(
            error.subject, error.operation, status: -EACCES,
            detail: "the user must be in the group that owns \(node), as a rule audio")
    }

    // MARK: What was offered

    private static let offers = Mutex<[[CardReference]: Offers]>([:])

    static func remember(_ offered: Offers, of card: CardDescription) {
        offers.withLock { $0[card.references] = offered }
    }

    static func remembered(_ card: CardDescription) -> Offers? {
        offers.withLock { $0[card.references] }
    }
}

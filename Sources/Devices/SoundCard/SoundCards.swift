import CALSA
import Files
import Glibc
import Ring
public import Takes

/// The sound cards of the machine.
public struct SoundCards: Sendable {
    private let root: String

    /// - Parameter root: empty for the machine's own cards. Tests pass a folder with a tree of `/sys/class/sound` and
    ///   `/proc/asound`, whose cards cannot be opened.
    public init(root: String = "") {
        self.root = root
    }

    /// Must be called in every process that uses ALSA, before its second thread starts. It switches off the lock of
    /// each PCM, because the capture thread must not wait for a lock. Every PCM is used by one thread at a time.
    ///
    /// Several threads may still open PCMs and mixers at the same time. alsa-lib protects its configuration and its
    /// plug-ins by locks that are always active (`snd_config_lock` in conf.c, `snd_dlobj_lock` in dlmisc.c). It holds
    /// no such lock while it waits for a device.
    public static func prepareProcess() {
        unsafe setenv("LIBASOUND_THREAD_SAFE", "0", 1)
    }

    /// The present cards, in ALSA's order. No card is opened, unless `/proc/asound` is missing.
    public func list() -> [CardDescription] { list(mayOpen: true) }

    func list(mayOpen: Bool) -> [CardDescription] {
        var cards = CardTree(root: root).cards()
        guard mayOpen, root.isEmpty, SystemFile.text("/proc/asound/cards") == nil else { return cards }
        for index in cards.indices where cards[index].name == cards[index].alsaID {
            // In this case only the driver knows the card's name.
            guard let names = try? CardControl(opening: cards[index].index).names() else { continue }
            cards[index].name = names.name
            cards[index].driver = names.driver
        }
        return cards
    }

    /// The card for recording or for playing a take.
    /// - Parameters:
    ///   - companion: the recording card, when a card for playback is chosen. `auto` chooses it if it can play.
    /// - Throws: an error that lists the present cards.
    public func find(
        _ reference: CardReference, for direction: PCMDirection = .capture, beside companion: CardReference? = nil
    ) throws(SoundCardError) -> CardDescription {
        let cards = list()
        if let card = CardChoice.choose(reference, for: direction, beside: companion, among: cards) { return card }
        throw CardChoice.absence(of: reference, for: direction, among: cards)
    }

    /// The present card that `auto` prefers to a card of the kind `open`. No card is opened.
    func better(
        than open: CardKind, among cards: [CardDescription], after refusals: CardRefusals = CardRefusals()
    ) -> BetterCard {
        let better = CardChoice.better(than: open, among: cards, after: refusals)
        guard !better.isEmpty else { return .none }
        return better.first(where: isFree).map { .free($0.references) } ?? .occupied
    }

    /// Whether this process may capture from the card, and no process does.
    func isFree(_ card: CardDescription) -> Bool {
        guard let device = card.captureDevice else { return false }
        return unsafe access("\(root)/dev/snd/pcmC\(card.index)D\(device)c", R_OK | W_OK) == 0
            && PCMOwner.of(.capture, card: card.index, device: device, root: root) == nil
    }

    /// The present cards, each with the offers of its hardware in both directions. Every free card is opened for a
    /// moment; for a busy one, the result of the last time that this process found it free is used. May block while the
    /// devices answer.
    /// - Parameters:
    ///   - mayOpen: called before each card. If it returns false, the report contains only what is already known.
    ///   - asking: called before a card is opened.
    public func reports(
        mayOpen: () -> Bool = { true }, asking: (CardDescription) -> Void = { _ in }
    ) -> [CardReport] {
        list(mayOpen: mayOpen()).map { card in
            guard mayOpen() else {
                let (capture, playback) = (known(card, .capture), known(card, .playback))
                return CardReport(card, capture: asRecorded(card, capture), playback: playback)
            }
            asking(card)
            let (capture, playback) = (survey(card, .capture), survey(card, .playback))
            return CardReport(card, capture: asRecorded(card, capture), playback: playback)
        }
    }

    /// The result of the survey, with the reason why this process could not record from the card.
    private func asRecorded(_ card: CardDescription, _ survey: CardSurvey) -> CardSurvey {
        var survey = survey
        if survey.error == nil, survey.busyBy == nil {
            survey.error = Self.refusals.withLock { $0.reason(of: card.stay) }
        }
        return survey
    }

    /// The known facts about a card in one direction, without opening it.
    private func known(_ card: CardDescription, _ direction: PCMDirection) -> CardSurvey {
        guard let device = card.device(for: direction) else { return CardSurvey() }
        return CardSurvey(
            offers: Self.remembered(card, for: direction),
            busyBy: PCMOwner.of(direction, card: card.index, device: device, root: root))
    }

    /// Opens a PCM of a card. If another thread of this process holds the PCM, the call waits for a limited time.
    func open<PCM: ~Copyable>(
        _ card: CardDescription?, _ direction: PCMDirection, _ attempt: () throws(SoundCardError) -> PCM
    ) throws(SoundCardError) -> PCM {
        guard let card, let device = card.device(for: direction) else { return try attempt() }
        let use = OwnUse {
            let owner = PCMOwner.of(direction, card: card.index, device: device, root: root)
            return owner.map { $0.processID == Int(getpid()) ? .thisProcess : .another } ?? .none
        }
        return try use.open(attempt)
    }

    /// The offers of a card in one direction, or why they are not known.
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

    /// Adds the process that holds a busy device to the error, if the subject identifies the device:
    /// `hw:CARD=Mic,DEV=1`, `hw:1,0`.
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

    /// Adds the process that holds a present card, or the missing right, to the error. Without the right ALSA finds no
    /// card.
    func explain(_ error: SoundCardError, card: CardDescription, device: Int) -> SoundCardError {
        let node = "\(root)/dev/snd/pcmC\(card.index)D\(device)\(error.direction.letter)"
        guard unsafe access(node, R_OK | W_OK) != 0, errno == EACCES || errno == EPERM else { return explain(error) }
        return SoundCardError(
            error.subject, error.operation, status: -EACCES,
            detail: "the user must be in the group that owns \(node), as a rule audio", direction: error.direction)
    }

    /// The cards from which this process could not record.
    static let refusals = Locked(CardRefusals())

    // MARK: Remembered offers

    /// The key is the set of all names of a card, because their order depends on the other cards.
    private static let offers = Locked<[PCMDirection: [Set<CardReference>: Offers]]>([:])

    static func remember(_ offered: Offers, of card: CardDescription, for direction: PCMDirection) {
        offers.withLock { $0[direction, default: [:]][names(of: card)] = offered }
    }

    static func remembered(_ card: CardDescription, for direction: PCMDirection) -> Offers? {
        offers.withLock { $0[direction]?[names(of: card)] }
    }

    private static func names(of card: CardDescription) -> Set<CardReference> {
        Set(card.references.filter { if case .usb(_, _, nil) = $0 { false } else { true } })
    }
}

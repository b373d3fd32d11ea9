import Takes
import Transport

/// The unfinished takes in the folder for takes, and when they are recovered. Pure.
struct RecoveryState {
    /// Why takes ended that the storage did not let be finished.
    private(set) var endings: [TakeName: Sidecar.Ending] = [:]
    /// The folders for takes in which they wait for a search.
    private var waiting: [TakeName: String] = [:]
    private var search = Search.none
    /// Why things could not be recovered, since the storage was last found to have improved.
    private var failures: Set<String> = []
    /// The fault of each take that stays unfinished until a person changes something there.
    private var remains: [TakeName: Fault] = [:]
    /// Takes that are to be removed, and who asked for that.
    private var discards: [TakeName: (terms: DiscardTerms, askers: [Asker])] = [:]

    /// The time of the next search, while a take is known to be unfinished.
    private var retry: Instant?
    /// The interval of these searches.
    static let retryInterval = Duration.seconds(60)

    /// `remains`: of the takes that stay unfinished alone.
    private enum Search { case none, remains, due }

    /// The folder was opened: all that is there is searched anyway.
    mutating func opened() {
        search = .none
        failures = []
        remains = [:]
    }

    /// The folder is closed: what is left in it shows again once it is open.
    mutating func closed() { remains = [:] }

    /// A search found these unfinished takes, and no others.
    mutating func found(_ takes: Set<TakeName>) { remains = remains.filter { takes.contains($0.key) } }

    /// What stays unfinished; nil: nothing.
    var fault: Fault? { remains.min { $0.key < $1.key }?.value }

    /// A take ended that the storage did not let be finished.
    /// - Parameter folder: the one for takes that it lies in.
    mutating func abandoned(_ take: TakeName?, because ending: Sidecar.Ending, in folder: String) {
        search = .due
        if let take {
            endings[take] = ending
            waiting[take] = folder
        }
    }

    /// A take was finished: the storage takes what is written.
    mutating func tookTake() { search = .due }

    /// Time goes on: what could not be recovered may be there again.
    /// - Parameter folder: the one for takes that is open.
    mutating func tick(now: Instant, in folder: String) {
        let isSearch = waiting.values.contains(folder) || !failures.isEmpty
        guard isSearch || !remains.isEmpty else { return retry = nil }
        guard let due = retry else { return retry = now + Self.retryInterval }
        guard now >= due else { return }
        retry = now + Self.retryInterval
        if isSearch { search = .due } else if case .none = search { search = .remains }
    }

    /// Nothing more is to be done to a take.
    mutating func settled(_ take: TakeName) {
        waiting[take] = nil
        endings[take] = nil
        remains[take] = nil
    }

    /// A take stays where it is until a person changes something there; it is looked at again with each search.
    /// - Parameter fault: why it is unfinished; nil: it is finished, or has no sound.
    mutating func left(_ take: TakeName, _ fault: Fault?) {
        waiting[take] = nil
        remains[take] = fault
    }

    /// Something could not be recovered. It is tried once more if the storage takes anything; if that ends the same way, not
    /// before the storage has improved.
    /// - Returns: whether it is news.
    mutating func failed(_ message: String) -> Bool {
        guard failures.insert(message).inserted else { return false }
        search = .due
        return true
    }

    /// The storage is not what it was when things could not be recovered.
    mutating func storageImproved() {
        guard !failures.isEmpty else { return }
        failures = []
        search = .due
    }

    /// The search that is due, which is begun now; nil: none is.
    mutating func takeSearch() -> RecoveryScope? {
        defer { search = .none }
        return switch search {
        case .none: nil
        case .remains: .takes(remains.keys.sorted())
        case .due: .all
        }
    }

    mutating func discard(_ take: TakeName, _ terms: DiscardTerms, by asker: Asker) {
        discards[take] = (terms, [asker])
    }
    /// Has one more answered when the take's deletion has ended.
    mutating func awaitDiscard(_ take: TakeName, by asker: Asker) { discards[take]?.askers.append(asker) }
    /// - Returns: who is to be answered.
    mutating func discardEnded(_ take: TakeName) -> [Asker] { discards.removeValue(forKey: take)?.askers ?? [] }
    /// The terms on which a take is being deleted; nil for every other take.
    func termsOfDiscard(_ take: TakeName) -> DiscardTerms? { discards[take]?.terms }
    func isDiscarded(_ take: TakeName) -> Bool { discards[take] != nil }
    /// The take of a stem that is being deleted. It may be in a folder that is not there any more, and so in no list.
    func discarded(_ stem: String, in day: String?) -> TakeName? {
        discards.keys.first { $0.stem == stem && (day ?? $0.day) == $0.day }
    }
}

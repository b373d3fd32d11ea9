import Takes
import Transport

/// The unfinished takes in the folder for takes, and the time of their recovery. Pure.
struct RecoveryState {
    /// Why takes ended that could not be finished because of the storage.
    private(set) var endings: [TakeName: Sidecar.Ending] = [:]
    /// The folders for takes in which these takes wait for a search.
    private var waiting: [TakeName: String] = [:]
    private var search = Search.none
    /// The messages of failed recoveries since the storage last improved.
    private var failures: Set<String> = []
    /// The faults of takes that stay unfinished until a person changes something in the folder.
    private var remains: [TakeName: Fault] = [:]
    /// Takes being discarded, and the callers that wait for it.
    private var discards: [TakeName: (terms: DiscardTerms, askers: [Asker])] = [:]

    /// The time of the next search, while an unfinished take is known.
    private var retry: Instant?
    /// The interval of these searches.
    static let retryInterval = Duration.seconds(60)

    /// `remains` searches only for the takes that stay unfinished.
    private enum Search { case none, remains, due }

    /// The folder was opened. The archivist then searches it completely, so nothing else is due.
    mutating func opened() {
        search = .none
        failures = []
        remains = [:]
    }

    /// The folder was closed. Its unfinished takes are found again when it is opened.
    mutating func closed() { remains = [:] }

    /// A search found these unfinished takes, and no others.
    mutating func found(_ takes: Set<TakeName>) { remains = remains.filter { takes.contains($0.key) } }

    var fault: Fault? { remains.min { $0.key < $1.key }?.value }

    /// A take ended that could not be finished because of the storage.
    /// - Parameter folder: the folder for takes that contains it.
    mutating func abandoned(_ take: TakeName?, because ending: Sidecar.Ending, in folder: String) {
        search = .due
        if let take {
            endings[take] = ending
            waiting[take] = folder
        }
    }

    /// A take was finished, so the storage accepts writes.
    mutating func tookTake() { search = .due }

    /// Starts a search from time to time, because a failed recovery may be possible by now.
    /// - Parameter folder: the open folder for takes.
    mutating func tick(now: Instant, in folder: String) {
        let isSearch = waiting.values.contains(folder) || !failures.isEmpty
        guard isSearch || !remains.isEmpty else { return retry = nil }
        guard let due = retry else { return retry = now + Self.retryInterval }
        guard now >= due else { return }
        retry = now + Self.retryInterval
        if isSearch { search = .due } else if case .none = search { search = .remains }
    }

    /// A take needs no more recovery.
    mutating func settled(_ take: TakeName) {
        waiting[take] = nil
        endings[take] = nil
        remains[take] = nil
    }

    /// A take stays where it is until a person changes something. Each search examines it again.
    /// - Parameter fault: why it is unfinished, or nil if it is finished or has no sound.
    mutating func left(_ take: TakeName, _ fault: Fault?) {
        waiting[take] = nil
        remains[take] = fault
    }

    /// A recovery failed. It is retried once if the storage accepts writes. If it fails in the same way again, the next
    /// attempt waits until the storage has improved.
    /// - Returns: whether this failure is new.
    mutating func failed(_ message: String) -> Bool {
        guard failures.insert(message).inserted else { return false }
        search = .due
        return true
    }

    /// The storage has changed since recoveries failed.
    mutating func storageImproved() {
        guard !failures.isEmpty else { return }
        failures = []
        search = .due
    }

    /// Takes the search that is due, or nil for none.
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
    /// Adds a caller to be answered when the take's deletion has ended.
    mutating func awaitDiscard(_ take: TakeName, by asker: Asker) { discards[take]?.askers.append(asker) }
    /// - Returns: the callers to answer.
    mutating func discardEnded(_ take: TakeName) -> [Asker] { discards.removeValue(forKey: take)?.askers ?? [] }
    /// The terms of a deletion in progress, or nil if the take is not being deleted.
    func termsOfDiscard(_ take: TakeName) -> DiscardTerms? { discards[take]?.terms }
    func isDiscarded(_ take: TakeName) -> Bool { discards[take] != nil }
    /// The take with this stem that is being deleted. Its folder may be closed by now, so it may be in no list.
    func discarded(_ stem: String, in day: String?) -> TakeName? {
        discards.keys.first { $0.stem == stem && (day ?? $0.day) == $0.day }
    }
}

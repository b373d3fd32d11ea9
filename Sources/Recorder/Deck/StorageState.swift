import TakeFiles
import Takes
import Transport

/// Whether takes can be written. Pure: the deck carries the actions out on the worker of the storage.
struct StorageState {
    private(set) var state = State.absent(message: nil)
    /// What the worker has not answered yet; nil: nothing.
    private var question: Question?
    /// What the next question is to be.
    private var next = Question.Kind.state
    /// The folder that is open, was last open, or is to be opened.
    private(set) var path: String
    /// Where the folder was when it was last open: one that had a storage of its own is awaited there.
    private var place = Place.unknown

    private enum Place { case unknown, shared, own }

    enum State {
        /// The folder is not open; nil: it was not tried yet.
        case absent(message: String?)
        /// Takes can be written.
        case ok(TakesDirectory, freeBytes: Int64?)
        /// There is no room for another take.
        case full(TakesDirectory, freeBytes: Int64)
        /// It cannot be read or written now.
        case unreadable(TakesDirectory, Fault)
        /// It failed a take, and has taken nothing since.
        case suspect(TakesDirectory, Fault)
    }

    private struct Question {
        var asked: Instant
        var kind = Kind.state
        /// What came of a take since then is more recent than its answer.
        var validity = Validity.current

        enum Validity { case current, outdated }
        /// Whether it is only read, or written to.
        enum Kind { case state, probe }
    }

    enum Action: Hashable {
        case open(mustBeOwn: Bool)
        case check, probe
        /// What was left unfinished may be recovered now.
        case improved
        /// The folder is not the one that was opened.
        case left
        case answered
    }

    /// How often it is probed whether a file can be made.
    static let probeInterval = Duration.seconds(60)
    /// When it was probed last, or opened; nil: not yet.
    private var probed: Instant?

    /// How long the storage may take to answer before that is a fault.
    static let patience = Duration.seconds(3)

    init(path: String) { self.path = path }

    /// The folder; nil: it is not open.
    var directory: TakesDirectory? {
        switch state {
        case .absent: nil
        case .ok(let directory, _), .full(let directory, _), .unreadable(let directory, _), .suspect(let directory, _):
            directory
        }
    }

    /// What was free when that was last read; nil: it was not read yet.
    private(set) var freeBytes: Int64?

    /// Why no take can be written; nil: one can.
    func obstacle(now: Instant) -> Fault? {
        switch state {
        case .absent(let message):
            Fault(.storageFailing, message ?? "storage: \(path): it is still being read")
        case .ok: silence(now: now)
        case .full(_, let free): Fault(.diskFull, "storage: \(path): full: \(free >> 20) MiB free: free some space")
        case .unreadable(_, let fault), .suspect(_, let fault): fault
        }
    }

    /// What is wrong with it; nil: nothing. Before the first answer it is neither well nor not.
    func fault(now: Instant) -> Fault? {
        if case .absent(nil) = state { return silence(now: now) }
        return obstacle(now: now)
    }

    /// What is wrong with it besides a lack of room; nil: nothing.
    func failure(now: Instant) -> Fault? {
        switch state {
        case .ok, .full: silence(now: now)
        case .absent, .unreadable, .suspect: fault(now: now)
        }
    }

    /// The fault of a worker that has not answered for too long; nil: it has.
    func silence(now: Instant) -> Fault? {
        guard let question, now - question.asked >= Self.patience else { return nil }
        // The same each time, so that the log does not get a line every second.
        return Fault(
            .storageFailing, "storage: \(path): has not answered for \(Int(Self.patience.inSeconds)) s or longer")
    }
}

// MARK: - Events

extension StorageState {
    /// Asks for the state of the storage: the folder is opened, or checked if it is open. One question at a time.
    mutating func ask(now: Instant) -> [Action] {
        guard question == nil else { return [] }
        question = Question(asked: now, kind: next)
        next = .state
        if let probed, now - probed >= Self.probeInterval { question?.kind = .probe }
        if question?.kind == .probe || probed == nil { probed = now }
        if question?.kind == .probe, directory != nil { return [.probe] }
        switch state {
        case .absent: return [.open(mustBeOwn: place == .own)]
        case .ok, .full, .unreadable: return [.check]
        // Only what it takes shows that it is well again.
        case .suspect:
            question?.kind = .probe
            probed = now
            return [.probe]
        }
    }

    /// Something could not be done there: it is to show that it takes what is written.
    mutating func doubt(now: Instant) -> [Action] {
        next = .probe
        return ask(now: now)
    }

    /// The folder was opened.
    /// - Parameter isOwn: whether it lies on a storage of its own, such as a card.
    mutating func opened(_ directory: TakesDirectory, isOwn: Bool) -> [Action] {
        place = isOwn ? .own : .shared
        path = directory.path
        question = nil
        freeBytes = nil
        state = .ok(directory, freeBytes: nil)
        return [.answered]
    }

    /// The folder could not be opened.
    mutating func failedToOpen(_ message: String) -> [Action] {
        question = nil
        state = .absent(message: message)
        return [.answered]
    }

    /// The folder is to be closed, whatever is known of it.
    mutating func leave() -> [Action] {
        question = nil
        state = .absent(message: nil)
        freeBytes = nil
        return [.left]
    }

    /// What a check, or a probe, found.
    /// - Parameter leastBytes: with less than this free no take can begin.
    mutating func checked(_ reading: StorageReading, leastBytes: Int64) -> [Action] {
        let (isOutdated, isProbe) = (question?.validity == .outdated, question?.kind == .probe)
        question = nil
        guard let directory else { return [.answered] }
        switch reading {
        case .moved:
            state = .absent(message: nil)
            freeBytes = nil
            return [.left, .answered]
        case .failed(let message, let isDiskFull):
            let fault = Fault(isDiskFull ? .diskFull : .storageFailing, message)
            if isProbe {
                state = .suspect(directory, fault)
                return [.answered]
            }
            state = .unreadable(directory, fault)
            return [.answered]
        case .free(let bytes):
            freeBytes = bytes
            if isOutdated { return [.answered] }
            let wasWell = isWell
            state = bytes < leastBytes ? .full(directory, freeBytes: bytes) : .ok(directory, freeBytes: bytes)
            return (isWell && !wasWell ? [.improved] : []) + [.answered]
        }
    }

    /// It failed a take.
    mutating func failedTake(_ message: String) {
        guard let directory else { return }
        state = .suspect(directory, Fault(.storageFailing, message))
        question?.validity = .outdated
    }

    /// It took the files of a new take.
    mutating func tookTake() -> [Action] {
        guard case .suspect(let directory, _) = state else { return [] }
        state = .ok(directory, freeBytes: nil)
        return [.improved]
    }

    private var isWell: Bool {
        if case .ok = state { true } else { false }
    }
}

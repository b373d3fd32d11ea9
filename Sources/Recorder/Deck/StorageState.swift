import TakeFiles
import Takes
import Transport

/// Whether takes can be written. Pure: the deck has the storage's worker carry the actions out.
struct StorageState {
    private(set) var state = State.absent(message: nil)
    /// The question that the worker has not answered yet, or nil.
    private var question: Question?
    /// The kind of the next question.
    private var next = Question.Kind.state
    /// The open, the last, or the intended folder.
    private(set) var path: String
    /// The kind of place where the folder was last open. If it was on its own storage, that storage is awaited.
    private var place = Place.unknown

    private enum Place { case unknown, shared, own }

    enum State {
        /// The folder is not open. The message is nil until an attempt to open it has failed.
        case absent(message: String?)
        case ok(TakesDirectory, freeBytes: Int64?)
        /// It lacks room for another take.
        case full(TakesDirectory, freeBytes: Int64)
        /// It cannot be read or written now.
        case unreadable(TakesDirectory, Fault)
        /// It failed a take, and has accepted nothing since.
        case suspect(TakesDirectory, Fault)
    }

    private struct Question {
        var asked: Instant
        var kind = Kind.state
        /// Outdated if a take gave a more recent result since the question.
        var validity = Validity.current

        enum Validity { case current, outdated }
        /// Whether the worker only reads, or also writes.
        enum Kind { case state, probe }
    }

    enum Action: Hashable {
        case open(mustBeOwn: Bool)
        case check, probe
        /// Unfinished takes may be recoverable now.
        case improved
        /// The folder is not the one that was opened.
        case left
        case answered
    }

    /// The interval of the probes that make a file.
    static let probeInterval = Duration.seconds(60)
    /// The time of the last probe or opening, or nil before the first.
    private var probed: Instant?

    /// If the storage does not answer within this time, that is a fault.
    static let patience = Duration.seconds(3)

    init(path: String) { self.path = path }

    var directory: TakesDirectory? {
        switch state {
        case .absent: nil
        case .ok(let directory, _), .full(let directory, _), .unreadable(let directory, _), .suspect(let directory, _):
            directory
        }
    }

    /// The free bytes at the last reading, or nil before the first.
    private(set) var freeBytes: Int64?

    /// Why no take can be written, or nil if one can.
    func obstacle(now: Instant) -> Fault? {
        switch state {
        case .absent(let message):
            Fault(.storageFailing, message ?? "storage: \(path): it is still being read")
        case .ok: silence(now: now)
        case .full(_, let free): Fault(.diskFull, "storage: \(path): full: \(free >> 20) MiB free: free some space")
        case .unreadable(_, let fault), .suspect(_, let fault): fault
        }
    }

    /// The fault of the storage, or nil. Before the first answer, only a worker that is silent for too long is a fault.
    func fault(now: Instant) -> Fault? {
        if case .absent(nil) = state { return silence(now: now) }
        return obstacle(now: now)
    }

    /// The fault of the storage other than a lack of room, or nil.
    func failure(now: Instant) -> Fault? {
        switch state {
        case .ok, .full: silence(now: now)
        case .absent, .unreadable, .suspect: fault(now: now)
        }
    }

    /// The fault of a worker that has not answered for too long, or nil.
    func silence(now: Instant) -> Fault? {
        guard let question, now - question.asked >= Self.patience else { return nil }
        // The sentence stays the same, so that the log does not get a line every second.
        return Fault(
            .storageFailing, "storage: \(path): has not answered for \(Int(Self.patience.inSeconds)) s or longer")
    }
}

// MARK: - Events

extension StorageState {
    /// Asks for the state of the storage: opens the folder, or checks it if it is open. There is one question at a
    /// time.
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
        // Only a successful write shows that it works again.
        case .suspect:
            question?.kind = .probe
            probed = now
            return [.probe]
        }
    }

    /// An operation failed there, so a probe must show that it accepts writes.
    mutating func doubt(now: Instant) -> [Action] {
        next = .probe
        return ask(now: now)
    }

    /// The folder was opened.
    /// - Parameter isOwn: whether it is on its own storage, such as a memory card.
    mutating func opened(_ directory: TakesDirectory, isOwn: Bool) -> [Action] {
        place = isOwn ? .own : .shared
        path = directory.path
        question = nil
        freeBytes = nil
        state = .ok(directory, freeBytes: nil)
        return [.answered]
    }

    mutating func failedToOpen(_ message: String) -> [Action] {
        question = nil
        state = .absent(message: message)
        return [.answered]
    }

    /// Closes the folder in any state.
    mutating func leave() -> [Action] {
        question = nil
        state = .absent(message: nil)
        freeBytes = nil
        return [.left]
    }

    /// Handles the result of a check or a probe.
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

    mutating func failedTake(_ message: String) {
        guard let directory else { return }
        state = .suspect(directory, Fault(.storageFailing, message))
        question?.validity = .outdated
    }

    /// The storage accepted the files of a new take.
    mutating func tookTake() -> [Action] {
        guard case .suspect(let directory, _) = state else { return [] }
        state = .ok(directory, freeBytes: nil)
        return [.improved]
    }

    private var isWell: Bool {
        if case .ok = state { true } else { false }
    }
}

package import TakeFiles
package import Takes
package import Transport
import Workers

/// What the deck asks of the archivist.
package enum ArchiveOrder: Sendable {
    /// The takes are in this directory from now on. Those that were left unfinished are recovered, up to the last number
    /// that was given before any is recorded again, and those that are to be converted are.
    /// `endings`: why takes ended, where the storage did not let that be written.
    case keep(TakesDirectory, upTo: Int, bootID: String, endings: [TakeName: Sidecar.Ending])
    /// That directory is gone.
    case leave
    /// A take that was given up was left unfinished; none up to this number is being recorded.
    case recover(RecoveryScope, upTo: Int, endings: [TakeName: Sidecar.Ending])
    /// A take was finished that is to be converted.
    case convert(TakeName)
    /// The storage is well again: what could not be converted is tried again.
    case retry
    /// The calendar was set: the takes of this boot are dated by it.
    case date(TrueStart, kit: String)
    /// Move a take into the bin, or remove it for good, whatever else is to be done to it, on these terms.
    case discard(TakeName, DiscardTerms)
    /// Move a take from the bin back to its day's folder.
    case restore(TakeName)
    /// Remove for good what is in the bin: one take, or all.
    case empty(TakeName?)
    /// Empty the bin, the oldest take first, until this much is really free.
    case makeRoom(Int64)
    /// The take that is recorded waits for the storage, or does not any more: what writes much waits.
    case hold(Bool)
}

/// Where takes that were left unfinished are looked for.
package enum RecoveryScope: Sendable {
    case all
    /// These alone, which were found before.
    case takes([TakeName])
}

/// What the archivist reports to the deck.
package enum ArchiveOutcome: Sendable {
    /// There is one take more.
    case recovered(TakeName, Sidecar)
    /// A take that was left unfinished was removed, or is finished already.
    case settled(TakeName, Report?)
    /// A take is left where it is. The fault says why, if it is unfinished and has sound.
    case left(TakeName, Fault?, Report?)
    /// These takes are unfinished, and no others.
    case found(Set<TakeName>)
    /// Something could not be recovered now, and is to be tried again; one sentence says what and why.
    case unrecovered(String)
    /// The sidecar of a finished take was revised: it was dated, or converted.
    case revised(TakeName)
    /// What became of a take that was to be discarded.
    case discarded(TakeName, Discarding)
    /// A take was to be restored; nil: it is back.
    case restored(TakeName, Refusal?)
    /// The bin was to be emptied; nil: it is.
    case emptied(TakeName?, Refusal?)
    /// There is something that can be done now, or is nothing any more.
    case activity(ArchiveActivity)
    /// A line for the log.
    case reported(Report)
}

/// Whether the archivist has something to do that can be done now.
package enum ArchiveActivity: Sendable { case idle, busy }

/// What became of a take that was to be discarded.
package enum Discarding: Sendable {
    /// It is in the bin.
    case binned
    /// It is deleted for good.
    case deleted
    /// It is no take any more, and some of its files are still there, for this reason.
    case begun(Refusal)
    /// It is a take as before, for this reason.
    case refused(Refusal)

    var isGone: Bool {
        switch self {
        case .binned, .deleted, .begun: true
        case .refused: false
        }
    }

    var isFinal: Bool {
        switch self {
        case .deleted: true
        case .binned, .begun, .refused: false
        }
    }

    var refusal: Refusal? {
        switch self {
        case .binned, .deleted: nil
        case .begun(let refusal), .refused(let refusal): refusal
        }
    }
}

/// Keeps the takes that are not being recorded: recovers what a cut left, converts, dates and discards. It is the state of a
/// worker of idle priority, and works in small steps, one after the other.
///
/// It alone changes finished takes, so that two changes never meet.
final class Archivist {
    private let reserveBytes: Int64
    let clock: any Clock
    var outcomes: Mailbox<ArchiveOutcome>?
    var directory: TakesDirectory?
    var bootID = ""
    var chores: [Chore] = []
    private(set) var burden = Burden.allowed
    private var activity = ArchiveActivity.idle
    /// Takes that could not be converted when it was tried; it is tried again with the next one, and when the storage is well again.
    private var deferred: [TakeName] = []
    /// Why takes were left where they are, in this directory.
    private var reportedLeftovers: Set<String> = []
    /// By what takes were dated last.
    var lastDate: (truth: TrueStart, kit: String)?
    /// When the bin's age is to be counted on.
    var nextBinCheck: Instant?

    /// Whether what writes much may be done now.
    enum Burden { case allowed, held }

    /// A worker that keeps takes.
    /// - Parameter reserveBytes: what must stay free where the takes are.
    static func worker(reserveBytes: Int64, clock: any Clock) -> Worker<ArchiveOrder, ArchiveOutcome> {
        let archivist = Archivist(reserveBytes: reserveBytes, clock: clock)
        return Worker(clock: clock) { orders, now, outcomes in
            archivist.turn(orders, outcomes) ? now : archivist.nextCheck
        }
    }

    private init(reserveBytes: Int64, clock: any Clock) {
        self.reserveBytes = reserveBytes
        self.clock = clock
    }

    /// Does what is ordered, then one step of what there is to do.
    /// - Returns: whether there is more that can be done now.
    private func turn(_ orders: [ArchiveOrder], _ outcomes: Mailbox<ArchiveOutcome>) -> Bool {
        self.outcomes = outcomes
        for order in orders { carryOut(order) }
        checkBin()
        defer { reportActivity() }
        guard let index = nextChore else { return false }
        do {
            switch try chores[index].step() {
            case .more: break
            case .note(let outcome): outcomes.post(outcome)
            case .done(let outcome):
                chores.remove(at: index)
                if let outcome { outcomes.post(outcome) }
            }
        } catch {
            let chore = chores.remove(at: index)
            outcomes.post(chore.failed("\(error)"))
        }
        // Also those of a step that failed after it.
        for take in directory?.newlyRevised() ?? [] { outcomes.post(.revised(take)) }
        return nextChore != nil
    }

    private func reportActivity() {
        let now = nextChore == nil ? ArchiveActivity.idle : .busy
        guard now != activity else { return }
        activity = now
        outcomes?.post(.activity(now))
    }

    /// The most urgent of those that may be done now.
    private var nextChore: Int? {
        chores.indices.filter { burden == .allowed || !chores[$0].kind.burdensStorage }.min {
            (chores[$0].kind, $0) < (chores[$1].kind, $1)
        }
    }

    private func carryOut(_ order: ArchiveOrder) {
        switch order {
        case .keep(let directory, let number, let bootID, let endings):
            // What was to be done elsewhere is found again when that is back.
            dropChores()
            deferred = []
            reportedLeftovers = []
            self.directory = directory
            self.bootID = bootID
            add(reading(of: directory))
            add(search(of: directory, upTo: number, endings: endings))
            add(survey(of: directory))
        case .leave:
            dropChores()
            directory = nil
            nextBinCheck = nil
        case .recover(.all, let number, let endings):
            if let directory { add(search(of: directory, upTo: number, endings: endings)) }
        case .recover(.takes(let takes), _, let endings):
            if let directory { add(look(at: takes, in: directory, endings: endings)) }
        case .convert(let take):
            convertDeferred()
            if let directory { addConversion(of: take, in: directory) }
        case .retry: convertDeferred()
        case .date(let truth, let kit):
            lastDate = (truth, kit)
            guard let directory else { return }
            chores.removeAll { $0.kind == .date }
            add(Self.dating(directory, by: truth, kit: kit))
        case .discard(let take, let terms):
            guard directory != nil else {
                outcomes?.post(.discarded(take, .refused(Self.storageWentAway(take))))
                return
            }
            if let refusal = obstacle(to: take, terms) {
                outcomes?.post(.discarded(take, .refused(refusal)))
                return
            }
            chores.removeAll { $0.take == take }
            add(discarding(of: take, terms))
        case .restore(let take): add(restoring(of: take))
        case .empty(let take): add(emptying(of: take))
        case .makeRoom(let bytes): makeRoom(bytes)
        case .hold(let isHeld): burden = isHeld ? .held : .allowed
        }
    }

    func add(_ chore: Chore) { chores.append(chore) }

    func addRecovery(of take: TakeName, in directory: TakesDirectory, ending: Sidecar.Ending?) {
        guard !chores.contains(where: { $0.kind == .recover && $0.take == take }) else { return }
        add(recovery(TakeRecovery(of: take, in: directory, bootID: bootID, ending: ending)))
    }

    private func convertDeferred() {
        guard let directory else { return }
        let takes = deferred
        deferred = []
        for take in takes { addConversion(of: take, in: directory) }
    }

    func addConversion(of take: TakeName, in directory: TakesDirectory) {
        guard !chores.contains(where: { $0.kind == .convert && $0.take == take }) else { return }
        add(conversion(of: take, in: directory))
    }
}

// MARK: - What there is to do

extension Archivist {
    /// Something to be done, in steps.
    struct Chore {
        /// What it is, the more urgent first.
        enum Kind: Int, Comparable {
            case discard, bin, recover, date, survey, convert

            /// Whether it writes so much that the syncs of a take that is recorded would have to wait for it.
            var burdensStorage: Bool { self == .convert }

            static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
        }

        enum Progress {
            case more
            /// There is more, and something to report.
            case note(ArchiveOutcome)
            case done(ArchiveOutcome?)
        }

        var kind: Kind
        /// The take that it is about, if it is about one.
        var take: TakeName?
        var step: () throws -> Progress
        /// What is reported if a step fails.
        var failed: (String) -> ArchiveOutcome = { .reported(Report(.error, $0)) }
        /// What is reported if the storage goes away before it is done; nil: nothing.
        var dropped: ArchiveOutcome?
        /// Whether it makes room: one such chore is enough.
        var isRoom = false
    }

    private func recovery(_ recovery: TakeRecovery) -> Chore {
        let take = recovery.take
        var reported = 0
        func settled(_ news: String?) -> ArchiveOutcome {
            .settled(take, news.map { Report(.notice, "recover: \(take.stem): \($0)") })
        }
        return Chore(kind: .recover, take: take) { [unowned self] in
            let outcome = try recovery.step()
            if reported < recovery.shortcomings.count {
                defer { reported += 1 }
                return .note(.reported(Report(.warning, "recover: \(take.stem): \(recovery.shortcomings[reported])")))
            }
            switch outcome {
            case nil: return .more
            case .recovered(let sidecar): return .done(.recovered(take, sidecar))
            case .removed: return .done(settled("it has no sound: removed"))
            case .discarded: return .done(settled("it was deleted: what was left is removed"))
            case .unchanged: return .done(settled(nil))
            case .left(let sentence):
                // It is found at each search.
                let isNews = reportedLeftovers.insert(sentence).inserted
                let isUnfinished = try directory?.isUnfinished(take) ?? false
                let fault = isUnfinished ? Fault(.storageFailing, "recover: \(sentence)") : nil
                return .done(.left(take, fault, isNews ? Report(.warning, sentence) : nil))
            }
        } failed: {
            .unrecovered("recover: \(take.stem): \($0)")
        }
    }

    /// Searches for takes that were left unfinished.
    private func search(
        of directory: TakesDirectory, upTo number: Int, endings: [TakeName: Sidecar.Ending]
    ) -> Chore {
        Chore(kind: .recover) { [unowned self] in
            readAgain(directory)
            let leftovers = try directory.leftovers()
            outcomes?.post(.found(Set(leftovers)))
            for take in leftovers where take.number <= number {
                addRecovery(of: take, in: directory, ending: endings[take])
            }
            for take in endings.keys where !leftovers.contains(take) && (try? directory.contains(take)) == true {
                outcomes?.post(.settled(take, nil))
            }
            for error in directory.newlyUnreadable() {
                outcomes?.post(.reported(Report(.warning, "storage: passed over: \(error)")))
            }
            return .done(nil)
        } failed: {
            .unrecovered("recover: \($0)")
        }
    }

    /// Looks again at takes that stay unfinished.
    private func look(
        at takes: [TakeName], in directory: TakesDirectory, endings: [TakeName: Sidecar.Ending]
    ) -> Chore {
        Chore(kind: .recover) { [unowned self] in
            for take in takes {
                if try directory.isUnfinished(take) {
                    addRecovery(of: take, in: directory, ending: endings[take])
                } else {
                    outcomes?.post(.settled(take, nil))
                }
            }
            return .done(nil)
        } failed: {
            .unrecovered("recover: \($0)")
        }
    }

    /// Searches for takes that are still to be converted, and for those whose sidecars are damaged, the newest first.
    private func survey(of directory: TakesDirectory) -> Chore {
        var left: [TakeName]?
        return Chore(kind: .survey) { [unowned self] in
            var takes = try left ?? directory.takes()
            if let take = takes.popLast() { examine(take, in: directory) }
            left = takes
            return takes.isEmpty ? .done(nil) : .more
        }
    }

    private func examine(_ take: TakeName, in directory: TakesDirectory) {
        do {
            if try directory.awaitsConversion(take) { addConversion(of: take, in: directory) }
        } catch {
            // It is read again before anything is done to it.
            guard (try? directory.isSidecarDamaged(of: take)) ?? false else { return }
            addRecovery(of: take, in: directory, ending: nil)
        }
    }

    private func conversion(of take: TakeName, in directory: TakesDirectory) -> Chore {
        let conversion = FLACConversion(of: take, in: directory, reserveBytes: reserveBytes)
        return Chore(kind: .convert, take: take) { [unowned self] in
            switch try conversion.step() {
            case nil: return .more
            case .converted: return .done(.reported(Report(.info, "convert: \(take.stem): FLAC now")))
            case .kept(_, let sentence): return .done(.reported(Report(.warning, sentence)))
            case .later(let sentence):
                deferred.append(take)
                return .done(.reported(Report(.warning, sentence)))
            case .nothingToDo: return .done(nil)
            }
        } failed: { [unowned self] in
            deferred.append(take)
            return .reported(Report(.error, "convert: \(take.stem): \($0)"))
        }
    }

    static func dating(_ directory: TakesDirectory, by truth: TrueStart, kit: String) -> Chore {
        var dating: TakeDating?
        return Chore(kind: .date) {
            var now = try dating ?? TakeDating(directory, truth: truth, kit: kit)
            defer { dating = now }
            switch now.step() {
            case nil: return .done(nil)
            case .unchanged, .dated: return .more
            case .skipped(let take, let error):
                return .note(.reported(Report(.error, "date: \(take.stem): \(error)")))
            }
        }
    }

    /// Nothing more is done in the directory; who waits for a take to be discarded is answered.
    private func dropChores() {
        for case let take? in chores.filter({ $0.kind == .discard }).map(\.take) {
            outcomes?.post(.discarded(take, .refused(Self.storageWentAway(take))))
        }
        for chore in chores.filter({ $0.kind == .bin }) {
            if let outcome = chore.dropped { outcomes?.post(outcome) }
        }
        chores = []
    }

    static func storageWentAway(_ take: TakeName) -> Refusal {
        Refusal(.io, "discard: \(take.stem): its storage went away before it was deleted")
    }

    /// Why a take is not the one that is to be discarded; nil: it is.
    private func obstacle(to take: TakeName, _ terms: DiscardTerms) -> Refusal? {
        guard let directory else { return nil }
        do {
            if let folder = terms.directory, try !directory.isThe(folder: folder) {
                let reason =
                    folder == directory.path
                    ? "another storage is at \(folder) than when the recorder opened it"
                    : "what is meant is in \(folder), and the recorder's takes are in \(directory.path)"
                return Refusal(.busy, "discard: \(take.stem): \(reason)")
            }
            guard let version = terms.version, try directory.sidecar(of: take).version(day: take.day) != version
            else { return nil }
            return Refusal(
                .busy, "discard: \(take.stem): it is not what it was when this was decided: look at it again")
        } catch {
            return Refusal(.io, "discard: \(take.stem): \(error)")
        }
    }
}

package import TakeFiles
package import Takes
package import Transport
import Workers

package enum ArchiveOrder: Sendable {
    /// Takes are kept in this directory from now on. The archivist recovers unfinished takes up to this number, the
    /// last one given before a new take is recorded, and converts the takes that await conversion. `endings` says why
    /// takes ended, if the storage failed before that could be written.
    case keep(TakesDirectory, upTo: Int, bootID: String, endings: [TakeName: Sidecar.Ending])
    /// That directory is closed.
    case leave
    /// Recover a take that was given up unfinished. No take up to this number is being recorded.
    case recover(RecoveryScope, upTo: Int, endings: [TakeName: Sidecar.Ending])
    /// Convert a finished take.
    case convert(TakeName)
    /// The storage works again: retry the failed conversions.
    case retry
    /// The date was set: use it to date the takes of this boot.
    case date(TrueStart, kit: String)
    /// Move a take into the bin, or delete it for good, on these terms. All other work on the take is cancelled.
    case discard(TakeName, DiscardTerms)
    case restore(TakeName)
    /// Search the folder for the finished takes that this names.
    case seek(TakeReference)
    /// Delete one take from the bin for good, or all.
    case empty(TakeName?)
    /// Empty the bin, the oldest take first, until this many bytes are really free.
    case makeRoom(Int64)
    /// Hold heavy writing back while the recorded take waits for the storage, or allow it again.
    case hold(Bool)
}

/// Where to search for unfinished takes.
package enum RecoveryScope: Sendable {
    case all
    /// Only these takes, which an earlier search found.
    case takes([TakeName])
}

package enum ArchiveOutcome: Sendable {
    /// A recovered take was added.
    case recovered(TakeName, Sidecar)
    /// An unfinished take was removed, or is finished already.
    case settled(TakeName, Report?)
    /// A take stays where it is. The fault says why, if the take is unfinished and has sound.
    case left(TakeName, Fault?, Report?)
    /// These takes are unfinished, and no others.
    case found(Set<TakeName>)
    /// A recovery failed and must be retried; the sentence says which and why.
    case unrecovered(String)
    /// The sidecar of a finished take was revised: the take was dated or converted.
    case revised(TakeName)
    /// The result of a discard.
    case discarded(TakeName, Discarding)
    /// A restore ended, with a refusal or with success (nil).
    case restored(TakeName, Refusal?)
    /// Emptying the bin ended, with a refusal or with success (nil).
    case emptied(TakeName?, Refusal?)
    /// The folder was searched. The directory is nil if it went away first.
    case sought(TakeReference, Result<[TakeName], Refusal>, in: TakesDirectory?)
    case activity(ArchiveActivity)
    case reported(Report)
}

/// Whether the archivist has work that it can do now.
package enum ArchiveActivity: Sendable { case idle, busy }

/// The result of a discard.
package enum Discarding: Sendable {
    case binned
    case deleted
    /// It is not a take any more, but some of its files remain for this reason.
    case begun(Refusal)
    /// The take is unchanged, for this reason.
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

/// Maintains the takes that are not being recorded: it recovers takes after a power cut, and converts, dates and
/// discards takes. It is the state of a worker of idle priority, and works in small steps, one after the other.
///
/// Only the archivist changes finished takes, so two changes never conflict.
final class Archivist {
    private let reserveBytes: Int64
    let clock: any Clock
    var outcomes: Mailbox<ArchiveOutcome>?
    var directory: TakesDirectory?
    var bootID = ""
    var chores: [Chore] = []
    private(set) var burden = Burden.allowed
    private var activity = ArchiveActivity.idle
    /// Takes whose conversion failed. They are retried with the next conversion, and when the storage works again.
    private var deferred: [TakeName] = []
    /// The reasons already reported for takes left in this directory.
    private var reportedLeftovers: Set<String> = []
    /// The last date order.
    var lastDate: (truth: TrueStart, kit: String)?
    /// The time of the next update of the bin's age.
    var nextBinCheck: Instant?

    /// Whether heavy writing is allowed now.
    enum Burden { case allowed, held }

    /// - Parameter reserveBytes: the space that must stay free in the storage of the takes.
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

    /// Carries out the orders, then one step of the most urgent chore.
    /// - Returns: whether more work can be done now.
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
        // This includes revisions by a step that failed afterwards.
        for take in directory?.newlyRevised() ?? [] { outcomes.post(.revised(take)) }
        return nextChore != nil
    }

    private func reportActivity() {
        let now = nextChore == nil ? ArchiveActivity.idle : .busy
        guard now != activity else { return }
        activity = now
        outcomes?.post(.activity(now))
    }

    /// The most urgent chore that is allowed now.
    private var nextChore: Int? {
        chores.indices.filter { burden == .allowed || !chores[$0].kind.burdensStorage }.min {
            (chores[$0].kind, $0) < (chores[$1].kind, $1)
        }
    }

    private func carryOut(_ order: ArchiveOrder) {
        switch order {
        case .keep(let directory, let number, let bootID, let endings):
            // Open chores of another directory are found again when it is back.
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
        case .seek(let reference): add(seeking(reference))
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

// MARK: - Chores

extension Archivist {
    struct Chore {
        /// The kind of work, in order of urgency.
        enum Kind: Int, Comparable {
            case discard, bin, seek, recover, date, survey, convert

            /// Whether its writes would delay the syncs of a take in progress.
            var burdensStorage: Bool { self == .convert }

            static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
        }

        enum Progress {
            case more
            /// There is more to do, and an outcome to report.
            case note(ArchiveOutcome)
            case done(ArchiveOutcome?)
        }

        var kind: Kind
        /// The take concerned, or nil if it is not about a single take.
        var take: TakeName?
        var step: () throws -> Progress
        /// The outcome to report if a step fails.
        var failed: (String) -> ArchiveOutcome = { .reported(Report(.error, $0)) }
        /// The outcome to report if the storage goes away first, or nil for none.
        var dropped: ArchiveOutcome?
        /// Whether it makes room. One such chore at a time is enough.
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
            case .discarded: return .done(settled("it was deleted: its remains are removed"))
            case .unchanged: return .done(settled(nil))
            case .left(let sentence):
                // Each search finds it again, so it is reported only once.
                let isNews = reportedLeftovers.insert(sentence).inserted
                let isUnfinished = try directory?.isUnfinished(take) ?? false
                let fault = isUnfinished ? Fault(.storageFailing, "recover: \(sentence)") : nil
                return .done(.left(take, fault, isNews ? Report(.warning, sentence) : nil))
            }
        } failed: {
            .unrecovered("recover: \(take.stem): \($0)")
        }
    }

    /// Searches for finished takes, by the names of the files.
    private func seeking(_ reference: TakeReference) -> Chore {
        let away = ArchiveOutcome.sought(reference, .success([]), in: nil)
        var chore = Chore(kind: .seek) { [unowned self] in
            guard let directory else { return .done(away) }
            let takes = try directory.takes().filter { reference.names($0) }
            return .done(.sought(reference, .success(takes), in: directory))
        } failed: {
            .sought(reference, .failure(Refusal(.io, "storage: \($0)")), in: nil)
        }
        chore.dropped = away
        return chore
    }

    /// Searches for unfinished takes.
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

    /// Checks again takes that stayed unfinished.
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

    /// Searches for takes that await conversion, and for takes with damaged sidecars, the newest first.
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
            // The sidecar is read again before anything is done to the take.
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

    /// Drops all work in the directory, and answers the callers that wait for it.
    private func dropChores() {
        for case let take? in chores.filter({ $0.kind == .discard }).map(\.take) {
            outcomes?.post(.discarded(take, .refused(Self.storageWentAway(take))))
        }
        for outcome in chores.compactMap(\.dropped) { outcomes?.post(outcome) }
        chores = []
    }

    static func storageWentAway(_ take: TakeName) -> Refusal {
        Refusal(.deletionWithoutStorage(stem: take.stem))
    }

    /// Why a take is not the one to discard, or nil if it is.
    private func obstacle(to take: TakeName, _ terms: DiscardTerms) -> Refusal? {
        guard let directory else { return nil }
        do {
            if let folder = terms.directory, try !directory.isThe(folder: folder) {
                let reason =
                    folder == directory.path
                    ? "another storage is at \(folder) than when the recorder opened it"
                    : "the request names \(folder), and the recorder's takes are in \(directory.path)"
                return Refusal(.notDeleted(.busy, message: "discard: \(take.stem): \(reason)"))
            }
            guard let version = terms.version, try directory.sidecar(of: take).version(day: take.day) != version
            else { return nil }
            return Refusal(.takeChanged(stem: take.stem))
        } catch {
            return Refusal(.notDeleted(.io, message: "discard: \(take.stem): \(error)"))
        }
    }
}

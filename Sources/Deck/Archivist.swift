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
    case recover(upTo: Int, endings: [TakeName: Sidecar.Ending])
    /// A take was finished that is to be converted.
    case convert(TakeName)
    /// The storage is well again: what could not be converted is tried again.
    case retry
    /// The calendar was set: the takes of this boot are dated by it.
    case date(TrueStart, kit: String)
    /// Remove a take, whatever else is to be done to it, on these terms.
    case discard(TakeName, DiscardTerms)
    /// The take that is recorded waits for the storage, or does not any more: what writes much waits.
    case hold(Bool)
}

/// What the archivist reports to the deck.
package enum ArchiveOutcome: Sendable {
    /// There is one take more.
    case recovered(TakeName, Sidecar)
    /// Something could not be recovered now, and is to be tried again; one sentence says what and why.
    case unrecovered(String)
    /// The sidecar of a finished take was revised: it was dated, or converted.
    case revised(TakeName)
    /// What became of a take that was to be discarded.
    case discarded(TakeName, Discarding)
    /// There is something that can be done now, or is nothing any more.
    case activity(ArchiveActivity)
    /// A line for the log.
    case reported(Report)
}

/// Whether the archivist has something to do that can be done now.
package enum ArchiveActivity: Sendable { case idle, busy }

/// What became of a take that was to be discarded.
package enum Discarding: Sendable {
    case deleted
    /// It is no take any more, and some of its files are still there, for this reason.
    case begun(Refusal)
    /// It is a take as before, for this reason.
    case refused(Refusal)

    var isGone: Bool {
        switch self {
        case .deleted, .begun: true
        case .refused: false
        }
    }

    var refusal: Refusal? {
        switch self {
        case .deleted: nil
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
    private let clock: any Clock
    private var outcomes: Mailbox<ArchiveOutcome>?
    private var directory: TakesDirectory?
    private var bootID = ""
    private var chores: [Chore] = []
    private var burden = Burden.allowed
    private var activity = ArchiveActivity.idle
    /// Takes that could not be converted when it was tried; it is tried again with the next one, and when the storage is well again.
    private var deferred: [TakeName] = []

    /// Whether what writes much may be done now.
    private enum Burden { case allowed, held }

    /// A worker that keeps takes.
    /// - Parameter reserveBytes: what must stay free where the takes are.
    static func worker(reserveBytes: Int64, clock: any Clock) -> Worker<ArchiveOrder, ArchiveOutcome> {
        let archivist = Archivist(reserveBytes: reserveBytes, clock: clock)
        return Worker(clock: clock) { orders, now, outcomes in
            archivist.turn(orders, outcomes) ? now : nil
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
            self.directory = directory
            self.bootID = bootID
            add(search(of: directory, upTo: number, endings: endings))
            add(survey(of: directory))
        case .leave:
            dropChores()
            directory = nil
        case .recover(let number, let endings):
            if let directory { add(search(of: directory, upTo: number, endings: endings)) }
        case .convert(let take):
            convertDeferred()
            if let directory { addConversion(of: take, in: directory) }
        case .retry: convertDeferred()
        case .date(let truth, let kit):
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
            add(discarding(of: take, notAfter: terms.notAfter))
        case .hold(let isHeld): burden = isHeld ? .held : .allowed
        }
    }

    private func add(_ chore: Chore) { chores.append(chore) }

    private func addRecovery(of take: TakeName, in directory: TakesDirectory, ending: Sidecar.Ending?) {
        guard !chores.contains(where: { $0.kind == .recover && $0.take == take }) else { return }
        add(Self.recovery(TakeRecovery(of: take, in: directory, bootID: bootID, ending: ending)))
    }

    private func convertDeferred() {
        guard let directory else { return }
        let takes = deferred
        deferred = []
        for take in takes { addConversion(of: take, in: directory) }
    }

    private func addConversion(of take: TakeName, in directory: TakesDirectory) {
        guard !chores.contains(where: { $0.kind == .convert && $0.take == take }) else { return }
        add(conversion(of: take, in: directory))
    }
}

// MARK: - What there is to do

extension Archivist {
    /// Something to be done, in steps.
    private struct Chore {
        /// What it is, the more urgent first.
        enum Kind: Int, Comparable {
            case discard, recover, date, survey, convert

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
    }

    private static func recovery(_ recovery: TakeRecovery) -> Chore {
        let take = recovery.take
        var reported = 0
        return Chore(kind: .recover, take: take) {
            let outcome = try recovery.step()
            if reported < recovery.shortcomings.count {
                defer { reported += 1 }
                return .note(.reported(Report(.warning, "recover: \(take.stem): \(recovery.shortcomings[reported])")))
            }
            switch outcome {
            case nil: return .more
            case .recovered(let sidecar): return .done(.recovered(take, sidecar))
            case .removed:
                return .done(.reported(Report(.notice, "recover: \(take.stem): nothing was recorded yet: removed")))
            case .discarded:
                return .done(
                    .reported(Report(.notice, "recover: \(take.stem): it was deleted: what was left is removed")))
            case .unchanged: return .done(nil)
            case .left(let sentence): return .done(.reported(Report(.warning, sentence)))
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
            for take in try directory.leftovers() where take.number <= number {
                addRecovery(of: take, in: directory, ending: endings[take])
            }
            for error in directory.newlyUnreadable() {
                outcomes?.post(.reported(Report(.warning, "storage: passed over: \(error)")))
            }
            return .done(nil)
        } failed: {
            .unrecovered("recover: \($0)")
        }
    }

    /// Searches for takes that are still to be converted, the newest first.
    private func survey(of directory: TakesDirectory) -> Chore {
        var left: [TakeName]?
        return Chore(kind: .survey) { [unowned self] in
            var takes = try left ?? directory.takesInWAV()
            if let take = takes.popLast(), (try? directory.awaitsConversion(take)) ?? false {
                addConversion(of: take, in: directory)
            }
            left = takes
            return takes.isEmpty ? .done(nil) : .more
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

    private static func dating(_ directory: TakesDirectory, by truth: TrueStart, kit: String) -> Chore {
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
        chores = []
    }

    private static func storageWentAway(_ take: TakeName) -> Refusal {
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

    private func discarding(of take: TakeName, notAfter end: Instant?) -> Chore {
        Chore(kind: .discard, take: take) { [unowned self] in
            if let end, clock.now() > end {
                let reason = "it comes too late, and nothing is deleted: ask again"
                return .done(.discarded(take, .refused(Refusal(.busy, "discard: \(take.stem): \(reason)"))))
            }
            guard let directory else { return .done(.discarded(take, .refused(Self.storageWentAway(take)))) }
            do throws(FileError) {
                try directory.remove(take)
                return .done(.discarded(take, .deleted))
            } catch {
                guard (try? directory.contains(take)) == false else {
                    return .done(.discarded(take, .refused(Refusal(.io, "discard: \(error)"))))
                }
                let rest = "it is deleted, but for files that are removed when the recorder starts again"
                return .done(.discarded(take, .begun(Refusal(.io, "discard: \(take.stem): \(rest): \(error)"))))
            }
        }
    }
}

package import TakeFiles
package import Takes

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
    /// The calendar was set: the takes of this boot are dated by it.
    case date(TrueStart, kit: String)
    /// Remove a take, whatever else is to be done to it.
    case discard(TakeName)
    /// See whether the storage takes anything.
    case probe
    /// A take is being recorded from now on, or no more: what would slow down its syncs waits.
    case giveWay(Bool)
    case quit
}

/// What the archivist tells the deck.
package enum ArchiveOutcome: Sendable {
    /// There is one take more.
    case recovered(TakeName, Sidecar)
    /// Something could not be recovered now, and is to be tried again; one sentence tells what and why.
    case unrecovered(String)
    /// A take was removed that somebody wanted to be rid of; nil: it was.
    case discarded(TakeName, failure: String?)
    /// The storage takes what is written; nil: it does.
    case probed(failure: String?)
    /// Something that the log should tell.
    case told(Report)
}

/// Keeps the takes that are not being recorded: recovers what a cut left, converts, dates and discards. What it does is
/// done in small steps, one after the other, by whoever calls `turn`: a thread that gives way to all others.
///
/// It alone changes finished takes, so that two changes never meet.
package final class Archivist: @unchecked Sendable {
    package let orders = Mailbox<ArchiveOrder>()
    package let outcomes = Mailbox<ArchiveOutcome>()
    private let reserveBytes: Int64

    // Of the archivist's own thread.
    private var directory: TakesDirectory?
    private var bootID = ""
    private var chores: [Chore] = []
    private var givesWay = false
    /// Takes that could not be converted when it was tried; it is tried again with the next one.
    private var deferred: [TakeName] = []
    /// Whether `quit` was ordered.
    private(set) var hasQuit = false

    /// - Parameter reserveBytes: what must stay free where the takes are.
    package init(reserveBytes: Int64) {
        self.reserveBytes = reserveBytes
    }

    /// Does what is ordered, then one step of what there is to do.
    /// - Returns: whether there is more that can be done now.
    package func turn() -> Bool {
        for order in orders.take() { carryOut(order) }
        guard !hasQuit, let index = nextChore else { return false }
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
        return nextChore != nil
    }

    /// The most urgent of those that may be done now.
    private var nextChore: Int? {
        chores.indices.filter { !givesWay || !chores[$0].kind.burdensStorage }.min {
            (chores[$0].kind, $0) < (chores[$1].kind, $1)
        }
    }

    private func carryOut(_ order: ArchiveOrder) {
        switch order {
        case .keep(let directory, let number, let bootID, let endings):
            // What was to be done elsewhere is found again when that is back.
            chores = []
            deferred = []
            self.directory = directory
            self.bootID = bootID
            add(search(of: directory, upTo: number, endings: endings))
            add(survey(of: directory))
        case .leave:
            chores = []
            directory = nil
        case .recover(let number, let endings):
            if let directory { add(search(of: directory, upTo: number, endings: endings)) }
        case .convert(let take):
            guard let directory else { return }
            let takes = deferred + [take]
            deferred = []
            for take in takes { addConversion(of: take, in: directory) }
        case .date(let truth, let kit):
            guard let directory else { return }
            chores.removeAll { $0.kind == .date }
            add(Self.dating(directory, by: truth, kit: kit))
        case .discard(let take):
            chores.removeAll { $0.take == take }
            add(discarding(of: take))
        case .probe:
            if let directory { add(Self.probing(of: directory)) }
        case .giveWay(let givesWay): self.givesWay = givesWay
        case .quit: hasQuit = true
        }
    }

    private func add(_ chore: Chore) { chores.append(chore) }

    private func addRecovery(of take: TakeName, in directory: TakesDirectory, ending: Sidecar.Ending?) {
        guard !chores.contains(where: { $0.kind == .recover && $0.take == take }) else { return }
        add(Self.recovery(TakeRecovery(of: take, in: directory, bootID: bootID, ending: ending)))
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
            case discard, probe, recover, date, survey, convert

            /// Whether it writes so much that the syncs of a take that is recorded would have to wait for it.
            var burdensStorage: Bool { self == .convert }

            static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
        }

        enum Progress {
            case more
            /// There is more, and something to be told.
            case note(ArchiveOutcome)
            case done(ArchiveOutcome?)
        }

        var kind: Kind
        /// The take that it is about, if it is about one.
        var take: TakeName?
        var step: () throws -> Progress
        /// What is told if a step fails.
        var failed: (String) -> ArchiveOutcome = { .told(Report(.error, $0)) }
    }

    private static func recovery(_ recovery: TakeRecovery) -> Chore {
        let take = recovery.take
        var told = 0
        return Chore(kind: .recover, take: take) {
            let outcome = try recovery.step()
            if told < recovery.shortcomings.count {
                defer { told += 1 }
                return .note(.told(Report(.warning, "recover: \(take.stem): \(recovery.shortcomings[told])")))
            }
            switch outcome {
            case nil: return .more
            case .recovered(let sidecar): return .done(.recovered(take, sidecar))
            case .removed:
                return .done(.told(Report(.notice, "recover: \(take.stem): nothing was recorded yet: removed")))
            case .left(let sentence): return .done(.told(Report(.warning, sentence)))
            }
        } failed: {
            .unrecovered("recover: \(take.stem): \($0)")
        }
    }

    /// Looks for what was left unfinished.
    private func search(
        of directory: TakesDirectory, upTo number: Int, endings: [TakeName: Sidecar.Ending]
    ) -> Chore {
        Chore(kind: .recover) { [unowned self] in
            for take in try directory.leftovers() where take.number <= number {
                addRecovery(of: take, in: directory, ending: endings[take])
            }
            for error in directory.newlyUnreadable() {
                outcomes.post(.told(Report(.warning, "storage: passed over: \(error)")))
            }
            return .done(nil)
        } failed: {
            .unrecovered("recover: \($0)")
        }
    }

    /// Looks for takes that are still to be converted, the newest first.
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
            case .converted: return .done(.told(Report(.info, "convert: \(take.stem): FLAC now")))
            case .kept(_, let sentence): return .done(.told(Report(.warning, sentence)))
            case .later(let sentence):
                deferred.append(take)
                return .done(.told(Report(.warning, sentence)))
            case .nothingToDo: return .done(nil)
            }
        } failed: { [unowned self] in
            deferred.append(take)
            return .told(Report(.error, "convert: \(take.stem): \($0)"))
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
                return .note(.told(Report(.error, "date: \(take.stem): \(error)")))
            }
        }
    }

    private func discarding(of take: TakeName) -> Chore {
        Chore(kind: .discard, take: take) { [unowned self] in
            try directory?.remove(take)
            return .done(.discarded(take, failure: nil))
        } failed: {
            .discarded(take, failure: $0)
        }
    }

    private static func probing(of directory: TakesDirectory) -> Chore {
        Chore(kind: .probe) {
            try directory.probe()
            return .done(.probed(failure: nil))
        } failed: {
            .probed(failure: $0)
        }
    }
}

import Catalog
import Logging
import ServiceLifecycle
import Settings
import TakeFiles
import Takes
import Transport
import Upload
import Workers

/// Deletes takes from the kit, as `keep_local` says, once every store has them whole and verified by hash. The recorder
/// does the deletion.
actor Keeper: ServiceLifecycle.Service {
    private let policy: Settings.Outbox.KeepLocal
    private let catalogs: CatalogSlot
    private let recorder: RecorderLink
    private let reader: DiskReader
    private let discards: DiscardDesk
    /// The stores that answer that they do not have a take.
    private let storesWithout: @Sendable (KitCopy, TakeNotes) async throws -> [String]
    /// Throws unless the sound of a take is what was recorded, or was accepted by a person.
    private let checkSound: @Sendable (TakeName, _ folder: String) async throws -> Void
    private let window: RejoinWindow
    private let clock: any Clock
    private let log: Logger
    private let executor: ThreadExecutor
    private nonisolated let looks = Looks()
    /// Takes that were already examined, or sent to the recorder for deletion, in this round.
    private var asked: Set<TakeIdentity> = []
    /// Takes of this round that a person restored from the bin.
    private var restored: [LocatedTake] = []
    /// Takes for which the check of their copies failed.
    private var unfit: [TakeIdentity: Unfit] = [:]
    /// The stores that lost a take and were sent it again.
    private var losses: [TakeIdentity: Set<String>] = [:]
    /// Why takes were not deleted. Each reason is logged once.
    private var reported: [TakeIdentity: String] = [:]
    private var reportedOfRecorder = ""

    /// Space is freed while less than this many seconds can be recorded.
    static let leastSeconds = 600
    /// The interval of the checks, because a long take may fill the disk in the meantime.
    private static let interval = Duration.seconds(60)
    private static let shortestPause = Duration.seconds(60)
    private static let longestPause = Duration.seconds(3600)

    /// A take for which the check of its copies failed. Each further attempt reads the take and its copies again.
    private struct Unfit {
        /// The version at that time, or nil if its sidecar could not be read.
        var version: TakeVersion?
        /// The time of the next attempt, unless the take changes earlier.
        var until: Instant
        var failures: Int
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(
        _ policy: Settings.Outbox.KeepLocal, _ catalogs: CatalogSlot, recorder: RecorderLink, reader: DiskReader,
        discards: DiscardDesk, storesWithout: @escaping @Sendable (KitCopy, TakeNotes) async throws -> [String],
        checkSound: @escaping @Sendable (TakeName, _ folder: String) async throws -> Void = { _, _ in },
        window: RejoinWindow = RejoinWindow(length: .zero, bootID: ""), clock: any Clock = SystemClock(), log: Logger
    ) throws {
        self.window = window
        self.clock = clock
        self.checkSound = checkSound
        self.policy = policy
        self.catalogs = catalogs
        self.recorder = recorder
        self.reader = reader
        self.discards = discards
        self.storesWithout = storesWithout
        self.log = log
        executor = try ThreadExecutor(name: "keeper")
    }

    /// Requests a check. Thread-safe.
    nonisolated func look() { looks.ask() }

    /// Frees space until shutdown.
    func run() async throws {
        await looks.run(each: Self.interval, look: free)
    }

    private func free() async {
        (asked, restored) = ([], [])
        while await isNeeded(), let (take, terms) = await nextTake() {
            guard await discard(take, terms) else { return }
        }
    }

    /// Asks the recorder to delete a take that is in hand.
    /// - Returns: false if no recorder answers, so that further orders would fail too.
    private func discard(_ take: LocatedTake, _ terms: DiscardTerms) async -> Bool {
        let (stem, identity) = (take.take.stem, take.identity)
        var terms = terms
        // If space is needed, the bin would be emptied anyway, and takes in the bin already count as free space.
        terms.isFinal = policy == .untilNeeded
        switch await discards.discard(identity, terms) {
        case .deleted:
            reported[identity] = nil
            log.notice("outbox: \(stem): deleted from the kit: every store has it")
        case .refused(let refusal) where refusal.code == .notFound:
            // A take that was deleted in the meantime needs no report.
            if (try? KitCopy(take.take, in: take.folder)) != nil {
                report(identity, "the recorder does not know it until its next start, although its files are there")
            }
        // For example, the take is being played.
        case .refused(let refusal): report(identity, refusal.message)
        case .away(let error), .unanswered(let error):
            if reportedOfRecorder != "\(error)" { log.info("outbox: no take is deleted from the kit: \(error)") }
            reportedOfRecorder = "\(error)"
            return false
        }
        reportedOfRecorder = ""
        return true
    }

    private func report(_ take: TakeIdentity, _ reason: String) {
        if reported[take] != reason { log.info("outbox: \(take.stem): not deleted from the kit: \(reason)") }
        reported[take] = reason
    }

    private func isNeeded() async -> Bool {
        switch policy {
        case .always: false
        case .untilUploaded: true
        case .untilNeeded: await recorder.secondsLeft.map { $0 < Self.leastSeconds } ?? false
        }
    }

    /// The next take that may be deleted. It is in hand.
    private func nextTake() async -> (take: LocatedTake, DiscardTerms)? {
        while true {
            var takes: [LocatedTake] = []
            attempt { takes = try catalogs.catalog.sentTakes(limit: 20 + asked.count) }
            takes.removeAll { asked.contains($0.identity) }
            // Restored takes stay until a person deletes them. Only if space is needed are they deleted, as the last
            // ones.
            let isRest = takes.isEmpty
            if isRest {
                guard policy == .untilNeeded, !restored.isEmpty else { return nil }
                takes = [restored.removeFirst()]
            }
            for take in takes {
                let identity = take.identity
                asked.insert(identity)
                let copy = try? KitCopy(take.take, in: take.folder)
                if let unfit = unfit[identity], unfit.version == copy?.version, clock.now() < unfit.until { continue }
                if let copy, window.isOpen(for: copy.sidecar, at: clock.now()) { continue }
                if !isRest, copy?.sidecar.restored == true {
                    restored.append(take)
                    continue
                }
                guard (try? catalogs.inHand.beginDeleting(.take(identity))) != nil else { continue }
                if let terms = await provenTerms(of: take) { return (take, terms) }
                catalogs.inHand.endDeleting(.take(identity))
            }
        }
    }

    /// Checks what the database says against the receipts, against the files of the take on the disk now, and against
    /// the stores that can be reached.
    /// - Returns: the version of the take that every store has, and its folder; or nil if the take must stay.
    private func provenTerms(of take: LocatedTake) async -> DiscardTerms? {
        let (identity, catalog) = (take.identity, catalogs.catalog)
        do {
            let copy = try KitCopy(take.take, in: take.folder)
            let notes = try catalog.notes(of: identity)
            // Another take may have replaced it since the query.
            guard copy.sidecar.identity == identity, copy.isAtHome(notes, catalog.stores) else { return nil }
            try await checkSound(take.take, take.folder)
            let found = try await copy.check(notes, reader)
            if !found.isEmpty { _ = try catalog.note(identity) { notes in found.forEach { notes.setHash($0) } } }
            let without = try await storesWithout(copy, notes)
            guard without.isEmpty else {
                try sendAgain(identity, to: without)
                return nil
            }
            (unfit[identity], losses[identity]) = (nil, nil)
            return copy.terms
        } catch {
            report(identity, (error as? Refusal)?.message ?? (error as? StoreError)?.sentence ?? "\(error)")
            let version = (try? KitCopy(take.take, in: take.folder))?.version
            let failures = (unfit[identity].flatMap { $0.version == version ? $0.failures : 0 } ?? 0) + 1
            unfit[identity] = Unfit(
                version: version, until: clock.now() + Self.pause(after: failures), failures: failures)
            return nil
        }
    }

    /// The time before a take is read again: one minute, doubled with each failure, at most one hour.
    static func pause(after failures: Int) -> Duration {
        min(longestPause, shortestPause * (1 << min(failures - 1, 6)))
    }

    /// Schedules a take for upload again to stores that no longer have it. If the same store lost the take before, the
    /// take is held, because it would be sent again and lost again for ever.
    private func sendAgain(_ take: TakeIdentity, to stores: [String]) throws {
        let revision = try catalogs.catalog.note(take) { notes in
            for name in stores { notes[receiptOf: name]?.doubt() }
        }.revision
        for name in stores {
            guard losses[take, default: []].insert(name).inserted else {
                let why =
                    "outbox: \(name): was sent the take twice, and does not have it as it was sent: check that store, "
                    + "then 'fieldfare outbox retry'"
                try catalogs.catalog.failed(
                    .take(take), of: revision, for: name, why: why, .byPersonOnly, at: clock.wallTime())
                log.warning("\(why): \(take.stem) is held")
                continue
            }
            log.warning("outbox: \(take.stem): is no longer at \(name): it will be sent again")
        }
    }

    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            log.error("outbox: \(error)")
        }
    }
}

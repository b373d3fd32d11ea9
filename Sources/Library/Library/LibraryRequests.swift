import Catalog
import Control
import TakeFiles
import Takes
import Transport
import Upload

/// Carries out requests. All functions may block on the disk.
struct LibraryRequests: Sendable {
    private let catalogs: CatalogSlot
    private let progress: ScanProgress
    private let outbox: OutboxRequests
    private let pairing: PairingCodeFile
    private let fingerprint: CertificateFingerprint?
    private let reportDamage: @Sendable () -> Void

    /// - Parameters:
    ///   - fingerprint: that of the console's certificate, or nil without a certificate.
    ///   - reportDamage: called when the database turns out to be damaged.
    init(
        _ catalogs: CatalogSlot, progress: ScanProgress, outbox: OutboxRequests, pairing: PairingCodeFile,
        fingerprint: CertificateFingerprint?, reportDamage: @escaping @Sendable () -> Void
    ) {
        self.catalogs = catalogs
        self.progress = progress
        self.outbox = outbox
        self.pairing = pairing
        self.fingerprint = fingerprint
        self.reportDamage = reportDamage
    }

    private var catalog: Catalog { catalogs.catalog }

    func status() throws(Refusal) -> LibraryStatus {
        try refusing("status") {
            let counts = try catalog.counts()
            let problems = progress.problems
            return LibraryStatus(
                takes: counts.takes, elsewhere: counts.elsewhere,
                scan: progress.scan.map { LibraryStatus.Scan(done: $0.done, total: $0.total) },
                kits: try catalog.kits(),
                directories: try catalog.storages().map { LibraryStatus.Directory(path: $0.path, storage: $0.mark) },
                problems: problems.prefix(LibraryStatus.mostProblems).map { .init(take: $0.take, problem: $0.problem) },
                problemCount: problems.count,
                version: fieldfareVersion)
        }
    }

    func takes(_ query: TakeQuery) throws(Refusal) -> TakePage {
        let zone = try LocalZone(named: query.zone, for: "takes")
        return try refusing("takes") { try catalog.page(query, in: zone) }
    }

    /// The takes that began in each of some stretches of time.
    func counts(in stretches: [Range<WallTime>]) throws(Refusal) -> [Catalog.TakeCount] {
        try refusing("days") { try catalog.counts(in: stretches) }
    }

    /// The takes that were recorded in a stretch of time, also in part.
    func takes(in stretch: Range<WallTime>) throws(Refusal) -> [Catalog.TimedTake] {
        try refusing("day") { try catalog.takes(in: stretch) }
    }

    func markers(of take: Catalog.TimedTake) throws(Refusal) -> [Sidecar.Marker] {
        try refusing("day") { try catalog.markers(of: take) }
    }

    func sidecar(of take: Catalog.TimedTake) throws(Refusal) -> Sidecar? {
        try refusing("day") { try catalog.sidecar(of: take) }
    }

    func show(_ reference: TakeReference) throws(Refusal) -> ShowReply {
        try refusing("show") {
            let take = try find(reference, "show")
            guard let sidecar = try catalog.sidecar(of: take.identity) else { throw missing(reference, "show") }
            let (notes, problem) = try catalog.readableNotes(of: take.identity)
            let recorded = try SidecarFile.sidecar(Array(sidecar.utf8), path: take.take).markers
            return try ShowReply(
                take: take, notes: notes.shown, problem: problem?.description, markers: notes.markers(of: recorded),
                sidecar: JSONValue(decoding: sidecar.utf8))
        }
    }

    /// Applies several changes to one take: all of them or none.
    /// - Parameter name: the request's name, with which a refusal begins.
    func change(
        _ reference: TakeReference, _ changes: [NotesChange], for name: String
    ) throws(Refusal) -> TakeReply {
        try changing(reference, for: name) { take in
            let end = try end(of: take.identity)
            let changed = try catalog.note(take.identity) { notes, recorded in
                for change in changes { try change.apply(to: &notes, of: take, end: end, recorded: recorded) }
            }
            // The notes file was written anew, so an earlier problem is gone.
            progress.settle(take.take)
            outbox.post(.takes)
            return changed
        }
    }

    func outbox(limit: Int) throws(Refusal) -> OutboxReport {
        try refusing("outbox") { try outbox.report(catalog, limit: limit) }
    }

    func carryOut(_ wish: OutboxWish) throws(Refusal) -> OutboxReport {
        try refusing(wish.rawValue) {
            try outbox.carryOut(wish, catalog)
            return try outbox.report(catalog, limit: LibraryMessage.outboxLimit)
        }
    }

    func carryOut(_ decision: OutboxDecision, of reference: TakeReference) throws(Refusal) -> TakeReply {
        try changing(reference, for: decision.rawValue) { take in
            try outbox.carryOut(decision, of: take.identity, catalog)
        }
    }

    /// - Parameter isNew: whether to replace the code first.
    func pairingCode(isNew: Bool) throws(Refusal) -> PairingCodeReply {
        try refusing("pairing-code") {
            if isNew { try pairing.renew() }
            return PairingCodeReply(code: pairing.code.digits, fingerprint: fingerprint?.description)
        }
    }

    func take(_ stem: String, for name: String) throws(Refusal) -> CatalogedTake {
        try refusing(name) { try find(.stem(stem), name) }
    }

    /// Finds a take again by its identity.
    func take(_ take: TakeIdentity, for name: String) throws(Refusal) -> CatalogedTake {
        try refusing(name) {
            guard let found = try catalog.find(.stem(take.stem)).first(where: { $0.identity == take }) else {
                throw missing(.stem(take.stem), name)
            }
            return found
        }
    }

    private func refusing<Result>(_ name: String, _ body: () throws -> Result) throws(Refusal) -> Result {
        do {
            return try body()
        } catch let refusal as Refusal {
            throw refusal
        } catch let error as TakePage.UnreadableMark {
            throw Refusal(.usage, "\(error)")
        } catch {
            if Catalog.isDamage(error) { reportDamage() }
            throw Refusal(.catalog(message: "\(name): \(error)"))
        }
    }

    /// The notes of a take; empty if they are damaged.
    func notes(of take: TakeIdentity, for name: String) throws(Refusal) -> TakeNotes {
        try refusing(name) { try catalog.readableNotes(of: take).notes }
    }

    /// Changes a take. A take that is being deleted is refused.
    private func changing(
        _ reference: TakeReference, for name: String, _ body: (CatalogedTake) throws -> CatalogedTake
    ) throws(Refusal) -> TakeReply {
        try refusing(name) {
            let take = try find(reference, name)
            try catalogs.inHand.checkNotDeleted(.take(take.identity))
            do {
                return TakeReply(take: try body(take))
            } catch is Catalog.NoSuchTake {
                // The take was deleted in the meantime.
                throw missing(reference, name)
            }
        }
    }

    /// The frame after the last one of a take. It can exceed the number of frames, because there can be a gap between
    /// two parts.
    private func end(of take: TakeIdentity) throws -> TakeFrame {
        guard let text = try catalog.sidecar(of: take) else { return .first }
        let sidecar = try SidecarFile.sidecar(Array(text.utf8), path: take.stem)
        return sidecar.end
    }

    private func find(_ reference: TakeReference, _ name: String) throws -> CatalogedTake {
        let found = try catalog.find(reference)
        guard let take = found.first else { throw missing(reference, name) }
        guard found.count == 1 else {
            guard Set(found.map(\.take)).count < found.count else {
                let stems = found.prefix(5).map(\.take).joined(separator: ", ")
                throw Refusal(
                    .badData, "\(name): \(reference): there are \(found.count): \(stems): name one by its stem")
            }
            let takes = found.prefix(5).map { "\($0.identity.origin) in \($0.folder)" }.joined(separator: ", ")
            throw Refusal(.ofSeveralKits(command: name, reference, count: found.count, takes: takes))
        }
        return take
    }

    private func missing(_ reference: TakeReference, _ name: String) -> Refusal {
        guard progress.hasScanned else {
            return Refusal(.stillRead(command: name, reference))
        }
        return Refusal(.unknown(command: name, reference))
    }
}

extension TakeNotes {
    /// The notes as peers may see them. A complete stick mark is secret: it would allow anyone to make another stick
    /// that counts as this one.
    fileprivate var shown: TakeNotes {
        var notes = self
        for index in notes.receipts.indices {
            notes.receipts[index].stick = notes.receipts[index].stick.map(StickMark.short)
        }
        return notes
    }
}

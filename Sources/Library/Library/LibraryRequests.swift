import Catalog
import Control
import FoundationEssentials
import TakeFiles
import Takes
import Transport
import Upload

/// Carries out the requests of peers, one after the other, on a thread that may block on the disk.
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

    /// - Returns: the reply as a JSON object.
    func answer(_ message: LibraryMessage) throws(Refusal) -> String {
        let name = message.members["command"]?.text ?? "control"
        do {
            return try reply(to: message, name)
        } catch let refusal as Refusal {
            throw refusal
        } catch let error as TakePage.UnreadableMark {
            throw Refusal(.usage, "\(error)")
        } catch {
            if Catalog.isDamage(error) { reportDamage() }
            throw Refusal(.io, "\(name): \(error)")
        }
    }

    /// Applies several changes to one take: all of them or none.
    /// - Returns: the reply as a JSON object.
    func change(_ stem: String, _ messages: [LibraryMessage]) throws(Refusal) -> String {
        do {
            return try json(change(.stem(stem), "take", messages))
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            if Catalog.isDamage(error) { reportDamage() }
            throw Refusal(.io, "take: \(error)")
        }
    }

    private func reply(to message: LibraryMessage, _ name: String) throws -> String {
        switch message {
        case .takes(let query): return try catalog.page(query).json
        case .status: return try json(status())
        case .show(let reference):
            let take = try find(reference, name)
            guard let sidecar = try catalog.sidecar(of: take.identity) else { throw missing(reference, name) }
            let (notes, problem) = try catalog.readableNotes(of: take.identity)
            let recorded = try SidecarFile.sidecar(Array(sidecar.utf8), path: take.take).markers
            return try json(
                ShowReply(
                    take: take, notes: notes.shown, problem: problem?.description, markers: notes.markers(of: recorded),
                    sidecar: JSONValue(decoding: sidecar.utf8)))
        case .memo(let reference, _, _), .tag(let reference, _, _), .star(let reference, _),
            .markers(let reference, _, _):
            return try json(change(reference, name, [message]))
        case .outbox(let limit): return try json(outbox.report(catalog, limit: limit))
        case .outboxWish(let wish):
            try outbox.carryOut(wish, catalog)
            return try json(outbox.report(catalog, limit: LibraryMessage.outboxLimit))
        case .outboxDecision(let decision, let reference):
            let take = try find(reference, name)
            try catalogs.inHand.checkNotDeleted(.take(take.identity))
            do {
                return try json(TakeReply(take: outbox.carryOut(decision, of: take.identity, catalog)))
            } catch is Catalog.NoSuchTake {
                throw missing(reference, name)
            }
        case .pairingCode(let isNew):
            if isNew { try pairing.renew() }
            return try json(PairingCodeReply(code: pairing.code.digits, fingerprint: fingerprint?.description))
        case .remote, .delete, .acceptDamaged, .adoptStick: throw Refusal(.internal, "\(name): is answered elsewhere")
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
        } catch {
            if Catalog.isDamage(error) { reportDamage() }
            throw Refusal(.io, "\(name): \(error)")
        }
    }

    /// The notes of a take; empty if they are damaged.
    func notes(of take: TakeIdentity, for name: String) throws(Refusal) -> TakeNotes {
        do {
            return try catalog.readableNotes(of: take).notes
        } catch {
            throw Refusal(.io, "\(name): \(error)")
        }
    }

    private func json(_ object: some Encodable) throws(Refusal) -> String {
        guard let text = jsonText(object) else { throw Refusal(.internal, "control: the reply cannot be written") }
        return text
    }

    private func status() throws -> LibraryStatus {
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

    /// Changes the notes of a take in one step.
    private func change(_ reference: TakeReference, _ name: String, _ messages: [LibraryMessage]) throws -> TakeReply {
        let take = try find(reference, name)
        try catalogs.inHand.checkNotDeleted(.take(take.identity))
        let changes = messages.compactMap { NotesChange($0) }
        let end = try end(of: take.identity)
        do {
            let changed = try catalog.note(take.identity) { notes, recorded in
                for change in changes { try change.apply(to: &notes, of: take, end: end, recorded: recorded) }
            }
            // The notes file was written anew, so an earlier problem is gone.
            progress.settle(take.take)
            outbox.post(.takes)
            return TakeReply(take: changed)
        } catch is Catalog.NoSuchTake {
            // The take was deleted in the meantime.
            throw missing(reference, name)
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
            throw Refusal(
                .badData,
                "\(name): \(reference): takes of \(found.count) kits have this name: \(takes): name one by its kit_id and number, "
                    + "as these are"
            )
        }
        return take
    }

    private func missing(_ reference: TakeReference, _ name: String) -> Refusal {
        guard progress.hasScanned else {
            return Refusal(.busy, "\(name): \(reference): not found yet, the library still reads the takes: try again")
        }
        return Refusal(.notFound, "\(name): \(reference): the library knows no such take")
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

struct TakeReply: Encodable, Sendable {
    var take: CatalogedTake
}

struct ShowReply: Encodable, Sendable {
    var take: CatalogedTake
    var notes: TakeNotes
    /// Why the notes cannot be read, or null.
    @ExplicitNull var problem: String?
    /// The markers after all changes in the notes.
    var markers: [Sidecar.Marker]
    var sidecar: JSONValue
}

/// The code for pairing phones, and the fingerprint by which a person recognises the console's certificate.
struct PairingCodeReply: Encodable, Sendable {
    var code: String
    @ExplicitNull var fingerprint: String?
}

struct LibraryStatus: Encodable, Sendable {
    var takes: Int
    /// The number of takes on storages that are not present.
    var elsewhere: Int
    /// The scan in progress, or null.
    @ExplicitNull var scan: Scan?
    /// The kits that recorded the takes.
    var kits: [String]
    var directories: [Directory]
    /// The first takes whose sidecar or notes cannot be used.
    var problems: [Problem]
    /// The number of all problems.
    var problemCount: Int
    var version: String

    /// Further problems are only counted.
    static let mostProblems = 20

    struct Problem: Codable, Sendable {
        var take: String
        var problem: String
    }

    enum CodingKeys: String, CodingKey {
        case takes, elsewhere, scan, kits, directories, problems, version
        case problemCount = "problem_count"
    }

    struct Scan: Codable, Sendable {
        var done: Int
        /// The number of takes found so far.
        var total: Int
    }

    /// A folder for takes whose storage is present.
    struct Directory: Codable, Sendable {
        var path: String
        /// The mark that identifies the storage.
        var storage: String
    }
}

import Catalog
import Control
import FoundationEssentials
import TakeFiles
import Takes
import Transport
import Upload

/// Carries out what peers ask of the library, one request after the other, on a thread that may wait for the disk.
struct LibraryRequests: Sendable {
    private let catalogs: CatalogSlot
    private let progress: ScanProgress
    private let outbox: OutboxRequests
    private let pairing: PairingCodeFile
    private let fingerprint: CertificateFingerprint?
    private let reportDamage: @Sendable () -> Void

    /// - Parameters:
    ///   - fingerprint: of the console's certificate; nil: it has none.
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

    /// Carries out one request.
    /// - Returns: the object of the reply, JSON.
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

    /// Carries out several changes of one take: all of them, or none.
    /// - Returns: the object of the reply, JSON.
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

    /// A take by its stem.
    func take(_ stem: String, for name: String) throws(Refusal) -> CatalogedTake {
        try refusing(name) { try find(.stem(stem), name) }
    }

    /// A take that was found before.
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

    /// What is noted of a take; nothing, if that is damaged.
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

    /// Changes what is noted of a take in one step.
    private func change(_ reference: TakeReference, _ name: String, _ messages: [LibraryMessage]) throws -> TakeReply {
        let take = try find(reference, name)
        try catalogs.inHand.checkNotDeleted(.take(take.identity))
        let changes = messages.compactMap { NotesChange($0) }
        let end = try end(of: take.identity)
        do {
            let changed = try catalog.note(take.identity) { notes, recorded in
                for change in changes { try change.apply(to: &notes, of: take, end: end, recorded: recorded) }
            }
            // The file was written anew.
            progress.settle(take.take)
            outbox.post(.takes)
            return TakeReply(take: changed)
        } catch is Catalog.NoSuchTake {
            // It was deleted meanwhile.
            throw missing(reference, name)
        }
    }

    /// The frame behind the last one of a take. A part may begin later than the one before it ended, so the number of frames may be less.
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
    /// The notes as strangers may see them: whoever knows all of a stick's mark can make another one that counts as it.
    fileprivate var shown: TakeNotes {
        var notes = self
        for index in notes.receipts.indices {
            notes.receipts[index].stick = notes.receipts[index].stick.map(StickMark.short)
        }
        return notes
    }
}

/// A take after a change.
struct TakeReply: Encodable, Sendable {
    var take: CatalogedTake
}

/// A take, with all that is known of it.
struct ShowReply: Encodable, Sendable {
    var take: CatalogedTake
    var notes: TakeNotes
    /// Why what was noted cannot be read; null: it can.
    @ExplicitNull var problem: String?
    /// As they are now.
    var markers: [Sidecar.Marker]
    var sidecar: JSONValue
}

/// The code by which phones are paired, and the fingerprint by which a person recognises the console's certificate.
struct PairingCodeReply: Encodable, Sendable {
    var code: String
    @ExplicitNull var fingerprint: String?
}

/// What the library has.
struct LibraryStatus: Encodable, Sendable {
    var takes: Int
    /// Of these, on storages that are out.
    var elsewhere: Int
    /// The scan that is under way.
    @ExplicitNull var scan: Scan?
    /// That recorded them.
    var kits: [String]
    var directories: [Directory]
    /// Takes whose sidecar or notes cannot be used as they are, the first of them.
    var problems: [Problem]
    /// How many there are.
    var problemCount: Int
    var version: String

    /// More are only counted.
    static let mostProblems = 20

    struct Problem: Codable, Sendable {
        var take: String
        /// One sentence.
        var problem: String
    }

    enum CodingKeys: String, CodingKey {
        case takes, elsewhere, scan, kits, directories, problems, version
        case problemCount = "problem_count"
    }

    struct Scan: Codable, Sendable {
        var done: Int
        /// Of those that were found so far.
        var total: Int
    }

    /// A folder for takes whose storage is in.
    struct Directory: Codable, Sendable {
        var path: String
        /// What tells its storage from another one.
        var storage: String
    }
}

import Catalog
import Control
import FoundationEssentials
import TakeFiles
import Takes
import Transport

/// Carries out what peers ask of the library, one request after the other, on a thread that may wait for the disk.
struct LibraryRequests: Sendable {
    private let catalogs: CatalogSlot
    private let progress: ScanProgress
    private let outbox: OutboxRequests
    private let reportDamage: @Sendable () -> Void

    /// - Parameter reportDamage: called when the database turns out to be damaged.
    init(
        _ catalogs: CatalogSlot, progress: ScanProgress, outbox: OutboxRequests,
        reportDamage: @escaping @Sendable () -> Void
    ) {
        self.catalogs = catalogs
        self.progress = progress
        self.outbox = outbox
        self.reportDamage = reportDamage
    }

    private var catalog: Catalog { catalogs.catalog }

    /// Carries out one request.
    /// - Returns: the object of the reply.
    func answer(_ message: LibraryMessage) throws(Refusal) -> any Encodable & Sendable {
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

    private func reply(to message: LibraryMessage, _ name: String) throws -> any Encodable & Sendable {
        switch message {
        case .status: return try status()
        case .takes(let query):
            let page = try catalog.page(query)
            return PageReply(takes: page.takes, next: page.next)
        case .show(let reference):
            let take = try find(reference, name)
            guard let sidecar = try catalog.sidecar(of: take.take) else { throw missing(reference, name) }
            return try ShowReply(
                take: take, notes: catalog.notes(of: take.take), sidecar: JSONValue(decoding: sidecar.utf8))
        case .memo(let reference, let memo):
            let changed = try note(reference, name) { notes in
                guard notes.memo != memo else { return }
                notes.memo = memo
                // It is sent once more: the memo alone, and what else has changed.
                for index in notes.receipts.indices { notes.receipts[index].completed = nil }
            }
            outbox.post(.takes)
            return changed
        case .tag(let reference, let adding, let removing):
            let take = try find(reference, name)
            let count = Set(take.tags).union(adding).subtracting(removing).count
            guard count <= TakeNotes.mostTags else {
                throw Refusal(.usage, "tag: \(take.take) would have \(count) tags, allowed are \(TakeNotes.mostTags)")
            }
            return try note(reference, name) { $0.tag(adding: adding, removing: removing) }
        case .star(let reference, let isStarred):
            return try note(reference, name) { $0.starred = isStarred }
        case .outbox(let limit): return try outbox.report(catalog, limit: limit)
        case .outboxWish(let wish):
            try outbox.carryOut(wish, catalog)
            return try outbox.report(catalog, limit: LibraryMessage.outboxLimit)
        case .outboxDecision(let decision, let reference):
            let take = try find(reference, name)
            do {
                return TakeReply(take: try outbox.carryOut(decision, of: take.take, catalog))
            } catch is Catalog.NoSuchTake {
                throw missing(reference, name)
            }
        case .remote: throw Refusal(.internal, "\(name): is answered elsewhere")
        }
    }

    /// A take by its stem.
    func take(_ stem: String, for name: String) throws(Refusal) -> CatalogedTake {
        do {
            return try find(.stem(stem), name)
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            if Catalog.isDamage(error) { reportDamage() }
            throw Refusal(.io, "\(name): \(error)")
        }
    }

    private func status() throws -> LibraryStatus {
        let counts = try catalog.counts()
        return LibraryStatus(
            takes: counts.takes, elsewhere: counts.elsewhere,
            scan: progress.scan.map { LibraryStatus.Scan(done: $0.done, total: $0.total) },
            directories: try catalog.storages().map { LibraryStatus.Directory(path: $0.path, storage: $0.mark) },
            version: fieldfareVersion)
    }

    private func note(
        _ reference: TakeReference, _ name: String, _ change: (inout TakeNotes) -> Void
    ) throws -> TakeReply {
        let take = try find(reference, name)
        do {
            return TakeReply(take: try catalog.note(take.take, change))
        } catch is Catalog.NoSuchTake {
            // It was deleted meanwhile.
            throw missing(reference, name)
        }
    }

    private func find(_ reference: TakeReference, _ name: String) throws -> CatalogedTake {
        let found = try catalog.find(reference)
        guard let take = found.first else { throw missing(reference, name) }
        guard found.count == 1 else {
            let stems = found.prefix(5).map(\.take).joined(separator: ", ")
            throw Refusal(
                .badData, "\(name): \(reference): there are \(found.count): \(stems): name one by its stem")
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

/// A page of takes.
struct PageReply: Encodable, Sendable {
    var takes: [CatalogedTake]
    @ExplicitNull var next: String?
}

/// A take after a change.
struct TakeReply: Encodable, Sendable {
    var take: CatalogedTake
}

/// A take, with all that is known of it.
struct ShowReply: Encodable, Sendable {
    var take: CatalogedTake
    var notes: TakeNotes
    var sidecar: JSONValue
}

/// What the library has.
struct LibraryStatus: Encodable, Sendable {
    var takes: Int
    /// Of these, on storages that are out.
    var elsewhere: Int
    /// The scan that is under way.
    @ExplicitNull var scan: Scan?
    var directories: [Directory]
    var version: String

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

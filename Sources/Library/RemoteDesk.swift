import AsyncAlgorithms
import Catalog
import Control
import Digests
import FoundationEssentials
import Takes
import Transport
import Upload

/// Answers what peers ask of the stores. Each peer draws one list or file at a time, piece by piece, as fast as it takes them.
actor RemoteDesk {
    private let stores: [Stores.Entry]
    private let problems: [(name: String, error: StoreError)]
    private let catalogs: CatalogSlot
    private var draws: [PeerID: Draw] = [:]

    private typealias Pieces = AsyncThrowingChannel<RemotePiece, any Error>

    /// What a peer draws.
    private struct Draw {
        var pieces: Pieces
        var task: Task<Void, Never>
    }

    /// As many bytes of a file as a reply has.
    private static let pieceByteCount = 36 << 10
    /// As many files of a list as a reply has.
    private static let pieceObjectCount = 100

    init(_ stores: Stores, _ catalogs: CatalogSlot) {
        self.stores = stores.all
        problems = stores.problems
        self.catalogs = catalogs
    }

    /// Carries out a request.
    /// - Parameter peer: who asks.
    func answer(_ request: RemoteRequest, of peer: PeerID) async throws(Refusal) -> RemotePiece {
        do {
            switch request {
            case .list(let name): return try await begin(listing(try store(name)), of: peer)
            case .get(let name, let path): return try await begin(reading(try object(path), try store(name)), of: peer)
            case .delete(let name, let path): return try await delete(try object(path), try store(name))
            case .next: return try await next(of: peer)
            }
        } catch let refusal as Refusal {
            throw refusal
        } catch let error as StoreError {
            throw Refusal(Self.code(of: error), error.sentence)
        } catch {
            throw Refusal(.io, "remote: \(error)")
        }
    }

    /// Ends what peers drew that are gone.
    func end(of peers: Set<PeerID>) {
        for peer in peers { draws.removeValue(forKey: peer)?.task.cancel() }
    }

    private static func code(of error: StoreError) -> Refusal.Code {
        switch error.problem {
        case .away, .busy: .busy
        case .refused: .denied
        case .missing: .notFound
        case .full, .conflict, .damaged, .unreadable: .io
        }
    }

    /// Deletes all files of a take from every store that may have any of them, by its receipts. The take, which the caller has in
    /// hand, is not sent again.
    /// - Parameters:
    ///   - name: the only store that is meant; nil: each.
    ///   - leavesKit: whether the copy on the kit will be the last one: then no store may have anything else than that.
    func deleteEverywhere(_ copy: KitCopy, in name: String?, leavesKit: Bool) async throws(Refusal) {
        let (take, sidecar) = (copy.take, copy.sidecar)
        do {
            let noted = try catalogs.catalog.notes(of: take.stem).of(sidecar.origin).receipts
            let only = try name.map { try store($0).name }
            var receipts = noted.filter { only == nil || $0.store == only }
            if let only, receipts.isEmpty { receipts = [UploadReceipt(store: only)] }
            let last = try object("\(take.day)/\(take.stem).json")
            // While one of them is away, all keep what they have, and their receipts.
            for receipt in receipts {
                let store = try store(noted: receipt.store, take)
                try await check(receipt, store, take)
                if leavesKit { try await check(copy, receipt, store) }
            }
            for receipt in receipts {
                let store = try store(noted: receipt.store, take)
                // Also what an attempt that failed halfway has crossed out: the receipt itself goes last.
                let names = Set(
                    receipt.files.map(\.file) + sidecar.audioFiles + [".dat", ".txt"].map { take.stem + $0 })
                let others = try names.sorted().map { try object("\(take.day)/\($0)") }
                // The sidecar goes first: without it there is no take.
                for object in [last] + others.filter({ $0 != last }) {
                    do {
                        try await delete(object, of: take.stem, store)
                    } catch let error as StoreError where error.problem == .missing {}
                }
                try catalogs.catalog.noteAnyway(take.stem) { $0.receipts.removeAll { $0.store == store.name } }
            }
        } catch let refusal as Refusal {
            throw refusal
        } catch let error as StoreError {
            throw Refusal(Self.code(of: error), error.sentence)
        } catch {
            throw Refusal(.io, "remote: \(error)")
        }
    }

    /// That a store has each file that its receipt names: where it has not, another stick or folder may be in its place.
    private func check(_ receipt: UploadReceipt, _ store: any Store, _ take: TakeName) async throws {
        // Also without a receipt of any file a store that is away is found.
        for file in receipt.files.map(\.file) + ["\(take.stem).json"] {
            let there = try await store.head(try object("\(take.day)/\(file)"))
            guard there != nil || receipt.sha256(of: file) == nil else {
                throw Refusal(
                    .busy,
                    "delete: \(take.stem): \(store.name) does not have \(file), though it was sent there: see whether it is the "
                        + "right stick or folder, or delete the take on the kit alone")
            }
        }
    }

    /// That a store has no sound that the kit has not.
    private func check(_ copy: KitCopy, _ receipt: UploadReceipt, _ store: any Store) async throws {
        let take = copy.take
        let other = "it has more than the kit: compare both, or delete the take on the kit alone"
        guard receipt.revision ?? 0 <= copy.sidecar.revision else {
            throw Refusal(.busy, "delete: \(take.stem): \(store.name) has a later state of it: \(other)")
        }
        for file in copy.sidecar.audioFiles {
            guard let there = try await store.head(try object("\(take.day)/\(file)")) else { continue }
            guard there.byteCount == copy.byteCount(of: file) else {
                throw Refusal(.busy, "delete: \(take.stem): \(file) at \(store.name) has another length: \(other)")
            }
        }
    }

    /// The stores that say now that they do not have what their receipts name, whole. One that cannot be reached, and a stick, of which
    /// another may be in, say nothing.
    func storesWithout(_ take: TakeName, _ notes: TakeNotes) async -> [String] {
        var found: [String] = []
        for entry in stores where entry.plan.mount == nil {
            guard let receipt = notes[receiptOf: entry.store.name] else { continue }
            for file in receipt.files {
                let object = ObjectName(day: take.day, file: file.file)
                do {
                    guard try await entry.store.head(object)?.byteCount != file.bytes else { continue }
                    found.append(entry.store.name)
                } catch {}
                break
            }
        }
        return found
    }

    // MARK: Stores

    /// The store of a receipt.
    private func store(noted name: String, _ take: TakeName) throws(Refusal) -> any Store {
        if let store = stores.first(where: { $0.store.name == name })?.store { return store }
        if let problem = problems.first(where: { $0.name == name }) {
            throw Refusal(.denied, problem.error.sentence)
        }
        throw Refusal(
            .busy,
            "delete: \(take.stem): \(name) may have it, and the settings do not name that store any more: name it again, or "
                + "delete it on the kit alone")
    }

    private func store(_ name: String?) throws(Refusal) -> any Store {
        let all = stores.map(\.store.name) + problems.map(\.name)
        let found = name.map { name in all.contains(name) ? [name] : all.filter { $0.hasPrefix(name) } } ?? all
        guard found.count == 1 else {
            let names = all.joined(separator: ", ")
            if all.isEmpty { throw Refusal(.notFound, "remote: no store is named: [outbox] store") }
            throw Refusal(
                .usage, "remote: \(found.isEmpty ? "there is no such store" : "name a store"): there are \(names)")
        }
        if let problem = problems.first(where: { $0.name == found[0] }) {
            throw Refusal(.denied, problem.error.sentence)
        }
        guard let store = stores.first(where: { $0.store.name == found[0] })?.store else {
            throw Refusal(.internal, "remote: \(found[0]) is not open")
        }
        return store
    }

    private func object(_ path: String) throws(Refusal) -> ObjectName {
        guard let object = ObjectName(path: path) else {
            throw Refusal(.usage, "remote: \(path): is no file of a take: it is DAY/FILE")
        }
        return object
    }

    // MARK: Pieces

    private func begin(
        _ work: @escaping @Sendable (Pieces) async throws -> Void, of peer: PeerID
    ) async throws -> RemotePiece {
        draws.removeValue(forKey: peer)?.task.cancel()
        let pieces = Pieces()
        let task = Task {
            do {
                try await work(pieces)
                pieces.finish()
            } catch {
                pieces.fail(error)
            }
        }
        draws[peer] = Draw(pieces: pieces, task: task)
        return try await next(of: peer)
    }

    private func next(of peer: PeerID) async throws -> RemotePiece {
        guard let draw = draws[peer] else {
            throw Refusal(.usage, "remote-next: nothing is being drawn: ask for a list or a file first")
        }
        do {
            var pieces = draw.pieces.makeAsyncIterator()
            guard let piece = try await pieces.next() else { throw CancellationError() }
            if piece.isLast { draws[peer] = nil }
            return piece
        } catch {
            draws[peer] = nil
            throw error
        }
    }

    private func listing(_ store: any Store) -> @Sendable (Pieces) async throws -> Void {
        { pieces in
            try await store.list { found in
                var rest = found[...]
                while !rest.isEmpty {
                    try Task.checkCancellation()
                    let objects = rest.prefix(Self.pieceObjectCount).map(RemoteObject.init)
                    rest = rest.dropFirst(Self.pieceObjectCount)
                    await pieces.send(RemotePiece(store: store.name, objects: objects, isLast: false))
                }
            }
            await pieces.send(RemotePiece(store: store.name, objects: [], isLast: true))
        }
    }

    private func reading(_ object: ObjectName, _ store: any Store) -> @Sendable (Pieces) async throws -> Void {
        { pieces in
            var hash = Digest(.sha256)
            try await store.get(object) { bytes in
                hash.update(bytes)
                var rest = bytes[...]
                while !rest.isEmpty {
                    try Task.checkCancellation()
                    let data = Data(rest.prefix(Self.pieceByteCount)).base64EncodedString()
                    rest = rest.dropFirst(Self.pieceByteCount)
                    await pieces.send(RemotePiece(store: store.name, data: data, isLast: false))
                }
            }
            let sha256 = hash.bytes.hexadecimal
            await pieces.send(RemotePiece(store: store.name, data: "", sha256: sha256, isLast: true))
        }
    }

    // MARK: Deleting

    /// Deletes a file of a take that is in hand. Before that it is noted that the store has not all of the take any more, so that the
    /// kit keeps its own, and does not send it again.
    private func delete(_ object: ObjectName, of take: String, _ store: any Store) async throws {
        try catalogs.catalog.noteAnyway(take) { notes in
            notes.upload = .never
            guard var receipt = notes[receiptOf: store.name] else { return }
            (receipt.completed, receipt.revision) = (nil, nil)
            receipt.files.removeAll { $0.file == object.file }
            notes[receiptOf: store.name] = receipt
        }
        try await store.delete(object)
    }

    private func delete(_ object: ObjectName, _ store: any Store) async throws -> RemotePiece {
        if let take = object.take?.stem {
            try catalogs.inHand.beginDeleting(take)
            defer { catalogs.inHand.endDeleting(take) }
            try await delete(object, of: take, store)
        } else {
            try await store.delete(object)
        }
        return RemotePiece(store: store.name, isLast: true)
    }
}

extension RemoteObject {
    init(_ object: StoredObject) {
        self.init(
            path: object.name.path, bytes: object.byteCount, sha256: object.sha256, started: object.metadata?.started,
            durationSeconds: object.metadata?.duration)
    }
}

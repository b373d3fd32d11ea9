import AsyncAlgorithms
import Catalog
import Control
import Crypto
import FoundationEssentials
import Takes
import Transport
import Upload

/// Answers what peers ask of the stores. Each peer draws one list or file at a time, piece by piece, as fast as it takes them.
actor RemoteDesk {
    private let stores: [Stores.Entry]
    private let problems: [(name: String, error: StoreError)]
    private let catalogs: CatalogSlot
    private let board: OutboxBoard
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

    /// - Parameter board: which takes are being sent.
    init(_ stores: Stores, _ catalogs: CatalogSlot, board: OutboxBoard) {
        self.stores = stores.all
        problems = stores.problems
        self.catalogs = catalogs
        self.board = board
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

    /// Deletes all files of a take from every store that has any of them, by its receipts. The take is not sent again.
    func deleteEverywhere(_ take: TakeName) async throws(Refusal) {
        do {
            for receipt in try catalogs.catalog.notes(of: take.stem).receipts {
                let store = try store(receipt.store)
                let names = receipt.files.map(\.file) + [".json", ".dat"].map { take.stem + $0 }
                // The sidecar goes first: without it there is no take.
                for name in Set(names).sorted(by: { $0.hasSuffix(".json") && !$1.hasSuffix(".json") }) {
                    do {
                        _ = try await delete(try object("\(take.day)/\(name)"), store)
                    } catch let error as StoreError where error.problem == .missing {}
                }
            }
        } catch let refusal as Refusal {
            throw refusal
        } catch let error as StoreError {
            throw Refusal(Self.code(of: error), error.sentence)
        } catch {
            throw Refusal(.io, "remote: \(error)")
        }
    }

    // MARK: Stores

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
            var hash = SHA256()
            try await store.get(object) { bytes in
                hash.update(data: bytes)
                var rest = bytes[...]
                while !rest.isEmpty {
                    try Task.checkCancellation()
                    let data = Data(rest.prefix(Self.pieceByteCount)).base64EncodedString()
                    rest = rest.dropFirst(Self.pieceByteCount)
                    await pieces.send(RemotePiece(store: store.name, data: data, isLast: false))
                }
            }
            let sha256 = UploadSource.hexadecimal(hash.finalize())
            await pieces.send(RemotePiece(store: store.name, data: "", sha256: sha256, isLast: true))
        }
    }

    // MARK: Deleting

    /// Deletes a file. Before that it is noted that the store no longer has its take, so that the kit keeps its own, and does not send it
    /// again. A take that is being sent there is left alone: its receipt would name a file that was deleted meanwhile.
    private func delete(_ object: ObjectName, _ store: any Store) async throws -> RemotePiece {
        if let take = object.take {
            try refuseIfSending(take.stem, to: store.name)
            do {
                _ = try catalogs.catalog.note(take.stem) { notes in
                    notes.receipts.removeAll { $0.store == store.name }
                    notes.upload = .never
                }
            } catch is Catalog.NoSuchTake {}
            // It may have been begun before it was noted. A sender that begins later reads what was noted.
            try refuseIfSending(take.stem, to: store.name)
        }
        try await store.delete(object)
        return RemotePiece(store: store.name, isLast: true)
    }

    private func refuseIfSending(_ take: String, to store: String) throws(Refusal) {
        guard board.stores[store]?.sending[take] == nil else {
            throw Refusal(.busy, "remote-delete: \(take) is being sent to \(store): wait until it is there")
        }
    }
}

extension RemoteObject {
    init(_ object: StoredObject) {
        self.init(
            path: object.name.path, bytes: object.byteCount, sha256: object.sha256, started: object.metadata?.started,
            durationSeconds: object.metadata?.duration)
    }
}

import AsyncAlgorithms
import Catalog
import Control
import Digests
import FoundationEssentials
import Takes
import Transport
import Upload
import Workers

/// Answers requests of peers to the stores. Each peer receives one list or file at a time, piece by piece, at its own
/// speed.
actor RemoteDesk {
    private let stores: Stores
    private let catalogs: CatalogSlot
    private let copies: RemoteCopies
    private let executor: ThreadExecutor
    private var draws: [PeerID: Draw] = [:]

    private typealias Pieces = AsyncThrowingChannel<RemotePiece, any Error>

    /// A transfer to a peer.
    private struct Draw {
        var pieces: Pieces
        var task: Task<Void, Never>
    }

    /// The bytes of a file in one reply, before base64.
    private static let pieceByteCount = 36 << 10
    /// The number of files of a list in one reply.
    private static let pieceObjectCount = 100

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(_ stores: Stores, _ catalogs: CatalogSlot, _ copies: RemoteCopies) throws {
        self.stores = stores
        self.catalogs = catalogs
        self.copies = copies
        executor = try ThreadExecutor(name: "remote")
    }

    func answer(_ request: RemoteRequest, of peer: PeerID) async throws(Refusal) -> RemotePiece {
        do {
            switch request {
            case .list(let name): return try await begin(listing(stores.store(named: name)), of: peer)
            case .get(let name, let path):
                return try await begin(reading(object(path), stores.store(named: name)), of: peer)
            case .delete(let name, let path):
                let (object, store) = (try object(path), try stores.store(named: name))
                try await copies.delete(object, in: store)
                return RemotePiece(store: store.name, isLast: true)
            case .sent(let name, let path):
                // If the take is not known, nothing of it was sent.
                let take = try path.map { try catalogs.catalog.stem(of: object($0)) ?? $0 }
                return try await begin(sending(of: take, to: stores.store(named: name)), of: peer)
            case .next: return try await next(of: peer)
            }
        } catch {
            throw Refusal(remote: error)
        }
    }

    /// Cancels the transfers of peers that are gone.
    func end(of peers: Set<PeerID>) {
        for peer in peers { draws.removeValue(forKey: peer)?.task.cancel() }
    }

    private func object(_ path: String) throws(Refusal) -> ObjectName {
        guard let object = ObjectName(path: path) else {
            throw Refusal(.usage, "remote: \(path): is not a file of a take: write DAY/FILE")
        }
        return object
    }

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
                try await Self.send(found.map(RemoteObject.init), of: store, to: pieces)
            }
            await pieces.send(RemotePiece(store: store.name, objects: [], isLast: true))
        }
    }

    /// The files in the receipts of a store, for one take or for all.
    private func sending(of take: String?, to store: any Store) -> @Sendable (Pieces) async throws -> Void {
        { pieces in
            let medium = try? await store.medium()
            for take in try await self.takes(take) {
                try Task.checkCancellation()
                let receipt = try await self.receipt(of: take, in: store)
                // The files on another stick are not on the inserted one.
                if let medium, let stick = receipt?.stick, stick != medium { continue }
                try await Self.send(receipt?.sentObjects ?? [], of: store, to: pieces)
            }
            await pieces.send(RemotePiece(store: store.name, objects: [], isLast: true))
        }
    }

    /// The takes with this stem, or all takes that have notes if it is nil.
    private func takes(_ stem: String?) throws -> [TakeIdentity] {
        let catalog = catalogs.catalog
        return try (stem.map { try catalog.identities(of: $0) } ?? Array(catalog.takesWithNotes()))
            .sorted { ($0.stem, $0.origin.description) < ($1.stem, $1.origin.description) }
    }

    private func receipt(of take: TakeIdentity, in store: any Store) throws -> UploadReceipt? {
        try catalogs.catalog.readableNotes(of: take).notes[receiptOf: store.name]
    }

    private static func send(_ objects: [RemoteObject], of store: any Store, to pieces: Pieces) async throws {
        var rest = objects[...]
        while !rest.isEmpty {
            try Task.checkCancellation()
            await pieces.send(
                RemotePiece(store: store.name, objects: Array(rest.prefix(pieceObjectCount)), isLast: false))
            rest = rest.dropFirst(pieceObjectCount)
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
}

extension RemoteObject {
    init(_ object: StoredObject) {
        self.init(
            path: object.name.path, bytes: object.byteCount, sha256: object.sha256, started: object.metadata?.started,
            durationSeconds: object.metadata?.duration)
    }
}

extension UploadReceipt {
    /// The files that the store has, including the other contents that an unconfirmed upload may have left.
    fileprivate var sentObjects: [RemoteObject] {
        let files = files + (attempts ?? []).filter { sha256(of: $0.file) != nil }
        return files.map {
            RemoteObject(path: $0.file, bytes: $0.bytes, sha256: $0.sha256, started: nil, durationSeconds: nil)
        }
    }
}

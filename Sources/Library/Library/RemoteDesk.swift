import AsyncAlgorithms
import Catalog
import Control
import Digests
import FoundationEssentials
import TakeFiles
import Takes
import Transport
import Upload

/// Answers requests of peers to the stores. Each peer receives one list or file at a time, piece by piece, at its own
/// speed.
actor RemoteDesk {
    let stores: [Stores.Entry]
    private let problems: [(name: String, error: StoreError)]
    private let catalogs: CatalogSlot
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

    init(_ stores: Stores, _ catalogs: CatalogSlot) {
        self.stores = stores.all
        problems = stores.problems
        self.catalogs = catalogs
    }

    func answer(_ request: RemoteRequest, of peer: PeerID) async throws(Refusal) -> RemotePiece {
        do {
            switch request {
            case .list(let name): return try await begin(listing(try store(name)), of: peer)
            case .get(let name, let path): return try await begin(reading(try object(path), try store(name)), of: peer)
            case .delete(let name, let path): return try await delete(try object(path), try store(name))
            case .sent(let name, let path):
                // If the take is not known, nothing of it was sent.
                let take = try path.map { try self.take(of: object($0)) ?? $0 }
                return try await begin(sending(of: take, to: try store(name).name), of: peer)
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

    /// Cancels the transfers of peers that are gone.
    func end(of peers: Set<PeerID>) {
        for peer in peers { draws.removeValue(forKey: peer)?.task.cancel() }
    }

    private static func code(of error: StoreError) -> Refusal.Code {
        switch error.problem {
        case .away, .busy, .unadopted: .busy
        case .refused, .hidden: .denied
        case .missing: .notFound
        case .full, .conflict, .rejected, .damaged, .unreadable: .io
        }
    }

    /// Deletes all files of a take from every store that has any of them. The caller has the take in hand. It is not
    /// sent again.
    ///
    /// A file with the take's name may belong to another recording: of a kit with the same name, or of a cloned SD
    /// card. Such a file stays.
    /// - Parameters:
    ///   - name: the only store concerned, or nil for all.
    ///   - leavesKit: whether the copy on the kit will be the last one. In that case no store may have any more than
    ///     this copy.
    func deleteEverywhere(_ copy: KitCopy, in name: String?, leavesKit: Bool) async throws(Refusal) {
        let stem = copy.take.stem
        do {
            let notes = try catalogs.catalog.notes(of: copy.sidecar.identity).of(copy.sidecar.recordingStart)
            let copy = copy.adding(notes)
            let noted = notes.receipts
            let only = try name.map { try store($0).name }
            // Collect everything before the first deletion: if one store is unreachable, all keep their files and
            // receipts.
            var targets: [(store: any Store, objects: [ObjectName])] = []
            let places = try await places(only: only)
            for receipt in noted where only == nil || receipt.store == only {
                let store = try store(noted: receipt.store, copy.take)
                guard await Self.isIn(receipt, store) else {
                    throw Refusal(
                        .busy,
                        "delete: \(stem): it is on the stick \(StickMark.short(receipt.stick ?? "")), and another one is in: put that one "
                            + "in, or delete the take on the kit alone")
                }
                targets.append((store, try await objects(of: copy, receipt, store)))
                if leavesKit { try await check(copy, revision: receipt.revision, store) }
            }
            targets += try await unnoted(copy, beside: noted, only: only, leavesKit: leavesKit)
            for (store, objects) in targets {
                for object in objects {
                    do {
                        try await delete(object, of: [copy.sidecar.identity], store)
                    } catch let error as StoreError where error.problem == .missing {}
                }
                guard try await Self.place(of: store) == places[store.name] else {
                    throw Refusal(
                        .busy,
                        "delete: \(stem): another folder is in the place of \(store.name) now: look whether the take is still there"
                    )
                }
                try catalogs.catalog.noteAnyway(copy.sidecar.identity) {
                    $0.receipts.removeAll { $0.store == store.name }
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

    /// The identity of the folder of each store that is a folder.
    private func places(only: String?) async throws -> [String: FileIdentity] {
        var places: [String: FileIdentity] = [:]
        for entry in stores where only == nil || entry.store.name == only {
            places[entry.store.name] = try? await Self.place(of: entry.store)
        }
        return places
    }

    private static func place(of store: any Store) async throws -> FileIdentity? {
        try await (store as? FolderStore)?.identity()
    }

    /// The sidecar that a store has under the name of a take.
    private enum Presence {
        case nothing
        /// A sidecar of this recording, with its revision.
        case same(revision: Int)
        /// A sidecar of another recording, or one that cannot be read.
        case another
    }

    /// - Parameter receipt: contains the hash by which the sidecar that was sent is recognised, or nil if none was
    ///   sent.
    private func presence(of copy: KitCopy, _ receipt: UploadReceipt?, _ store: any Store) async throws -> Presence {
        let object = ObjectName(.sidecar(of: copy.take.stem), of: copy.take)
        guard let there = try await store.head(object) else { return .nothing }
        guard let bytes = try await Self.sidecar(there, store) else { return .another }
        if let receipt, let sent = receipt.sha256(of: object.file), sent == Digest.sha256(bytes).hexadecimal {
            return .same(revision: receipt.revision ?? copy.sidecar.revision)
        }
        guard let sidecar = try? SidecarFile.sidecar(bytes, path: object.path),
            sidecar.isOfSameRecording(as: copy.sidecar)
        else { return .another }
        return .same(revision: sidecar.revision)
    }

    /// The bytes of a sidecar, or nil if it is longer than a sidecar can be.
    static func sidecar(_ there: StoredObject, _ store: any Store) async throws -> [UInt8]? {
        guard there.byteCount <= SidecarFile.mostBytes else { return nil }
        return try await store.contents(of: there.name, limit: Int(there.byteCount))
    }

    /// The files of a sent take that a store has, by its receipt. The sidecar comes first, because without it there is
    /// no take.
    /// - Throws: `Refusal` if a file of the receipt is missing: the stick or folder may be another one.
    private func objects(of copy: KitCopy, _ receipt: UploadReceipt, _ store: any Store) async throws -> [ObjectName] {
        let (stem, day) = (copy.take.stem, copy.take.day)
        let sidecar = TakeFile.sidecar(of: stem).name
        let presence = try await presence(of: copy, receipt, store)
        for file in receipt.files.map(\.file) {
            guard try await store.head(ObjectName(day: day, file: file)) == nil else { continue }
            throw Refusal(
                .busy,
                "delete: \(stem): \(store.name) does not have \(file), though it was sent there: see whether it is the "
                    + "right stick or folder, or delete the take on the kit alone")
        }
        let sent = try await (receipt.files.map(\.file) + arrived(of: copy, receipt, store)).filter { $0 != sidecar }
        switch presence {
        case .same: return Self.objects(of: copy, beside: sent)
        case .nothing:
            // The take was not sent completely, or an earlier deletion failed halfway. A file with neither a receipt
            // nor the same length is not of this take.
            var files = Set(sent)
            for file in copy.sidecar.files where !file.isReplaceable && !files.contains(file.name) {
                guard let there = try await store.head(ObjectName(file, of: copy.take)) else { continue }
                if there.byteCount == copy.byteCount(of: file) { files.insert(file.name) }
            }
            return files.sorted().map { ObjectName(day: day, file: $0) }
        case .another:
            // The take was held because another recording has this name in the store.
            guard !receipt.files.isEmpty else { return sent.sorted().map { ObjectName(day: day, file: $0) } }
            throw Refusal(
                .busy,
                "delete: \(stem): \(sidecar) at \(store.name) is of another recording, or damaged: look at it there, or delete "
                    + "the take on the kit alone")
        }
    }

    /// The files that the store has although it did not confirm their upload. A file of the same name with different
    /// content belongs to another take.
    /// - Throws: also if the store does not let this kit read, because it is then unknown whether it has them.
    private func arrived(of copy: KitCopy, _ receipt: UploadReceipt, _ store: any Store) async throws -> [String] {
        var found: [String] = []
        // For sound, comparing the length is sufficient.
        let sounds = Set(copy.sidecar.files.filter { !$0.isReplaceable }.map(\.name))
        let attempted = Set((receipt.attempts ?? []).map(\.file)).subtracting(sounds)
        for file in attempted.sorted() where receipt.sha256(of: file) == nil {
            let object = ObjectName(day: copy.take.day, file: file)
            guard let there = try await store.head(object), there.byteCount <= SidecarFile.mostBytes else { continue }
            let hash = try await store.sha256(of: object, byteCount: there.byteCount)
            if receipt.attempts(of: file).contains(hash) { found.append(file) }
        }
        return found
    }

    private static func objects(of copy: KitCopy, beside sent: [String]) -> [ObjectName] {
        let sidecar = TakeFile.sidecar(of: copy.take.stem).name
        let others = Set(sent + copy.sidecar.filesAtHome.map(\.name)).subtracting([sidecar])
        return ([sidecar] + others.sorted()).map { ObjectName(day: copy.take.day, file: $0) }
    }

    /// The stores that have a take without a receipt: notes were lost, or restored from a time before the upload. A
    /// stick that is not inserted is omitted.
    /// - Throws: also if one of the stores cannot be reached.
    private func unnoted(
        _ copy: KitCopy, beside noted: [UploadReceipt], only: String?, leavesKit: Bool
    ) async throws -> [(store: any Store, objects: [ObjectName])] {
        if only == nil, let problem = problems.first {
            throw Refusal(
                .denied,
                "\(problem.error.sentence): whether it has the take is not known: or delete the take on the kit alone")
        }
        var found: [(store: any Store, objects: [ObjectName])] = []
        for entry in stores where only == nil || entry.store.name == only {
            let store = entry.store
            guard !noted.contains(where: { $0.store == store.name }) else { continue }
            do {
                guard case .same(let revision) = try await presence(of: copy, nil, store) else { continue }
                if leavesKit { try await check(copy, revision: revision, store) }
                found.append((store, Self.objects(of: copy, beside: [])))
            } catch let error as StoreError where only == nil && error.isPassing {
                guard entry.plan.mount == nil else { continue }
                throw Refusal(
                    .busy,
                    "\(error.sentence): whether it has the take is not known: or delete the take on the kit alone")
            }
        }
        return found
    }

    /// Throws if a store has sound that the kit does not have.
    /// - Parameter revision: the revision that the store has.
    private func check(_ copy: KitCopy, revision: Int?, _ store: any Store) async throws {
        let take = copy.take
        let other = "it has more than the kit: compare both, or delete the take on the kit alone"
        guard revision ?? 0 <= copy.sidecar.revision else {
            throw Refusal(.busy, "delete: \(take.stem): \(store.name) has a later state of it: \(other)")
        }
        for file in copy.sidecar.files where !file.isReplaceable {
            guard let there = try await store.head(ObjectName(file, of: take)) else { continue }
            guard there.byteCount == copy.byteCount(of: file) else {
                throw Refusal(.busy, "delete: \(take.stem): \(file.name) at \(store.name) has another length: \(other)")
            }
        }
    }

    // MARK: Stores

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

    /// The files in the receipts of a store, for one take or for all.
    private func sending(of take: String?, to store: String) -> @Sendable (Pieces) async throws -> Void {
        { [catalog = catalogs.catalog, entry = stores.first { $0.store.name == store }] pieces in
            let medium = try? await entry?.store.medium()
            let takes = try take.map { try catalog.identities(of: $0) } ?? Array(catalog.takesWithNotes())
            for take in takes.sorted(by: { ($0.stem, $0.origin.description) < ($1.stem, $1.origin.description) }) {
                try Task.checkCancellation()
                let receipt = try catalog.readableNotes(of: take).notes[receiptOf: store]
                // The files on another stick are not on the inserted one.
                if let medium, let stick = receipt?.stick, stick != medium { continue }
                let objects = receipt?.sentObjects ?? []
                var rest = objects[...]
                while !rest.isEmpty {
                    await pieces.send(
                        RemotePiece(store: store, objects: Array(rest.prefix(Self.pieceObjectCount)), isLast: false))
                    rest = rest.dropFirst(Self.pieceObjectCount)
                }
            }
            await pieces.send(RemotePiece(store: store, objects: [], isLast: true))
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

    /// Deletes a file of a take that is in hand. Before that, it notes that the store's copy is incomplete, so that the
    /// kit keeps its own copy and does not send it again.
    private func delete(_ object: ObjectName, of takes: [TakeIdentity], _ store: any Store) async throws {
        for take in takes {
            try catalogs.catalog.noteAnyway(take) { notes in
                notes.upload = .never
                guard var receipt = notes[receiptOf: store.name] else { return }
                (receipt.completed, receipt.revision) = (nil, nil)
                receipt.files.removeAll { $0.file == object.file }
                notes[receiptOf: store.name] = receipt
            }
        }
        try await store.delete(object)
        // A server may confirm the deletion and keep the file.
        guard try await store.head(object) == nil else {
            throw StoreError(
                .refused,
                "delete: \(object.path): \(store.name) answered that it is deleted, and still has it: see there")
        }
    }

    private func delete(_ object: ObjectName, _ store: any Store) async throws -> RemotePiece {
        if let stem = try take(of: object) {
            // Takes of several kits may have this name. None of them is sent during the deletion, and each that was
            // sent to this store is noted.
            try catalogs.inHand.beginDeleting(.take(TakeIdentity(stem: stem)))
            defer { catalogs.inHand.endDeleting(.take(TakeIdentity(stem: stem))) }
            try await delete(object, of: takes(stem, of: object, store), store)
        } else {
            try await store.delete(object)
        }
        return RemotePiece(store: store.name, isLast: true)
    }

    /// The takes with this stem to which an object may belong. If there are several, only those that were sent to the
    /// store.
    private func takes(_ stem: String, of object: ObjectName, _ store: any Store) throws -> [TakeIdentity] {
        let takes = try catalogs.catalog.identities(of: stem)
        guard takes.count > 1 else { return takes }
        return try takes.filter { take in
            let receipt = try catalogs.catalog.readableNotes(of: take).notes[receiptOf: store.name]
            return receipt?.sha256(of: object.file) != nil || receipt?.attempts(of: object.file).isEmpty == false
        }
    }
}

extension RemoteDesk {
    /// The stem of the take to which an object belongs. Nil if it does not belong to one, or is a later part of a take
    /// that the catalog does not have.
    private func take(of object: ObjectName) throws -> String? {
        guard let name = TakeFileName(object.file) else { return nil }
        if let take = name.take(in: object.day) { return take.stem }
        // A take whose storage is not present still has notes.
        let noted = try catalogs.catalog.takesWithNotes().map(\.stem)
        let stems = try Set(catalogs.catalog.stems(of: name.kit, number: name.number) + noted)
        let known = stems.filter { TakeName(stem: $0, day: "").map(name.mayBe) ?? false }
            .map { TakeFile.sidecar(of: $0).name }
        let owner = TakeListing([object.file] + known, day: object.day) { part, stems in
            stems.filter { (try? has($0, part)) == true }
        }.files.first?.take.stem
        return owner.flatMap { known.contains(TakeFile.sidecar(of: $0).name) ? $0 : nil }
    }

    /// Whether a take with this stem has the file, by its sidecar or by its receipts.
    private func has(_ stem: String, _ file: String) throws -> Bool {
        let isListed = try catalogs.catalog.find(.stem(stem)).contains { $0.recordedFiles.map(\.name).contains(file) }
        return try isListed
            || catalogs.catalog.identities(of: stem).contains { take in
                try catalogs.catalog.readableNotes(of: take).notes.receipts.contains {
                    $0.sha256(of: file) != nil || !$0.attempts(of: file).isEmpty
                }
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

import Catalog
import Files
import Takes
import Transport
import Upload
import Workers

/// Checks and deletes the copies of takes in all stores.
actor RemoteCopies {
    private let stores: Stores
    private let catalogs: CatalogSlot
    private let executor: ThreadExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(_ stores: Stores, _ catalogs: CatalogSlot) throws {
        self.stores = stores
        self.catalogs = catalogs
        executor = try ThreadExecutor(name: "remote")
    }

    /// The stores that no longer have the files of their receipts.
    ///
    /// An unreachable store is not listed, nor is a store on a stick that is not inserted or was replaced by another
    /// one.
    /// - Throws: `StoreError` if it is unknown whether a store has the take: access is denied, the store fails or
    ///   interrupts an answer, or its sidecar cannot be read.
    func storesWithout(_ copy: KitCopy, _ notes: TakeNotes) async throws -> [String] {
        let notes = notes.of(copy.sidecar.recordingStart)
        var found: [String] = []
        for entry in stores.all {
            guard let receipt = notes[receiptOf: entry.store.name] else { continue }
            let isMounted = entry.plan.mount != nil
            do {
                let there = StoreCopy(of: copy, in: entry.store, receipt)
                if try await there.mayBeThere(isMounted: isMounted) { continue }
            } catch let error as StoreError where isMounted || error.leavesOpen(of: entry.store) {
                throw error
            } catch is StoreError {}
            found.append(entry.store.name)
        }
        return found
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
        do {
            let take = copy.sidecar.identity
            let notes = try catalogs.catalog.notes(of: take).of(copy.sidecar.recordingStart)
            let only = try name.map { try stores.store(named: $0).name }
            // Collect everything before the first deletion: if one store is unreachable, all keep their files and
            // receipts.
            let places = await places(only: only)
            for target in try await targets(copy.adding(notes), notes.receipts, only: only, leavesKit: leavesKit) {
                for object in target.objects {
                    do {
                        try await delete(object, of: [take], in: target.store)
                    } catch let error as StoreError where error.problem == .missing {}
                }
                guard try await target.store.place() == places[target.store.name] else {
                    throw Refusal(.storeReplaced(stem: copy.take.stem, store: target.store.name))
                }
                try catalogs.catalog.noteAnyway(take) { $0.receipts.removeAll { $0.store == target.store.name } }
            }
        } catch {
            throw Refusal(remote: error)
        }
    }

    /// Deletes a file from a store, on request.
    func delete(_ object: ObjectName, in store: any Store) async throws {
        guard let stem = try catalogs.catalog.stem(of: object) else { return try await store.delete(object) }
        // Takes of several kits may have this name. None of them is sent during the deletion, and each that was sent
        // to this store is noted.
        try catalogs.inHand.beginDeleting(.take(TakeIdentity(stem: stem)))
        defer { catalogs.inHand.endDeleting(.take(TakeIdentity(stem: stem))) }
        try await delete(object, of: catalogs.catalog.takes(stem, of: object, in: store.name), in: store)
    }

    /// Deletes a file of a take that is in hand. Before that, it notes that the store's copy is incomplete, so that the
    /// kit keeps its own copy and does not send it again.
    private func delete(_ object: ObjectName, of takes: [TakeIdentity], in store: any Store) async throws {
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
                "delete: \(object.path): \(store.name) reported the deletion, and still has the file: check that store")
        }
    }
}

/// The search for the files that `deleteEverywhere` deletes.
extension RemoteCopies {
    private static let unclear = "whether it has the take is not known: or delete the take on the kit alone"

    private struct Target {
        var store: any Store
        var objects: [ObjectName]
    }

    /// The identity of the folder of each store that is a folder.
    private func places(only: String?) async -> [String: FileIdentity] {
        var places: [String: FileIdentity] = [:]
        for store in stores.all.map(\.store) where only == nil || store.name == only {
            places[store.name] = try? await store.place()
        }
        return places
    }

    private func targets(
        _ copy: KitCopy, _ receipts: [UploadReceipt], only: String?, leavesKit: Bool
    ) async throws -> [Target] {
        var targets: [Target] = []
        for receipt in receipts where only == nil || receipt.store == only {
            let store = try stores.store(noted: receipt.store, copy.take)
            let there = StoreCopy(of: copy, in: store, receipt)
            guard await there.isOnCurrentStick() else {
                throw Refusal(
                    .onOtherStick(stem: copy.take.stem, stick: StickMark.short(receipt.stick ?? "")))
            }
            targets.append(Target(store: store, objects: try await there.sentObjects(receipt)))
            if leavesKit { try await there.checkHasNoMore(revision: receipt.revision) }
        }
        return try await targets + unnoted(copy, beside: receipts, only: only, leavesKit: leavesKit)
    }

    /// The stores that have a take without a receipt: notes were lost, or restored from a time before the upload. A
    /// stick that is not inserted is omitted.
    /// - Throws: also if one of the stores cannot be reached.
    private func unnoted(
        _ copy: KitCopy, beside receipts: [UploadReceipt], only: String?, leavesKit: Bool
    ) async throws -> [Target] {
        if only == nil, let problem = stores.problems.first {
            throw Refusal(.storeUnclear(.denied, message: "\(problem.error.sentence): \(Self.unclear)"))
        }
        var found: [Target] = []
        for entry in stores.all where only == nil || entry.store.name == only {
            guard !receipts.contains(where: { $0.store == entry.store.name }) else { continue }
            do {
                let there = StoreCopy(of: copy, in: entry.store, nil)
                guard case .same(let revision) = try await there.presence() else { continue }
                if leavesKit { try await there.checkHasNoMore(revision: revision) }
                found.append(Target(store: entry.store, objects: there.objects()))
            } catch let error as StoreError where only == nil && error.isPassing {
                guard entry.plan.mount == nil else { continue }
                throw Refusal(.storeUnclear(.busy, message: "\(error.sentence): \(Self.unclear)"))
            }
        }
        return found
    }
}

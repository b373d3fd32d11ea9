import Catalog
import Control
import Files
import Takes
import Transport
import Upload
import Workers

/// Deletes takes on request of a person, on the kit and at home.
actor TakeDeletion {
    private let catalogs: CatalogSlot
    let requests: LibraryRequests
    private let copies: RemoteCopies
    private let discards: DiscardDesk
    private let reader: DiskReader
    private let recorder: String
    /// Compares the sound of copies on which a deletion relies, or nil if only their hashes are compared.
    let inspector: SoundInspector?
    private let executor: ThreadExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// - Parameter recorder: the recorder's socket.
    init(
        _ catalogs: CatalogSlot, _ requests: LibraryRequests, _ copies: RemoteCopies, _ discards: DiscardDesk,
        reader: DiskReader, recorder: String, inspector: SoundInspector? = nil
    ) throws {
        self.inspector = inspector
        self.catalogs = catalogs
        self.requests = requests
        self.copies = copies
        self.discards = discards
        self.reader = reader
        self.recorder = recorder
        executor = try ThreadExecutor(name: "deletion")
    }

    /// Deletes a take. A refusal means that nothing was deleted, unless its sentence says otherwise.
    /// - Throws: `Refusal`; `ControlError` if the recorder does not answer.
    nonisolated func delete(_ stem: String, _ deletion: Deletion) async throws {
        // A deletion on the kit alone does not rely on another copy, unless the request says that the take is at home.
        let isByWord = deletion.place == .here && !deletion.onlyIfHome
        let identity = try await reader.perform { [requests] _ in try requests.take(stem, for: "delete").identity }
        try catalogs.inHand.beginDeleting(.take(identity), besideSending: isByWord)
        try await deleteInHand(identity, deletion, isByWord: isByWord)
    }

    /// Deletes a take that is in hand, and releases it.
    private func deleteInHand(_ identity: TakeIdentity, _ deletion: Deletion, isByWord: Bool) async throws {
        let stem = identity.stem
        let take: CatalogedTake
        var terms: DiscardTerms
        let storage: FileIdentity?
        do {
            take = try requests.take(identity, for: "delete")
            guard take.place == .here else {
                throw Refusal(.storageOut(command: "delete", stem: stem))
            }
            storage = Self.storage(of: take)
            terms = try await prepare(take, deletion, isByWord: isByWord)
            terms.isFinal = deletion.isFinal
        } catch {
            catalogs.inHand.endDeleting(.take(identity))
            throw error
        }
        guard deletion.place != .there else { return catalogs.inHand.endDeleting(.take(identity)) }
        let isHomeGone = deletion.place == .both
        let stays = "it is deleted at home, and still on the kit: delete it here"
        switch await discards.discard(identity, terms) {
        case .deleted: return
        case .refused(let refusal):
            guard isHomeGone else { throw refusal }
            guard Self.isOnKit(take) else {
                guard let storage, Self.storage(of: take) == storage else {
                    let message =
                        "delete: \(stem): its storage was taken out meanwhile: it is deleted at home, and still on that storage: "
                        + "put it in, and delete it here"
                    throw Refusal(.stillOnKit(message: message))
                }
                // Somebody else deleted the take in the meantime, or some of its files cannot be removed.
                if refusal.code == .notFound { return }
                throw Refusal(.goneAtHome(refusal.code, message: "\(refusal.message): at home it is deleted too"))
            }
            throw Refusal(.stillOnKit(message: "\(refusal.message): \(stays)"))
        case .away(let error):
            guard isHomeGone else { throw error }
            throw Refusal(.stillOnKit(message: "\(error): \(stays)"))
        case .unanswered(let error):
            let home = isHomeGone ? "it is deleted at home; " : "the order goes on; "
            let message = "\(error): \(home)whether it is on the kit, the list shows once it answers"
            throw Refusal(.outcomeUnknown(message: message))
        }
    }

    /// Asks the recorder to restore a take from its bin. Usually returns after the catalog lists it again.
    /// - Throws: `Refusal`; `ControlError` if the recorder does not answer.
    nonisolated func restore(_ stem: String) async throws {
        guard TakeName(stem: stem, day: "") != nil else {
            throw Refusal(.notBinned(stem: stem))
        }
        try await restoreByRecorder(stem)
        for _ in 0..<Self.unlistedAtMost {
            guard await isUnlisted(stem) else { return }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// The number of times that the catalog is checked for the take, 50 ms apart.
    private static let unlistedAtMost = 40

    private func isUnlisted(_ stem: String) -> Bool {
        (try? catalogs.catalog.find(.stem(stem)).isEmpty) == true
    }

    private func restoreByRecorder(_ stem: String) throws {
        let client = try ControlClient(path: recorder)
        do throws(ControlError) {
            _ = try client.ask(.command(.restore(stem: stem, day: nil)), timeout: .seconds(60))
        } catch {
            guard case .refused(let refusal) = error.cause else { throw error }
            // An older recorder does not know this command.
            guard refusal.code == .usage else { throw refusal }
            throw Refusal(.busy, "restore: \(stem): the recorder has no bin and deletes for good: update it")
        }
    }

    /// Proves the copies on which the deletion relies, and deletes those at home.
    /// - Returns: the conditions that the recorder must check before it deletes the take on the kit.
    private func prepare(_ take: CatalogedTake, _ deletion: Deletion, isByWord: Bool) async throws -> DiscardTerms {
        let stem = take.take
        let place = Self.place(of: take)
        let copy: KitCopy
        do throws(Refusal) {
            guard let name = TakeName(stem: stem, day: place.day) else {
                throw Refusal(.internal, "delete: \(stem): this is not a take's name")
            }
            copy = try KitCopy(name, in: place.takes)
        } catch {
            // A person may want to delete a take whose sidecar is damaged.
            guard isByWord, error.code == .io else { throw error }
            return DiscardTerms(day: place.day, in: place.takes)
        }
        guard !isByWord else { return copy.terms }
        guard copy.sidecar.identity == take.identity else {
            throw Refusal(.changed(stem: stem))
        }
        let notes = try catalogs.catalog.notes(of: take.identity)
        if deletion.onlyIfHome {
            let isAtHome = copy.isAtHome(notes, catalogs.catalog.stores)
            guard isAtHome, try await copies.storesWithout(copy, notes).isEmpty else {
                throw Refusal(.notSafe(stem: stem))
            }
            try await check(copy, notes)
            try await checkSound(of: copy, in: place.takes)
            return copy.terms
        }
        switch deletion.place {
        case .here: break
        case .there:
            try await discards.awaitOrders(of: copy.take)
            try await check(copy, notes, isLast: true)
            try await checkSound(of: copy, in: place.takes)
            try await copies.deleteEverywhere(copy, in: deletion.store, leavesKit: true)
        case .both:
            try checkRecorder(stem, in: place.takes)
            try await copies.deleteEverywhere(copy, in: deletion.store, leavesKit: false)
        }
        return copy.terms
    }

    /// The same for a peer of the library's socket.
    func answer(_ stem: String, _ deletion: Deletion) async throws(Refusal) -> DoneReply {
        do {
            try await delete(stem, deletion)
            return DoneReply()
        } catch let refusal as Refusal {
            throw refusal
        } catch let error as ControlError {
            if case .refused(let refusal) = error.cause { throw refusal }
            throw Refusal(.busy, "\(error)")
        } catch {
            throw Refusal(.unreadable(message: "delete: \(stem): \(error)"))
        }
    }

    /// The folder for takes that contains the take, and the name of its day's folder.
    private static func place(of take: CatalogedTake) -> (takes: String, day: String) {
        let parts = take.folder.split(separator: "/", omittingEmptySubsequences: false)
        return (parts.dropLast().joined(separator: "/"), parts.last.map(String.init) ?? "")
    }

    /// Checks that the copy on the kit is whole.
    private func check(_ copy: KitCopy, _ notes: TakeNotes, isLast: Bool = false) async throws {
        let found = try await copy.check(notes, reader, isLast: isLast)
        guard !found.isEmpty else { return }
        _ = try catalogs.catalog.note(copy.sidecar.identity) { notes in found.forEach { notes.setHash($0) } }
    }

    /// Checks that the recorder will not refuse the deletion, as far as its status shows.
    private func checkRecorder(_ stem: String, in folder: String) throws {
        let status = try ControlClient(path: recorder).ask(.status)
        guard status["take"]?.text != stem else {
            throw Refusal(.inUse(stem: stem))
        }
        let files = FileSystem()
        guard let its = status["directory"]?.text, let identity = try? files.identity(its),
            (try? files.identity(folder)) == identity
        else {
            throw Refusal(.elsewhere(stem: stem, folder: folder))
        }
    }

    /// The identity of the storage that contains a take, or nil if none is present.
    private static func storage(of take: CatalogedTake) -> FileIdentity? {
        try? FileSystem().identity(place(of: take).takes)
    }

    private static func isOnKit(_ take: CatalogedTake) -> Bool {
        let place = place(of: take)
        guard let name = TakeName(stem: take.take, day: place.day) else { return false }
        do {
            _ = try KitCopy(name, in: place.takes)
            return true
        } catch {
            return error.code != .notFound
        }
    }
}

import Takes

public enum ParcelProgress: Hashable, Sendable {
    /// The bytes that have arrived, and the total.
    case sending(Int64, of: Int64)
    /// All bytes of a file have arrived and are compared.
    case verifying(Int64, of: Int64)
}

/// Sends the files of one parcel to one store, and notes in one receipt what arrived.
///
/// A parcel is a set of files that only counts as a whole, such as a take. The caller chooses the files and their order,
/// and sends the file that completes the parcel last. A receipt that is noted before each step lets the next delivery
/// continue after any failure.
///
/// All functions throw `StoreError`, `CancellationError`, or what `save` throws.
struct ParcelDelivery {
    struct File {
        let source: UploadSource
        /// The source's checksum for this store, or nil if it was not computed.
        var checksum: (any Checksum)?
        let object: ObjectName
        /// The metadata stored with it, including its hash.
        let metadata: ObjectMetadata
        /// Whether a later version may replace it.
        let isReplaceable: Bool
    }

    /// Changes the receipt in the kit's own notes durably. The receipt is nil if the notes have none for this store.
    typealias Save = @Sendable (_ change: @escaping @Sendable (inout UploadReceipt?) -> Void) async throws -> Void

    private let store: any Store
    private let medium: String?
    /// The state of the store after the last step.
    private(set) var receipt: UploadReceipt
    private var done: Int64 = 0
    private var total: Int64 = 0
    private let report: @Sendable (ParcelProgress) -> Void
    private let save: Save

    /// - Parameter noted: the receipt of earlier deliveries, or nil if there was none.
    init(
        to store: any Store, _ noted: UploadReceipt?, report: @escaping @Sendable (ParcelProgress) -> Void,
        save: @escaping Save
    ) async throws {
        self.store = store
        self.report = report
        self.save = save
        receipt = noted ?? UploadReceipt(store: store.name)
        medium = try await store.medium()
        if let medium { receipt.move(to: medium) }
    }

    /// - Parameters:
    ///   - byteCount: the total for progress.
    ///   - noted: the receipt in the notes now.
    mutating func begin(byteCount: Int64, noted: UploadReceipt?) async throws {
        total = byteCount
        // The receipt is saved before anything is sent, so that a deletion everywhere includes this store.
        if noted != receipt { try await saveReceipt() }
        report(.sending(0, of: total))
    }

    /// Sends a file, unless the store has it. It overwrites only objects that this kit sent.
    mutating func send(_ file: File) async throws {
        try await send(file) { try await $0.mode(of: file) }
    }

    /// Sends a file, unless the store has it.
    /// - Parameter mode: decides which objects may be overwritten. It is called only for a file that must be sent.
    mutating func send(_ file: File, mode: (ParcelDelivery) async throws -> PutMode) async throws {
        if try await isDue(file) { try await put(file, mode: mode(self)) }
        done = min(total, done + file.source.byteCount)
        report(.sending(done, of: total))
    }

    /// Deletes an object if this kit sent it. If this kit may write but not delete, an empty file replaces it.
    /// - Parameter empty: the file without content.
    mutating func withdraw(_ object: ObjectName, empty: () async throws -> File) async throws {
        let isOwn = if receipt.sha256(of: object.file) != nil { true } else { try await attempted(object) != nil }
        guard isOwn else { return }
        do {
            try await store.delete(object)
            receipt.forget(object.file)
        } catch let error as StoreError where [.refused, .hidden].contains(error.problem) {
            try await send(empty())
        }
    }

    /// Whether a file must be sent, or was sent without comparison and can be compared now.
    private func isDue(_ file: File) async throws -> Bool {
        let name = file.object.file
        guard receipt.sha256(of: name) == file.metadata.sha256 else { return true }
        guard !receipt.isVerified(name) else { return false }
        return try await store.look(at: file.object) != nil
    }

    private mutating func put(_ file: File, mode: PutMode) async throws {
        let (name, byteCount, sha256) = (file.object.file, file.source.byteCount, file.metadata.sha256)
        let attempt = TakeNotes.FileHash(file: name, bytes: byteCount, sha256: sha256)
        if file.isReplaceable, receipt.sha256(of: name) != sha256, !receipt.attempts(of: name).contains(sha256) {
            receipt.attempt(attempt)
            try await save { [store = store.name] in
                var noted = $0 ?? UploadReceipt(store: store)
                noted.attempt(attempt)
                $0 = noted
            }
        }
        let there: StoredObject
        do {
            there = try await store.put(file.source, file.checksum, as: file.object, file.metadata, mode: mode) {
                [done, total, report] progress in
                switch progress {
                case .sent(let count): report(.sending(done + count, of: total))
                case .verifying: report(.verifying(done + byteCount, of: total))
                }
            }
        } catch let error as StoreError where error.problem == .refused && mode.replaces {
            // The store may still accept all other parcels.
            throw StoreError(.hidden, error.sentence)
        } catch let error as StoreError where error.problem == .conflict {
            // Another file has the name, and the store has nothing of this one.
            try await save { $0?.failed(attempt) }
            throw error
        }
        guard try await store.medium() == medium else {
            throw StoreError(.away, "outbox: \(store.name): another stick was put in while \(name) was sent")
        }
        receipt.add(
            .init(file: name, bytes: there.byteCount, sha256: sha256, mark: there.mark), unverified: there.unverified)
        try await saveReceipt()
    }

    private func saveReceipt() async throws {
        try await save { [receipt] in $0 = receipt }
    }
}

extension ParcelDelivery {
    /// The overwrite permission according to the receipt: this kit may overwrite an object that it sent, even if no
    /// answer came, unless the file is not replaceable.
    func mode(of file: File) async throws -> PutMode {
        let (name, sha256) = (file.object.file, file.metadata.sha256)
        let sent = receipt.sha256(of: name)
        if file.isReplaceable, let own = try await attempted(file.object) ?? sent { return .replacing(own) }
        return sent == sha256 || receipt.attempts(of: name).contains(sha256) ? .confirm : .create
    }

    /// The hash of the object if an attempt without an answer left it in the store. Nil if no attempt did, or if the
    /// store hides the object.
    private func attempted(_ object: ObjectName) async throws -> String? {
        let attempts = receipt.attempts(of: object.file)
        guard !attempts.isEmpty, let there = try await store.look(at: object) else { return nil }
        do {
            let hash = try await store.sha256(of: object, byteCount: there.byteCount)
            return attempts.contains(hash) ? hash : nil
        } catch let error as StoreError where [.hidden, .missing].contains(error.problem) {
            return nil
        }
    }
}

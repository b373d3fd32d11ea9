import Digests
import TakeFiles
import Takes
import Transport
import Upload

/// The possible copy of a take in one store, compared with the copy on the kit.
struct StoreCopy: Sendable {
    let store: any Store
    let kitCopy: KitCopy
    /// The receipt of the upload to this store, or nil if none is noted.
    let receipt: UploadReceipt?
    /// The lengths of the sound files on the kit, by name. Missing files are left out.
    private let byteCounts: [String: Int64]

    /// May block on the storage of the take.
    init(of kitCopy: KitCopy, in store: any Store, _ receipt: UploadReceipt?) {
        self.store = store
        self.kitCopy = kitCopy
        self.receipt = receipt
        let sounds = kitCopy.sidecar.files.filter { !$0.isReplaceable }
        byteCounts = sounds.reduce(into: [:]) { $0[$1.name] = kitCopy.byteCount(of: $1) }
    }

    var take: TakeName { kitCopy.take }
    var sidecarName: ObjectName { ObjectName(.sidecar(of: take.stem), of: take) }
    private var stem: String { take.stem }

    func object(_ file: String) -> ObjectName { ObjectName(day: take.day, file: file) }

    /// Whether the stick of the receipt may be inserted. False if the inserted stick is another one that this kit
    /// adopted. A stick without a known mark may be one that lost its mark.
    func isOnCurrentStick() async -> Bool {
        guard let stick = receipt?.stick, let medium = try? await store.medium() else { return true }
        return stick == medium
    }

    /// The sidecar that the store has under the name of the take.
    enum Presence {
        case nothing
        /// A sidecar of this recording, with its revision.
        case same(revision: Int)
        /// A sidecar of another recording, or one that cannot be read.
        case another
    }

    /// Compares the store's sidecar with the hash that was sent, or else with the kit's sidecar.
    func presence() async throws -> Presence {
        guard let there = try await store.head(sidecarName) else { return .nothing }
        guard let bytes = try await sidecarBytes(there) else { return .another }
        if let receipt, let sent = receipt.sha256(of: sidecarName.file), sent == Digest.sha256(bytes).hexadecimal {
            return .same(revision: receipt.revision ?? kitCopy.sidecar.revision)
        }
        guard let sidecar = try? SidecarFile.sidecar(bytes, path: sidecarName.path),
            sidecar.isOfSameRecording(as: kitCopy.sidecar)
        else { return .another }
        return .same(revision: sidecar.revision)
    }

    /// The bytes of a sidecar, or nil if it is longer than a sidecar can be.
    func sidecarBytes(_ there: StoredObject) async throws -> [UInt8]? {
        guard there.byteCount <= SidecarFile.mostBytes else { return nil }
        return try await store.contents(of: there.name, limit: Int(there.byteCount))
    }

    /// The files that the store has according to the receipt. The sidecar comes first, because without it there is no
    /// take.
    /// - Throws: `Refusal` if a file of the receipt is missing: the stick or folder may be another one.
    func sentObjects(_ receipt: UploadReceipt) async throws -> [ObjectName] {
        let presence = try await presence()
        for file in receipt.files.map(\.file) {
            guard try await store.head(object(file)) == nil else { continue }
            throw Refusal(.storeLacks(stem: stem, store: store.name, file: file))
        }
        let sent = try await (receipt.files.map(\.file) + arrived(receipt)).filter { $0 != sidecarName.file }
        switch presence {
        case .same: return objects(beside: sent)
        case .nothing:
            // The take was not sent completely, or an earlier deletion failed halfway. A file with neither a receipt
            // nor the same length is not of this take.
            var files = Set(sent)
            for file in kitCopy.sidecar.files where !file.isReplaceable && !files.contains(file.name) {
                guard let there = try await store.head(object(file.name)) else { continue }
                if there.byteCount == byteCounts[file.name] { files.insert(file.name) }
            }
            return files.sorted().map(object)
        case .another:
            // The take was held because another recording has this name in the store.
            guard !receipt.files.isEmpty else { return sent.sorted().map(object) }
            throw Refusal(.storeHasOther(stem: stem, store: store.name, file: sidecarName.file))
        }
    }

    /// The files that the store has although it did not confirm their upload. A file of the same name with different
    /// content belongs to another take.
    /// - Throws: also if the store does not let this kit read, because it is then unknown whether it has them.
    private func arrived(_ receipt: UploadReceipt) async throws -> [String] {
        var found: [String] = []
        // For sound, comparing the length is sufficient.
        let attempted = Set((receipt.attempts ?? []).map(\.file)).subtracting(
            kitCopy.sidecar.files.filter { !$0.isReplaceable }.map(\.name))
        for file in attempted.sorted() where receipt.sha256(of: file) == nil {
            guard let there = try await store.head(object(file)), there.byteCount <= SidecarFile.mostBytes
            else { continue }
            let hash = try await store.sha256(of: object(file), byteCount: there.byteCount)
            if receipt.attempts(of: file).contains(hash) { found.append(file) }
        }
        return found
    }

    /// The files that a complete copy can have, the sidecar first.
    /// - Parameter sent: files of the receipt.
    func objects(beside sent: [String] = []) -> [ObjectName] {
        let others = Set(sent + kitCopy.sidecar.filesAtHome.map(\.name)).subtracting([sidecarName.file])
        return [sidecarName] + others.sorted().map(object)
    }

    /// Throws if the store has sound that the kit does not have.
    /// - Parameter revision: the revision of the take in the store.
    func checkHasNoMore(revision: Int?) async throws {
        guard revision ?? 0 <= kitCopy.sidecar.revision else {
            throw hasMore("\(store.name) has a later state of it")
        }
        for file in kitCopy.sidecar.files where !file.isReplaceable {
            guard let there = try await store.head(object(file.name)) else { continue }
            guard there.byteCount == byteCounts[file.name] else {
                throw hasMore("\(file.name) at \(store.name) has another length")
            }
        }
    }

    private func hasMore(_ problem: String) -> Refusal {
        Refusal(.storeHasMore(stem: stem, store: store.name, problem: problem))
    }
}

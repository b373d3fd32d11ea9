import Digests
import TakeFiles
import Takes
import Upload

/// Checks which files of a take the stores have now, before the take is deleted from the kit. The receipts may be old.
extension RemoteDesk {
    /// The stores that no longer have what their receipts name. A file counts as present if the store's own mark is
    /// unchanged. Otherwise it is read back and hashed.
    ///
    /// An unreachable store is not listed, nor is a store on a stick that is not inserted or was replaced by another
    /// one. A missing folder is listed, because no network would bring it back.
    /// - Throws: `StoreError` if it is unknown whether a store has the take: access is denied, the store fails or
    ///   interrupts an answer, or its sidecar cannot be read.
    func storesWithout(_ copy: KitCopy, _ notes: TakeNotes) async throws -> [String] {
        let notes = notes.of(copy.sidecar.recordingStart)
        var found: [String] = []
        for entry in stores {
            guard let receipt = notes[receiptOf: entry.store.name] else { continue }
            let isMounted = entry.plan.mount != nil
            do {
                // A stick that lost its mark and was adopted again has a new mark.
                if await !Self.isIn(receipt, entry.store), try await !hasAny(copy.take, receipt, entry.store) {
                    continue
                }
                switch try await sidecar(of: copy, receipt, entry.store) {
                case .asSent: if try await hasFiles(copy.take, receipt, entry.store) { continue }
                case .changed: break
                case .ofAnother: if isMounted { continue }
                case .notThere: if isMounted, try await !hasAny(copy.take, receipt, entry.store) { continue }
                case .away(let error):
                    guard let folder = entry.store as? FolderStore else { continue }
                    // A folder that exists but cannot be read counts as present.
                    if (try? await folder.identity()) != nil { throw error }
                    if isMounted { continue }
                }
            } catch let error as StoreError where isMounted || error.leavesOpen(of: entry.store) {
                throw error
            } catch is StoreError {}
            found.append(entry.store.name)
        }
        return found
    }

    /// Whether the stick of a receipt may be inserted. False if the inserted stick is another one that this kit
    /// adopted. A stick without a known mark may be one that lost its mark.
    static func isIn(_ receipt: UploadReceipt, _ store: any Store) async -> Bool {
        guard let stick = receipt.stick, let medium = try? await store.medium() else { return true }
        return stick == medium
    }

    /// The result of looking for the sidecar of a take in a store.
    private enum SentSidecar {
        case asSent
        /// Another revision of the same take, or not readable.
        case changed
        case ofAnother, notThere
        /// The store cannot be reached now.
        case away(StoreError)
    }

    /// - Throws: also `.unreadable` if the sidecar has the hash that was sent, but is not a valid sidecar.
    private func sidecar(
        of copy: KitCopy, _ receipt: UploadReceipt, _ store: any Store
    ) async throws -> SentSidecar {
        let object = ObjectName(.sidecar(of: copy.take.stem), of: copy.take)
        let there: StoredObject
        do {
            guard let found = try await store.head(object) else { return .notThere }
            there = found
        } catch let error as StoreError where [.away, .unadopted].contains(error.problem) {
            return .away(error)
        }
        guard let bytes = try await Self.sidecar(there, store) else { return .changed }
        let isSent = Digest.sha256(bytes).hexadecimal == receipt.sha256(of: object.file)
        do {
            let sidecar = try SidecarFile.sidecar(bytes, path: object.path)
            return isSent ? .asSent : sidecar.isOfSameRecording(as: copy.sidecar) ? .changed : .ofAnother
        } catch {
            guard isSent else { return .changed }
            throw StoreError(.unreadable, "outbox: \(store.name): a sidecar was sent that nobody can read: \(error)")
        }
    }

    /// Whether a store has a file of the take, with any content.
    private func hasAny(_ take: TakeName, _ receipt: UploadReceipt, _ store: any Store) async throws -> Bool {
        for file in receipt.files
        where try await store.head(ObjectName(day: take.day, file: file.file)) != nil { return true }
        return false
    }

    /// Whether a store has each file that its receipt names, except the sidecar, with the hash with which it was sent.
    private func hasFiles(_ take: TakeName, _ receipt: UploadReceipt, _ store: any Store) async throws -> Bool {
        for file in receipt.files where file.file != TakeFile.sidecar(of: take.stem).name {
            let object = ObjectName(day: take.day, file: file.file)
            guard let there = try await store.head(object), there.byteCount == file.bytes else { return false }
            if let mark = file.mark, mark == there.mark { continue }
            guard try await store.sha256(of: object, byteCount: file.bytes) == file.sha256 else { return false }
        }
        return true
    }
}

extension StoreError {
    /// Whether this error leaves unknown what the store has. That is so if a server refuses a key, a permission or a
    /// bucket. A folder that refuses access no longer counts as having the take.
    fileprivate func leavesOpen(of store: any Store) -> Bool {
        switch problem {
        case .away, .busy, .hidden, .unreadable: true
        case .refused: !(store is FolderStore)
        case .missing, .full, .conflict, .rejected, .damaged, .unadopted: false
        }
    }

    /// A temporary error that says nothing about the store's files.
    var isPassing: Bool {
        switch problem {
        case .away, .busy, .unadopted: true
        case .refused, .hidden, .missing, .full, .conflict, .rejected, .damaged, .unreadable: false
        }
    }
}

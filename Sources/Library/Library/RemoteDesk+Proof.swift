import Digests
import TakeFiles
import Takes
import Upload

/// What stores have now of a take that is to be deleted from the kit: their receipts are of long ago.
extension RemoteDesk {
    /// The stores that do not have now what their receipts name: a file is proven by the store's own hash if that is as it was, and else read
    /// back. A store behind a network that is down says nothing, and neither does a stick that is out, or another one in its place. A folder
    /// that is not there does not have the take: no network would bring it back.
    /// - Throws: `StoreError`, if it is not known whether a store has the take: it does not let this kit look, answers that it fails, stops in
    ///   the middle of an answer, or has a sidecar that nobody can read.
    func storesWithout(_ copy: KitCopy, _ notes: TakeNotes) async throws -> [String] {
        let notes = notes.of(copy.sidecar.recordingStart)
        var found: [String] = []
        for entry in stores {
            guard let receipt = notes[receiptOf: entry.store.name] else { continue }
            let isMounted = entry.plan.mount != nil
            do {
                // A stick that lost its mark and was adopted once more has another.
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
                    // What is in, and cannot be read, is not out.
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

    /// Whether the stick of a receipt may be in: it is not, if another one is that this kit adopted. One that it does not know may be the
    /// one that has lost its mark.
    static func isIn(_ receipt: UploadReceipt, _ store: any Store) async -> Bool {
        guard let stick = receipt.stick, let medium = try? await store.medium() else { return true }
        return stick == medium
    }

    /// What a store answers for the sidecar of a take.
    private enum SentSidecar {
        case asSent
        /// It is another state of the take's own, or nobody can read it.
        case changed
        case ofAnother, notThere
        /// The store cannot be reached now.
        case away(StoreError)
    }

    /// - Throws: also `.unreadable`: the sidecar is the one that was sent, and is none.
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

    /// Whether a store has a file of the take, whatever is in it.
    private func hasAny(_ take: TakeName, _ receipt: UploadReceipt, _ store: any Store) async throws -> Bool {
        for file in receipt.files
        where try await store.head(ObjectName(day: take.day, file: file.file)) != nil { return true }
        return false
    }

    /// Whether a store has each file that its receipt names beside the sidecar, with the hash that it was sent with.
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
    /// Whether it leaves open what the store has. A key, a right or a bucket that is refused does; a folder that refuses all is none of the
    /// take's any more.
    fileprivate func leavesOpen(of store: any Store) -> Bool {
        switch problem {
        case .away, .busy, .hidden, .unreadable: true
        case .refused: !(store is FolderStore)
        case .missing, .full, .conflict, .rejected, .damaged, .unadopted: false
        }
    }

    /// It says nothing of what the store has.
    var isPassing: Bool {
        switch problem {
        case .away, .busy, .unadopted: true
        case .refused, .hidden, .missing, .full, .conflict, .rejected, .damaged, .unreadable: false
        }
    }
}

import Digests
import TakeFiles
import Takes
import Upload

/// What stores have now of a take that is to be deleted from the kit: their receipts are of long ago.
extension RemoteDesk {
    /// The stores that do not have now what their receipts name: a file is proven by the store's own hash if that is as it was, and else read
    /// back. A store behind a network that is down says nothing, and neither does a stick that is out, or another one in its place. A folder
    /// that is not there does not have the take: no network would bring it back.
    /// - Throws: `StoreError`, if it is not known whether a store has the take: it does not let this kit look, stops in the middle of an
    ///   answer, or has a sidecar that nobody can read.
    func storesWithout(_ copy: KitCopy, _ notes: TakeNotes) async throws -> [String] {
        let notes = notes.of(copy.sidecar.origin)
        var found: [String] = []
        for entry in stores {
            guard let receipt = notes[receiptOf: entry.store.name] else { continue }
            do {
                switch try await sidecar(of: copy.take, receipt, entry.store) {
                case .asSent: if try await hasFiles(copy.take, receipt, entry.store) { continue }
                case .notThere, .other: if entry.plan.mount != nil { continue }
                case .away: if entry.plan.mount != nil || !(entry.store is FolderStore) { continue }
                }
            } catch let error as StoreError where error.problem.leavesOpen {
                throw error
            } catch let error as StoreError where entry.plan.mount != nil {
                throw error
            } catch is StoreError {}
            found.append(entry.store.name)
        }
        return found
    }

    /// What a store answers for the sidecar of a take.
    private enum SentSidecar {
        case asSent, other, notThere
        /// The store cannot be asked now.
        case away
    }

    /// - Throws: also `.unreadable`: the sidecar is the one that was sent, and is none.
    private func sidecar(
        of take: TakeName, _ receipt: UploadReceipt, _ store: any Store
    ) async throws -> SentSidecar {
        let object = ObjectName(day: take.day, file: "\(take.stem).json")
        let bytes: [UInt8]?
        do {
            guard let there = try await store.head(object) else { return .notThere }
            bytes = try await Self.sidecar(there, store)
        } catch let error as StoreError where error.isPassing {
            return .away
        }
        guard let bytes, Digest.sha256(bytes).hexadecimal == receipt.sha256(of: object.file) else { return .other }
        do {
            _ = try SidecarFile.sidecar(bytes, path: object.path)
        } catch {
            throw StoreError(.unreadable, "outbox: \(store.name): a sidecar was sent that nobody can read: \(error)")
        }
        return .asSent
    }

    /// Whether a store has each file that its receipt names beside the sidecar, with the hash that it was sent with.
    private func hasFiles(_ take: TakeName, _ receipt: UploadReceipt, _ store: any Store) async throws -> Bool {
        for file in receipt.files where file.file != "\(take.stem).json" {
            let object = ObjectName(day: take.day, file: file.file)
            guard let there = try await store.head(object), there.byteCount == file.bytes else { return false }
            if let mark = file.mark, mark == there.mark { continue }
            guard try await store.sha256(of: object, byteCount: file.bytes) == file.sha256 else { return false }
        }
        return true
    }
}

extension StoreError.Problem {
    /// Whether it leaves open what the store has.
    fileprivate var leavesOpen: Bool {
        switch self {
        case .away, .busy, .hidden, .unreadable: true
        case .refused, .missing, .full, .conflict, .rejected, .damaged: false
        }
    }
}

extension StoreError {
    /// It says nothing of what the store has.
    var isPassing: Bool {
        switch problem {
        case .away, .busy: true
        case .refused, .hidden, .missing, .full, .conflict, .rejected, .damaged, .unreadable: false
        }
    }
}

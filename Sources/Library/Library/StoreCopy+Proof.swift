import Digests
import TakeFiles
import Takes
import Upload

/// Checks that the store still has the files of its receipt, which may be old.
extension StoreCopy {
    /// Whether the store has the take, or cannot be reached now. A file counts as present if the store's own mark is
    /// unchanged. Otherwise it is read back and hashed.
    ///
    /// A missing folder counts as not having it, because no network would bring the folder back.
    /// - Parameter isMounted: whether the store is on a stick, which may be missing or replaced by another one.
    func mayBeThere(isMounted: Bool) async throws -> Bool {
        // A stick that lost its mark and was adopted again has a new mark.
        if await !isOnCurrentStick(), try await !hasAny() { return true }
        switch try await sentSidecar() {
        case .asSent: return try await hasFiles()
        case .changed: return false
        case .ofAnother: return isMounted
        case .notThere:
            guard isMounted else { return false }
            return try await !hasAny()
        case .away(let error):
            guard store.traits.isFolder else { return true }
            // A folder that exists but cannot be read counts as present.
            if (try? await store.place()) != nil { throw error }
            return isMounted
        }
    }

    /// The result of looking for the sidecar in the store.
    private enum SentSidecar {
        case asSent
        /// The sidecar is another revision of the same take, or cannot be read.
        case changed
        case ofAnother, notThere
        /// The store cannot be reached now.
        case away(StoreError)
    }

    /// - Throws: also `.unreadable` if the sidecar has the hash that was sent but is not valid.
    private func sentSidecar() async throws -> SentSidecar {
        let there: StoredObject
        do {
            guard let found = try await store.head(sidecarName) else { return .notThere }
            there = found
        } catch let error as StoreError where [.away, .unadopted].contains(error.problem) {
            return .away(error)
        }
        guard let bytes = try await sidecarBytes(there) else { return .changed }
        let isSent = Digest.sha256(bytes).hexadecimal == receipt?.sha256(of: sidecarName.file)
        do {
            let sidecar = try SidecarFile.sidecar(bytes, path: sidecarName.path)
            return isSent ? .asSent : sidecar.isOfSameRecording(as: kitCopy.sidecar) ? .changed : .ofAnother
        } catch {
            guard isSent else { return .changed }
            throw StoreError(.unreadable, "outbox: \(store.name): a sidecar was sent that nobody can read: \(error)")
        }
    }

    /// Whether the store has a file of the receipt, with any content.
    private func hasAny() async throws -> Bool {
        for file in receipt?.files ?? [] where try await store.head(object(file.file)) != nil { return true }
        return false
    }

    /// Whether the store has each file of the receipt except the sidecar, with the hash with which it was sent.
    private func hasFiles() async throws -> Bool {
        for file in receipt?.files ?? [] where file.file != sidecarName.file {
            guard let there = try await store.head(object(file.file)), there.byteCount == file.bytes else {
                return false
            }
            if let mark = file.mark, mark == there.mark { continue }
            guard try await store.sha256(of: object(file.file), byteCount: file.bytes) == file.sha256 else {
                return false
            }
        }
        return true
    }
}

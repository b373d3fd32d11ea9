import Catalog
import Control
import Takes
import Transport
import Upload

extension TakeDeletion {
    func acceptDamaged(_ stem: String) async throws(Refusal) -> TakeReply {
        let take = try requests.take(stem, for: "takes")
        let folder = take.folder.split(separator: "/", omittingEmptySubsequences: false)
        guard take.place == .here, let day = folder.last, let name = TakeName(stem: take.take, day: String(day)) else {
            throw Refusal(.storageOut(command: "takes", stem: stem))
        }
        guard let inspector else { throw Refusal(.internal, "takes: \(stem): nothing compares takes here") }
        do {
            try await inspector.accept(name, in: folder.dropLast().joined(separator: "/"))
        } catch let refusal as Refusal {
            throw refusal
        } catch let error as StoreError {
            throw Refusal(.unreadable(message: error.sentence))
        } catch {
            throw Refusal(.unreadable(message: "takes: \(stem): \(error)"))
        }
        return TakeReply(take: try requests.take(stem, for: "takes"))
    }

    /// Checks that the copy on the kit is what was recorded or was accepted by a person, because the deletion relies on
    /// it.
    /// - Throws: `Refusal`.
    func checkSound(of copy: KitCopy, in folder: String) async throws {
        do {
            try await inspector?.check(copy.take, in: folder, .all)
        } catch let error as StoreError {
            let message = "delete: \(copy.take.stem): \(error.sentence)"
            throw error.problem == .conflict
                ? Refusal(.notAsRecorded(message: message)) : Refusal(.unreadable(message: message))
        }
    }
}

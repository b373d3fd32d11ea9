import Catalog
import Control
import Takes
import Transport
import Upload

extension TakeDeletion {
    func acceptDamaged(_ stem: String) async throws(Refusal) -> String {
        let take = try requests.take(stem, for: "takes")
        let folder = take.folder.split(separator: "/", omittingEmptySubsequences: false)
        guard take.place == .here, let day = folder.last, let name = TakeName(stem: take.take, day: String(day)) else {
            throw Refusal(.busy, "takes: \(stem): it is on a storage that is out: put it in first")
        }
        guard let inspector else { throw Refusal(.internal, "takes: \(stem): nothing compares takes here") }
        do {
            try await inspector.accept(name, in: folder.dropLast().joined(separator: "/"))
        } catch let refusal as Refusal {
            throw refusal
        } catch let error as StoreError {
            throw Refusal(.io, error.sentence)
        } catch {
            throw Refusal(.io, "takes: \(stem): \(error)")
        }
        let accepted = try requests.take(stem, for: "takes")
        guard let text = jsonText(TakeReply(take: accepted)) else {
            throw Refusal(.internal, "takes: the reply cannot be written")
        }
        return text
    }

    /// Checks that the copy on the kit is what was recorded or was accepted by a person, because the deletion relies on
    /// it.
    /// - Throws: `Refusal`.
    func checkSound(of copy: KitCopy, in folder: String) async throws {
        do {
            try await inspector?.check(copy.take, in: folder, .all)
        } catch let error as StoreError {
            throw Refusal(error.problem == .conflict ? .busy : .io, "delete: \(copy.take.stem): \(error.sentence)")
        }
    }
}

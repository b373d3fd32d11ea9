import Catalog
import Control
import Glibc
import Logging
import TakeFiles
import Takes
import Transport
import Upload

/// Adopts the inserted stick, on request of a person or because it has a take that this kit sent.
final class StickDesk: Sendable {
    /// The store on sticks, or nil if takes are not sent to sticks.
    private let store: FolderStore?
    private let catalogs: CatalogSlot
    private let log: Logger
    private let adopted = Locked<[@Sendable () -> Void]>([])

    init(_ stores: Stores, _ catalogs: CatalogSlot, log: Logger) {
        store = stores.all.lazy.compactMap { $0.store as? FolderStore }.first(where: \.isOnStick)
        self.catalogs = catalogs
        self.log = log
    }

    /// Adds a handler that is called on any thread when a stick was adopted.
    func onAdopted(_ handler: @escaping @Sendable () -> Void) { adopted.withLock { $0.append(handler) } }

    /// The state of the inserted stick, or nil if the store is not on a stick.
    func standing(of store: any Store) async -> FolderStore.StickStanding? {
        await (store as? FolderStore)?.stickStanding()
    }

    /// Adopts the inserted stick.
    /// - Parameters:
    ///   - how: how it was adopted, for the log.
    ///   - known: a mark on the stick that this kit made earlier, or nil.
    /// - Returns: the reply as a JSON object, and whether the stick was not adopted before.
    @discardableResult
    func adopt(by how: String, _ known: StickMark? = nil) async throws(Refusal) -> (reply: String, isNew: Bool) {
        guard let store else {
            throw Refusal(.busy, "stick: takes are not sent to sticks: name \"auto\" under [outbox] store")
        }
        do {
            let (mark, isNew) = try await store.adoptStick(known)
            if isNew {
                log.notice("stick \(mark.short): adopted \(how)")
                for handler in adopted.withLock({ $0 }) { handler() }
            }
            return (jsonText(StickReply(stick: mark.short)) ?? "", isNew)
        } catch let error as FileError where [ENOENT, ENOTDIR].contains(error.code) && error.path == store.path {
            throw Refusal(
                .notFound, "stick: none is in that has a folder named fieldfare: insert it, or make the folder")
        } catch let error as FileError {
            throw Refusal(.io, "stick: not adopted: \(error.fact)\(Self.advice(error))")
        } catch {
            throw Refusal(.io, "stick: not adopted: \(error)")
        }
    }

    private static func advice(_ error: FileError) -> String {
        switch error.code {
        case EROFS: ": it is write-protected, or damaged"
        case ENOSPC, EDQUOT: ": free some space there"
        case EISDIR, EEXIST, ENOTEMPTY: ": remove the folder of that name"
        default: ": see whether the stick works in another machine"
        }
    }

    /// Adopts the inserted stick if it has a take that this kit sent to this stick, or to one whose mark was not noted.
    /// - Parameter marks: the marks on the stick.
    /// - Returns: whether it is adopted now.
    func recognise(_ marks: [StickMark]) async -> Bool {
        guard let store, let (take, mark) = await ownTake(on: store, marks) else { return false }
        do throws(Refusal) {
            try await adopt(by: "as it has \(take), which this kit sent", mark)
            return true
        } catch {
            log.warning("\(error.message)")
            return false
        }
    }

    /// A take on the stick whose sidecar and sound match a receipt, and the mark in that receipt.
    private func ownTake(on store: FolderStore, _ marks: [StickMark]) async -> (take: String, mark: StickMark?)? {
        for object in await store.sidecars() {
            guard let stem = object.take?.stem, let takes = try? catalogs.catalog.identities(of: stem) else { continue }
            let receipts = takes.lazy.compactMap { [catalog = catalogs.catalog] take in
                (try? catalog.readableNotes(of: take).notes)?[receiptOf: store.name]
            }
            guard let receipt = receipts.first(where: { $0.sha256(of: object.file) != nil }),
                receipt.stick == nil || marks.contains(where: { $0.name == receipt.stick }),
                let sidecar = receipt.files.first(where: { $0.file == object.file }),
                // Only a party that received both files from this kit can have both.
                let sound = receipt.files.filter({ TakeFile($0.file, of: stem)?.isReplaceable == false })
                    .min(by: { $0.bytes < $1.bytes }),
                await store.sha256(of: object, ifLength: sidecar.bytes) == sidecar.sha256,
                await store.sha256(of: ObjectName(day: object.day, file: sound.file), ifLength: sound.bytes)
                    == sound.sha256
            else { continue }
            return (stem, receipt.stick.flatMap { StickMark($0) })
        }
        return nil
    }
}

struct StickReply: Encodable, Sendable {
    /// The beginning of its mark.
    var stick: String
}

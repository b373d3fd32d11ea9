import Catalog
import Control
import Glibc
import Logging
import TakeFiles
import Takes
import Transport
import Upload

/// Adopts the stick that is in, as a person asks for it, or since it has a take that this kit sent.
final class StickDesk: Sendable {
    /// nil: takes are not sent to sticks.
    private let store: FolderStore?
    private let catalogs: CatalogSlot
    private let log: Logger
    private let adopted = Locked<[@Sendable () -> Void]>([])

    init(_ stores: Stores, _ catalogs: CatalogSlot, log: Logger) {
        store = stores.all.lazy.compactMap { $0.store as? FolderStore }.first(where: \.isOnStick)
        self.catalogs = catalogs
        self.log = log
    }

    /// Calls a handler when a stick has become home, on any thread.
    func onAdopted(_ handler: @escaping @Sendable () -> Void) { adopted.withLock { $0.append(handler) } }

    /// How the stick stands that is in; nil: this store is on no stick.
    func standing(of store: any Store) async -> FolderStore.StickStanding? {
        await (store as? FolderStore)?.stickStanding()
    }

    /// Adopts the stick that is in.
    /// - Parameters:
    ///   - how: by what, as the log has it.
    ///   - known: a mark on the stick that this kit made before; nil: none is known.
    /// - Returns: the object of the reply, JSON, and whether the stick was adopted before.
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

    /// Adopts the stick that is in, if it has a take that this kit sent to this stick, or to one whose mark was not noted then.
    /// - Parameter marks: those on the stick.
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

    /// A take on the stick whose sidecar and sound are as a receipt says, and the mark that the receipt names.
    private func ownTake(on store: FolderStore, _ marks: [StickMark]) async -> (take: String, mark: StickMark?)? {
        for object in await store.sidecars() {
            guard let stem = object.take?.stem, let takes = try? catalogs.catalog.identities(of: stem) else { continue }
            let receipts = takes.lazy.compactMap { [catalog = catalogs.catalog] take in
                (try? catalog.readableNotes(of: take).notes)?[receiptOf: store.name]
            }
            guard let receipt = receipts.first(where: { $0.sha256(of: object.file) != nil }),
                receipt.stick == nil || marks.contains(where: { $0.name == receipt.stick }),
                let sidecar = receipt.files.first(where: { $0.file == object.file }),
                // Nobody who was not given them can make both.
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

/// The stick that is adopted.
struct StickReply: Encodable, Sendable {
    /// How its mark begins.
    var stick: String
}

import Catalog
import Control
import Logging
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

    /// So many takes of a stick are compared with receipts.
    private static let mostTakes = 1000

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
    /// - Parameter how: by what, as the log has it.
    /// - Returns: the object of the reply, JSON.
    func adopt(by how: String) async throws(Refusal) -> String {
        guard let store else {
            throw Refusal(.busy, "stick: takes are not sent to sticks: name \"auto\" under [outbox] store")
        }
        do {
            let before = await store.stickStanding()
            let mark = try await store.adoptStick()
            if before != .home(mark) {
                log.notice("stick \(mark.short): adopted \(how)")
                for handler in adopted.withLock({ $0 }) { handler() }
            }
            return jsonText(StickReply(stick: mark.name)) ?? ""
        } catch let error as StoreError where error.problem == .away {
            throw Refusal(
                .notFound, "stick: none is in that has a folder named fieldfare: insert it, or make the folder")
        } catch {
            throw Refusal(.io, "stick: \((error as? StoreError)?.sentence ?? "\(error)")")
        }
    }

    /// Adopts the stick that is in, if it has a take that this kit sent to this stick, or to one whose mark was not noted then.
    /// - Returns: whether it is home now.
    func recognise(_ mark: StickMark?) async -> Bool {
        guard let store, let take = await ownTake(on: store, mark) else { return false }
        return (try? await adopt(by: "as it has \(take), which this kit sent")) != nil
    }

    /// A take on the stick whose sidecar and sound are as a receipt says.
    private func ownTake(on store: FolderStore, _ mark: StickMark?) async -> String? {
        for object in await store.sidecars(limit: Self.mostTakes) {
            guard let stem = object.take?.stem,
                let receipt = try? catalogs.catalog.readableNotes(of: stem).notes[receiptOf: store.name],
                receipt.stick == nil || receipt.stick == mark?.name,
                let sidecar = receipt.files.first(where: { $0.file == object.file }),
                // Nobody who was not given them can make both.
                let sound = receipt.files.filter({ $0.file.hasSuffix(".wav") || $0.file.hasSuffix(".flac") })
                    .min(by: { $0.bytes < $1.bytes }),
                await store.sha256(of: object, ifLength: sidecar.bytes) == sidecar.sha256,
                await store.sha256(of: ObjectName(day: object.day, file: sound.file), ifLength: sound.bytes)
                    == sound.sha256
            else { continue }
            return stem
        }
        return nil
    }
}

/// The stick that is home.
struct StickReply: Encodable, Sendable {
    /// Its mark.
    var stick: String
}

import Catalog
import Control
import Files
import Glibc
import Logging
import Takes
import Transport
import Upload
import Workers

/// Adopts the inserted stick, on request of a person or because it has a take that this kit sent.
actor StickDesk {
    /// The stick's folder, or nil if takes are not sent to sticks.
    private let folder: StickFolder?
    private let catalogs: CatalogSlot
    private let log: Logger
    private let executor: ThreadExecutor
    private let adopted = Locked<[@Sendable () -> Void]>([])

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(_ stores: Stores, _ catalogs: CatalogSlot, log: Logger) throws {
        folder = stores.all.lazy.compactMap(\.store.traits.stick).first
        self.catalogs = catalogs
        self.log = log
        executor = try ThreadExecutor(name: "sticks")
    }

    /// Adds a handler that is called on any thread when a stick was adopted.
    nonisolated func onAdopted(_ handler: @escaping @Sendable () -> Void) { adopted.withLock { $0.append(handler) } }

    /// Adopts the inserted stick.
    /// - Parameters:
    ///   - how: how it was adopted, for the log.
    ///   - known: a mark on the stick that this kit made earlier, or nil.
    /// - Returns: the reply, and whether the stick was not adopted before.
    @discardableResult
    func adopt(by how: String, _ known: StickMark? = nil) async throws(Refusal) -> (reply: StickReply, isNew: Bool) {
        guard let folder else {
            throw Refusal(.sticksNotUsed)
        }
        do {
            let (mark, isNew) = try await folder.adopt(known)
            if isNew {
                log.notice("stick \(mark.short): adopted \(how)")
                for handler in adopted.withLock({ $0 }) { handler() }
            }
            return (StickReply(stick: mark.short), isNew)
        } catch let error as FileError where [ENOENT, ENOTDIR].contains(error.code) && error.path == folder.path {
            throw Refusal(.noStickFolder)
        } catch let error as FileError {
            throw Refusal(.notAdopted(message: "stick: not adopted: \(error.fact)\(Self.advice(error))"))
        } catch {
            throw Refusal(.notAdopted(message: "stick: not adopted: \(error)"))
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
        guard let folder, let (take, mark) = await ownTake(in: folder, marks) else { return false }
        do throws(Refusal) {
            try await adopt(by: "as it has \(take), which this kit sent", mark)
            return true
        } catch {
            log.warning("\(error.message)")
            return false
        }
    }

    /// A take on the stick whose sidecar and sound match a receipt, and the mark in that receipt.
    private func ownTake(
        in folder: StickFolder, _ marks: [StickMark]
    ) async -> (take: String, mark: StickMark?)? {
        for object in await folder.sidecars() {
            guard let stem = object.take?.stem, let takes = try? catalogs.catalog.identities(of: stem) else { continue }
            let receipts = takes.lazy.compactMap { [catalog = catalogs.catalog] take in
                (try? catalog.readableNotes(of: take).notes)?[receiptOf: folder.name]
            }
            guard let receipt = receipts.first(where: { $0.sha256(of: object.file) != nil }),
                receipt.stick == nil || marks.contains(where: { $0.name == receipt.stick }),
                let sidecar = receipt.files.first(where: { $0.file == object.file }),
                // Only a party that received both files from this kit can have both.
                let sound = receipt.files.filter({ TakeFile($0.file, of: stem)?.isReplaceable == false })
                    .min(by: { $0.bytes < $1.bytes }),
                await folder.sha256(of: object, ifLength: sidecar.bytes) == sidecar.sha256,
                await folder.sha256(of: ObjectName(day: object.day, file: sound.file), ifLength: sound.bytes)
                    == sound.sha256
            else { continue }
            return (stem, receipt.stick.flatMap { StickMark($0) })
        }
        return nil
    }
}

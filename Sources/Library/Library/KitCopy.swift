import Files
import Glibc
import TakeFiles
import Takes
import Transport
import Upload

/// The copy of a take on the kit, for callers that rely on it or delete it.
struct KitCopy: Sendable {
    let take: TakeName
    /// The content of its sidecar now.
    private(set) var sidecar: Sidecar
    fileprivate let folder: TakesFolder

    /// Reads the sidecar.
    /// - Parameter folder: the folder for takes that contains it.
    init(_ take: TakeName, in folder: String) throws(Refusal) {
        self.take = take
        self.folder = TakesFolder(path: folder)
        do {
            sidecar = try self.folder.sidecar(of: take)
        } catch let error as FileError where error.isOfMissingFile {
            throw Refusal(.notOnKit(stem: take.stem))
        } catch {
            throw Refusal(.unreadable(message: "delete: \(take.stem): \(error)"))
        }
    }

    /// The same copy with the hashes that the library noted, because a rebuilt sidecar does not contain any.
    func adding(_ notes: TakeNotes) -> KitCopy {
        let notes = notes.of(sidecar.recordingStart)
        var copy = self
        copy.sidecar.add(notes.sounds)
        for hash in notes.hashes { copy.sidecar.setHash(hash.sha256, of: hash.file) }
        return copy
    }

    var version: TakeVersion { sidecar.version(day: take.day) }

    /// The version and the folder. A decision based on them applies to no other copy.
    var terms: DiscardTerms { DiscardTerms(version, in: folder.path) }

    /// Whether each of these stores has the whole take, by the receipts. False if there is no store.
    func isAtHome(_ notes: TakeNotes, _ stores: [String]) -> Bool {
        let notes = notes.of(sidecar.recordingStart)
        return !stores.isEmpty && stores.allSatisfy { notes.isComplete(sidecar, in: $0) }
    }

    /// Checks that the sound is what was hashed and sent. A file is read again if its length or modification time
    /// differs from the noted one.
    /// - Parameter isLast: this copy will be the last one, so each file is read: FAT timestamps have a resolution of 2
    ///   s, and bit rot does not change them.
    /// - Returns: the hashes of the files that were read, to be noted.
    /// - Throws: `Refusal` if sound is missing or differs.
    func check(
        _ notes: TakeNotes, _ reader: DiskReader, isLast: Bool = false
    ) async throws(Refusal) -> [TakeNotes.FileHash] {
        let notes = notes.of(sidecar.recordingStart)
        var found: [TakeNotes.FileHash] = []
        for file in sidecar.files.lazy.filter({ !$0.isReplaceable }).map(\.name) {
            let path = "\(folder.folder(of: take))/\(file)"
            // The hash in a receipt is that of the store's copy. The last hash computed here may be of another content.
            let noted = notes.hashes.first { $0.file == file }
            guard let expected = notes.receipts.lazy.compactMap({ $0.sha256(of: file) }).first ?? noted?.sha256 else {
                throw Refusal(.neverCompared(path: path))
            }
            do {
                // A symbolic link is not a copy on the kit: it may lead to the copy that it is compared with.
                let there = try await reader.perform { files in try files.takeFileAttributes(path) }
                if !isLast, let noted, noted.sha256 == expected, noted.bytes == there.byteCount,
                    noted.modifiedNs == there.modifiedNs
                {
                    continue
                }
                guard try await UploadSource(path: path, reader: reader).sha256() == expected else {
                    throw Refusal(.notAsSent(path: path))
                }
                found.append(
                    .init(file: file, bytes: there.byteCount, sha256: expected, modifiedNs: there.modifiedNs))
            } catch let refusal as Refusal {
                throw refusal
            } catch let error as FileError {
                throw Refusal(.notWhole(message: "delete: \(error.fact): the take is not whole on the kit"))
            } catch {
                throw Refusal(.unreadable(message: "delete: \(path): \(error)"))
            }
        }
        return found
    }
}

extension KitCopy {
    /// The length of a file of the take, or nil if it does not exist.
    func byteCount(of file: TakeFile) -> Int64? { folder.byteCount(ofFile: file.name, of: take) }
}

extension FileError {
    fileprivate var isOfMissingFile: Bool { code == ENOENT || code == ENOTDIR }
}

extension TakeNotes {
    /// Whether a store has every file that this sidecar lists.
    func isComplete(_ sidecar: Sidecar, in store: String) -> Bool {
        guard let receipt = self[receiptOf: store], isComplete(revision: sidecar.revision, in: store) else {
            return false
        }
        return sidecar.pendingFormat == nil
            && sidecar.files.allSatisfy { $0.isReplaceable || receipt.sha256(of: $0.name) != nil }
    }
}

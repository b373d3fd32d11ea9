import Glibc
import TakeFiles
import Takes
import Transport
import Upload

/// The copy of a take that is on the kit now, for who relies on it, or deletes it.
struct KitCopy: Sendable {
    let take: TakeName
    /// What its sidecar says now.
    private(set) var sidecar: Sidecar
    fileprivate let folder: TakesFolder

    /// Reads its sidecar.
    /// - Parameter folder: the folder for takes that it is in.
    init(_ take: TakeName, in folder: String) throws(Refusal) {
        self.take = take
        self.folder = TakesFolder(path: folder)
        do {
            sidecar = try self.folder.sidecar(of: take)
        } catch let error as FileError where error.isOfMissingFile {
            throw Refusal(.notFound, "delete: \(take.stem): it is not on the kit any more")
        } catch {
            throw Refusal(.io, "delete: \(take.stem): \(error)")
        }
    }

    /// The same, with the hashes that the library noted: a sidecar that was made anew has none of its own.
    func adding(_ notes: TakeNotes) -> KitCopy {
        let notes = notes.of(sidecar.recordingStart)
        var copy = self
        copy.sidecar.add(notes.sounds)
        for hash in notes.hashes { copy.sidecar.setHash(hash.sha256, of: hash.file) }
        return copy
    }

    /// What it is now.
    var version: TakeVersion { sidecar.version(day: take.day) }

    /// What it is now, and where: what is decided by this holds for no other.
    var terms: DiscardTerms { DiscardTerms(version, in: folder.path) }

    /// Whether each of these stores has all of it, by the receipts. No store: no.
    func isAtHome(_ notes: TakeNotes, _ stores: [String]) -> Bool {
        let notes = notes.of(sidecar.recordingStart)
        return !stores.isEmpty && stores.allSatisfy { notes.isComplete(sidecar, in: $0) }
    }

    /// That its sound is what was hashed, and sent. A file that is not the one that was hashed, by length and time of change, is read
    /// again.
    /// - Parameter isLast: this copy will be the last one: each file is read. Times of FAT count 2 s, and decay changes none.
    /// - Returns: what is to be noted of files that were read.
    /// - Throws: `Refusal`, if sound is missing or another.
    func check(
        _ notes: TakeNotes, _ reader: DiskReader, isLast: Bool = false
    ) async throws(Refusal) -> [TakeNotes.FileHash] {
        let notes = notes.of(sidecar.recordingStart)
        var found: [TakeNotes.FileHash] = []
        for file in sidecar.files.lazy.filter({ !$0.isReplaceable }).map(\.name) {
            let path = "\(folder.folder(of: take))/\(file)"
            // What a store has is what this is compared with; what was hashed here last may have been another content.
            let noted = notes.hashes.first { $0.file == file }
            guard let expected = notes.receipts.lazy.compactMap({ $0.sha256(of: file) }).first ?? noted?.sha256 else {
                throw Refusal(.busy, "delete: \(path): it was never compared with another copy: nothing is deleted")
            }
            do {
                // What is a link elsewhere is no copy on the kit: it may lead to the one that it is compared with.
                let there = try await reader.perform { files in try files.takeFileAttributes(path) }
                if !isLast, let noted, noted.sha256 == expected, noted.bytes == there.byteCount,
                    noted.modifiedNs == there.modifiedNs
                {
                    continue
                }
                guard try await UploadSource(path: path, reader: reader).sha256() == expected else {
                    throw Refusal(.io, "delete: \(path): it is not what was sent: compare it with its copies")
                }
                found.append(
                    .init(file: file, bytes: there.byteCount, sha256: expected, modifiedNs: there.modifiedNs))
            } catch let refusal as Refusal {
                throw refusal
            } catch let error as FileError {
                throw Refusal(.io, "delete: \(error.fact): the take is not whole on the kit")
            } catch {
                throw Refusal(.io, "delete: \(path): \(error)")
            }
        }
        return found
    }
}

extension KitCopy {
    /// How many bytes a file of it has; nil: it is not there.
    func byteCount(of file: TakeFile) -> Int64? { folder.byteCount(ofFile: file.name, of: take) }
}

extension FileError {
    /// Whether there is nothing of that name.
    fileprivate var isOfMissingFile: Bool { code == ENOENT || code == ENOTDIR }
}

extension TakeNotes {
    /// Whether a store has all of a take, by this sidecar.
    func isComplete(_ sidecar: Sidecar, in store: String) -> Bool {
        guard let receipt = self[receiptOf: store], isComplete(revision: sidecar.revision, in: store) else {
            return false
        }
        return sidecar.pendingFormat == nil
            && sidecar.files.allSatisfy { $0.isReplaceable || receipt.sha256(of: $0.name) != nil }
    }
}

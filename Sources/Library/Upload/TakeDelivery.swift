import Digests
import Files
import FoundationEssentials
import Glibc
public import TakeFiles
public import Takes

/// Sends one take to one store as a parcel: the audio parts with their unfiltered copies, the peaks, the memo, the
/// notes, and finally the sidecar. The sidecar's presence means that the take is complete.
public struct TakeDelivery: Sendable {
    let name: TakeName
    let folder: TakesFolder
    let store: any Store
    private let reader: DiskReader
    private let throttle: Throttle?

    /// - Parameters:
    ///   - folder: the folder of the take.
    ///   - reader: reads its files.
    ///   - throttle: limits the bandwidth; nil for no limit.
    public init(
        _ name: TakeName, in folder: TakesFolder, to store: any Store, reader: DiskReader, throttle: Throttle?
    ) {
        self.name = name
        self.folder = folder
        self.store = store
        self.reader = reader
        self.throttle = throttle
    }

    public typealias Progress = ParcelProgress

    /// Changes the take's notes durably.
    public typealias Save = @Sendable (_ change: @escaping @Sendable (inout TakeNotes) -> Void) async throws -> Void

    /// Sends the files that the store does not have.
    /// - Parameters:
    ///   - notes: the take's notes, whose hashes and receipts save work.
    ///   - now: the time for the receipt.
    ///   - save: saves a hash or a receipt durably before the next file is sent.
    /// - Returns: the complete receipt, saved.
    /// - Throws: `StoreError`; `CancellationError`; the errors of `save`.
    public func run(
        _ notes: TakeNotes, now: @Sendable () -> WallTime, report: @escaping @Sendable (Progress) -> Void,
        save saveNotes: @escaping Save
    ) async throws -> UploadReceipt {
        // A store that is away is detected before any file is hashed.
        _ = try await store.look(at: ObjectName(.sidecar(of: name.stem), of: name))
        var sidecar = try await readSidecar()
        let origin = sidecar.recordingStart
        // Notes of another recording with the same stem do not belong to this one.
        let known = notes.of(origin)
        @Sendable func save(_ change: @escaping @Sendable (inout TakeNotes) -> Void) async throws {
            try await saveNotes { notes in
                notes.attribute(to: origin)
                change(&notes)
            }
        }
        let waveform = await waveform()
        var parcel = try await ParcelDelivery(
            to: store, known[receiptOf: store.name], report: report,
            save: { [store = store.name] change in try await save { change(&$0[receiptOf: store]) } })
        let (notes, document, found) = try await takeOver(known, of: sidecar, parcel.receipt, save)
        sidecar.markers = notes.markers(of: sidecar.markers)
        sidecar.add(notes.sounds)
        var contents = Contents(sidecar: sidecar, waveform: waveform, notes: notes, document: document, found: found)
        let files = try await files(of: contents)
        try await parcel.begin(
            byteCount: files.reduce(0) { $0 + $1.byteCount }, noted: notes[receiptOf: store.name])
        for outgoing in files {
            let file = try await open(outgoing, of: contents, save)
            contents.sidecar.setHash(file.metadata.sha256, of: outgoing.file.name)
            try await parcel.send(file) { try await mode(of: outgoing.file, file, of: contents, in: $0) }
        }
        if notes.memo == nil {
            let memo = TakeFile.memo(of: name.stem)
            try await parcel.withdraw(ObjectName(memo, of: name)) {
                try await open(.text([], as: memo), of: contents, save)
            }
        }
        if contents.sidecar.isRebuilt, let there = try await sentSidecar(), !there.isRebuilt,
            there.isOfSameRecording(as: contents.sidecar)
        {
            // The earlier sidecar in the store has gaps and the clock map, which cannot be rebuilt from the audio.
            contents.sidecar = contents.sidecar.completed(by: there)
        }
        let last = TakeFile.sidecar(of: name.stem)
        let bytes = SidecarFile.bytes(contents.sidecar)
        do {
            _ = try SidecarFile.sidecar(bytes, path: last.name)
        } catch {
            throw StoreError(
                .unreadable,
                "outbox: \(name.stem): its sidecar could not be read at home: \(error.problem): see its notes")
        }
        let file = try await open(.text(bytes, as: last), of: contents, save)
        try await parcel.send(file) { try await mode(of: last, file, of: contents, in: $0) }
        var receipt = parcel.receipt
        receipt.complete(revision: contents.sidecar.revision, at: now().iso8601)
        receipt.notesRevision = document?.revision
        let (complete, sent) = (receipt, notes.currentRevision)
        try await save { notes in
            notes[receiptOf: complete.store] = complete
            if let revision = complete.notesRevision { notes.know(revision: revision) }
            if notes.currentRevision == sent {
                if let revision = complete.notesRevision { notes.revision = revision }
            } else {
                // Notes that a person changed during the upload must still be sent, with a later revision than the sent
                // one.
                notes.revision = max(notes.currentRevision, (complete.notesRevision ?? 0) + 1)
                notes[receiptOf: complete.store]?.reopen()
            }
        }
        return complete
    }

    /// The content of a sidecar or notes in the store. Nil if the object is missing, cannot be read, or is longer than
    /// such a file can be.
    func content(of object: ObjectName) async throws -> [UInt8]? {
        guard let there = try await store.look(at: object), there.byteCount <= SidecarFile.mostBytes else { return nil }
        do {
            return try await store.contents(of: object, limit: Int(there.byteCount))
        } catch let error as StoreError where error.problem == .hidden {
            return nil
        }
    }

    /// The sidecar in the store under the take's name, or nil if there is none that can be read.
    func sentSidecar() async throws -> Sidecar? {
        let object = ObjectName(.sidecar(of: name.stem), of: name)
        return try await content(of: object).flatMap { try? SidecarFile.sidecar($0, path: object.path) }
    }

    /// The content of the take to send.
    struct Contents {
        /// Its hashes are those of the sent files.
        var sidecar: Sidecar
        /// For lists of stores; see `waveform()`.
        var waveform: String
        var notes: TakeNotes
        /// The notes as a file, or nil if nobody ever wrote notes.
        var document: NotesDocument?
        /// The earlier notes in the store, or nil if there was nothing to merge or replace.
        var found: FoundNotes?
    }

    private struct Outgoing {
        var file: TakeFile
        var byteCount: Int64
        var content: Content

        enum Content {
            case onDisk
            case text([UInt8])
        }

        static func text(_ bytes: [UInt8], as file: TakeFile) -> Outgoing {
            Outgoing(file: file, byteCount: Int64(bytes.count), content: .text(bytes))
        }
    }

    /// The files that are sent before the sidecar.
    private func files(of contents: Contents) async throws -> [Outgoing] {
        let (sidecar, notes) = (contents.sidecar, contents.notes)
        var files: [Outgoing] = []
        for file in sidecar.filesAtHome {
            switch file.role {
            case .sound, .unfiltered, .waveform:
                if let count = await byteCount(file.name) {
                    files.append(Outgoing(file: file, byteCount: count, content: .onDisk))
                } else if !file.isReplaceable, !sidecar.isAcceptedMissing(file.name) {
                    throw StoreError(
                        .unreadable,
                        "outbox: \(folder.folder(of: name))/\(file.name): it is missing: see where it went")
                }
            case .memo:
                if let memo = notes.memo { files.append(.text(Array((memo + "\n").utf8), as: file)) }
                for text in notes.otherMemos ?? [] {
                    let bytes = Array((text + "\n").utf8)
                    // An earlier version does not know these files, so it must not be able to replace one: each has its
                    // own name.
                    let digits = Digest.sha256(bytes).hexadecimal.prefix(8)
                    files.append(.text(bytes, as: .memo(of: name.stem, other: String(digits))))
                }
            case .notes:
                if let document = contents.document { files.append(.text(document.bytes, as: file)) }
            case .sidecar: break
            }
        }
        return files
    }

    private func byteCount(_ file: String) async -> Int64? {
        try? await reader.perform { _ in folder.byteCount(ofFile: file, of: name) }
    }

    private func readSidecar() async throws -> Sidecar {
        do {
            return try await reader.perform { _ in try folder.sidecar(of: name) }
        } catch let error as FileError {
            throw StoreError(.unreadable, "outbox: \(error.fact)")
        } catch let error as SidecarError {
            throw StoreError(.unreadable, "outbox: \(error)")
        }
    }

    private func open(
        _ outgoing: Outgoing, of contents: Contents, _ save: Save
    ) async throws -> ParcelDelivery.File {
        let source: UploadSource
        let hashes: ContentHashes
        switch outgoing.content {
        case .text(let bytes):
            source = UploadSource(bytes, called: outgoing.file.name, reader: reader, throttle: throttle)
            hashes = try await source.hashes(for: store)
        case .onDisk:
            (source, hashes) = try await openOnDisk(outgoing, contents.notes, save)
        }
        let sidecar = contents.sidecar
        let metadata = ObjectMetadata(
            title: sidecar.take, started: sidecar.startedCorrected ?? sidecar.started,
            duration: sidecar.durationSeconds, kit: sidecar.kit, waveform: contents.waveform, sha256: hashes.sha256)
        return ParcelDelivery.File(
            source: source, checksum: hashes.checksum, object: ObjectName(outgoing.file, of: name),
            metadata: metadata, isReplaceable: outgoing.file.isReplaceable)
    }

    /// A file and its hashes. The SHA-256 is the one from the sound comparison, or the noted one if the length is the
    /// same. It is checked again while the file is sent.
    private func openOnDisk(
        _ outgoing: Outgoing, _ notes: TakeNotes, _ save: Save
    ) async throws -> (UploadSource, ContentHashes) {
        let file = outgoing.file.name
        let path = "\(folder.folder(of: name))/\(file)"
        if let compared = notes.sound(of: file), let sha256 = compared.fitSHA256 {
            let source = try await UploadSource(path: path, sha256: sha256, reader: reader, throttle: throttle)
            guard source.byteCount == compared.bytes else { throw UploadSource.changed(path) }
            return (source, ContentHashes(sha256: sha256))
        }
        let noted = notes.hashes.first { $0.file == file && $0.bytes == outgoing.byteCount }
        let source = try await UploadSource(path: path, sha256: noted?.sha256, reader: reader, throttle: throttle)
        if let noted { return (source, ContentHashes(sha256: noted.sha256)) }
        // The time is read before the content, so that a change during the hashing is detected.
        let modified = try? await reader.perform { try $0.attributes(path).modifiedNs }
        let hashes = try await source.hashes(for: store)
        let hash = TakeNotes.FileHash(
            file: file, bytes: source.byteCount, sha256: hashes.sha256, modifiedNs: modified)
        try await save { $0.setHash(hash) }
        return (source, hashes)
    }

    /// The highest peak of each of 64 sections, as two hexadecimal digits.
    private func waveform() async -> String {
        let path = "\(folder.folder(of: name))/\(TakeFile.waveform(of: name.stem).name)"
        let overview = try? await reader.perform { PeaksOverview(reading: path, columns: 64, files: $0) }
        return (overview?.magnitudes ?? []).map { UInt8(clamping: $0) }.hexadecimal
    }
}

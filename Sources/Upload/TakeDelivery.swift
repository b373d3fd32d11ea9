import Digests
import FoundationEssentials
import Glibc
public import TakeFiles
public import Takes

/// Sends one take to one store: audio parts with their unfiltered twins, peaks, memo, notes, and the sidecar last, so that its presence means
/// that the take is complete.
public struct TakeDelivery: Sendable {
    let name: TakeName
    let folder: TakesFolder
    let store: any Store
    private let reader: DiskReader
    private let throttle: Throttle?

    /// - Parameters:
    ///   - folder: where the take is.
    ///   - reader: reads its files.
    ///   - throttle: limits the bandwidth; nil: no limit.
    public init(
        _ name: TakeName, in folder: TakesFolder, to store: any Store, reader: DiskReader, throttle: Throttle?
    ) {
        self.name = name
        self.folder = folder
        self.store = store
        self.reader = reader
        self.throttle = throttle
    }

    /// How far a take is.
    public enum Progress: Hashable, Sendable {
        /// So many bytes of all.
        case sending(Int64, of: Int64)
        /// All of a file is there, and is compared.
        case verifying(Int64, of: Int64)
    }

    /// Sends what the store does not have.
    /// - Parameters:
    ///   - notes: what is noted of the take: hashes and receipts spare work.
    ///   - now: what a receipt is dated.
    ///   - save: notes a hash or a receipt durably before the next file is sent.
    /// - Returns: the complete receipt, saved.
    /// - Throws: `StoreError`; `CancellationError`; what `save` throws.
    public func run(
        _ notes: TakeNotes, now: @Sendable () -> WallTime, report: @escaping @Sendable (Progress) -> Void,
        save saveNotes: @Sendable (@escaping @Sendable (inout TakeNotes) -> Void) async throws -> Void
    ) async throws -> UploadReceipt {
        // A store that is away is found before any file is hashed.
        _ = try await look(at: ObjectName(.sidecar(of: name.stem), of: name))
        var sidecar = try await readSidecar()
        let origin = sidecar.recordingStart
        // Those of another recording with this stem are none of this one's.
        let known = notes.of(origin)
        @Sendable func save(_ change: @escaping @Sendable (inout TakeNotes) -> Void) async throws {
            try await saveNotes { notes in
                notes.attribute(to: origin)
                change(&notes)
            }
        }
        let recorded = sidecar.markers
        let waveform = await waveform()
        var receipt = known[receiptOf: store.name] ?? UploadReceipt(store: store.name)
        let medium = try await store.medium()
        if let medium { receipt.move(to: medium) }
        let (notes, document, found) = try await takeOver(known, of: sidecar, receipt, save)
        sidecar.markers = notes.markers(of: recorded)
        sidecar.add(notes.sounds)
        let files = try await files(of: sidecar, notes, document)
        let total = files.reduce(0) { $0 + $1.byteCount }
        var done: Int64 = 0
        if notes[receiptOf: store.name] != receipt {
            // Before the store has anything: who deletes the take everywhere finds it there.
            let state = receipt
            try await save { $0[receiptOf: state.store] = state }
        }

        func deliver(_ source: UploadSource, _ file: TakeFile, _ sha256: String) async throws {
            let before = done
            let old = receipt.sha256(of: file.name)
            let object = ObjectName(file, of: name)
            let isDue = if old != sha256 { true } else { try await mayVerify(object, receipt) }
            if isDue {
                let metadata = ObjectMetadata(
                    title: sidecar.take, started: sidecar.startedCorrected ?? sidecar.started,
                    duration: sidecar.durationSeconds, kit: sidecar.kit, waveform: waveform, sha256: sha256)
                let mode = try await mode(of: file, sha256, receipt, sidecar, notes, found)
                let attempt = TakeNotes.FileHash(file: file.name, bytes: source.byteCount, sha256: sha256)
                if old != sha256, file.isReplaceable, !receipt.attempts(of: file.name).contains(sha256) {
                    receipt.attempt(attempt)
                    try await save { [store = store.name] in
                        var noted = $0[receiptOf: store] ?? UploadReceipt(store: store)
                        noted.attempt(attempt)
                        $0[receiptOf: store] = noted
                    }
                }
                let there: StoredObject
                do {
                    there = try await store.put(source, as: object, metadata, mode: mode) { progress in
                        switch progress {
                        case .sent(let count): report(.sending(before + count, of: total))
                        case .verifying: report(.verifying(before + source.byteCount, of: total))
                        }
                    }
                } catch let error as StoreError where error.problem == .refused && mode.replaces {
                    // The store may still accept all other takes.
                    throw StoreError(.hidden, error.sentence)
                } catch let error as StoreError where error.problem == .conflict {
                    // Another file is there, and nothing of this one.
                    try await save { [store = store.name] in $0[receiptOf: store]?.failed(attempt) }
                    throw error
                }
                guard try await store.medium() == medium else {
                    throw StoreError(
                        .away, "outbox: \(store.name): another stick was put in while \(file.name) was sent")
                }
                receipt.add(
                    .init(file: file.name, bytes: there.byteCount, sha256: sha256, mark: there.mark),
                    unverified: there.unverified)
                let state = receipt
                try await save { $0[receiptOf: state.store] = state }
            }
            done = min(total, before + source.byteCount)
            report(.sending(done, of: total))
        }

        report(.sending(0, of: total))
        for outgoing in files {
            let file = outgoing.file
            let source: UploadSource
            let sha256: String
            switch outgoing.content {
            case .text(let bytes):
                source = UploadSource(bytes, called: file.name, reader: reader, throttle: throttle)
                sha256 = try await store.hash(of: source)
            case .onDisk:
                (source, sha256) = try await open(outgoing, notes, save)
            }
            sidecar.setHash(sha256, of: file.name)
            try await deliver(source, file, sha256)
        }
        let memo = TakeFile.memo(of: name.stem)
        if notes.memo == nil, try await isOwn(memo, receipt) {
            do {
                try await store.delete(ObjectName(memo, of: name))
                receipt.forget(memo.name)
            } catch let error as StoreError where [.refused, .hidden].contains(error.problem) {
                // This kit may write there, and not delete.
                let nothing = UploadSource([], called: memo.name, reader: reader, throttle: throttle)
                try await deliver(nothing, memo, try await store.hash(of: nothing))
            }
        }
        if sidecar.isRebuilt, let there = try await sentSidecar(), !there.isRebuilt,
            there.isOfSameRecording(as: sidecar)
        {
            // The earlier sidecar at home has gaps and the clock map, which the sound does not.
            sidecar = sidecar.completed(by: there)
        }
        let bytes = SidecarFile.bytes(sidecar)
        let file = TakeFile.sidecar(of: name.stem)
        do {
            _ = try SidecarFile.sidecar(bytes, path: file.name)
        } catch {
            throw StoreError(
                .unreadable,
                "outbox: \(name.stem): its sidecar could not be read at home: \(error.problem): see its notes")
        }
        let source = UploadSource(bytes, called: file.name, reader: reader, throttle: throttle)
        try await deliver(source, file, try await store.hash(of: source))
        receipt.complete(revision: sidecar.revision, at: now().iso8601)
        receipt.notesRevision = document?.revision
        let (complete, sent) = (receipt, notes.currentRevision)
        try await save { notes in
            notes[receiptOf: complete.store] = complete
            if let revision = complete.notesRevision { notes.know(revision: revision) }
            if notes.currentRevision == sent {
                if let revision = complete.notesRevision { notes.revision = revision }
            } else {
                // What a person wrote meanwhile is still to be sent, as a later revision than what was.
                notes.revision = max(notes.currentRevision, (complete.notesRevision ?? 0) + 1)
                notes[receiptOf: complete.store]?.reopen()
            }
        }
        return complete
    }

    /// A sidecar or notes of the store; nil: they are not there, cannot be read, or are longer than these can be.
    func content(of object: ObjectName) async throws -> [UInt8]? {
        guard let there = try await look(at: object), there.byteCount <= SidecarFile.mostBytes else { return nil }
        do {
            return try await store.contents(of: object, limit: Int(there.byteCount))
        } catch let error as StoreError where error.problem == .hidden {
            return nil
        }
    }

    /// The sidecar that the store has under the take's name; nil: there is none that can be read.
    func sentSidecar() async throws -> Sidecar? {
        let object = ObjectName(.sidecar(of: name.stem), of: name)
        return try await content(of: object).flatMap { try? SidecarFile.sidecar($0, path: object.path) }
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

    /// What a store has of an object; nil: nothing, or it does not let this kit look.
    func look(at object: ObjectName) async throws -> StoredObject? {
        do {
            return try await store.head(object)
        } catch let error as StoreError where error.problem == .hidden {
            return nil
        }
    }

    /// Whether a file that was sent and not verified can be compared now: the store lets this kit look.
    private func mayVerify(_ object: ObjectName, _ receipt: UploadReceipt) async throws -> Bool {
        guard !receipt.isVerified(object.file) else { return false }
        return try await look(at: object) != nil
    }

    /// The files that are sent before the sidecar.
    private func files(
        of sidecar: Sidecar, _ notes: TakeNotes, _ document: NotesDocument?
    ) async throws -> [Outgoing] {
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
                    // An earlier version, which does not know these, replaces none of a name of its own.
                    let digits = Digest.sha256(bytes).hexadecimal.prefix(8)
                    files.append(.text(bytes, as: .memo(of: name.stem, other: String(digits))))
                }
            case .notes:
                if let document { files.append(.text(document.bytes, as: file)) }
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

    /// A file, and its hash: the one that it had when its sound was compared, or the one that is noted if it is of the same length. It is
    /// checked again while the file is sent.
    private func open(
        _ outgoing: Outgoing, _ notes: TakeNotes,
        _ save: @Sendable (@escaping @Sendable (inout TakeNotes) -> Void) async throws -> Void
    ) async throws -> (UploadSource, String) {
        let file = outgoing.file.name
        let path = "\(folder.folder(of: name))/\(file)"
        if let compared = notes.sound(of: file), let sha256 = compared.fitSHA256 {
            let source = try await UploadSource(path: path, sha256: sha256, reader: reader, throttle: throttle)
            guard source.byteCount == compared.bytes else { throw UploadSource.changed(path) }
            return (source, sha256)
        }
        let noted = notes.hashes.first { $0.file == file && $0.bytes == outgoing.byteCount }
        let source = try await UploadSource(path: path, sha256: noted?.sha256, reader: reader, throttle: throttle)
        if let noted { return (source, noted.sha256) }
        // Before it is read: a file that changes meanwhile is another than the one that was hashed.
        let modified = try? await reader.perform { try $0.attributes(path).modifiedNs }
        let sha256 = try await store.hash(of: source)
        let hash = TakeNotes.FileHash(
            file: file, bytes: source.byteCount, sha256: sha256, modifiedNs: modified)
        try await save { $0.setHash(hash) }
        return (source, sha256)
    }

    /// The loudest of each of 64 stretches, two hexadecimal digits each.
    private func waveform() async -> String {
        let path = "\(folder.folder(of: name))/\(TakeFile.waveform(of: name.stem).name)"
        let overview = try? await reader.perform { PeaksOverview(reading: path, columns: 64, files: $0) }
        return (overview?.magnitudes ?? []).map { UInt8(clamping: $0) }.hexadecimal
    }
}

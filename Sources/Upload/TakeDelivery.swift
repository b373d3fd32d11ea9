import Digests
import FoundationEssentials
import Glibc
public import TakeFiles
public import Takes

/// Sends one take to one store: audio parts with their unfiltered twins, peaks, memo, and the sidecar last, so that its presence means
/// that the take is complete.
public struct TakeDelivery: Sendable {
    private let name: TakeName
    private let folder: TakesFolder
    private let store: any Store
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
        _ = try await store.head(ObjectName(day: name.day, file: "\(name.stem).json"))
        var sidecar = try await readSidecar()
        let origin = sidecar.origin
        // Those of another recording with this stem are none of this one's.
        let notes = notes.of(origin)
        @Sendable func save(_ change: @escaping @Sendable (inout TakeNotes) -> Void) async throws {
            try await saveNotes { notes in
                notes.attribute(to: origin)
                change(&notes)
            }
        }
        sidecar.markers = notes.markers(of: sidecar.markers)
        let waveform = await waveform()
        var receipt = notes[receiptOf: store.name] ?? UploadReceipt(store: store.name)
        let files = try await files(of: sidecar, memo: notes.memo)
        let total = files.reduce(0) { $0 + $1.byteCount }
        var done: Int64 = 0
        if notes[receiptOf: store.name] == nil {
            // Before the store has anything: who deletes the take everywhere finds it there.
            let state = receipt
            try await save { if $0[receiptOf: state.store] == nil { $0[receiptOf: state.store] = state } }
        }

        func deliver(_ source: UploadSource, _ file: String, _ sha256: String) async throws {
            let before = done
            let old = receipt.sha256(of: file)
            if old != sha256 {
                let metadata = ObjectMetadata(
                    title: sidecar.take, started: sidecar.startedCorrected ?? sidecar.started,
                    duration: sidecar.durationSeconds, kit: sidecar.kit, waveform: waveform, sha256: sha256)
                let object = ObjectName(day: name.day, file: file)
                let mode = try await mode(of: object, old: old, sidecar)
                let there = try await store.put(source, as: object, metadata, mode: mode) { progress in
                    switch progress {
                    case .sent(let count): report(.sending(before + count, of: total))
                    case .verifying: report(.verifying(before + source.byteCount, of: total))
                    }
                }
                receipt.add(.init(file: file, bytes: there.byteCount, sha256: sha256))
                let state = receipt
                try await save { $0[receiptOf: state.store] = state }
            }
            done = min(total, before + source.byteCount)
            report(.sending(done, of: total))
        }

        report(.sending(0, of: total))
        for file in files {
            let source: UploadSource
            let sha256: String
            switch file.content {
            case .text(let bytes):
                source = UploadSource(bytes, called: file.name, reader: reader, throttle: throttle)
                sha256 = try await store.hash(of: source)
            case .onDisk:
                (source, sha256) = try await open(file, notes, save)
            }
            sidecar.setHash(sha256, of: file.name)
            try await deliver(source, file.name, sha256)
        }
        let text = "\(name.stem).txt"
        if notes.memo == nil, receipt.sha256(of: text) != nil {
            try await store.delete(ObjectName(day: name.day, file: text))
            receipt.files.removeAll { $0.file == text }
        }
        let bytes = SidecarFile.bytes(sidecar)
        let source = UploadSource(bytes, called: "\(name.stem).json", reader: reader, throttle: throttle)
        try await deliver(source, "\(name.stem).json", try await store.hash(of: source))
        receipt.completed = now().iso8601
        receipt.revision = sidecar.revision
        let (complete, memo, markers) = (receipt, notes.memo, notes.markers)
        try await save { notes in
            notes[receiptOf: complete.store] = complete
            // What a person wrote meanwhile is still to be sent.
            if notes.memo != memo || notes.markers != markers { notes[receiptOf: complete.store]?.completed = nil }
        }
        return complete
    }

    private struct File {
        var name: String
        var byteCount: Int64
        var content: Content

        enum Content {
            case onDisk
            case text([UInt8])
        }
    }

    private func files(of sidecar: Sidecar, memo: String?) async throws -> [File] {
        var files: [File] = []
        for file in sidecar.audioFiles {
            guard let count = await byteCount(file) else {
                throw StoreError(
                    .unreadable, "outbox: \(folder.folder(of: name))/\(file): it is missing: see where it went")
            }
            files.append(File(name: file, byteCount: count, content: .onDisk))
        }
        if let count = await byteCount("\(name.stem).dat") {
            files.append(File(name: "\(name.stem).dat", byteCount: count, content: .onDisk))
        }
        if let memo {
            let bytes = Array((memo + "\n").utf8)
            files.append(File(name: "\(name.stem).txt", byteCount: Int64(bytes.count), content: .text(bytes)))
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

    /// A file, and its hash: the one that is noted if it is of the same length, which is checked again while the file is sent.
    private func open(
        _ file: File, _ notes: TakeNotes,
        _ save: @Sendable (@escaping @Sendable (inout TakeNotes) -> Void) async throws -> Void
    ) async throws -> (UploadSource, String) {
        let path = "\(folder.folder(of: name))/\(file.name)"
        let noted = notes.hashes.first { $0.file == file.name && $0.bytes == file.byteCount }
        let source = try await UploadSource(path: path, sha256: noted?.sha256, reader: reader, throttle: throttle)
        if let noted { return (source, noted.sha256) }
        // Before it is read: a file that changes meanwhile is another than the one that was hashed.
        let modified = try? await reader.perform { try $0.attributes(path).modifiedNs }
        let sha256 = try await store.hash(of: source)
        let hash = TakeNotes.FileHash(
            file: file.name, bytes: source.byteCount, sha256: sha256, modifiedNs: modified)
        try await save { $0.setHash(hash) }
        return (source, sha256)
    }

    /// What may be overwritten: of peaks, memo and sidecar what this kit sent itself; of sidecars also an earlier one of the same take.
    /// Sound never: one that has changed on the kit must not replace what was sent before.
    private func mode(of object: ObjectName, old: String?, _ sidecar: Sidecar) async throws -> PutMode {
        if sidecar.audioFiles.contains(object.file) { return .create }
        if let old { return .replacing(old) }
        guard object.isSidecar, try await store.head(object) != nil else { return .create }
        var bytes: [UInt8] = []
        try await store.get(object) { piece in
            if bytes.count < 1 << 22 { bytes += piece }
        }
        guard let there = try? SidecarFile.sidecar(bytes, path: object.path), there.isEarlier(than: sidecar) else {
            return .create
        }
        return .replacing(Digest.sha256(bytes).hexadecimal)
    }

    /// The loudest of each of 64 stretches, two hexadecimal digits each.
    private func waveform() async -> String {
        let path = "\(folder.folder(of: name))/\(name.stem).dat"
        let overview = try? await reader.perform { PeaksOverview(reading: path, columns: 64, files: $0) }
        return (overview?.magnitudes ?? []).map { UInt8(clamping: $0) }.hexadecimal
    }
}

extension Sidecar {
    /// Notes the hash of an audio file in its part.
    fileprivate mutating func setHash(_ sha256: String, of file: String) {
        for index in parts.indices {
            if parts[index].file == file { parts[index].sha256 = sha256 }
            if parts[index].unfilteredFile == file { parts[index].unfilteredSHA256 = sha256 }
        }
    }

    /// Whether this is of the same take, and no later revision of it.
    fileprivate func isEarlier(than other: Sidecar) -> Bool {
        take == other.take && origin == other.origin && revision <= other.revision
    }
}

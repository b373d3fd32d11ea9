import Digests
import TakeFiles
import Takes

/// What a store has that this kit may replace, and what it takes over from there before.
extension TakeDelivery {
    /// The notes that were found at home.
    struct FoundNotes {
        var document: NotesDocument
        /// Of the file, hexadecimal.
        var sha256: String
    }

    /// What people noted, as it is to be sent, with what is found at home that this kit does not know: another library may have written it,
    /// or this one may have lost it.
    /// - Returns: the notes; the document, nil: nobody ever noted anything; what was found.
    func takeOver(
        _ noted: TakeNotes, of sidecar: Sidecar, _ receipt: UploadReceipt,
        _ save: @Sendable (@escaping @Sendable (inout TakeNotes) -> Void) async throws -> Void
    ) async throws -> (TakeNotes, NotesDocument?, FoundNotes?) {
        let (recorded, end) = (sidecar.markers, sidecar.end)
        var notes = noted
        notes.setAsideMarkers(outside: end)
        if notes != noted {
            try await save { $0.setAsideMarkers(outside: end) }
            notes.revise(since: noted)
        }
        let file = TakeFile.notes(of: name.stem)
        let sent = receipt.sha256(of: file.name)
        guard notes.currentRevision > 0 || sent != nil else { return (notes, nil, nil) }
        var document = NotesDocument(notes, recorded: recorded)
        document.revision = max(1, document.revision)
        if let sent, receipt.notesRevision != nil, sent == Digest.sha256(document.bytes).hexadecimal {
            return (notes, document, nil)
        }
        guard let bytes = try await content(of: ObjectName(file, of: name)),
            let there = NotesDocument(bytes), there.take == name.stem
        else {
            return (notes, document, nil)
        }
        let found = FoundNotes(document: there, sha256: Digest.sha256(bytes).hexadecimal)
        var united = notes
        if found.sha256 != sent, !receipt.attempts(of: file.name).contains(found.sha256),
            notes.lacks(revision: there.revision, sha256: found.sha256)
        {
            try await save { $0.unite(found, recorded: recorded, end: end) }
            united.unite(found, recorded: recorded, end: end)
            united.revise(since: notes)
            document = NotesDocument(united, recorded: recorded)
        }
        document.revision =
            there.says(what: document) ? there.revision : max(1, document.revision, there.revision + 1)
        return (united, document, found)
    }

    /// Whether a file at home that may be replaced is one that this kit sent, as far as it knows.
    func isOwn(_ file: TakeFile, _ receipt: UploadReceipt) async throws -> Bool {
        if receipt.sha256(of: file.name) != nil { return true }
        return try await attempted(ObjectName(file, of: name), receipt) != nil
    }

    /// What may be overwritten: of peaks, memo, notes and sidecar what this kit sent itself, also if no answer came; of notes, the memo that
    /// is in them, and sidecars also what is there of the same take.
    /// Sound hardly ever: see `soundMode`.
    /// - Parameter sha256: of what is to be sent, hexadecimal.
    func mode(
        of file: TakeFile, _ sha256: String, _ receipt: UploadReceipt, _ sidecar: Sidecar, _ notes: TakeNotes,
        _ found: FoundNotes?
    ) async throws -> PutMode {
        let isKnown =
            receipt.sha256(of: file.name) == sha256 || receipt.attempts(of: file.name).contains(sha256)
        guard file.isReplaceable else {
            return isKnown ? .confirm : try await soundMode(of: file.name, receipt, sidecar, notes)
        }
        // The sound, which is compared before, is this take's.
        if file.role == .notes, let found { return .replacing(found.sha256) }
        let object = ObjectName(file, of: name)
        if let hash = try await attempted(object, receipt) { return .replacing(hash) }
        if let old = receipt.sha256(of: file.name) { return .replacing(old) }
        if file == .memo(of: name.stem), let memo = found?.document.memo {
            return .replacing(Digest.sha256(Array((memo + "\n").utf8)).hexadecimal)
        }
        guard file.role == .sidecar, let bytes = try await content(of: object),
            let there = try? SidecarFile.sidecar(bytes, path: object.path), there.isEarlier(than: sidecar)
        else {
            return isKnown ? .confirm : .create
        }
        return .replacing(Digest.sha256(bytes).hexadecimal)
    }

    /// Sound that has changed on the kit must not replace what was sent before. Sound that is as recorded replaces what this kit sent as
    /// damaged, because a person had accepted it: the sidecar at home says so.
    private func soundMode(
        of file: String, _ receipt: UploadReceipt, _ sidecar: Sidecar, _ notes: TakeNotes
    ) async throws -> PutMode {
        guard let old = receipt.sha256(of: file), let compared = notes.sound(of: file), compared.problem == nil,
            compared.fitSHA256 != old, let there = try await sentSidecar(), there.isOfSameRecording(as: sidecar),
            there.acceptedSHA256(of: file) == old
        else { return .create }
        return .replacing(old)
    }

    /// The hash of what is at home if an attempt without an answer left it; nil: it did not, or nothing is shown.
    private func attempted(_ object: ObjectName, _ receipt: UploadReceipt) async throws -> String? {
        let attempts = receipt.attempts(of: object.file)
        guard !attempts.isEmpty, let there = try await look(at: object) else { return nil }
        do {
            let hash = try await store.sha256(of: object, byteCount: there.byteCount)
            return attempts.contains(hash) ? hash : nil
        } catch let error as StoreError where [.hidden, .missing].contains(error.problem) {
            return nil
        }
    }
}

extension TakeNotes {
    fileprivate mutating func unite(
        _ found: TakeDelivery.FoundNotes, recorded: [Sidecar.Marker], end: TakeFrame
    ) {
        let there = found.document
        know(revision: there.revision, taken: found.sha256)
        unite(
            title: there.title, memo: there.memo, otherMemos: there.otherMemos ?? [], starred: there.star,
            tags: there.tags, markers: there.markers, recorded: recorded, end: end)
    }
}

extension Sidecar {
    /// Whether this is of the same recording, and no later revision of it.
    fileprivate func isEarlier(than other: Sidecar) -> Bool {
        isOfSameRecording(as: other) && revision <= other.revision
    }
}

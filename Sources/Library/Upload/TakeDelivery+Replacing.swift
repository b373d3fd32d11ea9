import Digests
import TakeFiles
import Takes

/// Decides which objects this kit may replace, and merges notes from the store before.
extension TakeDelivery {
    /// The notes found in the store.
    struct FoundNotes {
        var document: NotesDocument
        /// The hash of the file, in hexadecimal.
        var sha256: String
    }

    /// Merges the notes in the store into this kit's notes, if this kit does not know them. Another library may have
    /// written them, or this kit may have lost them.
    /// - Returns: the notes to send; their document, or nil if nobody ever wrote notes; the notes found.
    func takeOver(
        _ noted: TakeNotes, of sidecar: Sidecar, _ receipt: UploadReceipt, _ save: Save
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

    /// The overwrite permission, including objects that this kit did not send itself: notes, the memo contained in
    /// them, and earlier sidecars of the same recording. Sound is replaced only as `acceptedAtHome` allows.
    func mode(
        of file: TakeFile, _ outgoing: ParcelDelivery.File, of contents: Contents, in parcel: ParcelDelivery
    ) async throws -> PutMode {
        // The sound was compared before, so these notes belong to this take.
        if file.role == .notes, let found = contents.found { return .replacing(found.sha256) }
        let mode = try await parcel.mode(of: outgoing)
        guard !mode.replaces else { return mode }
        let other: String? =
            switch file.role {
            case .sound, .unfiltered:
                mode == .confirm ? nil : try await acceptedAtHome(file.name, contents, parcel.receipt)
            case .memo where file == .memo(of: name.stem):
                contents.found?.document.memo.map { Digest.sha256(Array(($0 + "\n").utf8)).hexadecimal }
            case .sidecar: try await earlierSidecar(than: contents.sidecar)
            case .memo, .waveform, .notes: nil
            }
        return other.map(PutMode.replacing) ?? mode
    }

    /// The hash of sound in the store that the original sound may replace. This is allowed if this kit sent it as
    /// damaged, because a person accepted it, and the sidecar in the store says so. Otherwise nil: sound that changed
    /// on the kit must not replace the version sent before.
    private func acceptedAtHome(
        _ file: String, _ contents: Contents, _ receipt: UploadReceipt
    ) async throws -> String? {
        guard let compared = contents.notes.sound(of: file), compared.problem == nil,
            let there = try await sentSidecar(), there.isOfSameRecording(as: contents.sidecar),
            let old = there.acceptedSHA256(of: file), compared.fitSHA256 != old,
            receipt.sha256(of: file) == old || receipt.attempts(of: file).contains(old)
        else { return nil }
        return old
    }

    /// The hash of the sidecar in the store. Nil if there is none of the same recording, or it has a later revision.
    private func earlierSidecar(than sidecar: Sidecar) async throws -> String? {
        let object = ObjectName(.sidecar(of: name.stem), of: name)
        guard let bytes = try await content(of: object),
            let there = try? SidecarFile.sidecar(bytes, path: object.path), there.isEarlier(than: sidecar)
        else { return nil }
        return Digest.sha256(bytes).hexadecimal
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
    /// Whether this sidecar is of the same recording, and not a later revision.
    fileprivate func isEarlier(than other: Sidecar) -> Bool {
        isOfSameRecording(as: other) && revision <= other.revision
    }
}

extension TakeNotes {
    /// Whether a person noted anything. The other properties belong to the library.
    private var hasWords: Bool {
        title != nil || memo != nil || starred || !tags.isEmpty || !markers.isEmpty || otherMemos != nil
    }

    /// The revision of people's notes, or 0 if nobody ever noted anything. Notes of earlier versions without a revision
    /// have revision 1.
    public var currentRevision: Int { min(max(0, revision ?? (hasWords ? 1 : 0)), Self.highestRevision) }

    /// The highest valid revision. A kit never counts this far.
    public static let highestRevision = 1_000_000_000

    /// Starts a new revision if a person changed anything, and reopens the receipts so that the notes are uploaded
    /// again.
    /// - Parameter before: the notes before the change.
    public mutating func revise(since before: TakeNotes) {
        guard
            title != before.title || memo != before.memo || starred != before.starred || tags != before.tags
                || markers != before.markers || otherMemos != before.otherMemos
        else {
            return
        }
        revision = before.currentRevision + 1
        for index in receipts.indices { receipts[index].reopen() }
    }

    /// Whether a store has the whole take, verified, with this revision of its sidecar and the current notes.
    public func isComplete(revision: Int, in store: String) -> Bool {
        guard let receipt = self[receiptOf: store] else { return false }
        return receipt.isComplete(revision: revision) && hasNotes(receipt)
    }

    /// Whether the whole take was sent to a store, verified or not.
    public func isSent(revision: Int, in store: String) -> Bool {
        guard let receipt = self[receiptOf: store] else { return false }
        return receipt.isSent(revision: revision) && hasNotes(receipt)
    }

    private func hasNotes(_ receipt: UploadReceipt) -> Bool {
        // An earlier version, which does not send this file or count revisions, may have changed the notes since.
        guard receipt.sha256(of: TakeFile.notes(of: take).name) != nil else { return currentRevision == 0 }
        return receipt.notesRevision == currentRevision
    }
}

/// The notes that a kit exchanged with stores for one take.
public struct HomeNotes: Codable, Hashable, Sendable {
    /// The highest revision that this kit sent or received.
    public var revision = 0
    /// The hashes (SHA-256, hexadecimal) of the received notes.
    public var taken: [String] = []

    public init() {}
}

extension TakeNotes {
    /// The number of remembered hashes of received notes.
    private static let mostTaken = 16

    /// Whether notes at home, which this kit did not send, contain anything new. An older revision does not: it must
    /// not undo a later correction.
    public func lacks(revision: Int, sha256: String) -> Bool {
        guard let home else { return true }
        return revision >= home.revision && !home.taken.contains(sha256)
    }

    /// Remembers a revision of the notes at home.
    /// - Parameter sha256: the hash of the received file, or nil if this kit sent it.
    public mutating func know(revision: Int, taken sha256: String? = nil) {
        var known = home ?? HomeNotes()
        known.revision = max(known.revision, revision)
        if let sha256 { known.taken = known.taken.suffix(Self.mostTaken - 1) + [sha256] }
        home = known
    }

    /// Merges the notes of another library into these.
    ///
    /// If both have a title, or a note for the same frame, this one's stays. If both have a memo, the other memo is added
    /// below this one, unless this memo already contains its lines. Texts that do not fit, and markers outside of the
    /// take, become a text in `otherMemos`.
    /// - Parameters:
    ///   - other: the other title.
    ///   - recorded: the markers of the take's sidecar.
    ///   - end: the frame after the take's last one.
    public mutating func unite(
        title other: String?, memo otherMemo: String?, otherMemos texts: [String], starred isStarred: Bool,
        tags others: [String], markers: [Sidecar.Marker], recorded: [Sidecar.Marker], end: TakeFrame
    ) {
        let (other, otherMemo) = (other?.withoutControls, otherMemo?.withoutControls)
        let (texts, others) = (texts.map(\.withoutControls), others.map(\.withoutControls))
        var left: [String] = []
        if let otherMemo, !otherMemo.isEmpty, !"\n\(memo ?? "")\n".contains("\n\(otherMemo)\n") {
            let both = memo.map { "\($0)\n\n\(otherMemo)" } ?? otherMemo
            if both.utf8.count <= Self.longestMemo { memo = both } else { left.append(otherMemo) }
        }
        if let other, !other.isEmpty, other != title {
            if title == nil, let own = Self.title(other) { title = own } else { left.append("title: \(other)") }
        }
        starred = starred || isStarred
        for text in others {
            guard let tag = Self.tag(text), tags.contains(tag) || tags.count < Self.mostTags else {
                left.append("tag: \(text)")
                continue
            }
            self.tag(adding: [tag], removing: [])
        }
        let changed = Set(self.markers.map(\.atFrame))
        for marker in markers where !changed.contains(marker.atFrame) && !recorded.contains(marker) {
            let note = marker.note?.withoutControls
            guard self.markers.count < Self.mostMarkerChanges, marker.atFrame >= .first, marker.atFrame <= end,
                note?.utf8.count ?? 0 <= Self.longestMarkerNote
            else {
                left.append(Self.text(of: marker.atFrame, MarkedRegion(of: marker, before: .last), note))
                continue
            }
            let there = recorded.first { $0.atFrame == marker.atFrame }
            let region = RegionChange(from: there, to: marker, before: end)
            setMarker(MarkerChange(atFrame: marker.atFrame, note: note, region: region))
        }
        keep(texts + (left.isEmpty ? [] : [left.joined(separator: "\n")]))
    }

    private static func text(of frame: TakeFrame, _ region: MarkedRegion?, _ note: String?) -> String {
        var place = "marker at frame \(frame.count)"
        if let region { place += " to \(region.end.count)" }
        if let band = region?.band { place += ", \(band.lowHz) to \(band.highHz) Hz" }
        return "\(place): \(note ?? "")"
    }

    private static func text(of change: MarkerChange) -> String {
        var found: MarkedRegion?
        if case .set(let region) = change.region { found = region }
        return text(of: change.atFrame, found, change.note)
    }

    /// Moves markers that a person set outside of the take to texts in `otherMemos`, because a sidecar cannot contain
    /// them. Regions end with the take.
    /// - Parameter end: the frame after the take's last one.
    public mutating func setAsideMarkers(outside end: TakeFrame) {
        let outside = markers.filter { !$0.removed && ($0.atFrame < .first || $0.atFrame > end) }
        markers.removeAll(where: outside.contains)
        for index in markers.indices { markers[index].endRegion(before: end) }
        guard !outside.isEmpty else { return }
        keep([outside.map(Self.text(of:)).joined(separator: "\n")])
    }

    private mutating func keep(_ texts: [String]) {
        var kept = otherMemos ?? []
        for text in texts where !kept.contains(text) { kept.append(text) }
        otherMemos = kept.isEmpty ? nil : kept
    }
}

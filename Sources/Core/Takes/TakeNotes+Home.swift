extension TakeNotes {
    /// Whether a person noted anything: the rest is the library's own.
    private var hasWords: Bool { memo != nil || starred || !tags.isEmpty || !markers.isEmpty || otherMemos != nil }

    /// Which state of what people noted this is: 0: nobody ever noted anything. What earlier versions wrote counts as the first.
    public var currentRevision: Int { min(max(0, revision ?? (hasWords ? 1 : 0)), Self.highestRevision) }

    /// More was not counted by a kit.
    public static let highestRevision = 1_000_000_000

    /// Begins a new revision if a person changed anything, and has it sent once more.
    /// - Parameter before: the notes before the change.
    public mutating func revise(since before: TakeNotes) {
        guard
            memo != before.memo || starred != before.starred || tags != before.tags || markers != before.markers
                || otherMemos != before.otherMemos
        else {
            return
        }
        revision = before.currentRevision + 1
        for index in receipts.indices { receipts[index].reopen() }
    }

    /// Whether a store has all of the take: this revision of its sidecar, and what people noted, as it is now.
    public func isComplete(revision: Int, in store: String) -> Bool {
        guard let receipt = self[receiptOf: store] else { return false }
        return receipt.isComplete(revision: revision) && hasNotes(receipt)
    }

    /// Whether a store was sent all of the take, verified or not.
    public func isSent(revision: Int, in store: String) -> Bool {
        guard let receipt = self[receiptOf: store] else { return false }
        return receipt.isSent(revision: revision) && hasNotes(receipt)
    }

    private func hasNotes(_ receipt: UploadReceipt) -> Bool {
        // An earlier version, which sends no such file and keeps no revisions, may have changed what is noted since.
        guard receipt.sha256(of: TakeFile.notes(of: take).name) != nil else { return currentRevision == 0 }
        return receipt.notesRevision == currentRevision
    }
}

/// What a kit knows of the notes that stores have of a take.
public struct HomeNotes: Codable, Hashable, Sendable {
    /// The highest revision that this kit sent or took over.
    public var revision = 0
    /// The hashes (SHA-256, hexadecimal) of what it took over.
    public var taken: [String] = []

    /// Nothing is known.
    public init() {}
}

extension TakeNotes {
    /// More is not remembered of what was taken over.
    private static let mostTaken = 16

    /// Whether notes at home, which this kit did not send, say what it does not know yet. An older revision says nothing: it must not undo
    /// what was corrected since.
    public func lacks(revision: Int, sha256: String) -> Bool {
        guard let home else { return true }
        return revision >= home.revision && !home.taken.contains(sha256)
    }

    /// Remembers a revision of the notes at home.
    /// - Parameter sha256: of the file that was taken over; nil: this kit sent it.
    public mutating func know(revision: Int, taken sha256: String? = nil) {
        var known = home ?? HomeNotes()
        known.revision = max(known.revision, revision)
        if let sha256 { known.taken = known.taken.suffix(Self.mostTaken - 1) + [sha256] }
        home = known
    }

    /// Unites these notes with those of another library.
    ///
    /// Where both say something of one frame, these hold. Of two memos both are kept, the other one below, where there is room, unless its
    /// lines stand in this one. What there is no room for, and a marker outside of the take, is kept as a text in `otherMemos`.
    /// - Parameters:
    ///   - recorded: the markers of the take's sidecar.
    ///   - end: the frame behind the take's last one.
    public mutating func unite(
        title: String?, memo other: String?, otherMemos texts: [String], starred isStarred: Bool, tags others: [String],
        markers: [Sidecar.Marker], recorded: [Sidecar.Marker], end: TakeFrame
    ) {
        var left: [String] = []
        if let other, !other.isEmpty, !"\n\(memo ?? "")\n".contains("\n\(other)\n") {
            let both = memo.map { "\($0)\n\n\(other)" } ?? other
            if both.utf8.count <= Self.longestMemo { memo = both } else { left.append(other) }
        }
        if let title, !title.isEmpty { left.append("title: \(title)") }
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
            guard self.markers.count < Self.mostMarkerChanges, marker.atFrame >= .first, marker.atFrame <= end,
                marker.note?.utf8.count ?? 0 <= Self.longestMarkerNote
            else {
                left.append(Self.text(of: marker.atFrame, marker.note))
                continue
            }
            setMarker(Sidecar.Marker(atFrame: marker.atFrame, note: marker.note))
        }
        keep(texts + (left.isEmpty ? [] : [left.joined(separator: "\n")]))
    }

    private static func text(of frame: TakeFrame, _ note: String?) -> String {
        "marker at frame \(frame.count): \(note ?? "")"
    }

    /// Keeps markers that a person set outside of the take as texts in `otherMemos`: a sidecar cannot have them.
    /// - Parameter end: the frame behind the take's last one.
    public mutating func setAsideMarkers(outside end: TakeFrame) {
        let outside = markers.filter { !$0.removed && ($0.atFrame < .first || $0.atFrame > end) }
        guard !outside.isEmpty else { return }
        markers.removeAll(where: outside.contains)
        keep([outside.map { Self.text(of: $0.atFrame, $0.note) }.joined(separator: "\n")])
    }

    private mutating func keep(_ texts: [String]) {
        var kept = otherMemos ?? []
        for text in texts where !kept.contains(text) { kept.append(text) }
        otherMemos = kept.isEmpty ? nil : kept
    }
}

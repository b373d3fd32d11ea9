extension TakeNotes {
    /// The file that carries what people noted home, `STEM.notes.json`.
    public static func file(of take: String) -> String { "\(take).notes.json" }

    /// Whether a person noted anything: the rest is the library's own.
    private var hasWords: Bool { memo != nil || starred || !tags.isEmpty || !markers.isEmpty }

    /// Which state of what people noted this is: 0: nobody ever noted anything. What earlier versions wrote counts as the first.
    public var currentRevision: Int { min(max(0, revision ?? (hasWords ? 1 : 0)), Self.highestRevision) }

    /// More was not counted by a kit.
    public static let highestRevision = 1_000_000_000

    /// Begins a new revision if a person changed anything, and has it sent once more.
    /// - Parameter before: the notes before the change.
    public mutating func revise(since before: TakeNotes) {
        guard memo != before.memo || starred != before.starred || tags != before.tags || markers != before.markers
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
        guard receipt.sha256(of: Self.file(of: take)) != nil else { return currentRevision == 0 }
        return receipt.notesRevision == currentRevision
    }
}

import FoundationEssentials
public import Takes

/// What people noted of a take, as it goes home beside it: `STEM.notes.json`.
///
/// A take that nobody ever noted anything of has none. One whose notes were all removed has one that says so.
public struct NotesDocument: Codable, Hashable, Sendable {
    /// 1. Readers ignore keys that they do not know.
    public var schema = 1
    /// The take's stem.
    public var take: String
    /// 1, then higher with each change.
    public var revision: Int
    /// null: the kit has no titles.
    @ExplicitNull public var title: String?
    /// null: nothing.
    @ExplicitNull public var memo: String?
    /// What people wrote in other libraries that the notes of this one have no room for, as texts; nil: nothing.
    public var otherMemos: [String]?
    /// Whether a person marked it as worth keeping.
    public var star: Bool
    /// In the order of the alphabet, each once.
    public var tags: [String]
    /// All markers of the take as they are now, by frame: those of the recording, with what a person changed.
    public var markers: [Sidecar.Marker]

    enum CodingKeys: String, CodingKey {
        case schema, take, revision, title, memo, star, tags, markers
        case otherMemos = "other_memos"
    }

    /// - Parameter recorded: the markers of the take's sidecar.
    public init(_ notes: TakeNotes, recorded: [Sidecar.Marker]) {
        take = notes.take
        revision = notes.currentRevision
        title = nil
        memo = notes.memo
        otherMemos = notes.otherMemos
        star = notes.starred
        tags = notes.tags
        markers = notes.markers(of: recorded)
    }

    /// Reads a file of a store; nil: it is not one of these.
    init?(_ bytes: [UInt8]) {
        guard let found = try? JSONDecoder().decode(NotesDocument.self, from: Data(bytes)),
            (1...TakeNotes.highestRevision).contains(found.revision)
        else {
            return nil
        }
        self = found
    }

    /// Indented, keys in the order of the alphabet, ended by a line break.
    public var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return try Array(encoder.encode(self)) + [0x0a]
        } catch {
            // It has texts, whole numbers and truth values alone.
            preconditionFailure("notes of \(take): \(error)")
        }
    }

    /// Whether both say the same, whatever their revisions are.
    func says(what other: NotesDocument) -> Bool {
        var other = other
        other.revision = revision
        return self == other
    }
}

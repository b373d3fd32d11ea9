import FoundationEssentials
public import Takes

/// The notes of a take, as stored next to it: `STEM.notes.json`.
///
/// If nobody ever wrote notes, there is no file. If all notes were removed, a file says so.
public struct NotesDocument: Codable, Hashable, Sendable {
    /// 1. Readers ignore unknown keys.
    public var schema = 1
    /// The take's stem.
    public var take: String
    /// 1 at first, and higher after each change.
    public var revision: Int
    /// Null if there is none, and from earlier versions, which know no titles.
    @ExplicitNull public var title: String?
    /// Null if there is none.
    @ExplicitNull public var memo: String?
    /// Notes from other libraries that do not fit into this one's notes, as texts; nil for none.
    public var otherMemos: [String]?
    /// Whether a person marked the take as worth keeping.
    public var star: Bool
    /// Sorted alphabetically, without duplicates.
    public var tags: [String]
    /// All current markers of the take, by frame: those of the recording, with people's changes.
    public var markers: [Sidecar.Marker]

    enum CodingKeys: String, CodingKey {
        case schema, take, revision, title, memo, star, tags, markers
        case otherMemos = "other_memos"
    }

    /// - Parameter recorded: the markers of the take's sidecar.
    public init(_ notes: TakeNotes, recorded: [Sidecar.Marker]) {
        take = notes.take
        revision = notes.currentRevision
        title = notes.title
        memo = notes.memo
        otherMemos = notes.otherMemos
        star = notes.starred
        tags = notes.tags
        markers = notes.markers(of: recorded)
    }

    /// Reads a file of a store; nil if it is not such a document.
    init?(_ bytes: [UInt8]) {
        guard let found = try? JSONDecoder().decode(NotesDocument.self, from: Data(bytes)),
            (1...TakeNotes.highestRevision).contains(found.revision)
        else {
            return nil
        }
        self = found
    }

    /// Indented, with sorted keys, and a line break at the end.
    public var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return try Array(encoder.encode(self)) + [0x0a]
        } catch {
            // The document has only texts, Booleans and finite numbers.
            preconditionFailure("notes of \(take): \(error)")
        }
    }

    /// Whether both have the same content apart from their revisions.
    func says(what other: NotesDocument) -> Bool {
        var other = other
        other.revision = revision
        return self == other
    }
}

/// What the library alone knows of a take, beside its sidecar: the library's own file of the take, `STEM.json`.
///
/// A catalog that is built again reads it from there, so that nothing that a person wrote is forgotten.
public struct TakeNotes: Codable, Equatable, Sendable {
    /// 1. Readers ignore keys that they do not know.
    public var schema = 1
    /// The take's stem.
    public var take: String
    /// What a person wrote of it; null: nothing.
    @ExplicitNull public var memo: String?
    /// In the order of the alphabet, each once.
    public var tags: [String] = []
    /// Whether a person marked it as worth keeping.
    public var starred = false

    /// Nothing is noted of the take yet.
    public init(take: String) {
        self.take = take
    }

    /// Whether it says nothing.
    public var isEmpty: Bool { self == TakeNotes(take: take) }

    /// The most bytes of a memo.
    public static let longestMemo = 4000
    /// The most bytes of a tag.
    public static let longestTag = 100
    /// The most tags of a take.
    public static let mostTags = 50

    /// Adds tags and takes some away.
    public mutating func tag(adding: [String], removing: [String]) {
        tags = Set(tags).union(adding).subtracting(removing).sorted()
    }

    /// A tag as it is kept: without spaces around it; nil: it is none.
    public static func tag(_ text: String) -> String? {
        let tag = text.drop(while: \.isWhitespace)
        let end = tag.lastIndex { !$0.isWhitespace }
        guard let end else { return nil }
        let found = String(tag[...end])
        return found.utf8.count <= longestTag && !found.contains(where: \.isNewline) ? found : nil
    }
}

import Control

/// Objects as aligned plain lines: one block an object, its first line its name.
struct Listing {
    private let items: [JSONValue]
    /// The keys that name an object, the first that it has.
    private static let names = ["id", "name", "line"]

    init(_ items: [JSONValue]) {
        self.items = items
    }

    var lines: [String] {
        items.flatMap(Self.block)
    }

    private static func block(_ item: JSONValue) -> [String] {
        guard case .object(let members) = item else { return [text(item)] }
        let name = names.first { members[$0]?.text != nil }
        let keys = members.keys.filter { $0 != name }.sorted()
        let width = keys.map(\.count).max() ?? 0
        let head = name.flatMap { members[$0]?.text }.map { [$0] } ?? []
        return head
            + keys.map { key in
                let padding = String(repeating: " ", count: width - key.count)
                return "  \(key)\(padding)  \(text(members[key] ?? .null))"
            }
    }

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .null: "-"
        case .bool(let bool): bool ? "yes" : "no"
        case .number(let literal): literal
        case .string(let text): text
        case .array(let elements): elements.isEmpty ? "-" : elements.map(text).joined(separator: ", ")
        case .object(let members):
            members.keys.sorted().map { "\($0) \(text(members[$0] ?? .null))" }.joined(separator: " ")
        }
    }
}

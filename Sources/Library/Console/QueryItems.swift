import Control
import HTTPTypes
import Transport
import Upload

/// The items of a request's query, in their order (WHATWG URL, `application/x-www-form-urlencoded`).
struct QueryItems: Sendable {
    private var items: [(name: String, value: String)] = []

    /// No items.
    init() {}

    /// - Parameters:
    ///   - query: what stands behind the question mark; nil: nothing.
    ///   - allowed: the items that the route has.
    /// - Throws: `Problem` if it is not text, or has other items.
    init(_ query: String?, allowed: Route.Query) throws(Problem) {
        if case .any = allowed { return }
        for item in (query ?? "").split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? parts[1] : ""
            guard let name = Self.decoded(parts[0]), let value = Self.decoded(value) else {
                throw Problem(.badRequest, .usage, "console: the query is not in UTF-8 with percent encoding")
            }
            items.append((name, value))
        }
        switch allowed {
        case .any: break
        case .many(let name): try refuseOthers(than: [name])
        case .once(let names):
            try refuseOthers(than: names)
            try refuseRepeated()
        }
    }

    /// JSON's numbers are exact up to here.
    private static let greatest: Int64 = 1 << 53 - 1

    /// JSON as the library reads it has only lesser numbers.
    private static let tooGreat = 1e128

    private func refuseOthers(than known: [String]) throws(Problem) {
        guard let stranger = items.first(where: { !known.contains($0.name) }) else { return }
        let name = JSONValue.string(String(stranger.name.prefix(40)))
        let allowed = known.isEmpty ? "this address has none" : "allowed are \(known.joined(separator: ", "))"
        throw Problem(.badRequest, .usage, "console: the query has \(name): \(allowed)")
    }

    /// Refuses a name that has two values: nobody says which one holds.
    private func refuseRepeated() throws(Problem) {
        guard let name = items.map(\.name).first(where: { self[all: $0].count > 1 }) else { return }
        throw Problem(.badRequest, .usage, "console: the query has \(JSONValue.string(name)) more than once")
    }

    /// A decimal number; nil: it is none. Swift would read hexadecimal ones, too.
    private static func number(_ text: String) -> Double? {
        guard !text.lowercased().contains("x"), let number = Double(text), number.magnitude < tooGreat else {
            return nil
        }
        return number
    }

    private static func decoded(_ text: Substring) -> String? {
        PercentCoding.decoded(text, plusIsSpace: true)
    }

    /// The first value of a name.
    subscript(_ name: String) -> String? { items.first { $0.name == name }?.value }

    /// All values of a name.
    subscript(all name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }

    /// A whole number that is not negative; nil: it is missing.
    /// - Throws: `Problem` if it is something else.
    func count(_ name: String) throws(Problem) -> Int64? {
        guard let text = self[name] else { return nil }
        guard let number = Int64(text), (0...Self.greatest).contains(number) else {
            throw Problem(
                .badRequest, .usage,
                "console: \(name): found \(JSONValue.string(text)), allowed is a whole number from 0 to \(Self.greatest)"
            )
        }
        return number
    }

    /// The items as the members of a request to the library: numbers and truth values as such, where that is what the keys hold.
    func members(numbers: Set<String>, booleans: Set<String>) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        for (name, value) in items {
            if numbers.contains(name), let number = Self.number(value) {
                members[name] = Int(value).map { .integer($0) } ?? .double(number)
            } else if booleans.contains(name), value == "true" || value == "false" {
                members[name] = .bool(value == "true")
            } else {
                members[name] = .string(value)
            }
        }
        return members
    }
}

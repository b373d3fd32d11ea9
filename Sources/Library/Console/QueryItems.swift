import Control
import HTTPTypes
import Transport
import Upload

/// The items of a request's query, in order (WHATWG URL, `application/x-www-form-urlencoded`).
struct QueryItems: Sendable {
    private var items: [(name: String, value: String)] = []

    init() {}

    /// - Parameters:
    ///   - query: the text after the question mark, or nil if there is none.
    ///   - allowed: the route's allowed items.
    /// - Throws: `Problem` if the query is not text, or has other items.
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

    /// JSON numbers are exact up to here.
    private static let greatest: Int64 = 1 << 53 - 1

    /// The library's JSON parser accepts only smaller numbers.
    private static let tooGreat = 1e128

    private func refuseOthers(than known: [String]) throws(Problem) {
        guard let stranger = items.first(where: { !known.contains($0.name) }) else { return }
        let name = JSONValue.string(String(stranger.name.prefix(40)))
        let allowed = known.isEmpty ? "this address has none" : "allowed are \(known.joined(separator: ", "))"
        throw Problem(.badRequest, .usage, "console: the query has \(name): \(allowed)")
    }

    /// Refuses a name with two values, because it is undefined which one is valid.
    private func refuseRepeated() throws(Problem) {
        guard let name = items.map(\.name).first(where: { self[all: $0].count > 1 }) else { return }
        throw Problem(.badRequest, .usage, "console: the query has \(JSONValue.string(name)) more than once")
    }

    /// A decimal number, or nil if the text is not one. Swift would also accept hexadecimal.
    private static func number(_ text: String) -> Double? {
        guard !text.lowercased().contains("x"), let number = Double(text), number.magnitude < tooGreat else {
            return nil
        }
        return number
    }

    private static func decoded(_ text: Substring) -> String? {
        PercentCoding.decoded(text, plusIsSpace: true)
    }

    subscript(_ name: String) -> String? { items.first { $0.name == name }?.value }

    subscript(all name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }

    /// A non-negative integer, or nil if it is missing.
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

    /// The items as the members of a request to the library, with numbers and Booleans for the keys that need them.
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

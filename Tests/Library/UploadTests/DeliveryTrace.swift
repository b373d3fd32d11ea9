import Foundation
import Takes
import Upload

/// The trace of a delivery, one line for each step in order: calls of the store, reports, and the changes that each
/// save makes to the notes.
final class DeliveryTrace: Sendable {
    private let lines = Locked<[String]>([])
    /// Replaced by `T` in the trace.
    private let stem: String

    init(of stem: String) { self.stem = stem }

    func note(_ line: String) {
        let short = line.replacing(stem, with: "T").replacing(/([0-9a-f]{8})[0-9a-f]{56}/) { $0.1 }
        lines.withLock { $0.append(short) }
    }

    /// All lines since the last call.
    func take() -> String {
        lines.withLock { lines in
            defer { lines = [] }
            return lines.joined(separator: "\n")
        }
    }

    /// Consecutive reports are on one line.
    func note(_ progress: TakeDelivery.Progress) {
        let text =
            switch progress {
            case .sending(let count, let total): "\(count) of \(total)"
            case .verifying(let count, let total): "\(count) of \(total) to verify"
            }
        lines.withLock { lines in
            if lines.last?.hasPrefix("- ") == true {
                lines[lines.count - 1] += "; \(text)"
            } else {
                lines.append("- \(text)")
            }
        }
    }

    /// Notes the changes that a save makes to the kit's file.
    func noteSave(_ before: some Encodable, _ after: some Encodable) throws {
        let changes = try Self.lines(after).difference(from: Self.lines(before))
        let texts = changes.map { change in
            switch change {
            case .remove(_, let line, _): "- \(line)"
            case .insert(_, let line, _): "+ \(line)"
            }
        }
        note("save " + (texts.isEmpty ? "nothing" : texts.joined(separator: "\n     ")))
    }

    /// The values of a JSON document by their keys; an object without nested objects is one line.
    private static func lines(_ value: some Encodable) throws -> [String] {
        lines(try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)), "")
    }

    private static func lines(_ value: Any, _ place: String) -> [String] {
        if let objects = value as? [[String: Any]] {
            return objects.enumerated().flatMap { index, object in
                isFlat(object) ? lines(object, place) : lines(object, "\(place)[\(index)]")
            }
        }
        guard let object = value as? [String: Any] else { return ["\(place): \(text(value))"] }
        let values = object.sorted { $0.key < $1.key }
        guard isFlat(object), !place.isEmpty else {
            return values.flatMap { lines($1, place.isEmpty ? $0 : "\(place).\($0)") }
        }
        return ["\(place): " + values.map { "\($0) \($0 == "modified_ns" ? "…" : text($1))" }.joined(separator: ", ")]
    }

    private static func isFlat(_ object: [String: Any]) -> Bool {
        object.values.allSatisfy { !($0 is [Any]) && !($0 is [String: Any]) }
    }

    private static func text(_ value: Any) -> String {
        if value is NSNull { return "null" }
        if let list = value as? [Any] { return "[\(list.map(text).joined(separator: ", "))]" }
        return "\(value)"
    }
}

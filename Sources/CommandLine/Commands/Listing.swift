import Control

/// Lists parts of the kit as plain lines for a person.
enum Listing {
    /// The lines for a list in the recorder's form.
    static func lines(_ inventory: Inventory, _ items: [JSONValue]) -> [String] {
        guard !items.isEmpty else { return ["no \(inventory.rawValue)"] }
        return switch inventory {
        case .cards: items.flatMap(card)
        case .lines: table(["chip", "offset", "name", "direction", "used by"], items.map(line))
        case .bin: items.map { $0["take"]?.text ?? "?" }
        case .doctor: items.map { $0["message"]?.text ?? "?" }
        }
    }

    /// A card: its name, how the settings may refer to it, and the combinations that its hardware offers for recording
    /// and playing.
    private static func card(_ card: JSONValue) -> [String] {
        let kind = [card["name"]?.text, card["kind"]?.text.map { "(\($0))" }].compactMap(\.self)
        var lines = [([card["id"]?.text ?? "?"] + kind).joined(separator: " ")]
        func add(_ name: String, _ text: String) {
            lines.append("  " + name + String(repeating: " ", count: 9 - name.count) + text)
        }
        let others = texts(card["names"]).filter { $0 != card["id"]?.text }
        if !others.isEmpty { add("also", others.joined(separator: ", ")) }
        for (key, name) in [("combinations", "offers"), ("playback_combinations", "plays")] {
            guard case .array(let combinations)? = card[key] else { continue }
            for combination in combinations {
                let format = combination["format"]?.text ?? "?"
                let channels = texts(combination["channels"]).joined(separator: ", ")
                let rates = texts(combination["rates_hz"]).joined(separator: ", ")
                add(name, "\(format), \(channels) channels, \(rates) Hz")
            }
        }
        if card["captures"] == .bool(false) { add("captures", "nothing") }
        if card["plays"] == .bool(false) { add("plays", "nothing") }
        for key in ["busy_by", "playback_busy_by"] {
            if let holder = card[key]?.text {
                add("busy", holderText(holder) + (key == "busy_by" ? "" : ", which plays"))
            }
        }
        for key in ["error", "playback_error"] {
            if let error = card[key]?.text { add("error", error) }
        }
        return lines
    }

    /// - Parameter holder: a process such as `pid 812, pulseaudio`.
    private static func holderText(_ holder: String) -> String {
        holder.hasSuffix(", \(recorderName)") ? "held by the recorder" : "held by \(holder)"
    }

    /// The recorder's name as the kernel reports it, which cuts names after 15 bytes (`TASK_COMM_LEN`).
    private static let recorderName = "fieldfare-recorder".prefix(15)

    private static func line(_ line: JSONValue) -> [String] {
        let user = line["consumer"]?.text ?? (line["used"] == .bool(true) ? "somebody" : "-")
        return [
            line["chip"]?.text ?? "?", line["offset"].map(text) ?? "?", line["name"]?.text ?? "-",
            line["output"] == .bool(true) ? "out" : "in", user,
        ]
    }

    private static func table(_ head: [String], _ rows: [[String]]) -> [String] {
        let all = [head] + rows
        let widths = head.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                line += cell
                // No space after the last column.
                guard column + 1 < row.count else { break }
                line += String(repeating: " ", count: widths[column] - cell.count + 2)
            }
            return line
        }
    }

    private static func texts(_ value: JSONValue?) -> [String] {
        guard case .array(let elements)? = value else { return [] }
        return elements.map(text)
    }

    private static func text(_ value: JSONValue) -> String {
        value.text ?? value.description
    }
}

import Takes
import Transport

extension RequestKeys {
    /// A missing or null condition does not restrict the query.
    func query() throws(Refusal) -> TakeQuery {
        var query = TakeQuery()
        query.text = try words("text")
        query.tag = try optional("tag", Self.tag) { $0.text.flatMap(TakeNotes.tag) }
        query.isStarred = try optional("starred", "true or false", \.bool)
        query.marker = try words("marker")
        query.since = try time("since")
        query.until = try time("until")
        query.leastSeconds = try length("least_seconds")
        query.mostSeconds = try length("most_seconds")
        query.kit = try words("kit")
        query.place = try name("place")
        query.upload = try name("upload")
        query.isDamaged = try optional("damaged", "true or false", \.bool)
        query.order = try name("order") ?? query.order
        query.isDescending = try optional("descending", "true or false", \.bool) ?? query.isDescending
        query.limit = try limit() ?? query.limit
        query.after = try optional("after", "what the reply before gave as next") { value in
            value.text.flatMap { (1...200).contains($0.utf8.count) ? $0 : nil }
        }
        return query
    }

    /// Null, or a text without any letter, removes the memo.
    func memo() throws(Refusal) -> String? {
        Self.memo(try required("memo", Self.memoAllowed, Self.memoText))
    }

    /// The memo that the take must still have, or nil for any.
    func memoBefore() throws(Refusal) -> String?? {
        guard members["memo_was"] != nil else { return nil }
        return .some(Self.memo(try required("memo_was", Self.memoAllowed, Self.memoText)))
    }

    private static let memoAllowed = "a text of at most \(TakeNotes.longestMemo) bytes without NUL, or null"

    private static func memoText(_ value: JSONValue) -> String? {
        if value == .null { return "" }
        guard let text = value.text, text.utf8.count <= TakeNotes.longestMemo, !text.utf8.contains(0) else {
            return nil
        }
        return text
    }

    private static func memo(_ text: String) -> String? { text.contains { !$0.isWhitespace } ? text : nil }

    /// Tags to add and tags to remove, at least one in total.
    func tags() throws(Refusal) -> (adding: [String], removing: [String]) {
        let adding = try tags("add")
        let removing = try tags("remove")
        guard !adding.isEmpty || !removing.isEmpty else {
            throw Refusal(.usage, "tag: add and remove are both empty: name a tag")
        }
        return (adding, removing)
    }

    /// Markers to set, and frames whose markers are removed, at least one in total.
    func markers() throws(Refusal) -> (setting: [Sidecar.Marker], removing: [TakeFrame]) {
        let setting = try list(
            "set", "{\"at_frame\":48000,\"note\":\"wren\"}, note of at most \(TakeNotes.longestMarkerNote) bytes"
        ) {
            value -> Sidecar.Marker? in
            guard let frame = Self.frame(value["at_frame"]) else { return nil }
            switch value["note"] {
            case nil, .null?: return Sidecar.Marker(atFrame: frame, note: nil)
            case .string(let note)? where note.utf8.count <= TakeNotes.longestMarkerNote:
                return Sidecar.Marker(atFrame: frame, note: note.isEmpty ? nil : note)
            case _?: return nil
            }
        }
        let removing = try list("remove", "frames", Self.frame)
        guard !setting.isEmpty || !removing.isEmpty else {
            throw Refusal(.usage, "markers: set and remove are both empty: name a marker")
        }
        return (setting, removing)
    }

    private static func frame(_ value: JSONValue?) -> TakeFrame? {
        value?.integer.flatMap { $0 >= 0 ? TakeFrame(Int64($0)) : nil }
    }

    private func list<Element>(
        _ key: String, _ each: String, _ read: (JSONValue) -> Element?
    ) throws(Refusal) -> [Element] {
        let allowed = "a list of at most \(TakeNotes.mostMarkerChanges), each as \(each)"
        return try optional(key, allowed) { value -> [Element]? in
            guard case .array(let values) = value, values.count <= TakeNotes.mostMarkerChanges else { return nil }
            let elements = values.compactMap(read)
            return elements.count == values.count ? elements : nil
        } ?? []
    }

    func starred() throws(Refusal) -> Bool {
        try required("starred", "true or false", \.bool)
    }

    private static let tag = "a tag: 1 to \(TakeNotes.longestTag) bytes on one line"

    private func tags(_ key: String) throws(Refusal) -> [String] {
        let allowed =
            "a list of at most \(TakeNotes.mostTags) tags, each of 1 to \(TakeNotes.longestTag) bytes on one line"
        return try optional(key, allowed) { value -> [String]? in
            guard case .array(let values) = value, values.count <= TakeNotes.mostTags else { return nil }
            let tags = values.compactMap { $0.text.flatMap(TakeNotes.tag) }
            return tags.count == values.count ? tags : nil
        } ?? []
    }

    private func words(_ key: String) throws(Refusal) -> String? {
        try optional(key, "a text of at most 1000 bytes") { value in
            value.text.flatMap { $0.utf8.count <= 1000 ? $0 : nil }
        }
    }

    private func time(_ key: String) throws(Refusal) -> WallTime? {
        try optional(key, Self.time) { value in value.text.flatMap { try? WallTime(reading: $0) } }
    }

    private func length(_ key: String) throws(Refusal) -> Double? {
        try optional(key, "a number of seconds, at least 0") { value in
            value.double.flatMap { $0 >= 0 ? $0 : nil }
        }
    }

    func limit() throws(Refusal) -> Int? {
        let range = 1...TakeQuery.mostTakes
        return try optional("limit", "a whole number from 1 to \(TakeQuery.mostTakes)") { value in
            value.integer.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    private func name<Name: CaseIterable & RawRepresentable<String>>(_ key: String) throws(Refusal) -> Name? {
        let allowed = Name.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        return try optional(key, "one of \(allowed)") { value in value.text.flatMap(Name.init(rawValue:)) }
    }
}

package import Takes
package import Transport

extension TakeQuery {
    /// Reads the conditions of a query. Other keys are ignored.
    package init(_ members: [String: JSONValue]) throws(Refusal) {
        self = try RequestKeys(members, of: "takes").query()
    }
}

extension RequestKeys {
    /// A missing or null condition does not restrict the query.
    fileprivate func query() throws(Refusal) -> TakeQuery {
        var query = TakeQuery()
        query.text = try words("text")
        query.typed = try words("q")
        query.tag = try optional("tag", Self.tag) { $0.text.flatMap(TakeNotes.tag) }
        query.isStarred = try optional("starred", "true or false", \.bool)
        query.marker = try words("marker")
        query.label = try words("label")
        query.since = try time("since")
        query.until = try time("until")
        query.fromHour = try hour("hour_from")
        query.toHour = try hour("hour_to")
        query.zone = try zone()
        query.leastSeconds = try length("longer", "least_seconds")
        query.mostSeconds = try length("shorter", "most_seconds")
        query.leastPeakDBFS = try optional("louder", "a number of dB of full scale from -1000 to 1000") { value in
            value.double.flatMap { (-1000...1000).contains($0) ? $0 : nil }
        }
        query.kit = try words("kit")
        query.place = try name("place")
        query.upload = try name("upload")
        query.isDamaged = try optional("damaged", "true or false", \.bool)
        query.order = try name("order") ?? query.order
        query.isDescending = try optional("descending", "true or false", \.bool) ?? query.isDescending
        if let sort: Sort = try name("sort") {
            guard [members["order"], members["descending"]].allSatisfy({ $0 == nil || $0 == .null }) else {
                throw Refusal(.usage, "takes: sort and order exclude each other: leave order and descending out")
            }
            (query.order, query.isDescending) = sort.order
        }
        query.isCounted = try optional("counted", "true or false", \.bool) ?? false
        query.limit = try limit() ?? query.limit
        query.after = try optional("after", "the previous reply's next") { value in
            value.text.flatMap { (1...200).contains($0.utf8.count) ? $0 : nil }
        }
        return query
    }

    /// An order of a list with its direction.
    private enum Sort: String, CaseIterable {
        case newest, oldest, longest, shortest, loudest, quietest

        var order: (TakeQuery.Order, isDescending: Bool) {
            switch self {
            case .newest: (.started, true)
            case .oldest: (.started, false)
            case .longest: (.duration, true)
            case .shortest: (.duration, false)
            case .loudest: (.loudness, true)
            case .quietest: (.loudness, false)
            }
        }
    }

    private static let tag = "a tag: 1 to \(TakeNotes.longestTag) bytes on one line without NUL"

    private func words(_ key: String) throws(Refusal) -> String? {
        try optional(key, "a text of at most 1000 bytes") { value in
            value.text.flatMap { $0.utf8.count <= 1000 ? $0 : nil }
        }
    }

    private func time(_ key: String) throws(Refusal) -> WallTime? {
        try optional(key, Self.time) { value in value.text.flatMap { try? WallTime(reading: $0) } }
    }

    /// - Parameter keys: two names for the same; the first one counts if both are there.
    private func length(_ keys: String...) throws(Refusal) -> Double? {
        var length: Double?
        for key in keys.reversed() {
            let found = try optional(key, "a number of seconds, at least 0") { value in
                value.double.flatMap { $0 >= 0 ? $0 : nil }
            }
            if let found { length = found }
        }
        return length
    }

    private func hour(_ key: String) throws(Refusal) -> Double? {
        try optional(key, "an hour of the day from 0 to 24") { value in
            value.double.flatMap { (0...24).contains($0) ? $0 : nil }
        }
    }

    private func zone() throws(Refusal) -> String? {
        try optional("zone", "a time zone such as \"Europe/Berlin\"") { value in
            value.text.flatMap { (1...64).contains($0.utf8.count) ? $0 : nil }
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

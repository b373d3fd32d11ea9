public import Takes
public import Transport

/// A change to the notes of a take by a person.
public enum NotesChange: Hashable, Sendable {
    /// Sets the memo; nil removes it. With `was`, the memo is set only if it still has that value.
    case memo(String?, was: String?? = nil)
    case tags(adding: [String], removing: [String])
    /// Sets markers of a finished take, and removes the markers at some frames.
    case markers(setting: [TakeNotes.MarkerChange], removing: [TakeFrame])
    /// Adds or removes the star, which marks a take as worth keeping.
    case starred(Bool)
    /// Sets the title; nil removes it.
    case title(String?)

    /// The raw values are the names of the requests at the library's socket.
    public enum Kind: String, CaseIterable, Sendable {
        case memo, tag, markers, star, title
    }

    public var kind: Kind {
        switch self {
        case .memo: .memo
        case .tags: .tag
        case .markers: .markers
        case .starred: .star
        case .title: .title
        }
    }
}

extension NotesChange {
    /// Reads a change from the keys of its kind. Other keys are ignored.
    /// - Throws: `Refusal` with the code `usage`, which names the key and its allowed values.
    public init(_ kind: Kind, _ members: [String: JSONValue]) throws(Refusal) {
        let keys = RequestKeys(members, of: kind.rawValue)
        switch kind {
        case .memo: self = .memo(try keys.memo(), was: try keys.memoBefore())
        case .tag: self = try keys.tags()
        case .markers: self = try keys.markers()
        case .star: self = .starred(try keys.required("starred", "true or false", \.bool))
        case .title: self = .title(try keys.title())
        }
    }

    /// The keys from which `init` reads this change.
    var members: [String: JSONValue] {
        switch self {
        case .memo(let memo, let was):
            [
                "memo": memo.map { .string($0) } ?? .null,
                "memo_was": was.map { $0.map { .string($0) } ?? .null },
            ].compactMapValues(\.self)
        case .tags(let adding, let removing):
            ["add": .array(adding.map { .string($0) }), "remove": .array(removing.map { .string($0) })]
        case .markers(let setting, let removing):
            [
                "set": .array(setting.map { .object($0.members) }),
                "remove": .array(removing.map { .integer(Int($0.count)) }),
            ]
        case .starred(let isStarred): ["starred": .bool(isStarred)]
        case .title(let title): ["title": title.map { .string($0) } ?? .null]
        }
    }
}

extension TakeNotes.MarkerChange {
    /// The keys from which a marker to set is read.
    fileprivate var members: [String: JSONValue] {
        var members: [String: JSONValue] = [
            "at_frame": .integer(Int(atFrame.count)), "note": note.map { .string($0) } ?? .null,
        ]
        switch region {
        case .kept: break
        case .removed: members["end_frame"] = JSONValue.null
        case .set(let region):
            members["end_frame"] = .integer(Int(region.end.count))
            members["low_hz"] = region.band.map { .double($0.lowHz) }
            members["high_hz"] = region.band.map { .double($0.highHz) }
        }
        return members
    }
}

extension RequestKeys {
    /// Null, or a text without any letter, removes the memo.
    fileprivate func memo() throws(Refusal) -> String? {
        Self.memo(try required("memo", Self.memoAllowed, reason: Self.memoTooLong, Self.memoText))
    }

    /// The memo that the take must still have, or nil for any.
    fileprivate func memoBefore() throws(Refusal) -> String?? {
        guard members["memo_was"] != nil else { return nil }
        return .some(Self.memo(try required("memo_was", Self.memoAllowed, Self.memoText)))
    }

    private static let memoTooLong = Refusal.Reason("memo-too-long", ["most": .number(TakeNotes.longestMemo)])
    private static let memoAllowed = "a text of at most \(TakeNotes.longestMemo) bytes without NUL, or null"

    private static func memoText(_ value: JSONValue) -> String? {
        if value == .null { return "" }
        guard let text = value.text, text.utf8.count <= TakeNotes.longestMemo else { return nil }
        return text.typed
    }

    private static func memo(_ text: String) -> String? { text.contains { !$0.isWhitespace } ? text : nil }

    /// Null, or a text without any letter, removes the title.
    fileprivate func title() throws(Refusal) -> String? {
        let allowed = "a text of at most \(TakeNotes.longestTitle) characters on one line, or null"
        let reason = Refusal.Reason("title-not-allowed", ["most": .number(TakeNotes.longestTitle)])
        let title = try required("title", allowed, reason: reason) { value -> String? in
            if value == .null { return "" }
            return value.text.flatMap { $0.allSatisfy(\.isWhitespace) ? "" : TakeNotes.title($0) }
        }
        return title.isEmpty ? nil : title
    }

    /// Tags to add and tags to remove, at least one in total.
    fileprivate func tags() throws(Refusal) -> NotesChange {
        let adding = try tags("add")
        let removing = try tags("remove")
        guard !adding.isEmpty || !removing.isEmpty else {
            throw Refusal(.usage, "tag: add and remove are both empty: name a tag")
        }
        return .tags(adding: adding, removing: removing)
    }

    private func tags(_ key: String) throws(Refusal) -> [String] {
        let allowed =
            "a list of at most \(TakeNotes.mostTags) tags, each of 1 to \(TakeNotes.longestTag) bytes on one line without NUL"
        let reason = Refusal.Reason("tag-not-allowed", ["most": .number(TakeNotes.longestTag)])
        return try optional(key, allowed, reason: reason) { value in
            Self.elements(of: value, atMost: TakeNotes.mostTags) { $0.text.flatMap(TakeNotes.tag) }
        } ?? []
    }

    /// Markers to set, and frames whose markers are removed, at least one in total.
    fileprivate func markers() throws(Refusal) -> NotesChange {
        let points = try list(
            "set",
            "{\"at_frame\":48000,\"note\":\"wren\"}, note of at most \(TakeNotes.longestMarkerNote) bytes without NUL"
        ) { value in Self.point(value).map { (marker: $0, keys: value) } }
        var setting: [TakeNotes.MarkerChange] = []
        for (marker, keys) in points {
            let region = try Self.region(keys, from: marker.atFrame)
            setting.append(TakeNotes.MarkerChange(atFrame: marker.atFrame, note: marker.note, region: region))
        }
        let removing = try list("remove", "frames", Self.frame)
        guard !setting.isEmpty || !removing.isEmpty else {
            throw Refusal(.usage, "markers: set and remove are both empty: name a marker")
        }
        return .markers(setting: setting, removing: removing)
    }

    /// A marker without its region.
    private static func point(_ value: JSONValue) -> TakeNotes.MarkerChange? {
        guard let frame = Self.frame(value["at_frame"]) else { return nil }
        switch value["note"] {
        case nil, .null?: return TakeNotes.MarkerChange(atFrame: frame, note: nil)
        case .string(let text)? where text.utf8.count <= TakeNotes.longestMarkerNote:
            return text.typed.map { TakeNotes.MarkerChange(atFrame: frame, note: $0.isEmpty ? nil : $0) }
        case _?: return nil
        }
    }

    /// The region of a marker. Without any of its keys the region is kept; if `end_frame` is null, it is removed.
    private static func region(
        _ marker: JSONValue, from start: TakeFrame
    ) throws(Refusal) -> TakeNotes.RegionChange {
        guard case .object(let members) = marker else { return .kept }
        let name = "markers: the marker at frame \(start.count)"
        let keys = RequestKeys(members, of: name)
        let end = try keys.optional("end_frame", "a frame of the take", Self.frame)
        let low = try keys.optional("low_hz", "a frequency in Hz", \.double)
        let high = try keys.optional("high_hz", "a frequency in Hz", \.double)
        if end == nil, low == nil, high == nil { return members["end_frame"] == nil ? .kept : .removed }
        do {
            return .set(try MarkedRegion(from: start, to: end, lowHz: low, highHz: high))
        } catch {
            throw Refusal(.usage, "\(name): \(error.sentence)")
        }
    }

    private static func frame(_ value: JSONValue?) -> TakeFrame? {
        value?.integer.flatMap { $0 >= 0 ? TakeFrame(Int64($0)) : nil }
    }

    private func list<Element>(
        _ key: String, _ each: String, _ read: (JSONValue) -> Element?
    ) throws(Refusal) -> [Element] {
        let allowed = "a list of at most \(TakeNotes.mostMarkerChanges), each as \(each)"
        let reason = Refusal.Reason("marker-not-allowed", ["most": .number(TakeNotes.longestMarkerNote)])
        return try optional(key, allowed, reason: reason) { value in
            Self.elements(of: value, atMost: TakeNotes.mostMarkerChanges, read)
        } ?? []
    }

    /// The elements of a list, or nil if it is too long or one of them cannot be read.
    private static func elements<Element>(
        of value: JSONValue, atMost most: Int, _ read: (JSONValue) -> Element?
    ) -> [Element]? {
        guard case .array(let values) = value, values.count <= most else { return nil }
        let elements = values.compactMap(read)
        return elements.count == values.count ? elements : nil
    }
}

/// The library's own file of a take, as far as it can be read: a person, or another program, may have changed it.
public struct ReadNotes: Decodable, Sendable {
    /// What could be read.
    public private(set) var notes: TakeNotes
    /// The keys whose values could not be, such as `tags.1`.
    public private(set) var unreadable: [String] = []

    /// - Throws: `DecodingError`, if it does not say which take it is of.
    public init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: TakeNotes.CodingKeys.self)
        var unreadable: [String] = []
        func value<Value: Decodable>(_ type: Value.Type, _ key: TakeNotes.CodingKeys) -> Value? {
            do {
                return try keys.decodeIfPresent(type, forKey: key)
            } catch {
                unreadable.append(key.stringValue)
                return nil
            }
        }
        func list<Element: Decodable>(_ type: Element.Type, _ key: TakeNotes.CodingKeys) -> [Element]? {
            let list = value(ReadList<Element>.self, key)
            unreadable += (list?.unreadable ?? []).map { "\(key.stringValue).\($0)" }
            return list?.elements
        }

        notes = TakeNotes(take: try keys.decode(String.self, forKey: .take))
        notes.schema = value(Int.self, .schema) ?? notes.schema
        notes.kitID = value(KitID.self, .kitID)
        notes.memo = value(String.self, .memo)
        notes.otherMemos = list(String.self, .otherMemos)
        notes.tag(adding: (list(String.self, .tags) ?? []).map { TakeNotes.tag($0) ?? $0 }, removing: [""])
        notes.starred = value(Bool.self, .starred) ?? false
        notes.markers = (list(PlacedMarker.self, .markers) ?? []).map(\.change)
        notes.revision = value(Int.self, .revision)
        notes.upload = value(TakeNotes.UploadChoice.self, .upload)
        // A decision that cannot be read sends nothing.
        if unreadable.contains(TakeNotes.CodingKeys.upload.stringValue) { notes.upload = .hold }
        notes.recording = value(RecordingStart.self, .recording)
        if !unreadable.contains(TakeNotes.CodingKeys.recording.stringValue) {
            // Which recording these are of is known.
            notes.home = value(HomeNotes.self, .home)
            notes.hashes = list(TakeNotes.FileHash.self, .hashes) ?? []
            notes.receipts = list(UploadReceipt.self, .receipts) ?? []
            notes.sounds = list(TakeNotes.SoundNote.self, .sounds)
        }
        self.unreadable = unreadable
    }
}

/// A marker at a frame that a take can have.
private struct PlacedMarker: Decodable {
    var change: TakeNotes.MarkerChange

    init(from decoder: any Decoder) throws {
        change = try TakeNotes.MarkerChange(from: decoder)
        guard (.first ... .last).contains(change.atFrame) else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "no frame"))
        }
    }
}

/// A list without the elements that cannot be read.
private struct ReadList<Element: Decodable>: Decodable {
    var elements: [Element] = []
    /// The places of the others.
    var unreadable: [Int] = []

    /// Any value.
    private struct Passed: Decodable {
        init(from decoder: any Decoder) {}
    }

    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        while !list.isAtEnd {
            do {
                elements.append(try list.decode(Element.self))
            } catch {
                unreadable.append(list.currentIndex)
                _ = try list.decode(Passed.self)
            }
        }
    }
}

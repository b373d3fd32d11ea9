/// The readable content of the library's file about a take, which a person or another program may have changed.
public struct ReadNotes: Decodable, Sendable {
    public private(set) var notes: TakeNotes
    /// The keys with unreadable values, such as `tags.1`.
    public private(set) var unreadable: [String] = []

    /// - Throws: `DecodingError` if the file does not name its take.
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
        notes.title = value(String.self, .title)?.withoutControls
        notes.memo = value(String.self, .memo)?.withoutControls
        notes.otherMemos = list(String.self, .otherMemos)?.map(\.withoutControls)
        let tags = (list(String.self, .tags) ?? []).map(\.withoutControls)
        notes.tag(
            adding: tags.filter { !$0.allSatisfy(\.isWhitespace) }.map { TakeNotes.tag($0) ?? $0 }, removing: [])
        notes.starred = value(Bool.self, .starred) ?? false
        notes.markers = (list(PlacedMarker.self, .markers) ?? []).map(\.change)
        notes.revision = value(Int.self, .revision)
        notes.upload = value(TakeNotes.UploadChoice.self, .upload)
        // If the person's decision is unreadable, do not upload the take.
        if unreadable.contains(TakeNotes.CodingKeys.upload.stringValue) { notes.upload = .hold }
        notes.recording = value(RecordingStart.self, .recording)
        if !unreadable.contains(TakeNotes.CodingKeys.recording.stringValue) {
            // These values are only valid for a known recording.
            notes.home = value(HomeNotes.self, .home)
            notes.hashes = list(TakeNotes.FileHash.self, .hashes) ?? []
            notes.receipts = list(UploadReceipt.self, .receipts) ?? []
            notes.sounds = list(TakeNotes.SoundNote.self, .sounds)
        }
        self.unreadable = unreadable
    }
}

/// Decoding fails for a frame that no take can have.
private struct PlacedMarker: Decodable {
    var change: TakeNotes.MarkerChange

    init(from decoder: any Decoder) throws {
        change = try TakeNotes.MarkerChange(from: decoder)
        change.note = change.note?.withoutControls
        guard (.first ... .last).contains(change.atFrame) else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "no frame"))
        }
    }
}

/// A list without its unreadable elements.
private struct ReadList<Element: Decodable>: Decodable {
    var elements: [Element] = []
    /// The indexes of the unreadable elements.
    var unreadable: [Int] = []

    /// Skips a value of any type.
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

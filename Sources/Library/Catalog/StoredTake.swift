import FoundationEssentials
import GRDB
public import TakeFiles
public import Takes

/// A finished take as it is on a storage: what the catalog keeps of it.
public struct StoredTake: Sendable {
    /// Its name, with the folder of its day.
    public var name: TakeName
    /// What its sidecar says.
    public var sidecar: Sidecar
    /// The sidecar's file without the spaces between its values.
    public var json: [UInt8]
    /// What tells whether that file is still the same.
    public var attributes: FileAttributes
    /// Bytes of all of its files.
    public var byteCount: Int64

    /// Which take it is.
    public var identity: TakeIdentity {
        TakeIdentity(stem: name.stem, number: sidecar.number, kitID: sidecar.kitID)
    }

    /// Reads a finished take.
    /// - Throws: `FileError` or `SidecarError`.
    public init(_ name: TakeName, in folder: TakesFolder) throws {
        self.name = name
        // First: of a sidecar that is replaced meanwhile the old attributes are noted, and it is read again.
        attributes = try folder.sidecarAttributes(of: name)
        let bytes = try folder.sidecarBytes(of: name)
        sidecar = try folder.sidecar(bytes, of: name)
        json = Self.withoutSpaces(Self.isPlainText(bytes) ? bytes : SidecarFile.bytes(sidecar))
        byteCount = folder.byteCount(of: name, sidecar)
    }
}

extension StoredTake {
    /// Whether it is JSON in UTF-8 without a mark of that, which is all that SQLite reads. Editors write other forms.
    private static func isPlainText(_ json: [UInt8]) -> Bool {
        json.first.map { $0 < 0x80 } == true && !json.contains(0)
    }

    private enum Place { case outside, inText, behindBackslash }

    /// JSON without what stands between its values: indented, a long clock map is twice as long.
    static func withoutSpaces(_ json: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(json.count)
        var place = Place.outside
        for byte in json {
            switch (place, byte) {
            case (.outside, 0x20), (.outside, 0x09), (.outside, 0x0a), (.outside, 0x0d): continue
            case (.outside, UInt8(ascii: "\"")): place = .inText
            case (.inText, UInt8(ascii: "\"")): place = .outside
            case (.inText, UInt8(ascii: "\\")): place = .behindBackslash
            case (.behindBackslash, _): place = .inText
            case (.outside, _), (.inText, _): break
            }
            text.append(byte)
        }
        return text
    }
}

/// A take as the catalog has it.
struct TakeRow: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "take"

    var id: Int64?
    var take: String
    var storage: Int64
    var day: String
    var sidecarByteCount: Int64
    var sidecarModifiedNs: Int64
    var sidecarInode: Int64
    var notesModifiedNs: Int64
    /// The same, as a version noted it that sends what people noted; another number: an earlier version was last.
    var notesSeenNs: Int64
    var startedUs: Int64
    var durationUs: Int64
    var number: Int
    var byteCount: Int64
    var markerCount: Int
    var isStarred: Bool
    var entry: CatalogedTake

    init(_ take: StoredTake, notes: TakeNotes, notesModifiedNs: Int64, storage: Int64, place: String) {
        let sidecar = take.sidecar
        self.take = take.name.stem
        self.storage = storage
        day = take.name.day
        sidecarByteCount = take.attributes.byteCount
        sidecarModifiedNs = take.attributes.modifiedNs
        sidecarInode = take.attributes.inode
        self.notesModifiedNs = notesModifiedNs
        notesSeenNs = notesModifiedNs
        startedUs = sidecar.begun?.microseconds ?? 0
        // A sidecar's figures are checked: neither number overflows.
        durationUs = Int64((max(0, min(sidecar.durationSeconds, 1e9)) * 1e6).rounded())
        number = sidecar.number
        byteCount = take.byteCount
        markerCount = notes.markers(of: sidecar.markers).count
        isStarred = notes.starred
        entry = CatalogedTake(
            sidecar, notes: notes, bytes: take.byteCount, folder: "\(place)/\(take.name.day)", place: .here)
    }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

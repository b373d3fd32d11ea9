import FoundationEssentials
import GRDB
public import TakeFiles
public import Takes

/// The catalog's data about a finished take on a storage.
public struct StoredTake: Sendable {
    public var name: TakeName
    public var sidecar: Sidecar
    /// The text of the sidecar without the whitespace between its values.
    public var json: [UInt8]
    /// The attributes by which a change of the sidecar is detected.
    public var attributes: FileAttributes
    /// The sum of all its files.
    public var byteCount: Int64

    public var identity: TakeIdentity {
        TakeIdentity(stem: name.stem, number: sidecar.number, kitID: sidecar.kitID)
    }

    /// Reads a finished take.
    /// - Throws: `FileError` or `SidecarError`.
    public init(_ name: TakeName, in folder: TakesFolder) throws {
        self.name = name
        // Get the attributes first: if the sidecar is replaced in between, the old attributes are stored, and it is
        // read again.
        attributes = try folder.sidecarAttributes(of: name)
        let bytes = try folder.sidecarBytes(of: name)
        sidecar = try folder.sidecar(bytes, of: name)
        json = Self.withoutSpaces(Self.isPlainText(bytes) ? bytes : SidecarFile.bytes(sidecar))
        byteCount = folder.byteCount(of: name, sidecar)
    }
}

extension StoredTake {
    /// Whether it is JSON in UTF-8 without a byte order mark, the only form that SQLite reads. Editors may write
    /// others.
    private static func isPlainText(_ json: [UInt8]) -> Bool {
        json.first.map { $0 < 0x80 } == true && !json.contains(0)
    }

    private enum Place { case outside, inText, behindBackslash }

    /// JSON without whitespace between values: indentation doubles the length of a long clock map.
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

/// A row of the table `take`.
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
    /// Equal to `notesModifiedNs` if the last writer of the row was a version that uploads notes. Otherwise it was an
    /// earlier version.
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
        // The numbers in a sidecar were validated, so neither conversion overflows.
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

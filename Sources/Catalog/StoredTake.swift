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

    /// Reads a finished take.
    /// - Throws: `FileError` or `SidecarError`.
    public init(_ name: TakeName, in folder: TakesFolder, files: FileSystem) throws {
        self.name = name
        // First: of a sidecar that is replaced meanwhile the old attributes are noted, and it is read again.
        attributes = try files.attributes(folder.sidecarPath(of: name))
        let bytes = try folder.sidecarBytes(of: name)
        sidecar = try folder.sidecar(bytes, of: name)
        json = Self.withoutSpaces(bytes)
        let place = folder.folder(of: name)
        let names = sidecar.parts.flatMap { [$0.file, $0.unfilteredFile].compactMap(\.self) } + ["\(name.stem).dat"]
        byteCount =
            attributes.byteCount
            + names.reduce(0) { $0 + ((try? files.attributes("\(place)/\($1)"))?.byteCount ?? 0) }
    }
}

extension StoredTake {
    /// JSON without what stands between its values: indented, a long clock map is twice as long.
    static func withoutSpaces(_ json: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(json.count)
        var isInString = false, isEscaped = false
        for byte in json {
            if isInString {
                text.append(byte)
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else if ![0x20, 0x09, 0x0a, 0x0d].contains(byte) {
                text.append(byte)
                isInString = byte == UInt8(ascii: "\"")
            }
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
        startedUs = WallTime(iso8601: sidecar.startedCorrected ?? sidecar.started)?.microseconds ?? 0
        // A sidecar's figures are checked: neither number overflows.
        durationUs = Int64((max(0, min(sidecar.durationSeconds, 1e9)) * 1e6).rounded())
        number = sidecar.number
        byteCount = take.byteCount
        markerCount = sidecar.markers.count
        isStarred = notes.starred
        entry = CatalogedTake(
            sidecar, notes: notes, bytes: take.byteCount, folder: "\(place)/\(take.name.day)", place: .here)
    }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }

    /// Whether it was made of these files.
    func isOf(_ sidecar: FileAttributes, notesModifiedNs: Int64) -> Bool {
        sidecarByteCount == sidecar.byteCount && sidecarModifiedNs == sidecar.modifiedNs
            && sidecarInode == sidecar.inode && self.notesModifiedNs == notesModifiedNs
    }
}

public import Files
import FoundationEssentials
import GRDB
public import TakeFiles
public import Takes

/// The catalog's data about a finished take on a storage.
public struct StoredTake: Sendable {
    public var name: TakeName
    /// The sidecar. Its clock map may be empty here.
    public var sidecar: Sidecar
    /// The text of the sidecar without the whitespace between its values.
    public var json: [UInt8]
    /// The attributes by which a change of the sidecar is detected.
    public var attributes: FileAttributes
    /// The sum of all its files.
    public var byteCount: Int64
    /// False if the library has no file of its own of the take.
    public var mayHaveNotes = true

    public var identity: TakeIdentity {
        TakeIdentity(stem: name.stem, number: sidecar.number, kitID: sidecar.kitID)
    }

    /// Reads a finished take. If its sidecar changes meanwhile, the attributes are the earlier ones, so that the next
    /// scan reads it again.
    /// - Throws: `FileError` or `SidecarError`.
    public init(_ name: TakeName, in folder: TakesFolder) throws {
        try self.init(name, in: folder, folder.open(day: name.day))
    }

    /// The same from the open folder of its day.
    public init(_ name: TakeName, in folder: TakesFolder, _ day: TakesDay) throws {
        self.name = name
        let (bytes, attributes) = try day.sidecar(of: name)
        self.attributes = attributes
        let isPlainText = Self.isPlainText(bytes)
        sidecar = try folder.sidecar(isPlainText ? ClockMapText.emptied(in: bytes) ?? bytes : bytes, of: name)
        json = Self.withoutSpaces(isPlainText ? bytes : SidecarFile.bytes(sidecar))
        byteCount = sidecar.files.reduce(0) { sum, file in
            sum + (file.role == .sidecar ? attributes.byteCount : day.byteCount(of: file.name) ?? 0)
        }
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
        var text = json
        var count = 0
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
            text[count] = byte
            count += 1
        }
        text.removeLast(text.count - count)
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
    /// The peak of the loudest channel in thousandths of a dB of full scale, for lists that begin with the loudest take.
    var loudness: Int
    /// The same for lists that begin with the quietest take. They differ if it is unknown: such a take comes last in
    /// both lists.
    var quietness: Int
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
        let loudness = Loudness(sidecar.levels)
        self.loudness = loudness.value
        quietness = loudness.isKnown ? loudness.value : -loudness.value
        entry = CatalogedTake(
            sidecar, notes: notes, bytes: take.byteCount, folder: "\(place)/\(take.name.day)", place: .here)
    }

    /// The columns, each with the property of its name.
    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, take, storage, day, sidecarByteCount, sidecarModifiedNs, sidecarInode, notesModifiedNs, notesSeenNs
        case startedUs, durationUs, number, byteCount, markerCount, isStarred, loudness, quietness, entry
    }

    private func value(of column: CodingKeys) throws -> (any DatabaseValueConvertible)? {
        switch column {
        case .id: return id
        case .take: return take
        case .storage: return storage
        case .day: return day
        case .sidecarByteCount: return sidecarByteCount
        case .sidecarModifiedNs: return sidecarModifiedNs
        case .sidecarInode: return sidecarInode
        case .notesModifiedNs: return notesModifiedNs
        case .notesSeenNs: return notesSeenNs
        case .startedUs: return startedUs
        case .durationUs: return durationUs
        case .number: return number
        case .byteCount: return byteCount
        case .markerCount: return markerCount
        case .isStarred: return isStarred
        case .loudness: return loudness
        case .quietness: return quietness
        case .entry:
            return String(decoding: try Self.databaseJSONEncoder(for: column.rawValue).encode(entry), as: UTF8.self)
        }
    }

    private static let insertion: String = {
        let names = CodingKeys.allCases.map(\.rawValue)
        let marks = names.map { _ in "?" }
        return "INSERT INTO take (\(names.joined(separator: ", "))) VALUES (\(marks.joined(separator: ", ")))"
    }()

    /// Adds the row and sets `id`. This is faster than `insert`, which encodes the row as a dictionary first.
    mutating func add(to database: Database) throws {
        let values = try CodingKeys.allCases.map { column in try value(of: column) }
        try database.cachedStatement(sql: Self.insertion).execute(arguments: StatementArguments(values))
        id = database.lastInsertedRowID
    }
}

/// The peak of a take as a number for sorting.
struct Loudness: Hashable {
    /// In thousandths of a dB of full scale.
    var value: Int

    static let silence = -1_000_000
    static let unknown = -10_000_000

    /// - Parameter levels: of all channels; none if they are unknown.
    init(_ levels: [Sidecar.Levels]) {
        let peak = levels.compactMap(\.peakDBFS).max()
        value = peak.map { Self.thousandths($0) } ?? (levels.isEmpty ? Self.unknown : Self.silence)
    }

    var isKnown: Bool { value != Self.unknown }

    /// Values below any sound count as silence.
    static func thousandths(_ decibels: Double) -> Int {
        Int((max(Double(silence), min(decibels * 1000, -Double(silence)))).rounded())
    }
}

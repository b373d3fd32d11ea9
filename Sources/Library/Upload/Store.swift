public import Files
public import Takes

/// A place that takes are uploaded to.
///
/// No requirement has a default here, so that a store that wraps another one must forward all of them. `ServerStore`
/// has the defaults for stores behind a network.
///
/// All functions throw `StoreError`, or `CancellationError` if the task was cancelled.
public protocol Store: Sendable {
    /// The name in receipts: kind and place, without a secret. Another place has another name.
    var name: String { get }

    var traits: StoreTraits { get }

    /// An empty checksum of the kind that this store compares in addition to the SHA-256. The caller computes it while
    /// it hashes the file, and passes it to `put`.
    /// - Parameter byteCount: the length of the file.
    /// - Returns: nil if the store compares none, or only with some servers.
    func wantedChecksum(byteCount: Int64) -> (any Checksum)?

    /// Sends a file, and verifies by its hash that it arrived. If the store does not let this kit read it, the returned
    /// object is marked as unverified.
    ///
    /// An existing object is never overwritten, unless `mode` allows it. An object with the same content counts as
    /// sent.
    /// - Parameters:
    ///   - checksum: the checksum of the file that `wantedChecksum` began. With nil, the store reads the file itself.
    ///   - report: receives the progress.
    /// - Returns: the object in the store, verified unless marked otherwise.
    func put(
        _ source: UploadSource, _ checksum: (any Checksum)?, as object: ObjectName, _ metadata: ObjectMetadata,
        mode: PutMode, report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject

    /// The object's state, or nil if it does not exist.
    /// - Throws: also `.hidden` if the store does not let this kit look.
    func head(_ object: ObjectName) async throws -> StoredObject?

    /// Lists all objects of takes, in any order.
    /// - Parameter receive: receives them in groups.
    func list(_ receive: ([StoredObject]) async throws -> Void) async throws

    /// - Parameter receive: receives the bytes in order.
    func get(_ object: ObjectName, _ receive: ([UInt8]) async throws -> Void) async throws

    /// Deletes an object, if it exists.
    func delete(_ object: ObjectName) async throws

    /// Aborts the uploads that this kit left unfinished. It must not be called during an upload.
    func tidy() async throws

    /// Distinguishes the current medium from others that may replace it, such as other sticks. Nil if the store has
    /// only one medium.
    /// - Throws: also if the current medium is not adopted.
    func medium() async throws -> String?

    /// Distinguishes the store's folder from another one that is mounted in its place, whether adopted or not. Nil if
    /// the store is not a folder.
    func place() async throws -> FileIdentity?

    func close() async
}

/// The place of an object in a store: the folder of a day and a file name, as in the folder for takes.
public struct ObjectName: Hashable, Sendable, CustomStringConvertible {
    /// `2026-11-21`.
    public var day: String
    /// `heron07-0042_20261121_061811.wav`.
    public var file: String

    public init(day: String, file: String) {
        self.day = day
        self.file = file
    }

    public init(_ file: TakeFile, of take: TakeName) { self.init(day: take.day, file: file.name) }

    /// Nil if `path` is not `DAY/FILE`, or the file does not belong to a take.
    public init?(path: some StringProtocol) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, TakeName.isDay(String(parts[0])) else { return nil }
        self.init(day: String(parts[0]), file: String(parts[1]))
        guard kit != nil, Self.isPlain(file) else { return nil }
    }

    /// Whether a name has only the characters of take file names. A server may list anything.
    private static func isPlain(_ file: String) -> Bool {
        file.utf8.count <= 128
            && file.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// `2026-11-21/heron07-0042_20261121_061811.wav`.
    public var path: String { "\(day)/\(file)" }

    /// The kit that recorded it, or nil if it does not belong to a take.
    public var kit: String? { TakeFileName(file)?.kit }

    /// The take of the file. Nil if it does not belong to a take, or if the name does not show the take, as for a later
    /// part.
    public var take: TakeName? { TakeFileName(file)?.take(in: day) }

    /// Whether it is a sidecar. A sidecar is sent last, so its presence means that the take is complete.
    public var isSidecar: Bool { take.map { file == TakeFile.sidecar(of: $0.stem).name } ?? false }

    public var contentType: String { TakeFile.mediaType(of: file) }

    public var description: String { path }
}

/// The name of the file that a store writes before an object gets its own name.
///
/// The name depends on the content. Kits with the same name exist, for example after an SD card was copied. They may
/// send different files with the same name at the same time and must not write into the same draft.
package enum DraftName {
    private static let digitCount = 8

    /// `.heron07-0042_20261121_061811.wav.1f2e3d4c`, without the parts that a store adds at both ends.
    /// - Parameter sha256: the hash of the file, in hexadecimal.
    package static func name(of file: String, _ sha256: String) -> String {
        "\(file).\(sha256.prefix(digitCount))"
    }

    /// The file name of a draft. Drafts of earlier versions have no hash in their names.
    package static func file(of draft: some StringProtocol) -> String {
        let digits = draft.suffix(digitCount)
        let rest = draft.dropLast(digitCount)
        guard digits.allSatisfy({ $0.isASCII && $0.isHexDigit }), rest.hasSuffix(".") else { return String(draft) }
        return String(rest.dropLast())
    }
}

/// The permission to overwrite an existing object.
public enum PutMode: Hashable, Sendable {
    /// Nothing may be overwritten.
    case create
    /// Nothing may be overwritten. This kit has sent this content or began to, so an object of this length that cannot
    /// be compared counts as sent.
    case confirm
    /// An object with this SHA-256 (hexadecimal), which this kit sent itself, may be overwritten.
    case replacing(String)

    /// Whether an object with this hash may be overwritten.
    public func allows(_ sha256: String?) -> Bool {
        switch self {
        case .create, .confirm: false
        case .replacing(let old): old == sha256
        }
    }

    public var replaces: Bool {
        switch self {
        case .create, .confirm: false
        case .replacing: true
        }
    }

    /// Whether this kit has sent an object with this hash, or began to.
    public func knows(_ sha256: String) -> Bool {
        switch self {
        case .create: false
        case .confirm: true
        case .replacing(let old): old == sha256
        }
    }
}

public enum PutProgress: Hashable, Sendable {
    /// The store has this many bytes of the file.
    case sent(Int64)
    /// All bytes are there and are compared with the file.
    case verifying
}

public struct StoredObject: Hashable, Sendable {
    public var name: ObjectName
    public var byteCount: Int64
    /// The hash of its bytes in hexadecimal, as the store or the metadata state it; nil if unknown.
    public var sha256: String?
    /// The hash that the store itself computed, in the store's own form. Nil if the store shows none. Other content has
    /// another hash.
    public var mark: String?
    /// The stored metadata. Nil if the store keeps none, or a list does not include it.
    public var metadata: ObjectMetadata?
    /// Why the uploaded object could not be compared. Nil if it was compared, or was not sent now.
    public var unverified: String?

    public init(
        name: ObjectName, byteCount: Int64, sha256: String?, mark: String? = nil, metadata: ObjectMetadata? = nil,
        unverified: String? = nil
    ) {
        self.name = name
        self.byteCount = byteCount
        self.sha256 = sha256
        self.mark = mark
        self.metadata = metadata
        self.unverified = unverified
    }

    package func unverified(since error: StoreError) -> StoredObject {
        var object = self
        object.unverified = error.sentence
        return object
    }
}

/// The metadata stored with an object, so that a listing needs no download.
public struct ObjectMetadata: Hashable, Sendable {
    /// The take's stem.
    public var title: String
    /// The start of the take, in ISO 8601, UTC.
    public var started: String
    /// In seconds.
    public var duration: Double
    /// The kit that recorded it.
    public var kit: String
    /// The highest peak of each of up to 64 sections of the take, 0 to 128, as two hexadecimal digits each; empty if
    /// unknown.
    public var waveform: String
    /// SHA-256 of the file, in hexadecimal.
    public var sha256: String

    public init(
        title: String, started: String, duration: Double, kit: String, waveform: String, sha256: String
    ) {
        self.title = title
        self.started = started
        self.duration = duration
        self.kit = kit
        self.waveform = waveform
        self.sha256 = sha256
    }

    /// The metadata as texts by key, for stores that keep key-value pairs.
    public var texts: [String: String] {
        [
            "title": title, "started": started, "duration": String(duration), "kit": kit, "waveform": waveform,
            "sha256": sha256,
        ]
    }

    /// Reads texts by key; the case of keys is ignored. Nil if they are malformed.
    public init?(texts: [String: String]) {
        let texts = Dictionary(texts.map { ($0.lowercased(), $1) }) { first, _ in first }
        guard let title = texts["title"], let started = texts["started"], let kit = texts["kit"],
            let duration = texts["duration"].flatMap({ Double($0) }), duration.isFinite
        else { return nil }
        self.init(
            title: title, started: started, duration: duration, kit: kit, waveform: texts["waveform"] ?? "",
            sha256: texts["sha256"] ?? "")
    }
}

extension ObjectMetadata {
    /// The modification time of all copies of a take's files, including the sidecar: the start of the take. Nil if
    /// unknown.
    public var modified: WallTime? { WallTime(iso8601: started) }
}

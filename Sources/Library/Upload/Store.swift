public import Takes

/// A place that takes are uploaded to.
///
/// All functions throw `StoreError`, or `CancellationError` if the task was cancelled.
public protocol Store: Sendable {
    /// What receipts name it by: kind and place, without a secret. Another place has another name.
    var name: String { get }

    /// The SHA-256 of a file that is to be sent, hexadecimal. A store that compares other hashes has them computed as well.
    func hash(of source: UploadSource) async throws -> String

    /// Sends a file, and verifies by its hash that it arrived. Where the store does not let this kit look, the object says that it is
    /// unverified.
    ///
    /// An object of that name is never overwritten, unless `mode` says so. One with the same content is as good as a new one, and is not
    /// sent again.
    /// - Parameter report: receives how far it is.
    /// - Returns: the object at home, verified unless it says otherwise.
    func put(
        _ source: UploadSource, as object: ObjectName, _ metadata: ObjectMetadata, mode: PutMode,
        report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject

    /// What is known of an object; nil: there is none.
    /// - Throws: also `.hidden`: the store does not let this kit look.
    func head(_ object: ObjectName) async throws -> StoredObject?

    /// All objects of takes, in any order.
    /// - Parameter receive: receives them in groups.
    func list(_ receive: ([StoredObject]) async throws -> Void) async throws

    /// Reads an object.
    /// - Parameter receive: receives its bytes in order.
    func get(_ object: ObjectName, _ receive: ([UInt8]) async throws -> Void) async throws

    /// Deletes an object, if it is there.
    func delete(_ object: ObjectName) async throws

    /// Aborts what earlier uploads of this kit left unfinished there. To be called while nothing is sent.
    func tidy() async throws

    /// What tells the medium that takes are sent to now from others that may be in its place at other times; nil: there are no others.
    func medium() async throws -> String?

    /// Closes its connections.
    func close() async
}

extension Store {
    /// No other hash is compared.
    public func hash(of source: UploadSource) async throws -> String { try await source.sha256() }

    /// Nothing is left by a store whose uploads leave nothing.
    public func tidy() async throws {}

    /// There is one medium.
    public func medium() async throws -> String? { nil }

    /// Nothing to close.
    public func close() async {}
}

/// Where an object is in a store: the folder of a day, and a file's name, as in the folder for takes.
public struct ObjectName: Hashable, Sendable, CustomStringConvertible {
    /// `2026-11-21`.
    public var day: String
    /// `heron07-0042_20261121_061811.wav`.
    public var file: String

    /// A file of a take of a day.
    public init(day: String, file: String) {
        self.day = day
        self.file = file
    }

    /// A file of a take.
    public init(_ file: TakeFile, of take: TakeName) { self.init(day: take.day, file: file.name) }

    /// The file of a take; nil if `path` is not `DAY/FILE`, or the file is no take's.
    public init?(path: some StringProtocol) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, TakeName.isDay(String(parts[0])) else { return nil }
        self.init(day: String(parts[0]), file: String(parts[1]))
        guard kit != nil, Self.isPlain(file) else { return nil }
    }

    /// Whether a name has nothing but what the names of a take's files have: a server may list anything.
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

    /// The kit that recorded it, or nil if it is no take's.
    public var kit: String? { TakeFileName(file)?.kit }

    /// The take that it is of, or nil if it is of none, or the name, as that of a later part, does not say it.
    public var take: TakeName? { TakeFileName(file)?.take(in: day) }

    /// Whether it is a sidecar: it comes last, so that its presence means that the take is complete.
    public var isSidecar: Bool { take.map { file == TakeFile.sidecar(of: $0.stem).name } ?? false }

    /// The media type of the file.
    public var contentType: String { TakeFile.mediaType(of: file) }

    /// The path.
    public var description: String { path }
}

/// The file that a store writes before an object has its name.
///
/// Its name tells its content: two kits of one name, as those are whose cards were copied, may send different files of one name at a
/// time, and must not write into the same one.
package enum DraftName {
    private static let digitCount = 8

    /// `.heron07-0042_20261121_061811.wav.1f2e3d4c`, without what a store puts at its ends.
    /// - Parameter sha256: of the file, hexadecimal.
    package static func name(of file: String, _ sha256: String) -> String {
        "\(file).\(sha256.prefix(digitCount))"
    }

    /// The file that a draft is of: one that earlier versions wrote does not tell its content.
    package static func file(of draft: some StringProtocol) -> String {
        let digits = draft.suffix(digitCount)
        let rest = draft.dropLast(digitCount)
        guard digits.allSatisfy({ $0.isASCII && $0.isHexDigit }), rest.hasSuffix(".") else { return String(draft) }
        return String(rest.dropLast())
    }
}

/// What may be overwritten.
public enum PutMode: Hashable, Sendable {
    /// Nothing.
    case create
    /// Nothing. This kit has sent this content, or began to: what is there, has its length and cannot be compared counts as that.
    case confirm
    /// An object of this hash (SHA-256, hexadecimal), which this kit sent itself.
    case replacing(String)

    /// Whether an object of this hash may be overwritten.
    public func allows(_ sha256: String?) -> Bool {
        switch self {
        case .create, .confirm: false
        case .replacing(let old): old == sha256
        }
    }

    /// Whether something may be overwritten.
    public var replaces: Bool {
        switch self {
        case .create, .confirm: false
        case .replacing: true
        }
    }

    /// Whether this kit has sent an object of this hash, or began to.
    public func knows(_ sha256: String) -> Bool {
        switch self {
        case .create: false
        case .confirm: true
        case .replacing(let old): old == sha256
        }
    }
}

/// How far an upload is.
public enum PutProgress: Hashable, Sendable {
    /// So many bytes of the file are there.
    case sent(Int64)
    /// All are there, and are compared with the file.
    case verifying
}

/// An object of a store.
public struct StoredObject: Hashable, Sendable {
    /// Which.
    public var name: ObjectName
    /// How long it is.
    public var byteCount: Int64
    /// The hash of its bytes, hexadecimal, as the store or the metadata say; nil: not known.
    public var sha256: String?
    /// The hash that the store itself computed of its bytes, as the store writes it; nil: it shows none. Other bytes have another.
    public var mark: String?
    /// What was stored with it; nil: the store keeps none, or a list does not have it.
    public var metadata: ObjectMetadata?
    /// Why what arrived could not be compared with what was sent; nil: it was compared, or was not sent now.
    public var unverified: String?

    /// An object.
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

    /// The same object, marked as not compared.
    package func unverified(since error: StoreError) -> StoredObject {
        var object = self
        object.unverified = error.sentence
        return object
    }
}

/// What is stored with an object, so that a list of the store needs no download.
public struct ObjectMetadata: Hashable, Sendable {
    /// The take's stem.
    public var title: String
    /// When the take began: ISO 8601, UTC.
    public var started: String
    /// In seconds.
    public var duration: Double
    /// The kit that recorded it.
    public var kit: String
    /// The loudest of each of up to 64 stretches of the take, 0 to 128, two hexadecimal digits each; empty: not known.
    public var waveform: String
    /// SHA-256 of the file, hexadecimal.
    public var sha256: String

    /// What is known of a file.
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

    /// As texts by key, for stores that keep such.
    public var texts: [String: String] {
        [
            "title": title, "started": started, "duration": String(duration), "kit": kit, "waveform": waveform,
            "sha256": sha256,
        ]
    }

    /// Reads texts by key, in any case; nil if they are not of this form.
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
    /// The time that copies of all files of the take have, the sidecar's too: when the take began; nil: not known.
    public var modified: WallTime? { WallTime(iso8601: started) }
}

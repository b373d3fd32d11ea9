import Digests
public import TakeFiles
import Takes
import Workers

/// A file of a take, or a text, that is read to be sent. What of it was read from its beginning on is hashed on the way.
public actor UploadSource {
    /// How long it is.
    public nonisolated let byteCount: Int64
    /// What it is called in sentences: its path.
    public nonisolated let path: String
    private let reader: DiskReader
    private let content: Content
    private let throttle: Throttle?
    private var hash = Digest(.sha256)
    /// Up to where `hash` has it.
    private var hashed: Int64 = 0
    /// Whether something was sent that `hash` does not have: an upload that went on in the middle.
    private var isSentUnhashed = false
    private var digest: String?
    /// What is computed beside `hash`; nil: nothing.
    private var checksum: (any Checksum)?

    /// What is read at once: long enough for the disk, and short enough that four of them on their way fit the memory of a small machine.
    package static let pieceByteCount = 64 << 10

    private enum Content {
        case file(DiskReader.File)
        case bytes([UInt8])
    }

    /// A file. It is opened now, and stays open.
    /// - Parameters:
    ///   - sha256: its hash, if it is known already; what is read is then compared with it.
    ///   - throttle: limits how fast it is read.
    /// - Throws: `StoreError`, `.unreadable`.
    public init(
        path: String, sha256: String? = nil, reader: DiskReader, throttle: Throttle? = nil
    ) async throws {
        let file = try await reader.open(path)
        self.path = path
        self.reader = reader
        self.throttle = throttle
        content = .file(file)
        byteCount = file.byteCount
        digest = sha256
    }

    /// Bytes that are no file of their own.
    public init(_ bytes: [UInt8], called path: String, reader: DiskReader, throttle: Throttle? = nil) {
        self.path = path
        self.reader = reader
        self.throttle = throttle
        content = .bytes(bytes)
        byteCount = Int64(bytes.count)
    }

    /// Reads a piece, to be sent. Waits as the limit of the bandwidth says.
    /// - Parameters:
    ///   - count: at most so many bytes, more than 0.
    ///   - isHashed: false: the caller has hashed it.
    /// - Returns: fewer bytes at the end, and below a low limit, so that no server takes the wait for silence; none past the end.
    /// - Throws: `StoreError`, `.unreadable`, also if the file has become shorter.
    public func piece(at offset: Int64, count: Int, isHashed: Bool = true) async throws -> [UInt8] {
        let most = min(count, throttle?.pieceByteCount ?? count)
        let wanted = Int(max(0, min(Int64(most), byteCount - offset)))
        try await throttle?.pass(wanted)
        let bytes = try await read(at: offset, count: wanted)
        if isHashed { note(bytes, at: offset) }
        return bytes
    }

    /// Reads a piece that is hashed or compared, and not sent.
    /// - Returns: `count` bytes, fewer at the end.
    /// - Throws: `StoreError`, `.unreadable`, also if the file has become shorter.
    public func bytes(at offset: Int64, count: Int) async throws -> [UInt8] {
        try await read(at: offset, count: Int(max(0, min(Int64(count), byteCount - offset))))
    }

    /// Hashes what continues what was read before.
    private func note(_ bytes: [UInt8], at offset: Int64) {
        guard offset == hashed else {
            if offset > hashed { isSentUnhashed = true }
            return
        }
        hash.update(bytes)
        checksum?.update(bytes)
        hashed += Int64(bytes.count)
    }

    /// The hash of the whole file, hexadecimal. What was not read yet is read now.
    /// - Throws: `StoreError`, `.unreadable`, also if it is not what it was when it was hashed before.
    public func sha256() async throws -> String {
        if let digest, hashed < byteCount, !isSentUnhashed { return digest }
        return try await wholeHash()
    }

    /// A checksum of the whole file, computed beside its hash: all is read once more, unless that was done already.
    /// - Parameter empty: of no bytes.
    /// - Throws: `StoreError`, `.unreadable`, also if the file is not what it was when it was hashed before.
    package func checksum<Sum: Checksum>(_ empty: Sum) async throws -> Sum {
        if hashed == byteCount, let known = checksum as? Sum { return known }
        (hash, hashed, checksum) = (Digest(.sha256), 0, empty)
        _ = try await wholeHash()
        return checksum as? Sum ?? empty
    }

    private func wholeHash() async throws -> String {
        while hashed < byteCount {
            let offset = hashed
            // Another call may come in between: nothing is hashed twice.
            note(try await read(at: offset, count: Self.pieceByteCount), at: offset)
        }
        let found = hash.bytes.hexadecimal
        if let digest, digest != found {
            throw Self.changed(path)
        }
        digest = found
        return found
    }

    /// The error for a file that is not what it was when it was hashed.
    package static func changed(_ path: String) -> StoreError {
        StoreError(
            .unreadable, "outbox: \(path): its content has changed since it was hashed: compare it with its copies")
    }

    private func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        let count = Int(min(Int64(count), byteCount - offset))
        switch content {
        case .bytes(let bytes): return Array(bytes[Int(offset)..<Int(offset) + count])
        case .file(let file):
            let bytes = try await reader.read(file, at: offset, count: count)
            guard bytes.count == count else {
                throw StoreError(
                    .unreadable, "outbox: \(path): is shorter than it was: it is changed by something else")
            }
            return bytes
        }
    }
}

/// A hash or checksum of bytes that come in order.
package protocol Checksum: Sendable {
    /// Adds bytes.
    mutating func update(_ bytes: [UInt8])
}

/// Reads files on one thread of its own: a storage that hangs stops no other work.
public actor DiskReader {
    private let files: FileSystem
    private let executor: ThreadExecutor

    /// A file that is open.
    public struct File: Sendable {
        let file: OpenFile
        let byteCount: Int64
    }

    /// Runs on this reader's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// A reader, and its thread.
    /// - Parameter name: of the thread, at most 15 characters.
    public init(files: FileSystem = FileSystem(), name: String) throws {
        self.files = files
        executor = try ThreadExecutor(name: name)
    }

    func open(_ path: String) throws -> File {
        try reading {
            let file = try files.openTakeFile(path)
            return File(file: file, byteCount: try files.length(file))
        }
    }

    func read(_ file: File, at offset: Int64, count: Int) throws -> [UInt8] {
        try reading { try files.read(file.file, at: offset, count: count) }
    }

    /// Does something with files on this reader's thread.
    public func perform<Result: Sendable>(_ body: @Sendable (FileSystem) throws -> Result) throws -> Result {
        try body(files)
    }

    private func reading<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as FileError {
            throw StoreError(.unreadable, "outbox: \(error.fact)")
        }
    }
}

/// Keeps uploads below a rate.
public actor Throttle {
    private let bytesPerSecond: Double
    /// The longest piece that passes at once: what takes a second.
    nonisolated let pieceByteCount: Int
    private var free = ContinuousClock.now

    /// - Parameter kilobitsPerSecond: more than 0.
    public init(kilobitsPerSecond: Int) {
        bytesPerSecond = Double(kilobitsPerSecond) * 125
        pieceByteCount = kilobitsPerSecond * 125
    }

    /// Waits until so many bytes may be sent.
    func pass(_ byteCount: Int) async throws {
        let now = ContinuousClock.now
        let start = max(now, free)
        free = start + .seconds(Double(byteCount) / bytesPerSecond)
        if start > now { try await Task.sleep(until: start, clock: .continuous) }
    }
}

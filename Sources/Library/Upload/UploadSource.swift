import Digests
public import Files
import TakeFiles
public import Takes
import Workers

/// A take's file or a text to send. Bytes that are read in order from the beginning are hashed at the same time.
public actor UploadSource {
    public nonisolated let byteCount: Int64
    /// The name in sentences: the path.
    public nonisolated let path: String
    private let reader: DiskReader
    private let content: Content
    private let throttle: Throttle?
    private var hash = Digest(.sha256)
    /// The number of bytes in `hash`.
    private var hashed: Int64 = 0
    /// Whether bytes were sent that `hash` does not include, as after an upload resumed in the middle.
    private var isSentUnhashed = false
    private var digest: String?

    /// The size of one read: long enough for the disk, and short enough that four pieces in transit fit into the memory
    /// of a small board.
    package static let pieceByteCount = 64 << 10

    private enum Content {
        case file(DiskReader.File)
        case bytes([UInt8])
    }

    /// Opens a file, and keeps it open.
    /// - Parameters:
    ///   - sha256: its hash, if known; the content is then compared with it.
    ///   - throttle: limits the rate of reading.
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

    /// A source from memory.
    public init(_ bytes: [UInt8], called path: String, reader: DiskReader, throttle: Throttle? = nil) {
        self.path = path
        self.reader = reader
        self.throttle = throttle
        content = .bytes(bytes)
        byteCount = Int64(bytes.count)
    }

    /// Reads a piece to send. It waits as the bandwidth limit requires.
    /// - Parameters:
    ///   - count: the most bytes to read, more than 0.
    ///   - isHashed: whether to hash the bytes; false if the caller has hashed them.
    /// - Returns: fewer bytes at the end of the file, and below a low bandwidth limit, so that the wait does not exceed
    ///   a server's timeout. Empty past the end.
    /// - Throws: `StoreError`, `.unreadable`, also if the file has become shorter.
    public func piece(at offset: Int64, count: Int, isHashed: Bool = true) async throws -> [UInt8] {
        let most = min(count, throttle?.pieceByteCount ?? count)
        let wanted = Int(max(0, min(Int64(most), byteCount - offset)))
        try await throttle?.pass(wanted)
        let bytes = try await read(at: offset, count: wanted)
        if isHashed { note(bytes, at: offset) }
        return bytes
    }

    /// Reads a piece to hash or compare, without the bandwidth limit.
    /// - Returns: `count` bytes, fewer at the end.
    /// - Throws: `StoreError`, `.unreadable`, also if the file has become shorter.
    public func bytes(at offset: Int64, count: Int) async throws -> [UInt8] {
        try await read(at: offset, count: Int(max(0, min(Int64(count), byteCount - offset))))
    }

    /// Hashes bytes that follow the hashed ones directly.
    private func note(_ bytes: [UInt8], at offset: Int64) {
        guard offset == hashed else {
            if offset > hashed { isSentUnhashed = true }
            return
        }
        hash.update(bytes)
        hashed += Int64(bytes.count)
    }

    /// The hash of the whole file, in hexadecimal. Bytes that were not read yet are read now.
    /// - Throws: `StoreError`, `.unreadable`, also if the content changed since it was hashed.
    public func sha256() async throws -> String {
        if let digest, hashed < byteCount, !isSentUnhashed { return digest }
        return try await wholeHash()
    }

    /// Computes a checksum of the whole file, and its SHA-256 in the same read.
    /// - Parameter empty: the checksum of no bytes.
    /// - Throws: `StoreError`, `.unreadable`, also if the content changed since it was hashed.
    package func checksum<Sum: Checksum>(_ empty: Sum) async throws -> Sum {
        var (sum, whole, offset) = (empty, Digest(.sha256), Int64(0))
        while offset < byteCount {
            let bytes = try await read(at: offset, count: Self.pieceByteCount)
            sum.update(bytes)
            whole.update(bytes)
            offset += Int64(bytes.count)
        }
        (hash, hashed) = (whole, byteCount)
        _ = try await wholeHash()
        return sum
    }

    private func wholeHash() async throws -> String {
        while hashed < byteCount {
            let offset = hashed
            // Another call may run during the read; `note` hashes no bytes twice.
            note(try await read(at: offset, count: Self.pieceByteCount), at: offset)
        }
        let found = hash.bytes.hexadecimal
        if let digest, digest != found {
            throw Self.changed(path)
        }
        digest = found
        return found
    }

    /// The error for a file whose content changed since it was hashed.
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

/// Reads files on its own thread, so that a hanging disk stops no other work.
public actor DiskReader {
    private let files: FileSystem
    private let executor: ThreadExecutor

    public struct File: Sendable {
        let file: OpenFile
        let byteCount: Int64
    }

    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// - Parameter name: the name of the thread, at most 15 characters.
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

    /// Runs file operations on this reader's thread.
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

/// Limits the bandwidth of uploads.
public actor Throttle {
    private let bytesPerSecond: Double
    /// The longest piece that passes at once: the bytes of one second.
    nonisolated let pieceByteCount: Int
    private let clock: any Clock
    private var free: Instant

    /// - Parameter kilobitsPerSecond: more than 0.
    public init(kilobitsPerSecond: Int, clock: any Clock = SystemClock()) {
        self.clock = clock
        free = clock.now()
        bytesPerSecond = Double(kilobitsPerSecond) * 125
        pieceByteCount = kilobitsPerSecond * 125
    }

    /// Waits until the given number of bytes may be sent.
    func pass(_ byteCount: Int) async throws {
        let now = clock.now()
        let start = max(now, free)
        free = start + .seconds(Double(byteCount) / bytesPerSecond)
        if start > now { try await Task.sleep(for: start - now) }
    }
}

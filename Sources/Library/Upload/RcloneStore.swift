import FoundationEssentials
public import Settings
import Takes

/// A remote of rclone, as its configuration defines it. The objects are in one folder for each day.
///
/// rclone stores no metadata with an object. The uploaded file is compared by the remote's own hash, or read back if
/// the remote has no hash. rclone cannot resume an interrupted upload; the file is sent anew.
public final class RcloneStore: ServerStore {
    /// `rclone:REMOTE:PATH`.
    public let name: String
    private let remote: String
    private let rclone: Rclone
    private let kit: String
    /// The abilities of the remote, or nil if they were not requested yet.
    private let abilities = Locked<Abilities?>(nil)

    private struct Abilities {
        /// Whether the remote itself renames an object.
        var renames: Bool
        /// Whether the remote stores a file's time, and sets it without copying the file.
        var keepsTimes: Bool
    }

    /// The coarsest accepted resolution of file times: an hour, in nanoseconds.
    private static let coarsestTime: Int64 = 3_600_000_000_000

    /// The suffix of an object's file until it is complete.
    static let unfinished = ".fieldfare-part"

    /// - Parameters:
    ///   - authorities: a file of certificates (PEM) that are trusted in addition to the system's; nil for none.
    ///   - kit: the kit whose unfinished uploads `tidy` removes.
    /// - Throws: `StoreError`, `.refused` if no remote is named, rclone is not installed, or its configuration cannot
    ///   be read.
    public convenience init(_ settings: Settings.Outbox.Rclone, authorities: String?, kit: String) throws {
        try self.init(settings, authorities: authorities, kit: kit, path: nil)
    }

    /// - Parameter path: the folders to search for rclone, separated by colons; nil for those of `PATH`.
    init(_ settings: Settings.Outbox.Rclone, authorities: String?, kit: String, path: String?) throws {
        guard let remote = settings.remote, let mark = remote.firstIndex(of: ":"), mark > remote.startIndex,
            !remote.hasPrefix("-")
        else {
            throw StoreError(
                .refused, "outbox: rclone: no remote is named: write remote = \"REMOTE:PATH\" in [outbox.rclone]")
        }
        // All users of this computer can read the arguments of a process.
        guard !remote[..<mark].contains(",") else {
            throw StoreError(
                .refused,
                "outbox: rclone: remote in [outbox.rclone] has options: write them into \(settings.config), and "
                    + "only REMOTE:PATH there"
            )
        }
        rclone = try Rclone(
            configuration: SecretFile(settings.config), remote: String(remote[..<mark]), authorities: authorities,
            path: path)
        self.remote = Self.folder(remote)
        self.kit = kit
        name = Self.name(of: remote)
    }

    static func name(of remote: String) -> String {
        // Options before the path may be secrets.
        let mark = remote.firstIndex(of: ":") ?? remote.endIndex
        return "rclone:\(remote[..<mark].prefix { $0 != "," })\(folder(remote)[mark...])"
    }

    private static func folder(_ remote: String) -> String {
        var folder = remote
        while folder.hasSuffix("/"), !folder.hasSuffix(":/") { folder.removeLast() }
        return folder
    }

    /// Sends a file under a draft name, verifies it, and then renames it.
    public func put(
        _ source: UploadSource, _ checksum: (any Checksum)?, as object: ObjectName, _ metadata: ObjectMetadata,
        mode: PutMode, report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject {
        let path = path(of: object)
        let stored = StoredObject(name: object, byteCount: source.byteCount, sha256: metadata.sha256)
        if let existing = try await look(path) {
            if existing.Size == source.byteCount {
                report(.verifying)
                if try await isSame(path, source, metadata, hashes(of: source)) { return stored }
            }
            guard mode.replaces, mode.allows(try await sha256(of: path)) else { throw conflict(object) }
        }
        let part = DraftName.name(of: path, metadata.sha256) + Self.unfinished
        let hashes = try await send(source, object, part, report)
        // A streamed file has the current time on the remote.
        if let modified = metadata.modified { try await setTime(of: part, modified) }
        report(.verifying)
        do {
            guard try await source.sha256() == metadata.sha256 else {
                throw UploadSource.changed(source.path)
            }
            guard try await isSame(part, source, metadata, hashes) else {
                throw StoreError(
                    .damaged,
                    "outbox: rclone: \(path): has arrived with another content: compare it with \(source.path)")
            }
            try await rename(part, to: path, object, mode)
            // Another file may have taken the name in between.
            guard try await isRenamed(part, to: path, source, metadata, hashes) else { throw conflict(object) }
        } catch let error as StoreError where error.isOfTake {
            try? await deleteFile(part)
            throw error
        }
        return stored
    }

    /// Returns the length only; the hash is nil. Nil if the object does not exist.
    public func head(_ object: ObjectName) async throws -> StoredObject? {
        try await look(path(of: object)).map { StoredObject(name: object, byteCount: $0.Size, sha256: nil) }
    }

    public func list(_ receive: ([StoredObject]) async throws -> Void) async throws {
        try await entries { entries in
            let objects = entries.filter { !$0.Path.hasSuffix(Self.unfinished) }.compactMap { entry in
                ObjectName(path: entry.Path).map { StoredObject(name: $0, byteCount: entry.Size, sha256: nil) }
            }
            if !objects.isEmpty { try await receive(objects) }
        }
    }

    public func get(_ object: ObjectName, _ receive: ([UInt8]) async throws -> Void) async throws {
        var isEmpty = true
        try await rclone.run(
            ["cat", path(of: object)], "reading \(object)",
            receive: { piece in
                isEmpty = false
                try await receive(piece)
            })
        // In a bucket, rclone reads a missing object as an empty folder.
        if isEmpty, try await head(object) == nil {
            throw StoreError(.missing, "outbox: rclone: reading \(object) at \(remote): no such object")
        }
    }

    public func delete(_ object: ObjectName) async throws { try await deleteFile(path(of: object)) }

    /// Removes the files that this kit's interrupted uploads left.
    public func tidy() async throws {
        var parts: [String] = []
        try await entries { entries in
            parts += entries.map(\.Path).filter { path in
                guard path.hasSuffix(Self.unfinished) else { return false }
                return ObjectName(path: DraftName.file(of: path.dropLast(Self.unfinished.count)))?.take?.kit == kit
            }
        }
        for part in parts { try await deleteFile(path(of: part)) }
    }

    private func path(of object: ObjectName) -> String { path(of: object.path) }

    private func path(of file: String) -> String {
        remote.hasSuffix(":") || remote.hasSuffix("/") ? remote + file : "\(remote)/\(file)"
    }

    private func conflict(_ object: ObjectName) -> StoreError {
        StoreError(
            .conflict,
            "outbox: rclone: \(path(of: object)): there is another file of that name, which is not overwritten: "
                + "compare the two"
        )
    }
}

extension RcloneStore {
    /// An entry of `rclone lsjson`, with rclone's key names.
    private struct Entry: Decodable {
        var Path: String
        /// −1 if unknown.
        var Size: Int64
        var IsDir: Bool
        var Hashes: [String: String]?
    }

    /// - Parameter withHashes: whether to request hashes; some remotes read the whole object for them.
    private func look(_ path: String, withHashes: Bool = false) async throws -> Entry? {
        let hashes = withHashes ? ["--hash"] + RcloneHashes.names.flatMap { ["--hash-type", $0] } : []
        var answer: [UInt8] = []
        do {
            try await rclone.run(
                ["lsjson", "--stat", "--no-modtime", "--no-mimetype"] + hashes + [path], "asking for \(path)",
                receive: { answer += $0 })
        } catch let error as StoreError where error.problem == .missing {
            return nil
        }
        // Some remotes answer `null`, or report a missing object as an empty folder.
        guard let entry = try? JSONDecoder().decode(Entry.self, from: Data(answer)), !entry.IsDir else { return nil }
        return entry
    }

    private func entries(_ receive: ([Entry]) async throws -> Void) async throws {
        var line: [UInt8] = []
        do {
            // One object per line, between brackets.
            func read(_ piece: [UInt8]) async throws {
                var entries: [Entry] = []
                for byte in piece {
                    guard byte == UInt8(ascii: "\n") else {
                        line.append(byte)
                        continue
                    }
                    if line.last == UInt8(ascii: ",") { line.removeLast() }
                    if let entry = try? JSONDecoder().decode(Entry.self, from: Data(line)) { entries.append(entry) }
                    line.removeAll(keepingCapacity: true)
                }
                try await receive(entries)
            }
            try await rclone.run(
                [
                    "lsjson", "--recursive", "--files-only", "--max-depth", "2", "--no-modtime", "--no-mimetype",
                    remote,
                ], "listing", receive: read)
        } catch let error as StoreError where error.problem == .missing {
            // The folder does not exist before the first object.
        }
    }

    /// The hash of the object, read back; nil if it does not exist.
    private func sha256(of path: String) async throws -> String? {
        var answer: [UInt8] = []
        do {
            try await rclone.run(
                ["hashsum", "sha256", "--download", path], "reading back \(path)", receive: { answer += $0 })
        } catch let error as StoreError where error.problem == .missing {
            return nil
        }
        return String(decoding: answer, as: UTF8.self).split(separator: " ").first.map(String.init)
    }

    /// The hashes of a file that was not sent now.
    private func hashes(of source: UploadSource) async throws -> RcloneHashes {
        var hashes = RcloneHashes()
        var offset: Int64 = 0
        while rclone.hashesAreTheRemotes, offset < source.byteCount {
            let bytes = try await source.bytes(at: offset, count: 1 << 20)
            hashes.update(bytes)
            offset += Int64(bytes.count)
        }
        return hashes
    }

    /// Whether the object has the content of the source, by the remote's hash or by reading it back.
    private func isSame(
        _ path: String, _ source: UploadSource, _ metadata: ObjectMetadata, _ hashes: RcloneHashes
    ) async throws -> Bool {
        guard let entry = try await look(path, withHashes: rclone.hashesAreTheRemotes),
            entry.Size == source.byteCount || entry.Size < 0
        else { return false }
        if hashes.match(entry.Hashes ?? [:], sha256: metadata.sha256), try await source.sha256() == metadata.sha256 {
            return true
        }
        return try await sha256(of: path) == metadata.sha256
    }

    /// Whether the file that was verified as `part` is now at `path`.
    private func isRenamed(
        _ part: String, to path: String, _ source: UploadSource, _ metadata: ObjectMetadata, _ hashes: RcloneHashes
    ) async throws -> Bool {
        guard let entry = try await look(path, withHashes: rclone.hashesAreTheRemotes) else { return false }
        if hashes.match(entry.Hashes ?? [:], sha256: metadata.sha256) { return true }
        if entry.Size == source.byteCount, try await look(part) == nil, try await able().renames { return true }
        return try await sha256(of: path) == metadata.sha256
    }
}

extension RcloneStore {
    private func send(
        _ source: UploadSource, _ object: ObjectName, _ path: String,
        _ report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> RcloneHashes {
        var hashes = RcloneHashes()
        try await rclone.run(["rcat", "--size", "\(source.byteCount)", path], "sending \(object)") { write in
            var offset: Int64 = 0
            while offset < source.byteCount {
                let piece = try await source.piece(at: offset, count: UploadSource.pieceByteCount)
                hashes.update(piece)
                try await write(piece)
                offset += Int64(piece.count)
                report(.sent(offset))
            }
        }
        return hashes
    }

    /// rclone checks again for an existing object just before the rename.
    private func rename(_ part: String, to path: String, _ object: ObjectName, _ mode: PutMode) async throws {
        // Without `--ignore-times`, rclone treats objects of the same length as equal if the remote stores no times.
        try await rclone.run(
            ["moveto", mode.replaces ? "--ignore-times" : "--ignore-existing", part, path], "naming \(object)")
    }

    /// Sets the modification time. A remote that cannot do this keeps its own time.
    private func setTime(of path: String, _ time: WallTime) async throws {
        guard time.secondsOfFile != nil, try await able().keepsTimes else { return }
        let text = time.iso8601.prefix { $0 != "Z" }
        do {
            try await rclone.run(["touch", "--no-create", "--timestamp", String(text), path], "dating \(path)")
        } catch is StoreError {}
    }

    /// Requests the abilities of the remote. If a remote can neither rename nor copy an object itself, rclone sends the
    /// object again.
    private func able() async throws -> Abilities {
        if let known = abilities.withLock({ $0 }) { return known }
        struct Remote: Decodable {
            var Features: [String: Bool]
            /// The resolution of file times, in nanoseconds.
            var Precision: Int64?
        }
        var answer: [UInt8] = []
        try await rclone.run(
            ["backend", "features", remote], "asking for what it can do", receive: { answer += $0 })
        let found = try? JSONDecoder().decode(Remote.self, from: Data(answer))
        let features = found?.Features ?? [:]
        let able = Abilities(
            renames: features["Move"] == true || features["Copy"] == true,
            keepsTimes: found?.Precision ?? .max <= Self.coarsestTime && features["SlowModTime"] != true)
        abilities.withLock { $0 = able }
        return able
    }

    private func deleteFile(_ path: String) async throws {
        do {
            try await rclone.run(["deletefile", path], "deleting \(path)")
        } catch let error as StoreError where error.problem == .missing {
        }
    }
}

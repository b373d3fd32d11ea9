public import Files
import Glibc
import Takes

/// A mounted folder: a USB stick, or a network share. The store never creates the folder itself, because it is missing
/// whenever nothing is mounted.
public struct FolderStore: Store {
    /// The name in receipts.
    public let name: String
    public let path: String
    private let kit: String
    /// The folders of the takes themselves.
    private let takes: [String]
    private let followsLink: Bool
    /// Nil if the folder is not on a stick. It is then always home, as the settings say.
    private let stick: StickFolder?
    /// Disk work runs on a thread of this store alone, so that a slow disk delays nothing else.
    private let disk: DiskReader

    /// A copy resumes at a multiple of this.
    private static let pieceByteCount = 1 << 20
    /// All users of the computer that the stick is plugged into may read its files.
    private static let fileMode: UInt32 = 0o644
    private static let folderMode: UInt32 = 0o755
    private static let draftSuffix = ".part"

    /// - Parameters:
    ///   - name: the name in receipts.
    ///   - kit: the kit whose unfinished copies `tidy` may remove.
    ///   - takes: the folders of the takes themselves. `path` must not be one of them, contain one or lie in one.
    ///   - followsLink: whether `path` may be a link. A link on a stranger's stick must not lead elsewhere.
    ///   - sticks: the adopted sticks. On other sticks, nothing is read, written or deleted. Nil if the folder is not
    ///     on a stick.
    public init(
        name: String, path: String, kit: String, takes: [String] = [], followsLink: Bool = true,
        sticks: HomeSticks? = nil, files: FileSystem = FileSystem()
    ) throws {
        self.name = name
        self.path = path
        self.kit = kit
        self.takes = takes
        self.followsLink = followsLink
        let disk = try DiskReader(files: files, name: "folder")
        self.disk = disk
        stick = sticks.map { StickFolder(name: name, path: path, sticks: $0, disk: disk) }
    }

    public var traits: StoreTraits { stick.map { StoreTraits.stick($0) } ?? .folder }

    public func wantedChecksum(byteCount: Int64) -> (any Checksum)? { nil }

    private func place(of object: ObjectName) -> String { "\(path)/\(object.path)" }
    private func draft(of object: ObjectName, _ sha256: String) -> String {
        "\(path)/\(object.day)/.\(DraftName.name(of: object.file, sha256))\(Self.draftSuffix)"
    }

    /// Copies the file, syncs it, reads the copy back past the page cache, and renames it.
    public func put(
        _ source: UploadSource, _ checksum: (any Checksum)?, as object: ObjectName, _ metadata: ObjectMetadata,
        mode: PutMode, report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject {
        let expected = try await source.sha256()
        if let there = try await head(object) {
            try await checkApart(object, from: source.path)
            let content = there.byteCount == source.byteCount ? try await hash(place(of: object)) : nil
            if content == expected {
                try await settle(object)
                return Self.stored(object, source, expected)
            }
            guard try await mode.allows(hash(place(of: object))) else { throw conflict(object) }
        }
        let draft = draft(of: object, expected)
        do {
            try await copy(source, to: draft, in: object.day, metadata.modified, report)
        } catch let error as StoreError where error.problem == .rejected {
            _ = try? await onDisk { try $0.remove(draft) }
            throw error
        }
        report(.verifying)
        let written = try await hash(draft)
        guard try await source.sha256() == expected, written == expected else {
            _ = try? await onDisk { try $0.remove(draft) }
            throw StoreError(
                .damaged,
                "outbox: \(place(of: object)): the file read back differs from the written one: check the storage at \(path)"
            )
        }
        try await name(draft, object, expected, mode)
        try await settle(object)
        return Self.stored(object, source, expected)
    }

    /// Gives a draft its name. The file there now is compared again, because another program may have written it
    /// meanwhile.
    private func name(_ draft: String, _ object: ObjectName, _ expected: String, _ mode: PutMode) async throws {
        let place = place(of: object)
        let isNew = try await onDisk { files in
            do {
                try files.renameNew(draft, to: place)
            } catch let error as FileError where error.code == EEXIST {
                return false
            }
            return true
        }
        guard !isNew else { return }
        // The entry is a link or not a regular file.
        guard try await head(object) != nil else { throw conflict(object) }
        let found = try await hash(place)
        guard found != expected, mode.allows(found) else {
            _ = try? await onDisk { try $0.remove(draft) }
            guard found == expected else { throw conflict(object) }
            return
        }
        try await onDisk { try $0.move(draft, to: place) }
    }

    /// Syncs a file and its name to the disk. This includes a file that an earlier attempt renamed before it was
    /// interrupted.
    private func settle(_ object: ObjectName) async throws {
        try await onDisk { files in
            try files.sync(files.openToRead(place(of: object)))
            try files.syncFolder(files.openFolder("\(path)/\(object.day)"))
            try files.syncFolder(files.openFolder(path))
        }
    }

    private static func stored(_ object: ObjectName, _ source: UploadSource, _ sha256: String) -> StoredObject {
        StoredObject(name: object, byteCount: source.byteCount, sha256: sha256)
    }

    private func conflict(_ object: ObjectName) -> StoreError {
        StoreError(
            .conflict,
            "outbox: \(place(of: object)): another file of that name is there: it is not overwritten; move it away")
    }

    private func copy(
        _ source: UploadSource, to draft: String, in day: String, _ modified: WallTime?,
        _ report: @Sendable (PutProgress) -> Void
    ) async throws {
        try await onDisk { files in
            // The store does not create the folder: if it is missing, nothing is mounted.
            try checkPlace(files, day)
            let folder = "\(path)/\(day)"
            if (try? files.attributes(folder)) == nil { _ = try files.makeFolder(folder, mode: Self.folderMode) }
            _ = try files.openFolder(folder, followsLink: false)
            let free = try files.freeBytes(path)
            let there = (try? files.attributes(draft).byteCount) ?? 0
            guard free >= source.byteCount - there else {
                throw StoreError(
                    .full,
                    "outbox: \(path): full: \(StoreError.lack(source.byteCount, "copied", free: free))")
            }
        }
        let (file, begun) = try await onDisk { files in try open(draft, for: source, files) }
        // Bytes from an earlier attempt are kept. If they are damaged, the hash of the whole file shows it.
        var offset = begun - begun % Int64(Self.pieceByteCount)
        while offset < source.byteCount {
            let piece = try await source.piece(at: offset, count: Self.pieceByteCount)
            try Task.checkCancellation()
            let place = offset
            try await onDisk { try $0.write(piece, to: file, at: place) }
            offset += Int64(piece.count)
            report(.sent(offset))
        }
        try await onDisk { files in
            try files.truncate(file, to: source.byteCount)
            if let modified { FileTime.set(draft, modified) }
            try files.sync(file)
            files.dropCache(of: file)
        }
    }

    private func open(_ draft: String, for source: UploadSource, _ files: FileSystem) throws -> (OpenFile, Int64) {
        if let there = try? files.attributes(draft), there.byteCount <= source.byteCount {
            return (try files.open(draft), there.byteCount)
        }
        return (try files.create(draft, isNew: false, mode: Self.fileMode), 0)
    }

    /// The file of an object, or nil if it does not exist. Links are refused: a link could lead to the takes
    /// themselves.
    private func file(of object: ObjectName, _ files: FileSystem) throws -> OpenFile? {
        try checkPlace(files, object.day)
        do throws(FileError) {
            _ = try files.openFolder("\(path)/\(object.day)", followsLink: false)
            return try files.openToRead(place(of: object), followsLink: false)
        } catch {
            switch error.code {
            case ENOENT: return nil
            case ELOOP, ENOTDIR, EISDIR:
                throw StoreError(
                    .conflict,
                    "outbox: \(place(of: object)): a link, or no file, is in its place: remove it")
            default: throw error
            }
        }
    }

    /// Checks that the folder is there and is separate from the folders of the takes. A copy inside those would not be
    /// a second copy.
    private func checkPlace(_ files: FileSystem, _ day: String) throws {
        _ = try files.openFolder(path, followsLink: followsLink)
        let own = try files.identity(path)
        let around = files.foldersAround(path)
        for takes in takes {
            guard let others = try? files.identity(takes) else { continue }
            let relation: String
            if others == own {
                relation = "is"
            } else if around.contains(others) {
                relation = "lies in"
            } else if files.foldersAround(takes).contains(own) {
                relation = "has in it"
            } else {
                continue
            }
            throw refusal(path, relation, takes)
        }
        // The folder of a day may be a mount of the takes' folder.
        guard let folder = try? files.identity("\(path)/\(day)") else { return }
        for takes in takes where (try? files.identity("\(takes)/\(day)")) == folder {
            throw refusal("\(path)/\(day)", "is", "\(takes)/\(day)")
        }
    }

    private func refusal(_ place: String, _ relation: String, _ takes: String) -> StoreError {
        StoreError(.refused, "outbox: \(place): \(relation) \(takes), the takes themselves: name another folder")
    }

    /// Checks that the file at the object's place is not the source itself.
    private func checkApart(_ object: ObjectName, from source: String) async throws {
        try await onDisk { files in
            guard let own = try? files.identity(source), own == (try? files.identity(place(of: object))) else { return }
            throw refusal(place(of: object), "is", source)
        }
    }

    private func hash(_ path: String) async throws -> String {
        do {
            return try await UploadSource(path: path, reader: disk).sha256()
        } catch let error as StoreError {
            throw StoreError(.away, error.sentence)
        }
    }

    /// Returns the length only; the hash is nil.
    public func head(_ object: ObjectName) async throws -> StoredObject? {
        try await onDisk { files in
            guard let file = try file(of: object, files) else { return nil }
            return StoredObject(name: object, byteCount: try files.length(file), sha256: nil)
        }
    }

    /// Lists all files of takes, one day at a time.
    public func list(_ receive: ([StoredObject]) async throws -> Void) async throws {
        let days = try await onDisk { try $0.entries(path).filter(TakeName.isDay).sorted() }
        for day in days {
            let found = try await onDisk { files in
                try checkPlace(files, day)
                return try files.entries("\(path)/\(day)").sorted().compactMap { file -> StoredObject? in
                    guard let object = ObjectName(path: "\(day)/\(file)"),
                        let there = try? files.attributes(place(of: object))
                    else { return nil }
                    return StoredObject(name: object, byteCount: there.byteCount, sha256: nil)
                }
            }
            if !found.isEmpty { try await receive(found) }
        }
    }

    public func get(_ object: ObjectName, _ receive: ([UInt8]) async throws -> Void) async throws {
        guard let there = try await head(object) else {
            throw StoreError(.missing, "outbox: \(place(of: object)): no such file")
        }
        let file = try await onDisk { try $0.openToRead(place(of: object)) }
        var offset: Int64 = 0
        while offset < there.byteCount {
            let start = offset
            let piece = try await onDisk { try $0.read(file, at: start, count: Self.pieceByteCount) }
            guard !piece.isEmpty else { return }
            try await receive(piece)
            offset += Int64(piece.count)
        }
    }

    public func delete(_ object: ObjectName) async throws {
        try await onDisk { files in
            // If the folder is missing, the file is not known to be gone: it may be on a stick that was pulled.
            try checkPlace(files, object.day)
            do throws(FileError) {
                _ = try files.openFolder("\(path)/\(object.day)", followsLink: false)
            } catch {
                guard error.code == ENOENT else { throw error }
                return
            }
            try files.remove(place(of: object))
            // Drafts of unfinished attempts are deleted too.
            let day = "\(path)/\(object.day)"
            for draft in (try? files.entries(day)) ?? []
            where draft.hasPrefix(".\(object.file).") && draft.hasSuffix(Self.draftSuffix) {
                try files.remove("\(day)/\(draft)")
            }
            try? files.syncFolder(files.openFolder("\(path)/\(object.day)"))
        }
    }

    /// Removes copies that this kit did not finish, if the object itself is there.
    public func tidy() async throws {
        try await onDisk { files in
            for day in try files.entries(path).filter(TakeName.isDay) {
                for file in try files.entries("\(path)/\(day)")
                where file.hasPrefix(".") && file.hasSuffix(Self.draftSuffix) {
                    let draft = file.dropFirst().dropLast(Self.draftSuffix.count)
                    let object = ObjectName(day: day, file: DraftName.file(of: draft))
                    if object.kit == kit, (try? files.attributes(place(of: object))) != nil {
                        try files.remove("\(path)/\(day)/\(file)")
                    }
                }
            }
        }
    }

    /// The mark of the current stick, or nil if this folder is not on a stick.
    public func medium() async throws -> String? {
        do {
            return try await stick?.homeMark().name
        } catch let error as FileError {
            throw problem(error)
        }
    }

    public func place() async throws -> FileIdentity? {
        do {
            return try await disk.perform { files in try files.identity(path) }
        } catch let error as FileError {
            throw problem(error)
        }
    }

    public func close() async {}

    /// Runs disk work after checking that the stick is adopted. A `FileError` becomes a `StoreError`.
    private func onDisk<Result: Sendable>(_ body: @Sendable (FileSystem) throws -> Result) async throws -> Result {
        do {
            return try await disk.perform { files in
                try stick?.checkHome(files)
                return try body(files)
            }
        } catch let error as FileError {
            throw problem(error)
        }
    }

    private func problem(_ error: FileError) -> StoreError {
        switch error.code {
        case ENOENT, ENOTDIR:
            return StoreError(.away, "outbox: \(path): not there: insert the stick, or mount the share")
        case EFBIG:
            return StoreError(
                .rejected, "outbox: \(error.fact): format the storage as exFAT or ext4, which have no such limit")
        case ENOSPC, EDQUOT: return StoreError(.full, "outbox: \(error.fact): free some space there")
        case EACCES, EPERM:
            return StoreError(.refused, "outbox: \(error.fact): the library's user must be allowed to write there")
        case EROFS: return StoreError(.refused, "outbox: \(error.fact): it is write-protected, or damaged")
        default: return StoreError(.away, "outbox: \(error.fact)")
        }
    }
}

extension FileSystem {
    /// The parent folders up to the root, as far as this process may read them.
    fileprivate func foldersAround(_ path: String) -> [FileIdentity] {
        var found: [FileIdentity] = []
        var place = path
        var last = try? identity(path)
        while found.count < 100 {
            place += "/.."
            guard let parent = try? identity(place), parent != last else { break }
            found.append(parent)
            last = parent
        }
        return found
    }
}

public import Settings
import Takes

/// A folder on an SSH server with SFTP. OpenSSH's `ssh` connects, encrypts, and identifies the server by its host key.
///
/// A file is written under a draft name, synced, read back, compared and then renamed. SFTP has no hashes. The server's
/// `sha256sum` would save the read-back, but it needs a shell, which SFTP-only accounts do not have. So the kit reads
/// files back from every server.
public final class SFTPStore: ServerStore {
    /// `sftp:sftp://kit@archive.example.org/recordings`.
    public let name: String
    private let address: SFTPAddress
    private let kit: String
    private let connect: @Sendable () throws(StoreError) -> SFTPConnection
    /// Runs `connect`, which reads the keys and starts `ssh`.
    private let disk: DiskReader
    private let current = Locked<SFTPConnection?>(nil)
    private let habits = Locked(SFTPHabits())
    private let resume: ResumeStates?

    /// - Parameters:
    ///   - kit: the kit whose unfinished uploads `tidy` removes.
    ///   - resume: notes attempts. If nil, and the server hides its files, this kit's own file looks like another's
    ///     after a lost answer.
    /// - Throws: `StoreError`, `.refused` if the settings, the key or the file of host keys cannot be used.
    public convenience init(
        _ settings: Settings.Outbox.SFTP, kit: String, resume: ResumeStates? = nil
    ) throws(StoreError) {
        let address = try SFTPAddress(settings.url ?? "")
        let command = { @Sendable () throws(StoreError) in
            try SSHCommand(address, key: settings.keyFile, knownHosts: settings.knownHostsFile)
        }
        _ = try command()
        // The files are read at each connection, because a person may have changed them.
        try self.init(address, kit: kit, resume: resume) { () throws(StoreError) in try SFTPConnection(command()) }
    }

    init(
        _ address: SFTPAddress, kit: String, resume: ResumeStates? = nil,
        connect: @escaping @Sendable () throws(StoreError) -> SFTPConnection
    ) throws(StoreError) {
        do {
            disk = try DiskReader(name: "sftp-keys")
        } catch {
            throw StoreError(.busy(nil), "outbox: \(error)")
        }
        self.resume = resume
        name = Self.name(of: address)
        self.address = address
        self.kit = kit
        self.connect = connect
    }

    static func name(of address: SFTPAddress) -> String { "sftp:\(address.text)" }

    /// The name of the store with a URL, which may be malformed. A password is left out.
    static func name(of url: String) -> String {
        (try? SFTPAddress(url)).map { name(of: $0) } ?? "sftp:\(SFTPAddress.shown(url))"
    }

    private func folder(_ day: String) -> String {
        switch address.folder {
        case ".": day
        case "/": "/\(day)"
        default: "\(address.folder)/\(day)"
        }
    }

    private func path(of object: ObjectName) -> String { "\(folder(object.day))/\(object.file)" }

    /// Uses the current connection, or opens one.
    private func using<Result>(_ body: (SFTPFiles) async throws -> Result) async throws -> Result {
        let connection = try await disk.perform { _ in try entered() }
        defer { connection.leave() }
        return try await body(SFTPFiles(connection: connection, address: address))
    }

    private func entered() throws(StoreError) -> SFTPConnection {
        try current.withLock { current throws(StoreError) in
            if let current, current.enter() { return current }
            let begun = try connect()
            _ = begun.enter()
            current = begun
            return begun
        }
    }

    public func close() async {
        let connection = try? await disk.perform { _ in
            current.withLock { current in
                defer { current = nil }
                return current
            }
        }
        await connection?.close()
    }

    /// Writes the missing part, syncs it, reads the whole file back, and renames it.
    public func put(
        _ source: UploadSource, _ checksum: (any Checksum)?, as object: ObjectName, _ metadata: ObjectMetadata,
        mode: PutMode, report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject {
        let expected = try await source.sha256()
        return try await using { files in
            let upload = SFTPUpload(
                source: source, sha256: expected, folder: folder(object.day), file: object.file,
                modified: metadata.modified, files: files,
                attempts: resume.map { UnseenAttempts($0, of: object, in: name) }, habits: habits, report: report)
            return StoredObject(
                name: object, byteCount: source.byteCount, sha256: expected,
                unverified: try await upload.run(mode)?.sentence)
        }
    }

    /// Returns the length only; the hash is nil.
    public func head(_ object: ObjectName) async throws -> StoredObject? {
        try await using { files in
            guard let there = try await files.attributes(path(of: object)), there.isFile else { return nil }
            return StoredObject(name: object, byteCount: there.byteCount ?? 0, sha256: nil)
        }
    }

    /// Lists all files of takes, one day at a time.
    public func list(_ receive: ([StoredObject]) async throws -> Void) async throws {
        try await using { files in
            for day in try await days(files) {
                let found = try await files.entries(folder(day)) { entry in
                    entry.attributes.isFile && ObjectName(path: "\(day)/\(entry.name)") != nil
                        && !entry.name.hasSuffix(SFTPUpload.draftSuffix)
                }
                var objects: [StoredObject] = []
                for entry in found {
                    let object = ObjectName(day: day, file: entry.name)
                    var byteCount = entry.attributes.byteCount
                    if byteCount == nil { byteCount = try await files.attributes(path(of: object))?.byteCount }
                    objects.append(StoredObject(name: object, byteCount: byteCount ?? 0, sha256: nil))
                }
                if !objects.isEmpty { try await receive(objects.sorted { $0.name.file < $1.name.file }) }
            }
        }
    }

    private func days(_ files: SFTPFiles) async throws -> [String] {
        let found = try await files.entries(address.folder) { TakeName.isDay($0.name) }
        return Set(found.map(\.name)).sorted()
    }

    public func get(_ object: ObjectName, _ receive: ([UInt8]) async throws -> Void) async throws {
        try await using { files in
            let path = path(of: object)
            let end = try await files.attributes(path)?.byteCount ?? .max
            _ = try await files.with(path, .read) { handle in
                try await files.read(handle, of: path, from: 0, to: end) {
                    try await receive($0)
                    return true
                }
            }
        }
    }

    public func delete(_ object: ObjectName) async throws {
        try await using { try await $0.remove(path(of: object)) }
    }

    /// Removes unfinished uploads of this kit for files that are complete on the server.
    public func tidy() async throws {
        try await using { files in
            for day in try await days(files) {
                let drafts = try await files.entries(folder(day)) { $0.name.hasSuffix(SFTPUpload.draftSuffix) }
                for draft in drafts {
                    let file = DraftName.file(
                        of: draft.name.drop { $0 == "." }.dropLast(SFTPUpload.draftSuffix.count))
                    let object = ObjectName(day: day, file: file)
                    if object.kit == kit, try await files.attributes(path(of: object)) != nil {
                        try await files.remove("\(folder(day))/\(draft.name)")
                    }
                }
            }
        }
    }
}

import Digests
import NIOHTTP1
public import Settings
import Takes
public import Upload

/// A folder on a WebDAV server (RFC 4918), with a folder for each day in it.
///
/// A file is sent to a temporary name, verified, and renamed. To Nextcloud and ownCloud, long files are sent in chunks, and an upload that
/// was cut goes on where it was.
public struct WebDAVStore: Store {
    /// `webdav:https://cloud.example.org/remote.php/dav/files/kit/recordings`
    public let name: String
    let server: WebDAVServer
    let resume: ResumeStates
    private let kit: String

    /// Nextcloud refuses names that end in `.part`.
    private static let suffix = ".uploading"

    /// - Parameter kit: whose unfinished files `tidy` removes.
    /// - Throws: `.refused`, if the settings or the file with the password cannot be used.
    public init(
        _ settings: Settings.Outbox.WebDAV, web: Web, resume: ResumeStates, kit: String
    ) throws(StoreError) {
        server = try WebDAVServer(settings, web: web)
        name = Self.name(of: server.folder)
        self.resume = resume
        self.kit = kit
    }

    static func name(of folder: WebDAVAddress) -> String { "webdav:\(folder.url)" }

    private func place(of object: ObjectName) -> WebDAVAddress { server.folder[object.day, object.file] }

    /// Next to the object, so that it can be renamed.
    func temporary(of upload: WebDAVUpload) -> WebDAVAddress {
        server.folder[
            upload.object.day, ".\(DraftName.name(of: upload.object.file, upload.sha256))\(Self.suffix)"]
    }

    /// Sends a file to a temporary name, compares it there, and renames it.
    public func put(
        _ source: UploadSource, as object: ObjectName, _ metadata: ObjectMetadata, mode: PutMode,
        report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject {
        let upload = WebDAVUpload(
            source: source, sha256: try await source.sha256(), object: object, mode: mode, report: report)
        let there = try await server.find(place(of: object))
        if let there, try await isSame(there, upload) { return try await described(upload, metadata) }
        let temporary = temporary(of: upload)
        do {
            try await send(upload)
            if try await !server.move(temporary, to: place(of: object), overwrites: there != nil) {
                // Another has come in between.
                if let there = try await server.find(place(of: object)), try await isSame(there, upload) {
                    try await server.delete(temporary)
                } else {
                    _ = try await server.move(temporary, to: place(of: object), overwrites: true)
                }
            }
        } catch let error as StoreError where [.conflict, .damaged, .unreadable, .full].contains(error.problem) {
            try? await server.delete(temporary)
            throw error
        }
        await resume.remove(object, in: name)
        return try await described(upload, metadata)
    }

    /// What is known of an object; nil: there is none.
    public func head(_ object: ObjectName) async throws -> StoredObject? {
        guard let found = try await server.find(place(of: object)), !found.isFolder else { return nil }
        return found.object(object)
    }

    /// All objects, a day at a time.
    public func list(_ receive: ([StoredObject]) async throws -> Void) async throws {
        try await days { day, found in
            let objects = found.compactMap { found in
                ObjectName(path: "\(day)/\(found.file)").map { found.object($0) }
            }
            if !objects.isEmpty { try await receive(objects) }
        }
    }

    /// Reads an object.
    public func get(_ object: ObjectName, _ receive: ([UInt8]) async throws -> Void) async throws {
        try await server.read(place(of: object), receive)
    }

    /// Deletes an object, if it is there.
    public func delete(_ object: ObjectName) async throws { try await server.delete(place(of: object)) }

    /// Removes files that this kit did not finish, of takes that it will not send again. Chunks are removed by Nextcloud and ownCloud
    /// themselves after a day.
    public func tidy() async throws {
        try await days { day, found in
            let names = Set(found.map(\.file))
            for file in names where file.hasPrefix(".") && file.hasSuffix(Self.suffix) {
                let object = ObjectName(
                    day: day, file: DraftName.file(of: file.dropFirst().dropLast(Self.suffix.count)))
                if object.take?.kit == kit, names.contains(object.file) {
                    try await server.delete(server.folder[day, file])
                }
            }
        }
    }

    /// Closes its connections.
    public func close() async { await server.close() }

    /// The files of each day.
    private func days(_ receive: (String, [WebDAVResource]) async throws -> Void) async throws {
        for day in try await server.contents(of: server.folder) ?? [] where day.isFolder && TakeName.isDay(day.file) {
            let found = try await server.contents(of: server.folder[day.file]) ?? []
            try await receive(day.file, found.filter { !$0.isFolder })
        }
    }
}

/// One file on its way to a WebDAV server.
struct WebDAVUpload: Sendable {
    let source: UploadSource
    let sha256: String
    let object: ObjectName
    let mode: PutMode
    let report: @Sendable (PutProgress) -> Void
}

extension WebDAVStore {
    /// Whether what is there has the content already. It is read back: what was stored with it is no proof.
    /// - Throws: `.conflict`, if it has another that may not be overwritten.
    private func isSame(_ there: WebDAVResource, _ upload: WebDAVUpload) async throws -> Bool {
        let place = place(of: upload.object)
        var found: String?
        if !there.isFolder, there.byteCount == upload.source.byteCount || upload.mode != .create {
            found = try await server.sha256(of: place)
        }
        if found == upload.sha256 { return true }
        guard upload.mode.allows(found) else {
            throw StoreError(
                .conflict,
                "outbox: \(place.url): there is another file of that name, which is not overwritten: compare the two")
        }
        return false
    }

    /// Has a file at the temporary name, verified.
    private func send(_ upload: WebDAVUpload) async throws {
        // All of it may have arrived before the connection was cut.
        if upload.source.byteCount > Self.chunkByteCount, try await hasArrived(upload) { return }
        try await makeFolder(upload.object.day)
        let stated = try await sendInChunks(upload) ? nil : try await sendWhole(upload)
        upload.report(.verifying)
        // The file may have changed while it was read.
        _ = try await upload.source.sha256()
        guard try await hasArrived(upload, stated: stated) else {
            throw StoreError(
                .damaged,
                "outbox: \(temporary(of: upload).url): what arrived is not \(upload.source.path): it is sent again"
            )
        }
    }

    /// - Returns: the hash of what the server received, if it states one.
    private func sendWhole(_ upload: WebDAVUpload) async throws -> String? {
        let (source, report) = (upload.source, upload.report)
        let answer = try await server.order(
            .PUT, temporary(of: upload),
            // Nextcloud answers to X-Hash with the hash of what it received:
            // docs.nextcloud.com/server/latest/developer_manual/client_apis/WebDAV/basic.html
            headers: [("Content-Type", upload.object.contentType), ("X-Hash", "sha256")],
            body: source.byteCount == 0
                ? .bytes([]) : .source(source, 0..<source.byteCount) { report(.sent($0)) })
        guard answer.isDone else { throw server.problem(answer, "PUT", temporary(of: upload)) }
        return answer.headers.first(name: "x-hash-sha256")?.lowercased()
    }

    /// Makes the folder of a day, and the one that it is in.
    private func makeFolder(_ day: String) async throws {
        let place = server.folder[day]
        var answer = try await server.order(.MKCOL, place.asFolder)
        if answer.status == 409 || answer.status == 404 {
            answer = try await server.order(.MKCOL, server.folder.asFolder)
            if answer.status == 409 || answer.status == 404 {
                throw StoreError(
                    .refused,
                    "outbox: \(server.folder.url): is not there, nor is the folder that it would be in: see url in [outbox.webdav]"
                )
            }
            guard answer.isDone || answer.status == 405 else {
                throw server.problem(answer, "MKCOL", server.folder)
            }
            answer = try await server.order(.MKCOL, place.asFolder)
        }
        // 405: it is there (RFC 4918, 9.3.1).
        guard answer.isDone || answer.status == 405 else { throw server.problem(answer, "MKCOL", place) }
    }

    /// Whether the file is at the temporary name: by the hash that the server computed, or else read back.
    private func hasArrived(_ upload: WebDAVUpload, stated: String? = nil) async throws -> Bool {
        let place = temporary(of: upload)
        guard let there = try await server.find(place), there.byteCount == upload.source.byteCount else { return false }
        if let stated = stated ?? there.checksums["SHA256"] { return stated == upload.sha256 }
        if let stated = there.checksums["SHA1"] { return try await stated == upload.source.checksum(SHA1()).text }
        return try await server.sha256(of: place) == upload.sha256
    }

    /// Stores the metadata where the server keeps any, and returns what is there.
    private func described(_ upload: WebDAVUpload, _ metadata: ObjectMetadata) async throws -> StoredObject {
        let place = place(of: upload.object)
        guard let there = try await server.find(place), there.byteCount == upload.source.byteCount else {
            throw StoreError(.damaged, "outbox: \(place.url): was sent, but is not there: see its server")
        }
        var stored = there.object(upload.object)
        stored.sha256 = upload.sha256
        if stored.metadata != metadata, let tag = there.tag {
            stored.metadata = try await server.store(metadata, tag: tag, with: place) ? metadata : nil
        }
        return stored
    }
}

/// The SHA-1 that ownCloud computes.
private struct SHA1: Checksum {
    private var hash = Digest(.sha1)

    mutating func update(_ bytes: [UInt8]) { hash.update(bytes) }

    /// Hexadecimal.
    var text: String { hash.bytes.hexadecimal }
}

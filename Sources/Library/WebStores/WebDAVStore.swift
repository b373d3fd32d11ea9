import Digests
import NIOHTTP1
public import Settings
import Takes
public import Upload

/// A folder on a WebDAV server (RFC 4918), with one folder for each day.
///
/// A file is sent to a temporary name, verified, and renamed. Long files go to Nextcloud and ownCloud in chunks, and an
/// interrupted upload resumes.
public struct WebDAVStore: ServerStore {
    /// `webdav:https://cloud.example.org/remote.php/dav/files/kit/recordings`
    public let name: String
    let server: WebDAVServer
    let resume: ResumeStates
    let kit: String
    let habits = Locked(Habits())

    /// Limits that a server showed during uploads.
    struct Habits {
        /// Whether an uploaded file can be renamed, by MOVE or COPY.
        var names = true
        /// Whether the server honours a condition, as far as it was tested.
        var keeps: [Condition: Bool] = [:]
    }

    /// The state of an object's name before the upload.
    enum NameState {
        /// The server shows that the name is free.
        case free
        /// The server does not show the state.
        case unseen
        /// The name has a file that may be replaced.
        case own
    }

    /// Nextcloud refuses names that end in `.part`.
    static let suffix = ".uploading"

    /// - Parameter kit: the kit whose unfinished files `tidy` removes.
    /// - Throws: `.refused` if the settings or the password file cannot be used.
    public init(
        _ settings: Settings.Outbox.WebDAV, web: Web, resume: ResumeStates, kit: String
    ) throws(StoreError) {
        server = try WebDAVServer(settings, web: web)
        name = Self.name(of: server.folder)
        self.resume = resume
        self.kit = kit
    }

    static func name(of folder: WebDAVAddress) -> String { "webdav:\(folder.url)" }

    func place(of object: ObjectName) -> WebDAVAddress { server.folder[object.day, object.file] }

    /// In the same folder as the object, so that it can be renamed.
    func temporary(of upload: WebDAVUpload) -> WebDAVAddress {
        server.folder[
            upload.object.day, ".\(DraftName.name(of: upload.object.file, upload.sha256))\(Self.suffix)"]
    }

    /// Sends a file to a temporary name, compares it there, and renames it.
    public func put(
        _ source: UploadSource, _ checksum: (any Checksum)?, as object: ObjectName, _ metadata: ObjectMetadata,
        mode: PutMode, report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject {
        let upload = WebDAVUpload(
            source: source, sha256: try await source.sha256(), object: object, mode: mode,
            modified: metadata.modified, report: report)
        func unverified(_ reason: StoreError) -> StoredObject {
            StoredObject(
                name: object, byteCount: source.byteCount, sha256: upload.sha256, unverified: reason.sentence)
        }
        var reason: StoreError?
        var there: WebDAVResource?
        do {
            there = try await server.find(place(of: object))
            if let there, try await isSame(there, upload) {
                await forgetAttempts(of: upload)
                return try await described(upload, metadata)
            }
        } catch let error as StoreError where error.problem == .hidden {
            // A file of the same length that cannot be read is left as it is.
            if let there, there.byteCount == source.byteCount, !mode.replaces || mode.allows(upload.sha256) {
                let isOwn = try await isOwn(there, upload)
                await forgetAttempts(of: upload)
                guard isOwn else { throw conflict(upload) }
                return unverified(error)
            }
            reason = error
        }
        let wasBegun = await attempts(of: upload).earlier(upload.sha256) != nil
        do {
            // On a server that shows nothing, a file that this kit sent is replaced.
            let replaces = there != nil || reason != nil && mode.replaces
            if reason != nil, !replaces {
                reason = try await deliverUnseen(upload, wasBegun: wasBegun) ?? reason
            } else {
                reason = try await deliver(upload, to: replaces ? .own : .free) ?? reason
            }
        } catch let error as StoreError where error.problem == .conflict {
            await forgetAttempts(of: upload)
            throw error
        } catch let error as StoreError where error.problem == .refused {
            // A file found there at the next attempt is another's.
            if !wasBegun { await attempts(of: upload).end() }
            guard let reason, error != server.overwriting else { throw error }
            // Nothing at all is allowed, so the earlier reason is the useful one.
            throw StoreError(.refused, reason.sentence)
        }
        await resume.remove(object, in: name)
        await forgetAttempts(of: upload)
        if let reason { return unverified(reason) }
        do {
            return try await described(upload, metadata)
        } catch let error as StoreError where error.problem == .damaged {
            // The file got its name just now. If its length differs, it is this kit's own.
            try? await server.delete(place(of: object))
            throw error
        }
    }

    /// Sends a file and gives it its name.
    /// - Returns: why the sent file could not be compared, or nil if it was compared.
    func deliver(_ upload: WebDAVUpload, to target: NameState) async throws -> StoreError? {
        var mayName = habits.withLock(\.names)
        if mayName, target == .unseen { mayName = try await keeps(.naming, in: upload.object.day) }
        guard mayName else { return try await sendDirectly(upload, to: target) }
        let (temporary, place) = (temporary(of: upload), place(of: upload.object))
        do {
            let reason = try await send(upload)
            // If the answer to the next request is lost, only this note distinguishes this file from another kit's.
            if reason != nil { try await attempts(of: upload).note(UnseenAttempt(sha256: upload.sha256)) }
            var target = target
            if target == .own {
                // Another client may have changed the file meanwhile.
                do {
                    let there = try await server.find(place)
                    if let there, try await isSame(there, upload) {
                        try? await server.delete(temporary)
                        return reason
                    }
                    target = there != nil ? .own : .free
                } catch let error as StoreError where error.problem == .hidden {}
            }
            var moved = try await server.move(temporary, to: place, overwrites: target == .own)
            if moved == .unknown {
                // The copy is the same file on the server's disk, so only its length is checked afterwards.
                moved = try await server.move(temporary, to: place, overwrites: target == .own, by: .COPY)
                if moved == .done { try? await server.delete(temporary) }
            }
            switch moved {
            case .done: return reason
            case .taken:
                // Another file took the name in between.
                do {
                    let there = try await server.find(place)
                    if let there, try await isSame(there, upload) {
                        try? await server.delete(temporary)
                    } else if try await server.move(temporary, to: place, overwrites: there != nil) != .done {
                        throw conflict(upload)
                    }
                } catch let error as StoreError where error.problem == .hidden {
                    throw conflict(upload)
                }
                return reason
            case .gone:
                do {
                    guard let there = try await server.find(place), try await isSame(there, upload) else {
                        throw StoreError(
                            .damaged,
                            "outbox: \(temporary.url): the sent file is no longer there: it will be sent again")
                    }
                } catch let error as StoreError where error.problem == .hidden {
                    return error
                }
                return nil
            case .unknown:
                habits.withLock { $0.names = false }
                try? await server.delete(temporary)
                return try await sendDirectly(upload, to: target)
            }
        } catch let error as StoreError
            where [.conflict, .rejected, .damaged, .unreadable, .full].contains(error.problem)
        {
            try? await server.delete(temporary)
            throw error
        }
    }

    /// The object's state, or nil if it does not exist.
    public func head(_ object: ObjectName) async throws -> StoredObject? {
        guard let found = try await server.find(place(of: object)), !found.isFolder else { return nil }
        return found.object(object)
    }

    /// Lists all objects, one day at a time.
    public func list(_ receive: ([StoredObject]) async throws -> Void) async throws {
        try await days { day, found in
            let objects = found.compactMap { found in
                ObjectName(path: "\(day)/\(found.file)").map { found.object($0) }
            }
            if !objects.isEmpty { try await receive(objects) }
        }
    }

    public func get(_ object: ObjectName, _ receive: ([UInt8]) async throws -> Void) async throws {
        try await server.read(place(of: object), receive)
    }

    /// Deletes an object, if it exists.
    public func delete(_ object: ObjectName) async throws { try await server.delete(place(of: object)) }

    /// Removes temporary files of this kit whose objects are complete, and files of trials. Nextcloud and ownCloud
    /// themselves remove chunks after a day.
    public func tidy() async throws {
        try await days { day, found in
            let names = Set(found.map(\.file))
            for file in names where file.hasPrefix(".") && file.hasSuffix(Self.suffix) {
                let object = ObjectName(
                    day: day, file: DraftName.file(of: file.dropFirst().dropLast(Self.suffix.count)))
                if isTrial(file) || object.kit == kit && names.contains(object.file) {
                    try await server.delete(server.folder[day, file])
                }
            }
        }
    }

    public func close() async { await server.close() }

    private func days(_ receive: (String, [WebDAVResource]) async throws -> Void) async throws {
        for day in try await server.contents(of: server.folder) ?? [] where day.isFolder && TakeName.isDay(day.file) {
            let found = try await server.contents(of: server.folder[day.file]) ?? []
            try await receive(day.file, found.filter { !$0.isFolder })
        }
    }
}

/// The upload of one file to a WebDAV server.
struct WebDAVUpload: Sendable {
    let source: UploadSource
    let sha256: String
    let object: ObjectName
    let mode: PutMode
    let modified: WallTime?
    let report: @Sendable (PutProgress) -> Void
    /// The SHA-1 of the source, or nil if no server needed it yet.
    private let knownSHA1 = Locked<SHA1?>(nil)

    /// The SHA-1 of the source in hexadecimal. The first call reads the source.
    func sha1() async throws -> String {
        let sum = try await source.checksum(SHA1(), known: knownSHA1.withLock { $0 })
        knownSHA1.withLock { $0 = sum }
        return sum.text
    }

    /// The modification time in the header of Nextcloud, ownCloud and rclone; other servers ignore it.
    var timeHeader: [(String, String)] { modified?.secondsOfFile.map { [("X-OC-Mtime", "\($0)")] } ?? [] }
}

extension WebDAVStore {
    /// Whether the file on the server has the same content. The file is read back, because stored metadata do not prove
    /// the content.
    /// - Throws: `.conflict` if it has other content that must not be overwritten.
    func isSame(_ there: WebDAVResource, _ upload: WebDAVUpload) async throws -> Bool {
        let place = place(of: upload.object)
        var found: String?
        if !there.isFolder, there.byteCount == upload.source.byteCount || upload.mode.replaces {
            found = try await server.sha256(of: place, byteCount: there.byteCount ?? .max)
        }
        if found == upload.sha256 { return true }
        if upload.mode.allows(found) { return false }
        guard try await isOwnRest(there, upload, found) else { throw conflict(upload) }
        return false
    }

    func conflict(_ upload: WebDAVUpload) -> StoreError {
        StoreError(
            .conflict,
            "outbox: \(place(of: upload.object).url): there is another file of that name, which is not overwritten: compare the two"
        )
    }

    /// Sends a file to the temporary name and verifies it.
    /// - Returns: why it could not be compared, or nil if it was compared.
    private func send(_ upload: WebDAVUpload) async throws -> StoreError? {
        do {
            // The whole file may have arrived before the connection was cut.
            if upload.source.byteCount > Self.chunkByteCount, try await hasArrived(upload) { return nil }
            try await makeFolder(upload.object.day)
        } catch let error as StoreError where error.problem == .hidden {
            try? await makeFolder(upload.object.day)
        }
        let stated = try await sendInChunks(upload) ? nil : try await sendWhole(upload, to: temporary(of: upload))
        return try await compared(upload, at: temporary(of: upload), stated: stated)
    }

    /// - Returns: why the file could not be compared, or nil if it was compared.
    /// - Throws: `.damaged` if it differs from the sent file.
    func compared(
        _ upload: WebDAVUpload, at place: WebDAVAddress, stated: String?
    ) async throws -> StoreError? {
        upload.report(.verifying)
        // The source may have changed while it was read.
        _ = try await upload.source.sha256()
        do {
            guard try await hasArrived(upload, at: place, stated: stated) else {
                throw StoreError(
                    .damaged, "outbox: \(place.url): what arrived is not \(upload.source.path): it is sent again")
            }
            return nil
        } catch let error as StoreError where error.problem == .hidden {
            return error
        }
    }

    /// - Returns: the hash of the received bytes, if the server states it.
    func sendWhole(
        _ upload: WebDAVUpload, to place: WebDAVAddress, headers: [(String, String)] = []
    ) async throws -> String? {
        let (source, report) = (upload.source, upload.report)
        let answer = try await server.order(
            .PUT, place,
            // Nextcloud answers to X-Hash with the hash of the received bytes:
            // docs.nextcloud.com/server/latest/developer_manual/client_apis/WebDAV/basic.html
            headers: [("Content-Type", upload.object.contentType), ("X-Hash", "sha256")] + upload.timeHeader + headers,
            body: source.byteCount == 0
                ? .bytes([]) : .source(source, 0..<source.byteCount) { report(.sent($0)) })
        if answer.status == 412, !headers.isEmpty { throw conflict(upload) }
        guard answer.isDone else { throw server.problem(answer, "PUT", place) }
        return answer.headers.first(name: "x-hash-sha256")?.lowercased()
    }

    /// Creates the folder of a day, and its parent.
    func makeFolder(_ day: String) async throws {
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
        // 405: the folder exists (RFC 4918, 9.3.1).
        guard answer.isDone || answer.status == 405 else { throw server.problem(answer, "MKCOL", place) }
    }

    /// Whether the complete file is at the temporary name, by the server's hash or by reading it back.
    func hasArrived(
        _ upload: WebDAVUpload, at place: WebDAVAddress? = nil, stated: String? = nil
    ) async throws -> Bool {
        let place = place ?? temporary(of: upload)
        guard let there = try await server.find(place), there.byteCount == upload.source.byteCount else { return false }
        if let stated { return stated == upload.sha256 }
        if let isStated = try await isStated(there, upload) { return isStated }
        return try await server.sha256(of: place, byteCount: upload.source.byteCount) == upload.sha256
    }

    /// Whether the server's own hash equals the file's, or nil if the server states none.
    func isStated(_ there: WebDAVResource, _ upload: WebDAVUpload) async throws -> Bool? {
        if let stated = there.checksums["SHA256"] { return stated == upload.sha256 }
        if let stated = there.checksums["SHA1"] { return try await stated == upload.sha1() }
        return nil
    }

    /// Stores the metadata if the server keeps them, and returns the object.
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

import NIOHTTP1
import Takes
public import Upload

extension WebDAVStore {
    /// Sends a file to a temporary name, compares it there, and renames it.
    public func put(
        _ source: UploadSource, as object: ObjectName, _ metadata: ObjectMetadata, mode: PutMode,
        report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject {
        let upload = WebDAVUpload(
            source: source, sha256: try await source.sha256(), object: object, mode: mode, report: report)
        let there = try await server.find(place(of: object))?.first
        if let there, try await isSame(there, upload) { return try await describe(upload, metadata, there) }
        do {
            try await send(upload)
            try await verify(upload)
            guard try await rename(upload, overwrites: there != nil) else {
                try await remove(upload)
                return try await describe(upload, metadata, nil)
            }
        } catch let error as StoreError {
            switch error.problem {
            // The next attempt replaces what is left, so a failure here changes nothing.
            case .conflict, .damaged, .unreadable, .full: try? await remove(upload)
            case .away, .busy, .refused, .missing: break
            }
            throw error
        }
        await resume.remove(object, in: name)
        return try await describe(upload, metadata, nil)
    }

    /// Next to the object, so that it can be renamed. Nextcloud refuses names that end in `.part`.
    func temporary(of object: ObjectName) -> WebDAVFolder { base[object.day, ".\(object.file).uploading"] }

    private func remove(_ upload: WebDAVUpload) async throws {
        try await server.delete(temporary(of: upload.object))
        await resume.remove(upload.object, in: name)
    }

    /// Whether what is there has the content already.
    /// - Throws: `StoreError`, `.conflict`, if it has another that may not be overwritten.
    private func isSame(_ there: WebDAVResource, _ upload: WebDAVUpload) async throws -> Bool {
        let place = place(of: upload.object)
        let conflict = StoreError(
            .conflict,
            "outbox: \(place.url): is there already with another content than \(upload.source.path): "
                + "compare them, and rename or delete one")
        guard !there.isFolder, there.byteCount == upload.source.byteCount || upload.mode != .create else {
            throw conflict
        }
        let known = there.object(upload.object).sha256
        let found = if let known { known } else { try await server.digest(of: place) }
        if found == upload.sha256, there.byteCount == upload.source.byteCount { return true }
        guard upload.mode.allows(found) else { throw conflict }
        return false
    }

    private func send(_ upload: WebDAVUpload) async throws {
        try await makeFolder(upload.object.day)
        if try await sendInChunks(upload) { return }
        var answer = try await sendWhole(upload)
        if answer.status == 404 || answer.status == 409 {
            // Somebody deleted the folder.
            folders.withLock { _ = $0.remove(upload.object.day) }
            try await makeFolder(upload.object.day)
            answer = try await sendWhole(upload)
        }
        guard (200..<300).contains(answer.status) else { throw server.problem(answer, "PUT", place(of: upload.object)) }
        upload.received.withLock { $0 = answer.headers.first(name: "x-hash-sha256")?.lowercased() }
    }

    private func sendWhole(_ upload: WebDAVUpload) async throws -> Web.Answer {
        let report = upload.report
        return try await server.order(
            .PUT, temporary(of: upload.object),
            headers: [
                ("Content-Type", upload.object.contentType),
                // Nextcloud and ownCloud keep the one, Nextcloud answers to the other with the hash of what it received:
                // docs.nextcloud.com/server/latest/developer_manual/client_apis/WebDAV
                ("OC-Checksum", "SHA256:\(upload.sha256)"), ("X-Hash", "sha256"),
            ],
            body: upload.source.byteCount == 0
                ? .none
                : .source(upload.source, from: 0, count: upload.source.byteCount) { report(.sent($0)) })
    }

    /// Makes the folder of a day, and the one that it is in.
    private func makeFolder(_ day: String) async throws {
        if folders.withLock({ $0.contains(day) }) { return }
        var answer = try await server.order(.MKCOL, base[day].asFolder)
        if answer.status == 409 || answer.status == 404 {
            let made = try await server.order(.MKCOL, base.asFolder)
            switch made.status {
            case 200..<300, 405: answer = try await server.order(.MKCOL, base[day].asFolder)
            case 404, 409:
                throw StoreError(
                    .refused,
                    "outbox: \(base.url): is not there, and neither is the folder that it would be in: see "
                        + "[outbox.webdav] url")
            default: throw server.problem(made, "MKCOL", base)
            }
        }
        // 405: it is there (RFC 4918, 9.3.1).
        guard (200..<300).contains(answer.status) || answer.status == 405 else {
            throw server.problem(answer, "MKCOL", base[day])
        }
        folders.withLock { _ = $0.insert(day) }
    }

    /// Compares what arrived with the file.
    private func verify(_ upload: WebDAVUpload) async throws {
        upload.report(.verifying)
        let place = temporary(of: upload.object)
        let damaged = StoreError(
            .damaged, "outbox: \(place.url): what arrived is not \(upload.source.path): it is sent again")
        guard try await server.find(place)?.first?.byteCount == upload.source.byteCount else { throw damaged }
        let received = upload.received.withLock { $0 }
        let found = if let received { received } else { try await server.digest(of: place) }
        guard found == upload.sha256 else { throw damaged }
        // The file may have changed while it was read.
        _ = try await upload.source.sha256()
    }

    /// Gives what arrived its name.
    /// - Returns: false: somebody else has sent the same.
    private func rename(_ upload: WebDAVUpload, overwrites: Bool) async throws -> Bool {
        let (from, to) = (temporary(of: upload.object), place(of: upload.object))
        let answer = try await server.order(
            .MOVE, from, headers: [("Destination", to.url), ("Overwrite", overwrites ? "T" : "F")])
        switch answer.status {
        case 200, 201, 204: return true
        case 412 where !overwrites:
            // It was made since.
            if let there = try await server.find(to)?.first, try await isSame(there, upload) { return false }
            return try await rename(upload, overwrites: true)
        default: throw server.problem(answer, "MOVE", from)
        }
    }

    /// Stores the metadata where the server keeps any, and returns what is there.
    private func describe(
        _ upload: WebDAVUpload, _ metadata: ObjectMetadata, _ known: WebDAVResource?
    ) async throws -> StoredObject {
        let place = place(of: upload.object)
        let there = if let known { known } else { try await server.find(place)?.first }
        guard let there, there.byteCount == upload.source.byteCount else {
            throw StoreError(.damaged, "outbox: \(place.url): is not there as it was sent: it is sent again")
        }
        var stored = StoredObject(
            name: upload.object, byteCount: upload.source.byteCount, sha256: upload.sha256, metadata: there.metadata)
        if stored.metadata != metadata, let tag = there.tag {
            let answer = try await server.send(
                .PROPPATCH, place, headers: [("Content-Type", "application/xml; charset=utf-8")],
                body: .bytes(Array(WebDAVResource.update(metadata, tag: tag).utf8)))
            let bytes = try await answer.bytes()
            stored.metadata = answer.status == 207 && WebDAVResource.isStored(bytes) ? metadata : nil
        }
        return stored
    }
}

/// One file on its way to a WebDAV server.
struct WebDAVUpload: Sendable {
    let source: UploadSource
    let sha256: String
    let object: ObjectName
    let mode: PutMode
    let report: @Sendable (PutProgress) -> Void
    /// The hash of what the server received, as it says; nil: it does not say.
    let received = Locked<String?>(nil)
}

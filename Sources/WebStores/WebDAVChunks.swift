import NIOHTTP1
import Upload

/// Nextcloud's chunked upload, version 2, which goes on after an interruption:
/// docs.nextcloud.com/server/latest/developer_manual/client_apis/WebDAV/chunking.html
extension WebDAVStore {
    /// Nextcloud takes 5 MB to 5 GB, and up to 10000 chunks.
    static var chunkByteCount: Int64 { 8 << 20 }

    /// An upload that has begun.
    private struct Begun: Codable {
        var folder: String
        var sha256: String
    }

    /// Sends a long file in chunks, which the server then puts together.
    /// - Returns: false: nothing was sent, as the server knows no chunks or the file is short.
    func sendInChunks(_ upload: WebDAVUpload) async throws -> Bool {
        let byteCount = upload.source.byteCount
        guard let uploads = base.uploads, byteCount > Self.chunkByteCount else { return false }
        let temporary = temporary(of: upload.object)
        let headers = [("Destination", temporary.url), ("OC-Total-Length", "\(byteCount)")]
        guard let (folder, there) = try await open(upload, in: uploads, headers) else { return false }
        if there == nil { return true }
        for (index, from) in stride(from: 0, to: byteCount, by: Int(Self.chunkByteCount)).enumerated() {
            let count = min(Self.chunkByteCount, byteCount - from)
            let number = String("\(100_001 + index)".dropFirst())
            if there?[number] == count { continue }
            let report = upload.report
            let answer = try await server.order(
                .PUT, folder[number], headers: headers,
                body: .source(upload.source, from: from, count: count) { report(.sent($0)) })
            guard (200..<300).contains(answer.status) else {
                throw await failure(answer, "PUT", folder, upload)
            }
        }
        let answer = try await server.order(
            .MOVE, folder[".file"], headers: headers + [("OC-Checksum", "SHA256:\(upload.sha256)"), ("Overwrite", "T")])
        guard (200..<300).contains(answer.status) else { throw await failure(answer, "MOVE", folder, upload) }
        return true
    }

    /// The folder of an upload, and the lengths of the chunks in it. No lengths: the server has put them together already.
    /// - Returns: nil: the server knows no chunks.
    private func open(
        _ upload: WebDAVUpload, in uploads: WebDAVFolder, _ headers: [(String, String)]
    ) async throws -> (WebDAVFolder, [String: Int64]?)? {
        if let begun = await resume.load(Begun.self, of: upload.object, in: name), begun.sha256 == upload.sha256 {
            let folder = uploads[begun.folder]
            if let found = try await server.find(folder, depth: 1) {
                let chunks = found.filter { !$0.isFolder }.map { ($0.file, $0.byteCount ?? 0) }
                return (folder, Dictionary(chunks) { first, _ in first })
            }
            // The answer to the last request may have been lost.
            let temporary = temporary(of: upload.object)
            if try await server.find(temporary)?.first?.byteCount == upload.source.byteCount { return (folder, nil) }
        }
        let id = "fieldfare-\(UInt64.random(in: 0 ... .max))"
        let answer = try await server.order(.MKCOL, uploads[id].asFolder, headers: headers)
        switch answer.status {
        case 200..<300: break
        case 404, 405, 409, 501: return nil
        default: throw server.problem(answer, "MKCOL", uploads[id])
        }
        try await resume.save(Begun(folder: id, sha256: upload.sha256), of: upload.object, in: name)
        return (uploads[id], [:])
    }

    /// What an answer means; an upload that the server has forgotten, or that it cannot put together, begins anew.
    private func failure(
        _ answer: Web.Answer, _ method: String, _ folder: WebDAVFolder, _ upload: WebDAVUpload
    ) async -> StoreError {
        switch answer.status {
        case 423, 429, 500..., 401, 403, 507: return server.problem(answer, method, folder)
        default:
            await resume.remove(upload.object, in: name)
            try? await server.delete(folder)
            return StoreError(
                .damaged, "outbox: \(folder.url): \(method) of chunks answers \(answer.status): it is sent again")
        }
    }
}

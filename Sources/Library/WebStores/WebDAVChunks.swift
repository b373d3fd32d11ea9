import NIOHTTP1
import Upload

/// Nextcloud's chunked upload, which can resume after an interruption. ownCloud has it too.
/// docs.nextcloud.com/server/latest/developer_manual/client_apis/WebDAV/chunking.html
extension WebDAVStore {
    /// Longer files are sent in chunks. Nextcloud accepts chunks of 5 MB to 5 GB, at most 10 000.
    static var chunkByteCount: Int64 { 8 << 20 }
    private static var mostChunks: Int64 { 10_000 }

    private struct Begun: Codable {
        var folder: String
        var sha256: String
    }

    /// Sends a long file in chunks, which the server then joins at the temporary name.
    /// - Returns: false if nothing was sent, because the server does not know chunks or the file is short.
    func sendInChunks(_ upload: WebDAVUpload) async throws -> Bool {
        let byteCount = upload.source.byteCount
        guard let uploads = server.folder.uploads, byteCount > Self.chunkByteCount else { return false }
        let headers = [("Destination", temporary(of: upload).url), ("OC-Total-Length", "\(byteCount)")]
        guard let (folder, there) = try await begun(upload, in: uploads, headers) else { return false }
        let (length, report) = (max(Self.chunkByteCount, (byteCount - 1) / Self.mostChunks + 1), upload.report)
        for (index, from) in stride(from: 0, to: byteCount, by: Int(length)).enumerated() {
            let count = min(length, byteCount - from)
            if there[index + 1] == count {
                report(.sent(from + count))
                continue
            }
            let answer = try await server.order(
                .PUT, folder[String("\(100_001 + index)".dropFirst())], headers: headers,
                body: .source(upload.source, from..<from + count) { report(.sent($0)) })
            guard answer.isDone else { throw await failure(answer, "PUT", folder, upload) }
        }
        let answer = try await server.order(
            .MOVE, folder[".file"], headers: headers + upload.timeHeader + [("Overwrite", "T")])
        guard answer.isDone else { throw await failure(answer, "MOVE", folder, upload) }
        await resume.remove(upload.object, in: name)
        return true
    }

    /// The folder of an upload, and the lengths of its chunks by number.
    /// - Returns: nil if the server does not know chunks.
    private func begun(
        _ upload: WebDAVUpload, in uploads: WebDAVAddress, _ headers: [(String, String)]
    ) async throws -> (WebDAVAddress, [Int: Int64])? {
        if let begun = await resume.load(Begun.self, of: upload.object, in: name) {
            let folder = uploads[begun.folder]
            if begun.sha256 != upload.sha256 {
                try? await server.delete(folder)
            } else if let found = try await server.contents(of: folder) {
                // If Nextcloud stores chunks in S3, it drops the leading zeros of their names.
                let chunks = found.compactMap { chunk in Int(chunk.file).map { ($0, chunk.byteCount ?? 0) } }
                return (folder, Dictionary(chunks) { first, _ in first })
            }
        }
        let folder = "fieldfare-\(UInt64.random(in: 0 ... .max))"
        let answer = try await server.order(.MKCOL, uploads[folder].asFolder, headers: headers)
        if [404, 405, 409, 501].contains(answer.status) { return nil }
        guard answer.isDone else { throw server.problem(answer, "MKCOL", uploads[folder]) }
        try await resume.save(Begun(folder: folder, sha256: upload.sha256), of: upload.object, in: name)
        return (uploads[folder], [:])
    }

    /// The error for an answer. If the server has lost the upload or cannot join it, the upload starts again.
    private func failure(
        _ answer: Web.Answer, _ method: String, _ folder: WebDAVAddress, _ upload: WebDAVUpload
    ) async -> StoreError {
        guard [400, 404, 405, 409, 412, 416].contains(answer.status) else {
            return server.problem(answer, method, folder)
        }
        await resume.remove(upload.object, in: name)
        try? await server.delete(folder)
        return StoreError(
            .damaged,
            "outbox: \(folder.url): the chunks are not accepted (\(method) gives \(answer.status)): all are sent again")
    }
}

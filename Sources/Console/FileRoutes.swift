import HTTPTypes
import Hummingbird
import HummingbirdCore
import Library
import NIOCore
import NIOPosix
import TakeFiles
import Takes
import Transport

/// The files of takes, as they are stored.
struct FileRoutes: Sendable {
    let library: LibraryDesk
    let pool: NIOThreadPool

    var routes: [Route] {
        [
            Route(.get, "/api/takes/{take}/files/{file}", for: .look) { request, context in
                let (stem, name) = (context.parameter("take"), context.parameter("file"))
                let file = try await pool.runIfActive { try StoredFile(name, of: try library.take(stem, for: "file")) }
                return answer(request, file, context)
            }
        ]
    }

    private func answer(_ request: Request, _ file: StoredFile, _ context: ConsoleContext) -> Response {
        var headers: HTTPFields = [
            .contentType: file.mediaType, .acceptRanges: "bytes", .eTag: file.tag, .lastModified: file.modified,
            .contentDisposition: "attachment; filename=\"\(file.name)\"", .cacheControl: "private, no-cache",
        ]
        // A time says something where no tag does (RFC 9110, 13.2.2). It is compared as text: browsers send the one that they received.
        let isKnown =
            request.headers[.ifNoneMatch].map { $0 == "*" || $0.contains(file.tag) }
            ?? (request.headers[.ifModifiedSince] == file.modified)
        if isKnown { return Response(status: .notModified, headers: headers) }
        var range = request.method == .get ? ByteRange(request.headers[.range], of: file.byteCount) : .whole
        if let condition = request.headers[.ifRange], condition != file.tag, condition != file.modified {
            range = .whole
        }
        func body(_ bytes: Range<Int64>) -> ResponseBody {
            .file(file.file, bytes, for: context, by: pool)
        }
        switch range {
        case .whole: return Response(status: .ok, headers: headers, body: body(0..<file.byteCount))
        case .part(let bytes):
            headers[.contentRange] = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(file.byteCount)"
            return Response(status: .partialContent, headers: headers, body: body(bytes))
        case .unsatisfiable:
            var problem = Problem(
                .rangeNotSatisfiable, .usage,
                "file: \(file.name): has only \(file.byteCount) bytes: ask for some of them")
            problem.headers[.contentRange] = "bytes */\(file.byteCount)"
            return problem.response()
        }
    }
}

/// A file of a take, open.
struct StoredFile: Sendable {
    let name: String
    let mediaType: String
    let byteCount: Int64
    /// What tells this content of it from another one.
    let tag: String
    /// When it was changed, as HTTP has it.
    let modified: String
    /// Its content.
    let file: OpenFile

    /// Opens it. No link is followed, so that no path leads elsewhere.
    /// - Throws: `Problem`: the take has no such file, or it is not there.
    init(_ name: String, of take: CatalogedTake, files: FileSystem = FileSystem()) throws(Problem) {
        guard let known = take.recordedFiles.first(where: { $0.name == name }) else {
            throw Problem(.notFound, .notFound, "file: \(take.take) has no file of this name")
        }
        guard take.place == .here else {
            throw Problem(.conflict, .busy, "file: \(take.take) is on a storage that is out: put it in first")
        }
        let path = "\(take.folder)/\(name)"
        do throws(FileError) {
            file = try files.openTakeFile(path)
            let attributes = try files.attributes(of: file)
            byteCount = attributes.byteCount
            tag = "\"\(attributes.inode)-\(byteCount)-\(attributes.modifiedNs)\""
            modified = HTTPDate.text(WallTime(microseconds: attributes.modifiedNs / 1000))
        } catch {
            throw Problem(.notFound, .notFound, "file: \(error.fact): the take may have been deleted")
        }
        self.name = name
        mediaType = known.mediaType
    }
}

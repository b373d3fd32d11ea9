import Exports
import Files
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Library
import NIOCore
import NIOPosix
import TakeFiles
import Takes
import Transport

/// The stored files of takes.
struct FileRoutes: Sendable {
    let library: LibraryDesk
    let pool: NIOThreadPool
    let nameTime: NameTime

    var routes: [Route] {
        [
            Route(.get, "/api/takes/{take}/files/{file}", for: .look) { request, context in
                let (stem, name) = (context.parameter("take"), context.parameter("file"))
                let file = try await pool.runIfActive {
                    try StoredFile(name, of: try library.take(stem, for: "file"), nameTime)
                }
                return answer(request, file, context)
            }
        ]
    }

    private func answer(_ request: Request, _ file: StoredFile, _ context: ConsoleContext) -> Response {
        var headers: HTTPFields = [
            .contentType: file.mediaType, .acceptRanges: "bytes", .eTag: file.tag,
            .contentDisposition: "attachment; filename=\"\(file.copyName)\"", .cacheControl: "private, no-cache",
        ]
        headers[.lastModified] = file.modified
        // A time counts only if the request has no tag (RFC 9110, 13.2.2). It is compared as text, because browsers
        // return the received value.
        let isKnown =
            request.headers[.ifNoneMatch].map { $0 == "*" || $0.contains(file.tag) }
            ?? (file.modified != nil && request.headers[.ifModifiedSince] == file.modified)
        if isKnown { return Response(status: .notModified, headers: headers) }
        var range = request.method == .get ? ByteRange(request.headers[.range], of: file.byteCount) : .whole
        if let condition = request.headers[.ifRange], condition != file.tag, condition != file.modified {
            range = .whole
        }
        func body(_ bytes: Range<Int64>) -> ResponseBody {
            switch file.content {
            case .file(let edit): .file(file.file, bytes, edit: edit, for: context, by: pool)
            case .bytes(let content):
                ResponseBody(byteBuffer: ByteBuffer(bytes: content[Int(bytes.lowerBound)..<Int(bytes.upperBound)]))
            }
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

/// An open file of a take.
struct StoredFile: Sendable {
    let name: String
    let mediaType: String
    let byteCount: Int64
    /// Distinguishes this content of the file from others.
    let tag: String
    /// The modification time in the HTTP form. Nil if a corrected date changes the copy and not the file.
    let modified: String?
    let file: OpenFile
    /// The name of a copy.
    let copyName: String
    /// The content of a copy.
    let content: Content

    /// The content of a file's copy.
    enum Content {
        /// The same content with another date, or the same file if nil.
        case file(HeadEdit?)
        case bytes([UInt8])
    }

    /// Opens the file. Links are not followed, so that no path leads elsewhere.
    /// - Throws: `Problem` if the take does not have such a file, or if it is missing.
    init(
        _ name: String, of take: CatalogedTake, _ nameTime: NameTime = .utc, files: FileSystem = FileSystem()
    ) throws(Problem) {
        guard let known = take.recordedFiles.first(where: { $0.name == name }) else {
            throw Problem(.notFound, .notFound, "file: \(take.take) has no file of this name")
        }
        guard take.place == .here else {
            throw Problem(.storageOut(subject: "file: \(take.take)"))
        }
        let path = "\(take.folder)/\(name)"
        do throws(FileError) {
            file = try files.openTakeFile(path)
            let attributes = try files.attributes(of: file)
            let names = take.trueNames(nameTime)
            copyName = names?.name(of: name) ?? name
            if let names, known.role == .sidecar {
                content = .bytes(names.document(try files.read(file, at: 0, count: Int(attributes.byteCount))))
            } else {
                content = .file(try names?.edit(of: name, in: file))
            }
            byteCount = if case .bytes(let bytes) = content { Int64(bytes.count) } else { attributes.byteCount }
            // A correction of the date makes a different copy of the same file.
            let version = names == nil ? "" : "-\(take.startedCorrected ?? "")-\(copyName)"
            tag = "\"\(attributes.inode)-\(byteCount)-\(attributes.modifiedNs)\(version)\""
            modified = names == nil ? HTTPDate.text(WallTime(microseconds: attributes.modifiedNs / 1000)) : nil
        } catch {
            throw Problem(.fileMissing(message: "file: \(error.fact): the take may have been deleted"))
        }
        self.name = name
        mediaType = known.mediaType
    }
}

extension CatalogedTake {
    /// The names of the take's copies, or nil if they are the stored names. If the sidecar cannot be read, nothing is
    /// renamed.
    func trueNames(_ nameTime: NameTime) -> TrueNames? {
        guard startedCorrected != nil, let sidecar = try? recordedSidecar() else { return nil }
        return TrueNames(sidecar, nameTime)
    }

    /// The sidecar on the disk.
    func recordedSidecar() throws -> Sidecar {
        let folders = folder.split(separator: "/", omittingEmptySubsequences: false)
        guard let day = folders.last, let name = TakeName(stem: take, day: String(day)) else {
            throw Problem(.internalServerError, .internal, "\(take): this is not a take's name")
        }
        return try TakesFolder(path: folders.dropLast().joined(separator: "/")).sidecar(of: name)
    }
}

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

    /// Below what the heap asks the system for each time (`M_MMAP_THRESHOLD`), with some room.
    private static let pieceByteCount = 120 << 10

    var routes: [Route] {
        [
            Route(.get, "/api/takes/{take}/files/{file}", for: .look) { request, context in
                let (stem, name) = (context.parameter("take"), context.parameter("file"))
                let file = try await pool.runIfActive { try StoredFile(name, of: try library.take(stem, for: "file")) }
                return answer(request, file)
            }
        ]
    }

    private func answer(_ request: Request, _ file: StoredFile) -> Response {
        var headers: HTTPFields = [
            .contentType: file.mediaType, .acceptRanges: "bytes", .eTag: file.tag, .lastModified: file.modified,
            .contentDisposition: "attachment; filename=\"\(file.name)\"", .cacheControl: "private, no-cache",
        ]
        if request.headers[.ifNoneMatch].map({ $0 == "*" || $0.contains(file.tag) }) ?? false {
            return Response(status: .notModified, headers: headers)
        }
        var range = ByteRange(request.headers[.range], of: file.byteCount)
        if let condition = request.headers[.ifRange], condition != file.tag, condition != file.modified {
            range = .whole
        }
        switch range {
        case .whole: return Response(status: .ok, headers: headers, body: body(file, 0..<file.byteCount))
        case .part(let bytes):
            headers[.contentRange] = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(file.byteCount)"
            return Response(status: .partialContent, headers: headers, body: body(file, bytes))
        case .unsatisfiable:
            var problem = Problem(
                .rangeNotSatisfiable, .usage,
                "file: \(file.name): has only \(file.byteCount) bytes: ask for some of them")
            problem.headers[.contentRange] = "bytes */\(file.byteCount)"
            return problem.response()
        }
    }

    private func body(_ file: StoredFile, _ range: Range<Int64>) -> ResponseBody {
        ResponseBody(contentLength: Int(range.count)) { [pool] writer in
            let read = { @Sendable (start: Int64) async throws -> ByteBuffer in
                let count = Int(min(Int64(Self.pieceByteCount), range.upperBound - start))
                let piece = try await pool.runIfActive { try file.read(at: start, count: count) }
                // It was cut meanwhile: the connection is closed, so that the browser knows.
                guard piece.readableBytes == count else { throw ChannelError.eof }
                return piece
            }
            var position = range.lowerBound
            var piece = position < range.upperBound ? try await read(position) : nil
            while let current = piece {
                position += Int64(current.readableBytes)
                let next = position
                // The next piece is read while this one is sent.
                async let following = next < range.upperBound ? read(next) : nil
                try await writer.write(current)
                piece = try await following
            }
            try await writer.finish(nil)
        }
    }
}

/// A file of a take, open.
struct StoredFile: Sendable {
    let name: String
    let byteCount: Int64
    /// What tells this content of it from another one.
    let tag: String
    /// When it was changed, as HTTP has it.
    let modified: String
    private let file: OpenFile
    private let files: FileSystem

    /// Opens it. No link is followed, so that no path leads elsewhere.
    /// - Throws: `Problem`: the take has no such file, or it is not there.
    init(_ name: String, of take: CatalogedTake, files: FileSystem = FileSystem()) throws(Problem) {
        guard (take.files + ["\(take.take).json", "\(take.take).dat"]).contains(name) else {
            throw Problem(.notFound, .notFound, "file: \(take.take) has no file of this name")
        }
        guard take.place == .here else {
            throw Problem(.conflict, .busy, "file: \(take.take) is on a storage that is out: put it in first")
        }
        let path = "\(take.folder)/\(name)"
        do throws(FileError) {
            let attributes = try files.attributes(path)
            file = try files.openToRead(path, followsLink: false)
            byteCount = try files.length(file)
            tag = "\"\(attributes.inode)-\(byteCount)-\(attributes.modifiedNs)\""
            modified = HTTPDate.text(WallTime(microseconds: attributes.modifiedNs / 1000))
        } catch {
            throw Problem(.notFound, .notFound, "file: \(error.fact): the take may have been deleted")
        }
        self.name = name
        self.files = files
    }

    /// As browsers know it (IANA media types; RFC 9639 for FLAC).
    var mediaType: String {
        switch name.split(separator: ".").last {
        case "wav": "audio/wav"
        case "flac": "audio/flac"
        case "json": "application/json"
        default: "application/octet-stream"
        }
    }

    func read(at offset: Int64, count: Int) throws(FileError) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: count)
        var thrown: FileError?
        // Safe: the pointer is used during the call alone, and the count is what was written.
        unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { space in
            do throws(FileError) {
                return unsafe try files.read(
                    file, at: offset, into: UnsafeMutableRawBufferPointer(rebasing: space[..<count]))
            } catch {
                thrown = error
                return 0
            }
        }
        if let thrown { throw thrown }
        return buffer
    }
}

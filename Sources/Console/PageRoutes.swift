import Crypto
import HTTPTypes
import Hummingbird
import NIOCore

/// The files of the page, which the program holds.
struct PageRoutes: Sendable {
    private struct Page: Sendable {
        var path: String
        var mediaType: String
        var bytes: [UInt8]
    }

    private static let script = "text/javascript; charset=utf-8"
    private static let style = "text/css; charset=utf-8"

    private static let pages = [
        Page(path: "/", mediaType: "text/html; charset=utf-8", bytes: PackageResources.index_html),
        Page(path: "/api/openapi.json", mediaType: "application/json", bytes: PackageResources.openapi_json),
    ]

    var routes: [Route] {
        Self.pages.map { page in
            let tag = "\"" + SHA256.hash(data: page.bytes).prefix(12).map { String($0, radix: 36) }.joined() + "\""
            let content = ByteBuffer(bytes: page.bytes)
            return Route(.get, page.path, for: .none) { request, _ in
                // A new version of the program is shown at once.
                let headers: HTTPFields = [.contentType: page.mediaType, .eTag: tag, .cacheControl: "no-cache"]
                if request.headers[.ifNoneMatch] == tag { return Response(status: .notModified, headers: headers) }
                return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: content))
            }
        }
    }
}

import CPages
import Control
import Digests
import HTTPTypes
import Hummingbird
import NIOCore

/// The files of the page, which are part of the program.
struct PageRoutes: Sendable {
    /// The kit's name.
    let kit: String

    private struct Page: Sendable {
        var path: String
        var mediaType: String
        var bytes: [UInt8]
    }

    private static let pages = (0..<fieldfare_page_count()).map { unsafe page(fieldfare_page_at($0)) }

    private static func page(_ file: fieldfare_page) -> Page {
        let name = unsafe String(cString: file.name)
        // Safe: the file has that number of bytes, which are part of the program.
        let bytes = unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
        return switch name {
        case "index.html": Page(path: "/", mediaType: "text/html; charset=utf-8", bytes: bytes)
        case "openapi.json": Page(path: "/api/openapi.json", mediaType: "application/json", bytes: bytes)
        case "icon.svg": Page(path: "/icon.svg", mediaType: "image/svg+xml", bytes: bytes)
        case "icon.png": Page(path: "/icon.png", mediaType: "image/png", bytes: bytes)
        case "console.css":
            Page(path: "/console.css", mediaType: "text/css; charset=utf-8", bytes: LeanText.style.lean(bytes))
        default:
            Page(path: "/\(name)", mediaType: "text/javascript; charset=utf-8", bytes: LeanText.script.lean(bytes))
        }
    }

    var routes: [Route] {
        (Self.pages + [manifest]).map { page in
            let tag = "\"" + Digest.sha256(page.bytes).prefix(12).map { String($0, radix: 36) }.joined() + "\""
            let plain = ByteBuffer(bytes: page.bytes)
            let packed = Gzip.compressed(page.bytes).map { ByteBuffer(bytes: $0) }
            return Route(.get, page.path, for: .none, query: .any) { request, _ in
                // A new version of the program is shown at once.
                var headers: HTTPFields = [
                    .contentType: page.mediaType, .eTag: tag, .cacheControl: "no-cache", .vary: "Accept-Encoding",
                ]
                var content = plain
                if let packed, Gzip.isAccepted(by: request.headers[.acceptEncoding]) {
                    content = packed
                    headers[.contentEncoding] = "gzip"
                    // Each encoding has its own tag (RFC 9110, 8.8.3.3).
                    headers[.eTag] = tag.dropLast() + "-gzip\""
                }
                if request.headers[.ifNoneMatch] == headers[.eTag] {
                    return Response(status: .notModified, headers: headers)
                }
                return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: content))
            }
        }
    }

    private var manifest: Page {
        Page(
            path: "/manifest.webmanifest", mediaType: "application/manifest+json",
            bytes: Array((jsonText(Manifest(name: kit, shortName: kit)) ?? "{}").utf8))
    }
}

/// How a phone shows the page among its programs (W3C Web Application Manifest). It has the kit's name, because a person
/// may have several kits.
private struct Manifest: Encodable {
    struct Icon: Encodable {
        var src: String
        var sizes: String
        var type: String
        var purpose: String
    }

    var name: String
    var shortName: String
    var id = "/"
    var startURL = "/"
    var display = "standalone"
    var backgroundColor = "#14171a"
    var themeColor = "#14171a"
    var icons = [
        Icon(src: "/icon.svg", sizes: "any", type: "image/svg+xml", purpose: "any"),
        Icon(src: "/icon.png", sizes: "512x512", type: "image/png", purpose: "any"),
        Icon(src: "/icon.png", sizes: "512x512", type: "image/png", purpose: "maskable"),
    ]

    enum CodingKeys: String, CodingKey {
        case name, id, display, icons
        case shortName = "short_name"
        case startURL = "start_url"
        case backgroundColor = "background_color"
        case themeColor = "theme_color"
    }
}

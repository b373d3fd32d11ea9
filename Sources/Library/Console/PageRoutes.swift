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

    private static let pages =
        [
            Page(path: "/", mediaType: "text/html; charset=utf-8", bytes: PackageResources.index_html),
            Page(path: "/api/openapi.json", mediaType: "application/json", bytes: PackageResources.openapi_json),
            Page(path: "/icon.svg", mediaType: "image/svg+xml", bytes: PackageResources.icon_svg),
            Page(path: "/icon.png", mediaType: "image/png", bytes: PackageResources.icon_png),
            // One file for all pages is smaller than two, and no page waits for a second one.
            Page(
                path: "/console.css", mediaType: "text/css; charset=utf-8",
                bytes: LeanText.style.lean(PackageResources.console_css + PackageResources.takes_css)),
        ]
        + scripts.map {
            Page(
                path: "/\($0.name)", mediaType: "text/javascript; charset=utf-8",
                bytes: LeanText.script.lean($0.bytes))
        }

    private static let scripts: [(name: String, bytes: [UInt8])] = [
        ("api.js", PackageResources.api_js),
        ("app.js", PackageResources.app_js),
        ("day-facts.js", PackageResources.day_facts_js),
        ("day.js", PackageResources.day_js),
        ("deck-parts.js", PackageResources.deck_parts_js),
        ("deck.js", PackageResources.deck_js),
        ("dom.js", PackageResources.dom_js),
        ("format.js", PackageResources.format_js),
        ("kit-parts.js", PackageResources.kit_parts_js),
        ("kit-texts-de.js", PackageResources.kit_texts_de_js),
        ("kit-texts-en.js", PackageResources.kit_texts_en_js),
        ("kit.js", PackageResources.kit_js),
        ("listen-worklet.js", PackageResources.listen_worklet_js),
        ("listen.js", PackageResources.listen_js),
        ("live-spectrum.js", PackageResources.live_spectrum_js),
        ("marks.js", PackageResources.marks_js),
        ("player-worker.js", PackageResources.player_worker_js),
        ("player.js", PackageResources.player_js),
        ("problem-texts-de.js", PackageResources.problem_texts_de_js),
        ("problem-texts-en.js", PackageResources.problem_texts_en_js),
        ("problem-texts-ko.js", PackageResources.problem_texts_ko_js),
        ("settings-controls.js", PackageResources.settings_controls_js),
        ("settings-values.js", PackageResources.settings_values_js),
        ("sound.js", PackageResources.sound_js),
        ("spectrum-paint.js", PackageResources.spectrum_paint_js),
        ("spectrum.js", PackageResources.spectrum_js),
        ("take-actions.js", PackageResources.take_actions_js),
        ("take-notes.js", PackageResources.take_notes_js),
        ("take.js", PackageResources.take_js),
        ("takes-list.js", PackageResources.takes_list_js),
        ("takes-parts.js", PackageResources.takes_parts_js),
        ("takes-texts-de.js", PackageResources.takes_texts_de_js),
        ("takes-texts-en.js", PackageResources.takes_texts_en_js),
        ("takes-texts-ko.js", PackageResources.takes_texts_ko_js),
        ("takes.js", PackageResources.takes_js),
        ("texts-de.js", PackageResources.texts_de_js),
        ("texts-en.js", PackageResources.texts_en_js),
        ("texts-ko.js", PackageResources.texts_ko_js),
        ("texts.js", PackageResources.texts_js),
        ("timeline.js", PackageResources.timeline_js),
        ("wav.js", PackageResources.wav_js),
        ("waveform.js", PackageResources.waveform_js),
    ]

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

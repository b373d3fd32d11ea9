import Digests
import HTTPTypes
import Hummingbird
import NIOCore

/// The files of the page, which are part of the program.
struct PageRoutes: Sendable {
    private struct Page: Sendable {
        var path: String
        var mediaType: String
        var bytes: [UInt8]
    }

    private static let pages =
        [
            Page(path: "/", mediaType: "text/html; charset=utf-8", bytes: PackageResources.index_html),
            Page(path: "/api/openapi.json", mediaType: "application/json", bytes: PackageResources.openapi_json),
        ] + styles.map { Page(path: "/\($0.name)", mediaType: "text/css; charset=utf-8", bytes: $0.bytes) }
        + scripts.map { Page(path: "/\($0.name)", mediaType: "text/javascript; charset=utf-8", bytes: $0.bytes) }

    private static let styles: [(name: String, bytes: [UInt8])] = [
        ("console.css", PackageResources.console_css),
        ("takes.css", PackageResources.takes_css),
    ]

    private static let scripts: [(name: String, bytes: [UInt8])] = [
        ("api.js", PackageResources.api_js),
        ("app.js", PackageResources.app_js),
        ("deck.js", PackageResources.deck_js),
        ("dom.js", PackageResources.dom_js),
        ("kit-gain.js", PackageResources.kit_gain_js),
        ("kit-inventory.js", PackageResources.kit_inventory_js),
        ("kit-history.js", PackageResources.kit_history_js), ("kit-update.js", PackageResources.kit_update_js),
        ("kit-log.js", PackageResources.kit_log_js),
        ("kit-parts.js", PackageResources.kit_parts_js),
        ("kit.js", PackageResources.kit_js),
        ("listen-worklet.js", PackageResources.listen_worklet_js),
        ("listen.js", PackageResources.listen_js),
        ("livewave.js", PackageResources.livewave_js),
        ("meters.js", PackageResources.meters_js),
        ("pair.js", PackageResources.pair_js),
        ("player-worker.js", PackageResources.player_worker_js),
        ("player.js", PackageResources.player_js),
        ("settings.js", PackageResources.settings_js),
        ("spectrogram-worker.js", PackageResources.spectrogram_worker_js),
        ("spectrogram.js", PackageResources.spectrogram_js),
        ("take-actions.js", PackageResources.take_actions_js),
        ("take-controls.js", PackageResources.take_controls_js),
        ("take-facts.js", PackageResources.take_facts_js),
        ("take-marks.js", PackageResources.take_marks_js),
        ("take-notes.js", PackageResources.take_notes_js),
        ("take-places.js", PackageResources.take_places_js),
        ("take-position.js", PackageResources.take_position_js),
        ("take-row.js", PackageResources.take_row_js),
        ("take-spectrum.js", PackageResources.take_spectrum_js),
        ("take-view.js", PackageResources.take_view_js),
        ("take.js", PackageResources.take_js),
        ("takes-format.js", PackageResources.takes_format_js),
        ("takes-list.js", PackageResources.takes_list_js),
        ("takes-texts.js", PackageResources.takes_texts_js),
        ("takes.js", PackageResources.takes_js),
        ("texts.js", PackageResources.texts_js),
        ("wav.js", PackageResources.wav_js),
        ("waveform.js", PackageResources.waveform_js),
    ]

    var routes: [Route] {
        Self.pages.map { page in
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
}

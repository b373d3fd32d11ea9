import Control
import DiskCalls
import Foundation
import OtherPrograms
import StoreTrials
import Testing

@testable import Console

@Suite(.waitsOnNamedThreads, .serialized, .fewKitsAtATime, .timeLimit(.minutes(15))) struct PageRoutesTests {
    @Test func `each file of the folder has a route, and each route a file`() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Sources/Library/Console/Pages")
        let paths: [String] = try FileManager.default.contentsOfDirectory(atPath: sources.path).compactMap { name in
            switch name {
            case "index.html": "/"
            case "openapi.json": "/api/openapi.json"
            // A part of /console.css.
            case "takes.css": nil
            default: "/\(name)"
            }
        }
        let served = PageRoutes(kit: "heron07").routes.map(\.path)
        #expect(served.sorted() == (paths + ["/manifest.webmanifest"]).sorted())
    }

    @Test func `the pages in one language are at most 140 kB`() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Sources/Library/Console/Pages")
        func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: sources.appending(path: name))) }
        func size(_ bytes: [UInt8]) throws -> Int { try #require(Gzip.compressed(bytes)).count }
        var common = try size(try bytes("index.html"))
        common += try size(LeanText.style.lean(try bytes("console.css") + bytes("takes.css")))
        var texts: [Substring: Int] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: sources.path) where name.hasSuffix(".js") {
            let packed = try size(LeanText.script.lean(try bytes(name)))
            if name.contains("texts-") {
                texts[name.dropLast(3).suffix(2), default: 0] += packed
            } else {
                common += packed
            }
        }
        for (language, size) in texts { #expect(common + size <= 140_000, "\(language): \(common + size)") }
    }

    @Test(.needs(.curl)) func `a phone can keep the page among its programs, under the kit's name`() throws {
        let kit = try PhonesKit()
        let page = try kit.stranger.get("/")
        #expect(page.body.contains(#"<link rel="manifest" href="/manifest.webmanifest">"#))
        #expect(page.body.contains(#"<meta name="theme-color""#))
        #expect(page.headers["content-security-policy"]?.contains("manifest-src 'self'") == true)
        let manifest = try kit.stranger.get("/manifest.webmanifest")
        #expect(manifest.status == 200 && manifest.headers["content-type"] == "application/manifest+json")
        #expect(manifest.json?["name"] == .string("heron07") && manifest.json?["start_url"] == .string("/"))
        guard case .array(let icons)? = manifest.json?["icons"] else {
            Issue.record("the manifest has no icons: \(manifest.body)")
            return
        }
        for icon in icons {
            let file = try kit.stranger.get(try #require(icon["src"]?.text))
            #expect(file.status == 200 && file.headers["content-type"] == icon["type"]?.text)
        }
        let types = Set(icons.compactMap { $0["type"]?.text })
        #expect(types == ["image/svg+xml", "image/png"])
    }

    @Test(.needs(.curl)) func `a file that the browser has is not sent again`() throws {
        let kit = try PhonesKit()
        for path in ["/icon.png", "/icon.svg", "/manifest.webmanifest"] {
            let first = try kit.stranger.get(path, ["-H", "Accept-Encoding: gzip"])
            #expect(first.status == 200 && first.headers["content-encoding"] == "gzip", "\(path)")
            let tag = try #require(first.headers["etag"])
            let second = try kit.stranger.get(
                path, ["-H", "Accept-Encoding: gzip", "-H", "If-None-Match: \(tag)"])
            #expect(second.status == 304 && second.bytes.isEmpty, "\(path)")
        }
    }
}

import Settings
import StoreTrials
import Testing

@testable import Upload
@testable import WebStores

struct WebDAVAddressTests {
    private func address(_ url: String) throws -> WebDAVAddress {
        var settings = Settings().outbox.webdav
        settings.url = url
        return try WebDAVAddress(settings)
    }

    @Test("WebDAV: an address is percent-encoded once, however it is written")
    func encoded() throws {
        let expected = "https://cloud.example.org:8443/h%C3%B6re%20an/a%2Bb/100%25"
        for path in ["/höre an/a+b/100%", "/h%C3%B6re%20an/a%2bb/100%25/", "//h%c3%b6re an//a+b/100%//"] {
            #expect(try address("https://cloud.example.org:8443\(path)").url == expected)
        }
        #expect(try address("HTTPS://Cloud.example.org").url == "https://Cloud.example.org")
        let day = try address("https://a/b")["2026-11-21", "ä b.wav"]
        #expect(day.url == "https://a/b/2026-11-21/%C3%A4%20b.wav" && day.asFolder.url == day.url + "/")
    }

    @Test(
        "WebDAV: a host whose name has other letters than ASCII is looked up by its ASCII form",
        arguments: [
            ("https://MÜLLER.example:8443/ä", "https://xn--mller-kva.example:8443/ä"),
            ("http://müller:80", "http://xn--mller-kva:80"), ("https://faß.de/a", "https://xn--fa-hia.de/a"),
            ("https://例え.テスト/a/b", "https://xn--r8jz45g.xn--zckzah/a/b"),
            ("https://3年b組金八先生/", "https://xn--3b-ww4c5e180e575a65lsy2b/"),
            ("https://a.example/ä", "https://a.example/ä"),
        ])
    func otherLetters(url: String, ascii: String) { #expect(Web.connectable(url) == ascii) }

    @Test(
        "WebDAV: a host in letters that have several forms is refused: they would lead to another server",
        arguments: ["bu\u{308}cher.example", "bücher。example", "ＥＸＡＭＰＬＥ.example", "aä\u{200d}b.example"])
    func ambiguousLetters(host: String) { #expect(Web.parsed("https://\(host)/a") == nil) }

    @Test("WebDAV: a folder of Nextcloud has one for chunks beside it")
    func uploads() throws {
        let cloud = "https://cloud.example.org/sub/remote.php/dav"
        #expect(
            try address("\(cloud)/files/kit@example.org/a/b").uploads?.url == "\(cloud)/uploads/kit%40example.org")
        #expect(try address("\(cloud)/files/kit").uploads?.url == "\(cloud)/uploads/kit")
        for url in ["\(cloud)/files/", "https://cloud.example.org/remote.php/webdav/a", "https://a/dav/files/kit"] {
            #expect(try address(url).uploads == nil)
        }
    }

    @Test("WebDAV: a store has its name, and needs the clock for https, also if it cannot be opened")
    func plan() throws {
        var settings = Settings()
        settings.outbox.webdav.credentialsFile = "/nonexistent/folder/a"
        let context = try StoreTrial().context
        for (url, name, needsClock) in [
            ("https://a/b c/", "webdav:https://a/b%20c", true), ("http://a", "webdav:http://a", false),
            ("https://u@a", "webdav", false),
        ] {
            settings.outbox.webdav.url = url
            let plan = try #require(StorePlan.plan(.webdav, settings, context))
            #expect(plan.name == name && plan.needsClock == needsClock)
        }
    }

    private let answer = """
        <?xml version="1.0" encoding="utf-8"?>
        <!-- of a server -->
        <D:multistatus xmlns:D="DAV:" xmlns:oc='http://owncloud.org/ns'>
          <response xmlns="DAV:"><href>/files/2026-11-21/</href>
            <propstat><prop><resourcetype><collection/></resourcetype></prop><status>HTTP/1.1 200 OK</status></propstat>
          </response>
          <D:response><D:href> http://h/files/a%20%C3%B6&amp;b.wav
            </D:href>
            <D:propstat><D:prop><D:getcontentlength>12</D:getcontentlength><D:getetag>W/"1-2"</D:getetag>
              <oc:checksums><oc:checksum>SHA1:0aB MD5:1 ADLER32:</oc:checksum></oc:checksums>
              <t:title xmlns:t="urn:fieldfare:take">a</t:title>
            </D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>
            <D:propstat><D:prop><D:getetag>none</D:getetag></D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>
          </D:response>
          <D:response><D:href>/files/gone</D:href><D:status>HTTP/1.1 404 Not Found</D:status></D:response>
        </D:multistatus>

        """

    @Test("WebDAV: of an answer to PROPFIND, what has the status 200 is read")
    func resources() throws {
        let found = try #require(WebDAVResource.read(Array(answer.utf8)))
        #expect(found.map(\.file) == ["2026-11-21", "a ö&b.wav"] && found.map(\.isFolder) == [true, false])
        #expect(found[1].byteCount == 12 && found[1].tag == "\"1-2\"")
        #expect(found[1].checksums == ["SHA1": "0ab", "MD5": "1"])
        #expect(found[1].metadata == nil)
    }

    @Test("WebDAV: an answer that was cut anywhere is refused, and so is what is no multistatus")
    func malformed() {
        let bytes = Array(answer.utf8)
        for length in 0..<bytes.count - 2 { #expect(WebDAVResource.read(Array(bytes[..<length])) == nil) }
        for text in ["<html><br></html>", "<a/>", "text", ""] { #expect(WebDAVResource.read(Array(text.utf8)) == nil) }
    }

    @Test("WebDAV: metadata are stored if the server states so of each property")
    func stored() {
        func isStored(_ statuses: String...) -> Bool {
            let parts = statuses.map { "<propstat><prop/><status>HTTP/1.1 \($0)</status></propstat>" }.joined()
            return WebDAVResource.isStored(
                Array("<multistatus><response><href>/a</href>\(parts)</response></multistatus>".utf8))
        }
        #expect(isStored("200 OK") && isStored("200 OK", "200"))
        #expect(!isStored() && !isStored("200 OK", "403 Forbidden") && !isStored("507 Insufficient Storage"))
        #expect(!WebDAVResource.isStored(Array("<a".utf8)))
    }
}

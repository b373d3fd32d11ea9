import StoreTrials
import Testing

@testable import Upload
@testable import WebStores

struct WebDAVXMLTests {
    private func events(_ text: String) throws -> [WebDAVXML.Event] {
        var reader = WebDAVXML(Array(text.utf8))
        var events: [WebDAVXML.Event] = []
        while let event = try reader.next() { events.append(event) }
        return events
    }

    private let answer = """
        <?xml version="1.0" encoding="utf-8"?>
        <!-- of a server -->
        <D:multistatus xmlns:D="DAV:" xmlns:oc='http://owncloud.org/ns'>
          <response xmlns="DAV:"><href>/files/2026-11-21/</href>
            <propstat><prop><resourcetype><collection/></resourcetype></prop><status>HTTP/1.1 200 OK</status></propstat>
          </response>
          <D:response><D:href>http://h/files/a%20%C3%B6&amp;b.wav</D:href>
            <D:propstat><D:prop><D:getcontentlength>12</D:getcontentlength><D:getetag>W/"1-2"</D:getetag>
              <oc:checksums><oc:checksum>SHA1:00 SHA256:\(String(repeating: "Ab", count: 32))</oc:checksum></oc:checksums>
              <t:title xmlns:t="urn:fieldfare:take">a</t:title><x:getcontentlength xmlns:x="x">7</x:getcontentlength>
            </D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>
            <D:propstat><D:prop><D:getetag>none</D:getetag></D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>
          </D:response>
        </D:multistatus>

        """

    @Test("WebDAV: elements are known by their namespaces, and text has its references replaced")
    func events() throws {
        let a = WebDAVXML.Name("DAV:", "a")
        let b = WebDAVXML.Name("", "b")
        #expect(
            try events("<x:a xmlns:x='DAV:'>1&lt;&#x41;&#66;<![CDATA[<&]]><b c=\"d\" /></x:a>")
                == [.start(a), .text("1<AB"), .text("<&"), .start(b), .end(b), .end(a)])
    }

    @Test("WebDAV: an answer to PROPFIND is read, with what has the status 200 in it")
    func resources() throws {
        var folder = WebDAVResource()
        folder.file = "2026-11-21"
        folder.isFolder = true
        let found = try WebDAVResource.read(Array(answer.utf8))
        #expect(found.count == 2)
        #expect(found[0] == folder)
        #expect(found[1].file == "a ö&b.wav" && found[1].byteCount == 12 && !found[1].isFolder)
        #expect(found[1].tag == "\"1-2\"" && found[1].sha256 == String(repeating: "ab", count: 32))
    }

    @Test("WebDAV: an answer that was cut anywhere is refused, and so is what is no XML of this kind")
    func malformed() {
        let bytes = Array(answer.utf8)
        for length in 0..<bytes.count - 2 {
            #expect(throws: WebDAVXML.Malformed.self) { try WebDAVResource.read(Array(bytes[..<length])) }
        }
        for text in [
            "<a></b>", "<a/><b/>", "<a/>text", "text<a/>", "<x:a/>", "<a:b:c/>", "<a>&unknown;</a>", "<a>&amp</a>",
            "<a b=c/>",
            "<a b='1'c='2'/>", "<a><b></a></b>", "<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>", "<a>\u{0}<</a>",
            "<a b='<'/>",
            String(repeating: "<a>", count: 65) + String(repeating: "</a>", count: 65), "<html><br></html>", "<>",
        ] { #expect(throws: WebDAVXML.Malformed.self, "\(text)") { try events(text) } }
        #expect(throws: WebDAVXML.Malformed.self) {
            try WebDAVResource.read(Array("<a>".utf8) + [0xff] + Array("</a>".utf8))
        }
    }
}

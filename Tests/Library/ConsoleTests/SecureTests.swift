import Control
import DiskCalls
import Foundation
import OtherPrograms
import StoreTrials
import Testing

/// The console by TLS, in parallel with the unencrypted one.
@Suite(.waitsOnNamedThreads, .serialized, .fewKitsAtATime, .timeLimit(.minutes(15)), .needs(.curl)) struct SecureTests {
    /// Prints the SHA-256 of a server's certificate, in lower-case digits.
    private static let shown = """
        import hashlib, ssl, sys
        pem = ssl.get_server_certificate(("127.0.0.1", int(sys.argv[1])))
        print(hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest())
        """

    @Test(.needsServers)
    func `the certificate that is shown has the fingerprint that the library's file and its socket have`() throws {
        let kit = try PhonesKit()
        let shown = try TestServer.python(Self.shown, [String(kit.tlsPort)])
        let kept = try Data(contentsOf: URL(filePath: "\(kit.folder)/library/certificate.pem"))
        let fingerprint = try #require(CertificateFingerprint(file: Array(kept)))
        #expect(fingerprint.description.replacing(":", with: "").lowercased() == shown)
        let reply = try LibraryClient(path: "\(kit.folder)/library.sock").ask(.pairingCode(isNew: false))
        #expect(reply["fingerprint"]?.text == fingerprint.description)
    }

    @Test func `a phone that pairs by TLS sends its cookie by TLS alone, another one both ways`() throws {
        let kit = try PhonesKit()
        kit.recorder.holdPlay()
        let secure = try kit.pair("Anna", kit.code, by: kit.secure)
        #expect(secure.status == 201)
        let flags = try #require(secure.headers["set-cookie"]?.split(separator: "; ").map(String.init))
        #expect(flags.dropFirst() == ["Path=/", "Max-Age=31536000", "HttpOnly", "SameSite=Strict", "Secure"])
        kit.recorder.holdPlay()
        let plain = try kit.pair("Ben", kit.code)
        #expect(plain.status == 201 && plain.headers["set-cookie"]?.contains("Secure") == false)
        // The browser's cookie is accepted on both ports.
        for answer in [secure, plain] {
            let cookie = String(try #require(answer.headers["set-cookie"]?.split(separator: ";").first))
            for browser in [
                Curl(kit.tlsPort, cookie: cookie, isSecure: true), Curl(kit.library.port, cookie: cookie),
            ] {
                #expect(try browser.get("/api/phones").status == 200)
            }
        }
        let cookie = String(try #require(secure.headers["set-cookie"]?.split(separator: ";").first))
        let anna = Curl(kit.tlsPort, cookie: cookie, isSecure: true)
        let removed = try anna.delete("/api/session")
        #expect(removed.status == 204 && removed.headers["set-cookie"]?.hasSuffix("; Secure") == true)
        #expect(try anna.get("/api/phones").status == 401)
    }

    @Test func `the page in the clear learns where it is secure, and where it is not`() throws {
        let kit = try PhonesKit()
        // The port opens a moment before the page reports it.
        while try kit.stranger.get("/api/session").json?["secure_port"] != .integer(kit.tlsPort) { usleep(20_000) }
        let (secure, plain) = (try kit.secure.get("/"), try kit.stranger.get("/"))
        #expect(secure.status == 200 && secure.bytes == plain.bytes)
        // Another program uses the port. The unencrypted console does not depend on it.
        let other = try PhonesKit(tlsPort: kit.library.port)
        #expect(try other.stranger.get("/api/session").json?["secure_port"] == .null)
        #expect(try other.stranger.get("/").status == 200)
    }

    @Test func `a page of the kit in the clear is another site to the secure one, and the other way round`() throws {
        let kit = try RunningKit(console: "access = \"open\"")
        let secure = Curl(kit.tlsPort, isSecure: true)
        let ask = { (browser: Curl, origin: String) in
            try browser.run("POST", "/api/deck/stop", "{}", ["-H", "Host: heron07.local", "-H", "Origin: \(origin)"])
                .status
        }
        #expect(try ask(secure, "https://heron07.local") == 200)
        #expect(try ask(secure, "http://heron07.local") == 403)
        #expect(try ask(kit.stranger, "http://heron07.local") == 200)
        #expect(try ask(kit.stranger, "https://heron07.local") == 403)
    }

    @Test func `a file comes by TLS as it is, in parts as well, and the library's memory stays bounded`() throws {
        let kit = try RunningKit()
        let stem = try kit.record(seconds: 1)
        let folder = try #require(try kit.phone.get("/api/takes/\(stem)").json?["take"]?["folder"]?.text)
        let path = "/api/takes/\(stem)/files/\(stem).wav"
        let secure = Curl(kit.tlsPort, cookie: "fieldfare=\(kit.token)", isSecure: true)
        let file = try Data(contentsOf: URL(filePath: "\(folder)/\(stem).wav"))
        #expect(try secure.get(path).bytes == file)
        let part = try secure.get(path, ["-H", "Range: bytes=70000-140000"])
        #expect(part.status == 206 && part.bytes == file[70_000...140_000])
        #expect(truncate("\(folder)/\(stem).wav", 300 << 20) == 0)
        let long = try secure.get(path)
        #expect(long.bytes.count == 300 << 20 && long.bytes.prefix(file.count) == file)
        #expect(try kit.peakMemory() < 96 << 10)
    }

    /// Sends plain HTTP to the TLS port, and bytes that are neither. Prints the received bytes before the connection
    /// closes.
    private static let mistakes = #"""
        import json, socket, sys
        found = []
        for sent in (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"\x16\x03\x01\x00\x05hello", bytes(1000), b"\x16\x03\x01\xff\xff" + bytes(70000)):
            stranger = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=60)
            answer = b""
            try:
                stranger.sendall(sent)
                while piece := stranger.recv(65536): answer += piece
            except ConnectionError: pass
            # An alert of TLS, or nothing.
            found.append(answer[:1] in (b"\x15", b"") and len(answer) < 20)
        print(json.dumps(found))
        """#

    @Test(.needsServers)
    func `who does not speak TLS is told so, and others are served`() throws {
        let kit = try PhonesKit()
        #expect(try TestServer.python(Self.mistakes, [String(kit.tlsPort)]) == "[true, true, true, true]")
        #expect(try kit.secure.get("/").status == 200)
        #expect(try kit.stranger.get("/").status == 200)
    }
}

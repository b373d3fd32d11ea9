import Foundation
import OtherPrograms
import Settings
import StoreTrials
import Testing

@testable import Upload
@testable import WebStores

@Suite(.serialized, .needsServers, .needs(.apache, .htpasswd, .rclone, .python))
struct WebDAVRefusalTests {
    let trial: StoreTrial
    let object: ObjectName
    init() throws {
        trial = try StoreTrial()
        object = trial.name("heron07-0042-061811Z.wav")
    }

    private func failure(_ body: () async throws -> Void) async -> StoreError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? StoreError
        }
    }

    private func put(_ store: WebDAVStore, byteCount: Int = 3) async throws {
        let source = UploadSource([UInt8](repeating: 1, count: byteCount), called: "a", reader: trial.reader)
        _ = try await store.put(source, as: object, try await trial.metadata(source), mode: .create) { _ in }
    }

    @Test("WebDAV: a wrong password, and none, are named with their file")
    func password() async throws {
        for server in [try WebDAVTestServer.apache(), try WebDAVTestServer.wsgidav(), try WebDAVTestServer.rclone()] {
            let url = "\(server.root)/recordings"
            let file = "\(server.server.folder)/webdav.credentials"
            let none = try server.store(trial, password: nil)
            #expect(
                await failure { try await put(none) }
                    == StoreError(
                        .refused,
                        "outbox: \(url): asks for a password: write username = … and password = … into \(file), mode 600"
                    ))
            let wrong = try server.store(trial, password: "wrong")
            #expect(
                await failure { try await put(wrong) }
                    == StoreError(.refused, "outbox: \(url): the username or the password in \(file) is wrong"))
            #expect(server.names("") == [])
        }
        let digest = try WebDAVTestServer.wsgidav(basic: false)
        let store = try digest.store(trial)
        #expect(
            await failure { try await put(store) }
                == StoreError(
                    .refused,
                    "outbox: \(digest.root)/recordings: the server does not offer Basic authentication: allow it there"
                ))
    }

    @Test("WebDAV: what Apache answers becomes a sentence")
    func answers() async throws {
        let server = try WebDAVTestServer.apache()
        let file = "\(server.server.folder)/webdav.credentials"
        let expected: [(String, StoreError)] = [
            (
                "/old",
                StoreError(
                    .refused,
                    "outbox: \(server.root)/old: is at another address, http://127.0.0.1:1/new: correct url in [outbox.webdav]"
                )
            ),
            (
                "/closed",
                StoreError(
                    .refused,
                    "outbox: \(server.root)/closed/\(object): PROPFIND is forbidden to the user in \(file): "
                        + "see which rights there are to this folder")
            ),
            (
                "/busy",
                StoreError(
                    .busy(.seconds(120)),
                    "outbox: \(server.root)/busy/\(object): is busy, or fails for the moment (PROPFIND gives 503)")
            ),
            (
                "/a/b/c/",
                StoreError(
                    .refused,
                    "outbox: \(server.root)/a/b/c: is not there, nor is the folder that it would be in: see url in [outbox.webdav]"
                )
            ),
        ]
        for (path, error) in expected {
            let store = try server.store(trial, path)
            #expect(await failure { try await put(store) } == error)
        }
        let store = try server.store(trial)
        let draft = trial.draft(object, of: [UInt8](repeating: 1, count: 10_000_001))
        let temporary = "\(server.root)/recordings/2026-11-21/.\(draft).uploading"
        #expect(
            await failure { try await put(store, byteCount: 10_000_001) }
                == StoreError(
                    .rejected,
                    "outbox: \(temporary): the server does not take files of this length: raise its limit for requests"
                ))
        #expect(server.names("recordings/2026-11-21") == [])
        server.server.stop()
        #expect(
            await failure { try await put(store) }
                == StoreError(
                    .away, "outbox: \(server.root)/recordings/\(object): cannot be reached: Connection refused"))
    }

    @Test("WebDAV: a file that another program has locked is busy, and is sent when it is free")
    func locked() async throws {
        let server = try WebDAVTestServer.wsgidav()
        let store = try server.store(trial)
        try WebDAVTestServer.makeFolder("\(server.files)/recordings/2026-11-21")
        let temporary = "\(server.root)/recordings/2026-11-21/.\(trial.draft(object, of: [1, 1, 1])).uploading"
        let script = """
            import base64, sys, urllib.request
            url, method, token = sys.argv[1:4]
            body = b'<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype>' \\
                b'</D:lockinfo>'
            request = urllib.request.Request(url, data=body if method == "LOCK" else None, method=method)
            request.add_header("Authorization", "Basic " + base64.b64encode(sys.argv[4].encode()).decode())
            if token: request.add_header("Lock-Token", token)
            if body: request.add_header("Content-Type", "application/xml")
            print(urllib.request.urlopen(request).headers.get("Lock-Token", ""))
            """
        let user = "\(WebDAVTestServer.user):\(WebDAVTestServer.password)"
        let token = try TestServer.python(script, [temporary, "LOCK", "", user])
        #expect(
            await failure { try await put(store) }
                == StoreError(.busy(nil), "outbox: \(temporary): is locked for the moment (PUT gives 423)"))
        _ = try TestServer.python(script, [temporary, "UNLOCK", token, user])
        try await put(store)
        #expect(server.names("recordings/2026-11-21") == [object.file])
    }

    @Test("WebDAV: a server that is no WebDAV server is named")
    func other() async throws {
        let server = try TestServer(OtherProgram.python.path) { port, _ in
            ["-m", "http.server", "--bind", "127.0.0.1", "\(port)"]
        }
        var settings = Settings().outbox.webdav
        settings.url = "http://127.0.0.1:\(server.port)/files"
        settings.credentialsFile = "\(server.folder)/none"
        let store = try WebDAVStore(
            settings, web: WebDAVTestServer.web.get(), resume: trial.resume, kit: "heron07")
        #expect(
            await failure { try await put(store) }
                == StoreError(
                    .refused,
                    "outbox: http://127.0.0.1:\(server.port)/files: is not a WebDAV folder (PROPFIND gives 501): "
                        + "correct url in [outbox.webdav]"))
    }

    @Test("WebDAV: a file with the password that cannot be used, and a URL that cannot, are refused")
    func settings() throws {
        let file = "\(trial.folder)/credentials"
        var settings = Settings().outbox.webdav
        settings.credentialsFile = file
        let web = try WebDAVTestServer.web.get()
        func failure(_ url: String?, _ content: String? = nil, mode: mode_t = 0o600) throws -> String? {
            if let content {
                try Data(content.utf8).write(to: URL(filePath: file))
                chmod(file, mode)
            }
            settings.url = url
            do {
                _ = try WebDAVStore(settings, web: web, resume: trial.resume, kit: "heron07")
                return nil
            } catch {
                return error.sentence
            }
        }
        let good = "https://cloud.example.org/a"
        // Some servers require no password.
        #expect(try failure("http://cloud.example.org/a") == nil)
        #expect(
            try failure(good, "username = kit\npassword = secret\n", mode: 0o640)
                == "outbox: \(file): others than its owner may use it: chmod 600 \(file)")
        #expect(
            try failure(good, "username = kit\n") == "outbox: \(file): password is missing: write a line password = …")
        #expect(
            try failure(good, "username = k:it\npassword = secret\n")
                == "outbox: \(file): username holds a colon, which HTTP does not allow")
        #expect(try failure(good, "username = kit\npassword = secret\n") == nil)
        for url in [
            "http://cloud.example.org/a", "HTTP://cloud.example.org/a", "http://127.0.0.1.example.org/a",
            "http://[fe80::1]/a",
        ] {
            let shown = url.replacing("HTTP:", with: "http:")
            #expect(
                try failure(url)
                    == "outbox: \(shown): the password in \(file) would be sent unencrypted: use https://, or remove that file "
                    + "if the server asks for no password")
        }
        for url in [
            "HTTPS://cloud.example.org/a", "http://127.0.0.1:8080", "http://127.8.0.1/", "http://[::1]:80/a",
            "http://localhost/a",
        ] { #expect(try failure(url) == nil) }
        #expect(
            try failure("https://kit:secret@cloud.example.org/a")
                == "outbox: url in [outbox.webdav] holds a user: write it into credentials_file instead")
        for url in [
            "https://cloud.example.org/a?b", "https:///a", "cloud.example.org/a", "ftp://cloud.example.org/", "",
        ] {
            #expect(
                try failure(url)
                    == "outbox: url in [outbox.webdav] is not a folder's address: write https://HOST/PATH")
        }
        #expect(
            try failure(nil) == "outbox: the folder is missing: write url = \"https://…\" in [outbox.webdav]")
    }
}

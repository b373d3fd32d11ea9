import Foundation
import Settings
import StoreTrials
import Testing

@testable import Upload
@testable import WebStores

@Suite(.serialized, .enabled(if: TestServer.areInstalled, "deploy/install-packages servers installs them"))
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
            let url = "\(server.root)/recordings/\(object)"
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
                    "outbox: \(server.root)/old/\(object): the server points to \(server.root)/new/\(object): "
                        + "set [outbox.webdav] url to the right place")
            ),
            (
                "/closed",
                StoreError(
                    .refused,
                    "outbox: \(server.root)/closed/\(object): PROPFIND is forbidden to the user in \(file): "
                        + "see the user's rights there")
            ),
            (
                "/busy",
                StoreError(
                    .busy(.seconds(120)),
                    "outbox: \(server.root)/busy/\(object): PROPFIND fails for now: it answers 503")
            ),
            (
                "/a/b/c/",
                StoreError(
                    .refused,
                    "outbox: \(server.root)/a/b/c: is not there, and neither is the folder that it would be in: "
                        + "see [outbox.webdav] url")
            ),
        ]
        for (path, error) in expected {
            let store = try server.store(trial, path)
            let found = await failure { try await put(store) }
            #expect(found == error)
        }
        let store = try server.store(trial)
        #expect(
            await failure { try await put(store, byteCount: 10_000_001) }
                == StoreError(
                    .full,
                    "outbox: \(server.root)/recordings/\(object): the server takes no file of this length: raise its limit"
                ))
        #expect(server.names("recordings/2026-11-21") == [])
        server.server.stop()
        #expect(await failure { try await put(store) }?.problem == .away)
    }

    @Test("WebDAV: a server that is no WebDAV server is named")
    func other() async throws {
        let server = try TestServer("/usr/bin/python3") { port, _ in
            ["-m", "http.server", "--bind", "127.0.0.1", "\(port)"]
        }
        var settings = Settings().outbox.webdav
        settings.url = "http://127.0.0.1:\(server.port)/files"
        settings.credentialsFile = "\(server.folder)/none"
        let store = try WebDAVStore(settings, web: WebDAVTestServer.web.get(), resume: trial.resume)
        #expect(
            await failure { try await put(store) }
                == StoreError(
                    .refused,
                    "outbox: http://127.0.0.1:\(server.port)/files: is no WebDAV folder: it answers 501: "
                        + "see [outbox.webdav] url"))
    }

    @Test("WebDAV: a password is not sent unencrypted over a network")
    func plain() async throws {
        let file = "\(trial.folder)/credentials"
        try Data("username = kit\npassword = secret\n".utf8).write(to: URL(filePath: file))
        chmod(file, 0o600)
        var settings = Settings().outbox.webdav
        settings.credentialsFile = file
        let web = try WebDAVTestServer.web.get()
        func failure(_ url: String) -> String? {
            settings.url = url
            do {
                _ = try WebDAVStore(settings, web: web, resume: trial.resume)
                return nil
            } catch {
                return error.sentence
            }
        }
        for url in ["http://cloud.example.org/a", "http://127.0.0.1.example.org/a", "http://[fe80::1]/a"] {
            #expect(
                failure(url)
                    == "outbox: \(url): the password in \(file) would be sent unencrypted: use https://, or remove "
                    + "that file if the server asks for no password")
        }
        for url in [
            "https://cloud.example.org/a", "http://127.0.0.1:8080", "http://127.8.0.1/", "http://[::1]:80/a",
            "http://localhost/a",
        ] { #expect(failure(url) == nil) }
        #expect(
            failure("https://kit:secret@cloud.example.org/a")
                == "outbox: [outbox.webdav] url: holds a user name: write it into the credentials_file instead")
        #expect(failure("https://cloud.example.org/a?b")?.contains("is no URL of a folder") == true)
        settings.credentialsFile = "\(trial.folder)/none"
        #expect(failure("http://cloud.example.org/a") == nil)
    }

    @Test("WebDAV: a store is named by its URL")
    func name() throws {
        var settings = Settings().outbox.webdav
        settings.credentialsFile = "\(trial.folder)/none"
        settings.url = "https://cloud.example.org:8443/remote.php/dav/files/kit/höre%20an//"
        let store = try WebDAVStore(settings, web: WebDAVTestServer.web.get(), resume: trial.resume)
        #expect(store.name == "webdav:https://cloud.example.org:8443/remote.php/dav/files/kit/h%C3%B6re%20an")
        #expect(store.base.uploads?.url == "https://cloud.example.org:8443/remote.php/dav/uploads/kit")
    }
}

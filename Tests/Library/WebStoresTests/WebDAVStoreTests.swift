import Foundation
import OtherPrograms
import Settings
import StoreTrials
import Testing

@testable import Upload
@testable import WebStores

@Suite(.serialized, .needsServers, .needs(.apache, .htpasswd, .rclone))
struct WebDAVStoreTests {
    let trial: StoreTrial
    init() throws { trial = try StoreTrial() }

    @Test("WebDAV: WsgiDAV does what every store does, with a password and without, with properties and without")
    func wsgidav() async throws {
        let server = try WebDAVTestServer.wsgidav()
        try await trial.check(server.store(trial))
        let plain = try WebDAVTestServer.plainWsgidav()
        try await trial.check(plain.store(trial, password: nil))
    }

    @Test("WebDAV: Apache does what every store does, also in a folder with spaces and umlauts")
    func apache() async throws {
        let server = try WebDAVTestServer.apache()
        try await trial.check(server.store(trial))
        for path in ["/höhe 7 100%+a&b", "/h%C3%B6he%207%20100%25+a&b/"] {
            let store = try server.store(trial, path)
            #expect(store.name == "webdav:\(server.root)/h%C3%B6he%207%20100%25%2Ba%26b")
            try await trial.check(store, byteCounts: [0, 1, 100_000])
            #expect(server.names("höhe 7 100%+a&b") == ["2026-11-21"])
        }
    }

    @Test("WebDAV: rclone does what every store does")
    func rclone() async throws {
        let server = try WebDAVTestServer.rclone()
        try await trial.check(server.store(trial))
    }

    @Test("WebDAV: a server does what every store does behind a proxy that calls it by another name")
    func proxy() async throws {
        let server = try WebDAVTestServer.rclone()
        let proxy = try WebDAVTestServer.proxy(to: server.server.port)
        var settings = try server.settings()
        settings.url = "http://127.0.0.1:\(proxy.port)/heron 07"
        let store = try WebDAVStore(
            settings, web: WebDAVTestServer.web.get(), resume: trial.resume, kit: "heron07")
        try await trial.check(store, byteCounts: [0, 1, 100_000])
    }

    @Test(
        "WebDAV: a server with the chunks of Nextcloud and ownCloud does what every store does",
        arguments: ["", "hash", "sums"])
    func nextcloud(option: String) async throws {
        let server = try WebDAVTestServer.nextcloud(option)
        try await trial.check(server.store(trial, WebDAVTestServer.nextcloudFolder))
        #expect(try server.requests("MOVE").filter { $0.hasSuffix("/.file") }.count == 1)
        #expect(server.names("remote.php/dav/uploads/kit") == [])
    }
}

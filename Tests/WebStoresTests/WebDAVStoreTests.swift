import Foundation
import Settings
import StoreTrials
import Testing

@testable import Upload
@testable import WebStores

@Suite(.serialized, .enabled(if: TestServer.areInstalled, "deploy/install-packages servers installs them"))
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

    @Test("WebDAV: Apache does what every store does")
    func apache() async throws {
        let server = try WebDAVTestServer.apache()
        try await trial.check(server.store(trial))
    }

    @Test("WebDAV: rclone does what every store does")
    func rclone() async throws {
        let server = try WebDAVTestServer.rclone()
        try await trial.check(server.store(trial))
    }
}

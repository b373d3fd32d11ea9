import Foundation
import OtherPrograms
import StoreTrials
import Testing

@testable import Upload
@testable import WebStores

/// Servers that do not show their files, or do not let clients read them (`Resources/nextcloud.py`).
@Suite(.serialized, .needsServers, .needs(.python))
struct WebDAVUnseenTests {
    let trial: StoreTrial
    let object: ObjectName
    init() throws {
        trial = try StoreTrial()
        object = trial.name("heron07-0042-061811Z.wav")
    }

    private func put(_ store: WebDAVStore, as name: ObjectName? = nil) async throws -> StoredObject {
        let source = try await trial.source(try trial.file("a", byteCount: 100_000))
        return try await store.put(source, as: name ?? object, try await trial.metadata(source), mode: .create) { _ in }
    }

    private func sent() throws -> Data { try Data(contentsOf: URL(filePath: "\(trial.folder)/a")) }

    private func folder(_ server: WebDAVTestServer) -> String { "\(server.files)\(WebDAVTestServer.nextcloudFolder)" }

    private func day(_ server: WebDAVTestServer) -> [String] {
        server.names("\(WebDAVTestServer.nextcloudFolder)/2026-11-21")
    }

    /// Puts another's file at the object's name.
    private func addAnother(_ server: WebDAVTestServer) throws -> Data {
        let another = Data(count: 100_000)
        try WebDAVTestServer.makeFolder("\(folder(server))/2026-11-21")
        try another.write(to: URL(filePath: "\(folder(server))/\(object)"))
        return another
    }

    @Test(
        "WebDAV: nothing is sent where neither a look nor a condition keeps another file from being overwritten",
        arguments: [
            ["drop", "nomove", "nocopy", "nocondition"], ["drop", "nomove", "nocopy", "badcondition"],
            ["drop", "overwrites", "nocondition"], ["drop", "nomove", "overwrites", "nocondition"],
        ])
    func refused(options: [String]) async throws {
        let server = try WebDAVTestServer.nextcloud(options)
        let store = try server.store(trial, WebDAVTestServer.nextcloudFolder)
        let another = try addAnother(server)
        for name in [object, trial.name("heron07-0043-061811Z.wav")] {
            do {
                _ = try await put(store, as: name)
                Issue.record("\(name) is sent")
            } catch let error as StoreError {
                #expect(
                    error
                        == StoreError(
                            .refused,
                            "outbox: \(server.root)\(WebDAVTestServer.nextcloudFolder): neither shows what is there nor knows "
                                + "If-None-Match, so that a file could be overwritten: give the user in "
                                + "\(server.server.folder)/webdav.credentials the right to read there"))
            }
        }
        #expect(try Data(contentsOf: URL(filePath: "\(folder(server))/\(object)")) == another)
        #expect(day(server) == [object.file])
    }

    @Test(
        "WebDAV: where nothing is shown, one condition that the server knows is enough, and is tried out once",
        arguments: [
            ["drop", "overwrites"], ["drop", "nocondition"], ["drop", "nomove", "nocondition"],
            ["drop", "nomove", "nocopy"], ["drop", "nodelete"], ["drop", "nomove", "nocopy", "nodelete"],
        ])
    func conditions(options: [String]) async throws {
        let server = try WebDAVTestServer.nextcloud(options)
        let another = try addAnother(server)
        let names = (43...45).map { trial.name("heron07-00\($0)-061811Z.wav") }
        // The same after a restart: files left by a trial do not disturb later ones.
        for (name, count) in zip(names, [1, 1, 2]) {
            let store = try server.store(trial, WebDAVTestServer.nextcloudFolder)
            for _ in 1...count {
                await trial.expectProblem(.conflict) { _ = try await put(store) }
            }
            let before = try server.requests("PUT").count { $0.hasSuffix(".trial.uploading") }
            #expect(before > 0)
            #expect(try await put(store, as: name).unverified?.contains("PROPFIND is forbidden") == true)
            #expect(try Data(contentsOf: URL(filePath: "\(folder(server))/\(name)")) == sent())
            #expect(try server.requests("PUT").count { $0.hasSuffix(".trial.uploading") } == before)
        }
        #expect(try Data(contentsOf: URL(filePath: "\(folder(server))/\(object)")) == another)
        if !options.contains("nodelete") { #expect(day(server) == ([object] + names).map(\.file)) }
    }

    @Test(
        "WebDAV: another's file of the same length that cannot be read is not taken for the kit's own",
        arguments: [["noread"], ["noread", "nomove", "nocopy"]])
    func another(options: [String]) async throws {
        let server = try WebDAVTestServer.nextcloud(options)
        let store = try server.store(trial, WebDAVTestServer.nextcloudFolder)
        let another = try addAnother(server)
        for _ in 1...2 { await trial.expectProblem(.conflict) { _ = try await put(store) } }
        #expect(try Data(contentsOf: URL(filePath: "\(folder(server))/\(object)")) == another)
        #expect(try server.requests("PUT").isEmpty)
    }

    @Test(
        "WebDAV: a file that cannot be read is the kit's own after an attempt whose answer was lost",
        arguments: [["noread", "lose"], ["noread", "lose", "nomove", "nocopy"]])
    func lost(options: [String]) async throws {
        let server = try WebDAVTestServer.nextcloud(options)
        await trial.expectProblem(.busy(nil)) {
            _ = try await put(server.store(trial, WebDAVTestServer.nextcloudFolder))
        }
        let store = try server.store(trial, WebDAVTestServer.nextcloudFolder)
        #expect(try await put(store).unverified?.contains("GET is forbidden") == true)
        #expect(try Data(contentsOf: URL(filePath: "\(folder(server))/\(object)")) == sent())
        // From then on, the file counts as another's again.
        await trial.expectProblem(.conflict) { _ = try await put(store) }
    }
}

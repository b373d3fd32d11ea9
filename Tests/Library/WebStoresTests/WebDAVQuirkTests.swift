import Digests
import Foundation
import OtherPrograms
import Settings
import StoreTrials
import Testing

@testable import Upload
@testable import WebStores

/// Servers that support more or less than the protocol (`Resources/nextcloud.py`).
@Suite(.serialized, .needsServers, .needs(.python))
struct WebDAVQuirkTests {
    let trial: StoreTrial
    let object: ObjectName
    init() throws {
        trial = try StoreTrial()
        object = trial.name("heron07-0042-061811Z.wav")
    }

    private func put(
        _ store: WebDAVStore, byteCount: Int = 100_000, mode: PutMode = .create
    ) async throws -> StoredObject {
        let source = try await trial.source(try trial.file("a\(byteCount)", byteCount: byteCount))
        return try await store.put(source, as: object, try await trial.metadata(source), mode: mode) { _ in }
    }

    /// The content that `put` sends.
    private func sent(byteCount: Int = 100_000) throws -> Data {
        try Data(contentsOf: URL(filePath: "\(trial.folder)/a\(byteCount)"))
    }

    /// The path of the object on the server.
    private func path(_ server: WebDAVTestServer) -> String {
        "\(server.files)\(WebDAVTestServer.nextcloudFolder)/\(object)"
    }

    private func day(_ server: WebDAVTestServer) -> [String] {
        server.names("\(WebDAVTestServer.nextcloudFolder)/2026-11-21")
    }

    @Test(
        "WebDAV: a server that does not know MOVE, or neither MOVE nor COPY, does what each store must do",
        arguments: [["nomove"], ["nomove", "nocopy"]])
    func noMove(options: [String]) async throws {
        let server = try options.count == 1 ? WebDAVTestServer.nextcloud("nomove") : .nextcloud("nomove", "nocopy")
        let store = try server.store(trial, WebDAVTestServer.nextcloudFolder)
        try await trial.check(store, byteCounts: [0, 1, 100_000])
        #expect(day(server) == [])
        // Only the first file is sent twice.
        let drafts = try server.requests("PUT").filter { $0.hasSuffix(".uploading") }
        #expect(options.count == 1 || drafts.count == 1, "\(drafts)")
    }

    @Test("WebDAV: a file that was cut under its own name is replaced, and another of its name is not")
    func cut() async throws {
        let server = try WebDAVTestServer.nextcloud("nomove", "nocopy", "cut")
        let store = try server.store(trial, WebDAVTestServer.nextcloudFolder)
        await trial.expectProblem(.busy(nil)) { _ = try await put(store) }
        #expect(try await put(store).unverified == nil)
        #expect(try await trial.contents(of: object, in: store) == sent())
        await trial.expectProblem(.conflict) { _ = try await put(store, byteCount: 200_000) }
        await trial.expectProblem(.conflict) { _ = try await put(store, byteCount: 200_000) }
    }

    @Test("WebDAV: after a cut, a file of the same name that this kit did not write is not replaced")
    func cutAndAnother() async throws {
        for other in [Data("another".utf8), Data(count: 100_000), Data(count: 60_000)] {
            let server = try WebDAVTestServer.nextcloud("nomove", "nocopy", "cut")
            let store = try server.store(trial, WebDAVTestServer.nextcloudFolder)
            await trial.expectProblem(.busy(nil)) { _ = try await put(store) }
            try other.write(to: URL(filePath: path(server)))
            await trial.expectProblem(.conflict) { _ = try await put(store) }
            #expect(try Data(contentsOf: URL(filePath: path(server))) == other)
        }
    }

    @Test("WebDAV: a file that was damaged under its own name and cannot be deleted there is replaced")
    func damaged() async throws {
        let server = try WebDAVTestServer.nextcloud("nomove", "nocopy", "nodelete", "flipown")
        let store = try server.store(trial, WebDAVTestServer.nextcloudFolder)
        for _ in 1...3 { await trial.expectProblem(.damaged) { _ = try await put(store) } }
        // Another's file is not replaced.
        try Data(count: 100_000).write(to: URL(filePath: path(server)))
        await trial.expectProblem(.conflict) { _ = try await put(store) }
        #expect(try Data(contentsOf: URL(filePath: path(server))) == Data(count: 100_000))
    }

    @Test("WebDAV: a file that is longer than the server takes is refused for itself")
    func tooLong() async throws {
        let server = try WebDAVTestServer.nextcloud("limit=50000")
        let store = try server.store(trial, WebDAVTestServer.nextcloudFolder)
        await trial.expectProblem(.rejected) { _ = try await put(store) }
        #expect(try await put(store, byteCount: 50_000).unverified == nil)
        #expect(day(server) == [object.file])
    }

    @Test("WebDAV: what was to be replaced, and has changed while a file was sent, stays")
    func changedMeanwhile() async throws {
        let server = try WebDAVTestServer.nextcloud()
        let store = try server.store(trial, WebDAVTestServer.nextcloudFolder)
        _ = try await put(store)
        let mode = PutMode.replacing(Digest.sha256(Array(try sent())).hexadecimal)
        let place = path(server)
        let source = UploadSource([1, 2, 3], called: "new", reader: trial.reader)
        let metadata = try await trial.metadata(source)
        await trial.expectProblem(.conflict) {
            _ = try await store.put(source, as: object, metadata, mode: mode) { progress in
                if progress == .verifying { try? Data("another".utf8).write(to: URL(filePath: place)) }
            }
        }
        #expect(try Data(contentsOf: URL(filePath: place)) == Data("another".utf8))
        #expect(day(server) == [object.file])
    }

    @Test("WebDAV: what cannot be read is sent once, and said to be unverified")
    func unreadable() async throws {
        let server = try WebDAVTestServer.nextcloud("noread")
        let store = try server.store(trial, WebDAVTestServer.nextcloudFolder)
        let sha256 = try await trial.source(try trial.file("a100000", byteCount: 100_000)).sha256()
        for mode in [PutMode.create, .confirm, .replacing(sha256)] {
            #expect(try await put(store, mode: mode).unverified?.contains("GET is forbidden") == true)
        }
        // For a kit that did not send it, the file is another's.
        await trial.expectProblem(.conflict) { _ = try await put(store) }
        #expect(try server.requests("PUT").count == 1)
        await trial.expectProblem(.conflict) { _ = try await put(store, byteCount: 5) }
        #expect(try Data(contentsOf: URL(filePath: path(server))) == sent())
        #expect(try await put(store, byteCount: 5, mode: .replacing(sha256)).unverified != nil)
        #expect(try Data(contentsOf: URL(filePath: path(server))) == sent(byteCount: 5))
        #expect(day(server) == [object.file])
    }

    @Test(
        "WebDAV: in a folder that shows nothing, an answer that was lost makes no conflict, and what is there stays",
        arguments: [["drop", "lose"], ["drop", "lose", "nomove", "nocopy"]])
    func lostAnswer(options: [String]) async throws {
        let server =
            try options.count == 2
            ? WebDAVTestServer.nextcloud("drop", "lose") : .nextcloud("drop", "lose", "nomove", "nocopy")
        let store = try server.store(trial, WebDAVTestServer.nextcloudFolder)
        await trial.expectProblem(.busy(nil)) { _ = try await put(store) }
        #expect(try await put(store).unverified?.contains("PROPFIND is forbidden") == true)
        #expect(try Data(contentsOf: URL(filePath: path(server))) == sent())
        // From then on, the file counts as another's again.
        for byteCount in [5, 100_000] {
            await trial.expectProblem(.conflict) { _ = try await put(store, byteCount: byteCount) }
        }
        #expect(try Data(contentsOf: URL(filePath: path(server))) == sent())
        // A file that this kit sent is replaced.
        let sha256 = Digest.sha256(Array(try sent())).hexadecimal
        #expect(try await put(store, byteCount: 5, mode: .replacing(sha256)).unverified != nil)
        #expect(try Data(contentsOf: URL(filePath: path(server))) == sent(byteCount: 5))
        #expect(day(server) == [object.file])
    }

    @Test(
        "WebDAV: a file that was cut under its own name, and cannot be read there, is sent again",
        arguments: ["drop", "noread"])
    func cutUnseen(option: String) async throws {
        let server = try WebDAVTestServer.nextcloud(option, "cut", "nomove", "nocopy")
        await trial.expectProblem(.busy(nil)) {
            _ = try await put(server.store(trial, WebDAVTestServer.nextcloudFolder))
        }
        #expect(try Data(contentsOf: URL(filePath: path(server))).count == 50_000)
        // The same after a restart.
        let store = try server.store(trial, WebDAVTestServer.nextcloudFolder)
        #expect(try await put(store).unverified?.contains("is forbidden") == true)
        #expect(try Data(contentsOf: URL(filePath: path(server))) == sent())
        // From then on, the file counts as another's again.
        await trial.expectProblem(.conflict) { _ = try await put(store, byteCount: 5) }
        #expect(try Data(contentsOf: URL(filePath: path(server))) == sent())
        #expect(day(server) == [object.file])
    }

    @Test("WebDAV: into a folder that shows nothing, files are sent, and said to be unverified")
    func drop() async throws {
        let server = try WebDAVTestServer.nextcloud("drop")
        let store = try server.store(trial, WebDAVTestServer.nextcloudFolder)
        let stored = try await put(store)
        #expect(stored.unverified?.contains("PROPFIND is forbidden") == true, "\(stored)")
        #expect(day(server) == [object.file])
        await trial.expectProblem(.hidden) { _ = try await store.head(object) }
    }

    @Test("WebDAV: copies have the time of the take where the server understands it", arguments: [100_000, 9_000_000])
    func times(byteCount: Int) async throws {
        let server = try WebDAVTestServer.nextcloud("time")
        let store = try server.store(trial, WebDAVTestServer.nextcloudFolder)
        _ = try await put(store, byteCount: byteCount)
        let path = "\(server.files)\(WebDAVTestServer.nextcloudFolder)/\(object)"
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(try #require(attributes[.modificationDate] as? Date) == Date(timeIntervalSince1970: 1_795_241_891))
    }

    @Test("WebDAV: a password is not sent over plain http to another machine")
    func plain() throws {
        let server = try WebDAVTestServer.nextcloud()
        var settings = try server.settings()
        settings.url = "http://nas/recordings"
        let file = settings.credentialsFile
        #expect(
            throws: StoreError(
                .refused,
                "outbox: http://nas/recordings: the password in \(file) would be sent unencrypted: use https://, or remove that "
                    + "file if the server asks for no password")
        ) { _ = try WebDAVStore(settings, web: WebDAVTestServer.web.get(), resume: trial.resume, kit: "heron07") }
    }
}

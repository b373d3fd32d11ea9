import Foundation
import OtherPrograms
import StoreTrials
import Takes
import Testing

@testable import Upload
@testable import WebStores

/// Chunked uploads of Nextcloud and ownCloud.
@Suite(.serialized, .needsServers)
struct WebDAVChunksTests {
    let trial: StoreTrial
    let object: ObjectName
    let path: String

    private static let byteCount = 2 * 8_388_608 + 1000
    private static let files = "remote.php/dav/files/kit/recordings/2026-11-21"
    private static let uploads = "remote.php/dav/uploads/kit"

    init() throws {
        trial = try StoreTrial()
        object = trial.name("heron07-0042-061811Z.wav")
        path = "\(trial.folder)/a"
        try write(seed: 1)
    }

    /// Makes the file quickly, and without two equal pages in a chunk.
    private func write(seed: UInt64) throws {
        let pages = (0..<UInt64(Self.byteCount / 4096 + 1)).map {
            Data(repeating: UInt8($0 % 251), count: 4088) + Self.bytes($0 ^ seed << 32)
        }
        try pages.reduce(into: Data()) { $0 += $1 }.prefix(Self.byteCount).write(to: URL(filePath: path))
    }

    private static func bytes(_ word: UInt64) -> Data { withUnsafeBytes(of: word) { Data($0) } }

    private func store(_ server: WebDAVTestServer) throws -> WebDAVStore {
        try server.store(trial, WebDAVTestServer.nextcloudFolder)
    }

    /// The number of uploads that can resume.
    private var states: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "\(trial.folder)/resume"))?.count ?? 0
    }

    /// Cancels an upload after this many bytes were read to be sent.
    private func cut(_ server: WebDAVTestServer, at byteCount: Int64) async throws {
        let store = try store(server)
        let slow = try await UploadSource(
            path: path, reader: trial.reader, throttle: Throttle(kilobitsPerSecond: 400_000))
        let metadata = try await trial.metadata(slow)
        let isCancelled = await trial.isCancelled(after: byteCount) { [object] report in
            _ = try await store.put(slow, as: object, metadata, mode: .create, report: report)
        }
        #expect(isCancelled)
        #expect(server.names(Self.uploads).count == 1)
    }

    /// Sends the file.
    /// - Returns: the numbers of the chunks that the server received.
    private func send(_ server: WebDAVTestServer) async throws -> [Int] {
        let before = try server.requests("PUT").count
        let source = try await trial.source(path)
        let metadata = try await trial.metadata(source)
        let reported = StoreTrial.Reported()
        let stored = try await store(server).put(source, as: object, metadata, mode: .create) { reported.note($0) }
        #expect(stored.sha256 == metadata.sha256 && stored.byteCount == Self.byteCount)
        #expect(reported.last == .verifying)
        #expect(try server.content("\(Self.files)/\(object.file)") == Data(contentsOf: URL(filePath: path)))
        #expect(server.names(Self.files) == [object.file] && server.names(Self.uploads) == [])
        #expect(states == 0)
        return try server.requests("PUT")[before...].compactMap { $0.split(separator: "/").last.flatMap { Int($0) } }
    }

    @Test("WebDAV: a long file is sent in chunks; after an interruption only those that are missing are sent")
    func chunks() async throws {
        let server = try WebDAVTestServer.nextcloud()
        try await cut(server, at: 12_000_000)
        #expect(server.names("\(Self.uploads)/\(server.names(Self.uploads)[0])").first == "00001")
        #expect(try await send(server) == [2, 3])
    }

    @Test("WebDAV: an upload that the server has forgotten begins anew")
    func forgotten() async throws {
        let server = try WebDAVTestServer.nextcloud()
        try await cut(server, at: 12_000_000)
        try FileManager.default.removeItem(atPath: "\(server.files)/\(Self.uploads)/\(server.names(Self.uploads)[0])")
        #expect(try await send(server) == [1, 2, 3])
    }

    @Test("WebDAV: chunks of a file that has changed since are removed, and all are sent")
    func changed() async throws {
        let server = try WebDAVTestServer.nextcloud()
        try await cut(server, at: 12_000_000)
        try write(seed: 2)
        #expect(try await send(server) == [1, 2, 3])
    }

    @Test("WebDAV: chunks that the server cannot put together are removed, and are sent anew the next time")
    func lostChunk() async throws {
        let server = try WebDAVTestServer.nextcloud()
        let source = try await trial.source(path)
        let metadata = try await trial.metadata(source)
        let once = Once()
        await trial.expectProblem(.damaged) {
            _ = try await store(server).put(source, as: object, metadata, mode: .create) {
                guard case .sent(let count) = $0, count > 2 * 8_388_608 else { return }
                once.run {
                    let folder = "\(server.files)/\(Self.uploads)/\(server.names(Self.uploads)[0])"
                    try FileManager.default.removeItem(atPath: "\(folder)/00001")
                }
            }
        }
        #expect(once.wasRun && once.error == nil)
        #expect(server.names(Self.uploads) == [] && states == 0)
        #expect(try await send(server) == [1, 2, 3])
    }

    @Test("WebDAV: a file that was put together before the answer was lost is verified, and is not sent again")
    func assembled() async throws {
        let server = try WebDAVTestServer.nextcloud()
        try await cut(server, at: 9_000_000)
        try FileManager.default.copyItem(
            atPath: path, toPath: "\(server.files)/\(Self.files)/.\(trial.draft(object, of: path)).uploading")
        try FileManager.default.removeItem(atPath: "\(server.files)/\(Self.uploads)/\(server.names(Self.uploads)[0])")
        let reported = StoreTrial.Reported()
        let source = try await trial.source(path)
        _ = try await store(server).put(source, as: object, try await trial.metadata(source), mode: .create) {
            reported.note($0)
        }
        #expect(reported.sentBytes == 0)
        #expect(server.names(Self.files) == [object.file])
        #expect(states == 0)
    }

    @Test("WebDAV: an upload that a quota stops goes on where it was")
    func quota() async throws {
        let server = try WebDAVTestServer.nextcloud("quota=10000000")
        let source = try await trial.source(path)
        let metadata = try await trial.metadata(source)
        do {
            _ = try await store(server).put(source, as: object, metadata, mode: .create) { _ in }
            Issue.record("it did not fail")
        } catch let error as StoreError {
            let folder = "\(server.root)/\(Self.uploads)/\(server.names(Self.uploads)[0])"
            #expect(
                error
                    == StoreError(
                        .full, "outbox: \(folder): no space is left for this user: delete files there, or get more"))
        }
        #expect(server.names(Self.files) == [])
        // Another server has the same files and more space.
        let larger = try WebDAVTestServer.nextcloud()
        try FileManager.default.removeItem(atPath: larger.files)
        try FileManager.default.copyItem(atPath: server.files, toPath: larger.files)
        #expect(states == 1)
        struct Begun: Codable {
            var folder: String
            var sha256: String
        }
        let begun = try #require(await trial.resume.load(Begun.self, of: object, in: store(server).name))
        try await trial.resume.save(begun, of: object, in: store(larger).name)
        await trial.resume.remove(object, in: try store(server).name)
        #expect(try await send(larger) == [2, 3])
    }

    @Test("WebDAV: a server without a folder for chunks receives the file whole")
    func whole() async throws {
        let server = try WebDAVTestServer.nextcloud()
        try FileManager.default.removeItem(atPath: "\(server.files)/remote.php/dav/uploads")
        #expect(try await send(server) == [])
        #expect(try server.requests("PUT") == ["/\(Self.files)/.\(trial.draft(object, of: path)).uploading"])
    }
}

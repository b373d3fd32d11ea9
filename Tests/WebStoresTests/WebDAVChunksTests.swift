import Foundation
import StoreTrials
import Takes
import Testing

@testable import Upload
@testable import WebStores

/// Nextcloud's requests, sent to WsgiDAV, which does not put chunks together: the tests place the whole file where Nextcloud has it.
@Suite(.serialized, .enabled(if: TestServer.areInstalled, "deploy/install-packages servers installs them"))
struct WebDAVChunksTests {
    let trial: StoreTrial
    let server: WebDAVTestServer
    let store: WebDAVStore
    let object: ObjectName
    let path: String

    private static let byteCount = 2 * 8_388_608 + 1000

    init() throws {
        trial = try StoreTrial()
        server = try WebDAVTestServer.wsgidav()
        for folder in ["files", "uploads"] {
            try WebDAVTestServer.makeFolder("\(server.files)/remote.php/dav/\(folder)/kit")
        }
        store = try server.store(trial, "/remote.php/dav/files/kit/recordings/")
        object = trial.name("heron07-0042-061811Z.wav")
        path = try trial.file("a", byteCount: Self.byteCount)
    }

    private var uploads: [String] { server.names("remote.php/dav/uploads/kit") }

    /// Does what Nextcloud does when chunks are asked for by their common name.
    private func assemble() {
        for folder in uploads {
            try? FileManager.default.copyItem(
                atPath: path, toPath: "\(server.files)/remote.php/dav/uploads/kit/\(folder)/.file")
        }
    }

    @Test("WebDAV: a long file is sent in chunks; after an interruption only those that are missing are sent")
    func chunks() async throws {
        let throttle = Throttle(kilobitsPerSecond: 150_000)
        let slow = try await UploadSource(path: path, reader: trial.reader, throttle: throttle)
        let metadata = try await trial.metadata(slow)
        let isCancelled = await trial.isCancelled(after: 12_000_000) { [store, object] report in
            _ = try await store.put(slow, as: object, metadata, mode: .create, report: report)
        }
        #expect(isCancelled)
        #expect(uploads.count == 1)
        let first = Locked<Int64?>(nil)
        let source = try await trial.source(path)
        let stored = try await store.put(source, as: object, metadata, mode: .create) {
            guard case .sent(let count) = $0 else { return }
            if first.withLock({ first in
                defer { first = first ?? count }
                return first == nil
            }) {
                assemble()
            }
        }
        #expect(first.withLock { $0 } == Int64(8_388_608 + 262_144))
        #expect(stored.sha256 == metadata.sha256)
        #expect(server.names("remote.php/dav/files/kit/recordings/2026-11-21") == [object.file])
        let folder = "remote.php/dav/uploads/kit/\(uploads[0])"
        #expect(server.names(folder) == ["00001", "00002", "00003"])
        let chunks = try ["00001", "00002", "00003"].map { try server.content("\(folder)/\($0)") }
        #expect(chunks.map(\.count) == [8_388_608, 8_388_608, 1000])
        #expect(try chunks.reduce(Data(), +) == Data(contentsOf: URL(filePath: path)))
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(trial.folder)/resume") == [])
    }

    @Test("WebDAV: chunks that the server cannot put together are sent anew the next time")
    func unassembled() async throws {
        let source = try await trial.source(path)
        let metadata = try await trial.metadata(source)
        await trial.expectProblem(.damaged) {
            _ = try await store.put(source, as: object, metadata, mode: .create) { _ in }
        }
        #expect(uploads == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(trial.folder)/resume") == [])
    }

    @Test("WebDAV: a file that was put together before the answer was lost is verified, and is not sent again")
    func assembled() async throws {
        let slow = try await UploadSource(
            path: path, reader: trial.reader, throttle: Throttle(kilobitsPerSecond: 150_000))
        let metadata = try await trial.metadata(slow)
        let isCancelled = await trial.isCancelled(after: 9_000_000) { [store, object] report in
            _ = try await store.put(slow, as: object, metadata, mode: .create, report: report)
        }
        #expect(isCancelled)
        let day = "\(server.files)/remote.php/dav/files/kit/recordings/2026-11-21"
        try FileManager.default.copyItem(atPath: path, toPath: "\(day)/.\(object.file).uploading")
        try FileManager.default.removeItem(atPath: "\(server.files)/remote.php/dav/uploads/kit/\(uploads[0])")
        let reported = StoreTrial.Reported()
        let source = try await trial.source(path)
        _ = try await store.put(source, as: object, metadata, mode: .create) { reported.note($0) }
        #expect(reported.sentBytes == 0 && reported.last == .verifying)
        #expect(server.names("remote.php/dav/files/kit/recordings/2026-11-21") == [object.file])
    }

    @Test("WebDAV: a server without a folder for chunks receives the file whole")
    func whole() async throws {
        try FileManager.default.removeItem(atPath: "\(server.files)/remote.php/dav/uploads")
        let source = try await trial.source(path)
        let metadata = try await trial.metadata(source)
        let stored = try await store.put(source, as: object, metadata, mode: .create) { _ in }
        #expect(stored.byteCount == Self.byteCount && stored.sha256 == metadata.sha256)
    }
}

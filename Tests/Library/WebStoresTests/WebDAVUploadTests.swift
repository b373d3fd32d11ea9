import Foundation
import OtherPrograms
import StoreTrials
import Takes
import Testing

@testable import Upload
@testable import WebStores

@Suite(.serialized, .needsServers, .needs(.apache, .htpasswd, .rclone))
struct WebDAVUploadTests {
    let trial: StoreTrial
    let object: ObjectName
    init() throws {
        trial = try StoreTrial()
        object = trial.name("heron07-0042-061811Z.wav")
    }

    private func day(_ server: WebDAVTestServer) -> [String] { server.names("recordings/2026-11-21") }

    @Test("WebDAV: a server that keeps properties keeps the metadata, for the content that it was sent with")
    func metadata() async throws {
        for server in [try WebDAVTestServer.apache(), try WebDAVTestServer.wsgidav()] {
            let store = try server.store(trial)
            let source = try await trial.source(try trial.file("a", byteCount: 100_000))
            let metadata = try await trial.metadata(source, title: "<heron07> & \"0042\"")
            let stored = try await store.put(source, as: object, metadata, mode: .create) { _ in }
            #expect(stored.metadata == metadata)
            #expect(try await store.head(object) == stored)
            var listed: [StoredObject] = []
            try await store.list { listed += $0 }
            #expect(listed == [stored])
            // Another program overwrites the file. The properties stay, but do not describe it.
            let path = "\(server.files)/recordings/\(object)"
            let other = Data(count: 100_000)
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.write(contentsOf: other)
            try file.close()
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
            #expect(try await store.head(object) == StoredObject(name: object, byteCount: 100_000, sha256: nil))
            await trial.expectProblem(.conflict) {
                _ = try await store.put(source, as: object, metadata, mode: .create) { _ in }
            }
            #expect(try server.content("recordings/\(object)") == other)
        }
    }

    @Test("WebDAV: properties that state a hash are no proof: what is there already is read back")
    func statedHash() async throws {
        let server = try WebDAVTestServer.apache()
        let store = try server.store(trial)
        let source = try await trial.source(try trial.file("a", byteCount: 100_000))
        let metadata = try await trial.metadata(source)
        _ = try await store.put(source, as: object, metadata, mode: .create) { _ in }
        // With the same length and time, Apache's entity tag is the same.
        _ = try TestServer.python(
            """
            import os, sys
            path = sys.argv[1]
            before = os.stat(path)
            open(path, "r+b").write(bytes(100000))
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            """, ["\(server.files)/recordings/\(object)"])
        #expect(try await store.head(object)?.metadata == metadata)
        await trial.expectProblem(.conflict) {
            _ = try await store.put(source, as: object, metadata, mode: .create) { _ in }
        }
    }

    @Test(
        "WebDAV: a file is read back once, and not at all where the server states the hash of what it received",
        arguments: [("", 1, 1), ("hash", 0, 1), ("sums", 0, 0)])
    func readBack(option: String, short: Int, long: Int) async throws {
        for (byteCount, count) in [(100_000, short), (9_000_000, long)] {
            let path = try trial.file("a", byteCount: byteCount)
            let server = try WebDAVTestServer.nextcloud(option)
            let store = try server.store(trial, WebDAVTestServer.nextcloudFolder)
            let source = try await trial.source(path)
            let metadata = try await trial.metadata(source)
            let stored = try await store.put(source, as: object, metadata, mode: .create) { _ in }
            #expect(stored.sha256 == metadata.sha256 && stored.metadata == metadata)
            #expect(try server.requests("GET").count == count)
            // A bit that flips in transit is still detected.
            let bad = try WebDAVTestServer.nextcloud(option, "flip")
            let spoilt = try bad.store(trial, WebDAVTestServer.nextcloudFolder)
            await trial.expectProblem(.damaged) {
                _ = try await spoilt.put(source, as: object, metadata, mode: .create) { _ in }
            }
            #expect(try bad.requests("GET").count == count)
            #expect(bad.names("\(WebDAVTestServer.nextcloudFolder)/2026-11-21") == [])
        }
    }

    @Test("WebDAV: a long file that was sent, but not verified, is not sent again")
    func arrived() async throws {
        let server = try WebDAVTestServer.apache()
        let store = try server.store(trial)
        let path = try trial.file("a", byteCount: 9_000_000)
        let source = try await trial.source(path)
        let metadata = try await trial.metadata(source)
        let task = Task {
            try await store.put(source, as: object, metadata, mode: .create) { progress in
                if progress == .verifying { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(day(server) == [".\(try trial.draft(object, of: path)).uploading"])
        let reported = StoreTrial.Reported()
        _ = try await store.put(source, as: object, metadata, mode: .create) { reported.note($0) }
        #expect(reported.last == nil)
        #expect(day(server) == [object.file])
    }

    @Test("WebDAV: what this kit left unfinished is removed, and nothing else")
    func tidy() async throws {
        let server = try WebDAVTestServer.wsgidav()
        try WebDAVTestServer.makeFolder("\(server.files)/recordings/2026-11-21")
        let kept = [
            ".heron07-0043-061811Z.wav.uploading", ".heron08-0042-061811Z.wav.uploading", ".other.uploading",
            "heron07-0042-061811Z.wav", "heron08-0042-061811Z.wav", "other",
        ]
        for name in kept + [".heron07-0042-061811Z.wav.uploading", ".heron07-0042-061811Z.wav.12ab34ef.uploading"] {
            try Data("a".utf8).write(to: URL(filePath: "\(server.files)/recordings/2026-11-21/\(name)"))
        }
        try await server.store(trial).tidy()
        #expect(day(server) == kept.sorted())
    }

    @Test("WebDAV: metadata that was not stored is stored when the same file is sent once more")
    func metadataLater() async throws {
        let server = try WebDAVTestServer.wsgidav()
        let store = try server.store(trial)
        let path = try trial.file("a", byteCount: 1000)
        try WebDAVTestServer.makeFolder("\(server.files)/recordings/2026-11-21")
        try FileManager.default.copyItem(atPath: path, toPath: "\(server.files)/recordings/\(object)")
        #expect(try await store.head(object)?.metadata == nil)
        let source = try await trial.source(path)
        let metadata = try await trial.metadata(source)
        _ = try await store.put(source, as: object, metadata, mode: .create) { _ in }
        #expect(try await store.head(object)?.metadata == metadata)
    }

    @Test("WebDAV: a byte that changes at the server is found, and the upload succeeds the next time")
    func damage() async throws {
        for server in [try WebDAVTestServer.apache(), try WebDAVTestServer.rclone()] {
            let store = try server.store(trial)
            let path = try trial.file("a", byteCount: 3_000_000)
            let source = try await trial.source(path)
            let metadata = try await trial.metadata(source)
            let part = "\(server.files)/recordings/2026-11-21/.\(try trial.draft(object, of: path)).uploading"
            await trial.expectProblem(.damaged) {
                _ = try await store.put(source, as: object, metadata, mode: .create) {
                    guard $0 == .verifying, let file = FileHandle(forUpdatingAtPath: part) else { return }
                    file.seek(toFileOffset: 2_000_000)
                    let byte = file.readData(ofLength: 1)[0]
                    file.seek(toFileOffset: 2_000_000)
                    file.write(Data([byte ^ 1]))
                    try? file.close()
                }
            }
            #expect(day(server) == [])
            _ = try await store.put(source, as: object, metadata, mode: .create) { _ in }
            #expect(day(server) == [object.file])
        }
    }

    @Test("WebDAV: an object that appears during an upload is not overwritten")
    func race() async throws {
        for server in [try WebDAVTestServer.apache(), try WebDAVTestServer.wsgidav(), try WebDAVTestServer.rclone()] {
            let store = try server.store(trial)
            let path = try trial.file("a", byteCount: 100_000)
            let source = try await trial.source(path)
            let metadata = try await trial.metadata(source)
            let same = try Data(contentsOf: URL(filePath: path))
            for (number, content) in [Data("another".utf8), Data(count: 100_000), same].enumerated() {
                let object = trial.name("heron07-004\(number)-061811Z.wav")
                let there = URL(filePath: "\(server.files)/recordings/\(object)")
                let put = { @Sendable () async throws -> StoredObject in
                    try await store.put(source, as: object, metadata, mode: .create) {
                        if $0 == .verifying { try? content.write(to: there) }
                    }
                }
                if content == same {
                    #expect(try await put().sha256 == metadata.sha256)
                } else {
                    await trial.expectProblem(.conflict) { _ = try await put() }
                }
                #expect(try Data(contentsOf: there) == content)
            }
            #expect(day(server).count == 3 && !day(server).contains { $0.hasPrefix(".") })
        }
    }

    @Test("WebDAV: an upload that was cut in the middle is replaced by the next, and is not listed")
    func cut() async throws {
        for server in [try WebDAVTestServer.wsgidav(), try WebDAVTestServer.apache(), try WebDAVTestServer.rclone()] {
            let store = try server.store(trial)
            let path = try trial.file("a", byteCount: 9_000_000)
            let throttle = Throttle(kilobitsPerSecond: 100_000)
            let slow = try await UploadSource(path: path, reader: trial.reader, throttle: throttle)
            let metadata = try await trial.metadata(slow)
            let isCancelled = await trial.isCancelled(after: 4_000_000) { report in
                _ = try await store.put(slow, as: object, metadata, mode: .create, report: report)
            }
            #expect(isCancelled)
            #expect(try await store.head(object) == nil)
            let source = try await trial.source(path)
            try await store.list { Issue.record("listed: \($0)") }
            let stored = try await store.put(source, as: object, metadata, mode: .create) { _ in }
            #expect(stored.byteCount == 9_000_000)
            #expect(try server.content("recordings/\(object)") == Data(contentsOf: URL(filePath: path)))
            #expect(day(server) == [object.file])
        }
    }

    @Test("WebDAV: a file that changes while it is sent is not stored")
    func changed() async throws {
        let server = try WebDAVTestServer.wsgidav()
        let store = try server.store(trial)
        let path = try trial.file("a", byteCount: 3_000_000)
        let source = try await trial.source(path)
        let metadata = try await trial.metadata(source)
        let known = try await UploadSource(path: path, sha256: metadata.sha256, reader: trial.reader)
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.write(contentsOf: Data("changed".utf8))
        try file.close()
        do {
            _ = try await store.put(known, as: object, metadata, mode: .create) { _ in }
            Issue.record("it was stored")
        } catch let error as StoreError {
            #expect(error.isOfTake)
        }
        #expect(day(server) == [])
    }

    @Test("WebDAV: folders that somebody deletes are made again")
    func folders() async throws {
        for server in [try WebDAVTestServer.apache(), try WebDAVTestServer.wsgidav(), try WebDAVTestServer.rclone()] {
            let store = try server.store(trial, "/heron 07 ö")
            let source = UploadSource([1, 2, 3], called: "a", reader: trial.reader)
            let metadata = try await trial.metadata(source)
            for _ in 1...2 {
                _ = try await store.put(source, as: object, metadata, mode: .create) { _ in }
                #expect(try server.content("heron 07 ö/\(object)") == Data([1, 2, 3]))
                try FileManager.default.removeItem(atPath: "\(server.files)/heron 07 ö")
                try await store.list { Issue.record("listed: \($0)") }
            }
        }
    }
}

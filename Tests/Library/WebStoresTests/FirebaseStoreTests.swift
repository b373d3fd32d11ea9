import Foundation
import OtherPrograms
import Settings
import StoreTrials
import Testing
import Upload

@testable import WebStores

@Suite(.serialized, .needsServers)
struct FirebaseStoreTests {
    let servers: FirebaseServers
    let trial: StoreTrial
    var object: ObjectName { trial.name("heron07-0099-061811Z.wav") }

    init() throws {
        servers = try FirebaseServers()
        trial = servers.trial
    }

    @Test("Firebase: an emulator without a service account is a store")
    func emulator() async throws {
        let store = try servers.store(servers.emulatorSettings)
        #expect(store.name == "firebase:http://127.0.0.1:\(servers.emulator.port)/recordings/take s/ä+")
        try await trial.check(store)
    }

    @Test("Firebase: a bucket that asks for tokens, checks preconditions and lists by pages of two is a store")
    func google() async throws {
        let store = try servers.store()
        try servers.control(#"{"page": 2}"#)
        try await trial.check(store)
        #expect(try servers.control().grants == 1)
    }

    @Test("Firebase: an upload that was cut goes on after a restart where the service has it")
    func resumed() async throws {
        let total = 30_000_001
        let path = try trial.file("long", byteCount: total, seed: 5)
        let first = try await trial.source(path)
        let metadata = try await trial.metadata(first)
        // The request without an answer is repeated once.
        try servers.control(#"{"cut": 20000000, "cuts": 2}"#)
        let store = try servers.store()
        await trial.expectProblem(.away) {
            _ = try await store.put(first, as: object, metadata, mode: .create) { _ in }
        }
        // The session's address is enough to send data, so the file must be private.
        let states = try FileManager.default.contentsOfDirectory(atPath: "\(trial.folder)/resume")
        #expect(states.count == 1)
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(trial.folder)/resume/\(states[0])")
        #expect(attributes[.posixPermissions] as? Int == 0o600)

        let reported = StoreTrial.Reported()
        let stored = try await servers.store().put(
            trial.source(path), as: object, metadata, mode: .create, report: { reported.note($0) })
        #expect(stored.sha256 == metadata.sha256 && stored.byteCount == Int64(total))
        // A little more than 20,000,000 bytes had arrived, of which the service keeps multiples of 256 KiB.
        let kept = 76 * 262_144
        #expect(
            try servers.control().ranges == [
                "bytes 0-8388607/\(total)", "bytes 8388608-16777215/\(total)", "bytes 16777216-25165823/\(total)",
                "bytes 16777216-25165823/\(total)", "bytes */\(total)", "bytes \(kept)-\(kept + 8_388_607)/\(total)",
                "bytes \(kept + 8_388_608)-\(total - 1)/\(total)",
            ])
        #expect(try #require(reported.firstSent) > kept)
        #expect(try await trial.contents(of: object, in: store) == Data(contentsOf: URL(filePath: path)))
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(trial.folder)/resume") == [])
    }

    @Test("Firebase: an upload that is cancelled ends, and leaves no object")
    func cancelled() async throws {
        let path = try trial.file("long", byteCount: 20_000_000)
        let source = try await trial.source(path)
        let metadata = try await trial.metadata(source)
        let store = try servers.store()
        let isCancelled = await trial.isCancelled(after: 1) { [object] in
            _ = try await store.put(source, as: object, metadata, mode: .create, report: $0)
        }
        #expect(isCancelled)
        #expect(try await store.head(object) == nil)
    }

    @Test("Firebase: a session that is gone is begun anew, once")
    func gone() async throws {
        let path = try trial.file("long", byteCount: 9_000_000)
        let store = try servers.store()
        let source = try await trial.source(path)
        let metadata = try await trial.metadata(source)
        try servers.control(#"{"fail": [{"method": "PUT", "status": 410, "times": 1}]}"#)
        _ = try await store.put(source, as: object, metadata, mode: .create) { _ in }
        #expect(try await trial.contents(of: object, in: store) == Data(contentsOf: URL(filePath: path)))
        try await store.delete(object)
        try servers.control(#"{"fail": [{"method": "PUT", "status": 404, "times": 2}]}"#)
        await trial.expectProblem(.busy(nil)) {
            _ = try await store.put(source, as: object, metadata, mode: .create) { _ in }
        }
    }

    @Test("Firebase: an object that appears while another of its name is sent is not overwritten; the same is as good")
    func race() async throws {
        let store = try servers.store()
        let path = try trial.file("long", byteCount: 9_000_000)
        let small = try trial.file("small", byteCount: 3)
        let source = try await trial.source(path)
        let metadata = try await trial.metadata(source)
        for (other, texts) in [(small, [:]), (path, metadata.texts), (path, [:])] {
            let once = Once()
            let (servers, object) = (servers, object)
            func put() async throws -> StoredObject {
                try await store.put(source, as: object, metadata, mode: .create) { _ in
                    once.run { try servers.upload(other, as: object.file, metadata: texts) }
                }
            }
            if other == small {
                await trial.expectProblem(.conflict) { _ = try await put() }
            } else {
                #expect(try await put().sha256 == metadata.sha256)
            }
            #expect(once.wasRun && once.error == nil)
            #expect(try await trial.contents(of: object, in: store) == Data(contentsOf: URL(filePath: other)))
            try await store.delete(object)
        }
    }

    @Test("Firebase: an object without our texts is compared by its content")
    func foreign() async throws {
        let store = try servers.store()
        let path = try trial.file("a", byteCount: 1000)
        try servers.upload(path, as: "heron07-0001-061811Z.wav")
        try servers.upload(try trial.file("b", byteCount: 1000, seed: 2), as: "heron07-0002-061811Z.wav")
        let source = try await trial.source(path)
        let metadata = try await trial.metadata(source)
        let stored = try await store.put(source, as: trial.name("heron07-0001-061811Z.wav"), metadata, mode: .create) {
            if case .sent = $0 { Issue.record("sent") }
        }
        #expect(stored.sha256 == metadata.sha256 && stored.metadata == nil)
        await trial.expectProblem(.conflict) {
            _ = try await store.put(source, as: trial.name("heron07-0002-061811Z.wav"), metadata, mode: .create) { _ in
                Issue.record("sent")
            }
        }
    }

    @Test(
        "Firebase: Google's own client finds an object with its type, texts and download token, which a replacement keeps"
    )
    func client() async throws {
        // The emulator's links to an object name the server that received it. The front end would require a token.
        let store = try servers.store(servers.emulatorSettings)
        let object = trial.name("heron07-0042-061811Z.json")
        let old = UploadSource(Array("{}\n".utf8), called: "old", reader: trial.reader)
        _ = try await store.put(old, as: object, try await trial.metadata(old), mode: .create) { _ in }
        let code = """
            import json
            from google.auth.credentials import AnonymousCredentials
            from google.cloud import storage
            client = storage.Client(project="p", credentials=AnonymousCredentials())
            blob = client.bucket("recordings").get_blob("take s/ä+heron07-0042-061811Z.json")
            print(json.dumps({"type": blob.content_type, "size": str(blob.size), "content": blob.download_as_text(), **blob.metadata}))
            """
        let seen = try decoded(servers.python(code))
        let token = try #require(seen["firebaseStorageDownloadTokens"])
        #expect(UUID(uuidString: token) != nil)
        var expected = try await trial.metadata(old).texts
        expected.merge([
            "type": "application/json", "size": "3", "content": "{}\n", "day": "2026-11-21",
            "firebaseStorageDownloadTokens": token,
        ]) { $1 }
        #expect(seen == expected)

        let new = UploadSource(Array("{\"a\":1}\n".utf8), called: "new", reader: trial.reader)
        let metadata = try await trial.metadata(new)
        _ = try await store.put(new, as: object, metadata, mode: .replacing(try await old.sha256())) { _ in }
        let then = try decoded(servers.python(code))
        #expect(then["content"] == "{\"a\":1}\n" && then["firebaseStorageDownloadTokens"] == token)
        #expect(try await store.head(object)?.metadata == metadata)
    }

    private func decoded(_ text: String) throws -> [String: String] {
        try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
    }

    @Test("Firebase: a list leaves aside what is no take's, and takes the day from the start where it is not noted")
    func list() async throws {
        let path = try trial.file("abc", byteCount: 3)
        let started = ["started": "2026-11-20T06:18:11Z"]
        try servers.upload(path, as: "heron07-0001-061811Z.wav", metadata: started)
        try servers.upload(path, as: "heron07-0002-061811Z.wav")
        try servers.upload(path, as: "notes.txt", metadata: started)
        try servers.upload(path, as: "deep/heron07-0003-061811Z.wav", metadata: started)
        var listed: [StoredObject] = []
        try await servers.store().list { listed += $0 }
        #expect(listed.map(\.name) == [trial.name("heron07-0001-061811Z.wav", day: "2026-11-20")])
        // The service computed its own hash.
        #expect(listed.allSatisfy { $0.byteCount == 3 && $0.sha256 == nil && $0.mark?.hasPrefix("crc32c:") == true })
    }

    @Test("Firebase: an object whose bytes are not those that were sent is found, and not left there")
    func damaged() async throws {
        let store = try servers.store()
        let path = try trial.file("a", byteCount: 9_000_000)
        let source = try await trial.source(path)
        let metadata = try await trial.metadata(source)
        try servers.control(#"{"flip": true}"#)
        await trial.expectProblem(.damaged) {
            _ = try await store.put(source, as: object, metadata, mode: .create) { _ in }
        }
        #expect(try await store.head(object) == nil)
        // A file that changed since it was hashed.
        try servers.control(#"{"flip": false}"#)
        var wrong = metadata
        wrong.sha256 = String(repeating: "0", count: 64)
        await trial.expectProblem(.unreadable) {
            _ = try await store.put(source, as: object, wrong, mode: .create) { _ in }
        }
        #expect(try await store.head(object) == nil)
    }
}

import Foundation
import OtherPrograms
import SeededRandom
import Settings
import StoreTrials
import Takes
import Testing

@testable import Upload
@testable import WebStores

@Suite(.serialized, .needsServers)
struct S3StoreTests {
    let trial: StoreTrial
    init() throws { trial = try StoreTrial() }

    /// Uses a new store like a program that has just started, and closes it also after an error.
    private func with(
        _ settings: Settings.Outbox.S3, kit: String = "heron07", _ body: (S3Store) async throws -> Void
    ) async throws {
        let web = try Web()
        do {
            try await body(S3Store(settings, web: web, resume: trial.resume, kit: kit))
        } catch {
            await web.close()
            throw error
        }
        await web.close()
    }

    @Test("S3: takes are stored, verified, listed, read and deleted")
    func trial() async throws {
        let server = try S3Server()
        try await with(server.settings()) { store in
            #expect(store.name == "s3:http://127.0.0.1:\(server.server.port)/recordings/heron07/")
            try await trial.check(store)
        }
    }

    @Test("S3: a server that checks keys and signatures accepts all requests", arguments: ["", "heron07-"])
    func signed(prefix: String) async throws {
        // moto's check fails for a prefix with a slash, also with boto3's own requests. `SignatureV4Tests` covers such
        // prefixes.
        let server = try S3Server(checksKeys: true)
        try await with(server.settings(prefix: prefix)) { store in
            try await trial.check(store, byteCounts: [0, 1, 9_000_000])
            try await store.tidy()
        }
    }

    @Test(
        "S3: any prefix is sent and read back as it is",
        arguments: ["kits/höhe 7+a&b=c%41/", "it's (*)/?b#c;", "//a//../b/", "x"])
    func prefixes(prefix: String) async throws {
        let server = try S3Server()
        try await with(server.settings(prefix: prefix)) { store in
            let object = trial.name("heron07-0042-061811Z.json")
            let source = UploadSource(Array("{}".utf8), called: "a", reader: trial.reader)
            _ = try await store.put(source, as: object, try await trial.metadata(source), mode: .create) { _ in }
            // Objects that are not ours: another file, a file without a day, and one outside the prefix.
            let keys = try server.python(
                """
                import json
                prefix = json.loads(\"\"\"\(String(decoding: try JSONEncoder().encode([prefix]), as: UTF8.self))\"\"\")[0]
                for key in ["2026-11-21/notes.txt", "heron07-0042-061811Z.json", "2026-11-21/a/heron07-0042-061811Z.json"]:
                    s3.put_object(Bucket="recordings", Key=prefix + key, Body=b"a")
                s3.put_object(Bucket="recordings", Key="2026-11-21/heron07-0049-061811Z.wav", Body=b"a")
                print(json.dumps([k["Key"] for k in s3.list_objects_v2(Bucket="recordings")["Contents"]]))
                """)
            #expect(try JSONDecoder().decode([String].self, from: Data(keys.utf8)).contains(prefix + object.path))
            var listed: [ObjectName] = []
            try await store.list { listed += $0.map(\.name) }
            #expect(listed == [object])
            #expect(try await trial.contents(of: object, in: store) == Data("{}".utf8))
        }
    }

    @Test("S3: a long list comes in pages")
    func pages() async throws {
        let server = try S3Server(pageLength: 5)
        try server.python(
            """
            for number in range(12):
                s3.put_object(Bucket="recordings", Key=f"heron07/2026-11-21/heron07-{number:04}-061811Z.wav", Body=b"")
            """)
        try await with(server.settings()) { store in
            var pages: [Int] = []
            var names: Set<ObjectName> = []
            try await store.list {
                pages.append($0.count)
                names.formUnion($0.map(\.name))
            }
            #expect(pages == [5, 5, 2] && names.count == 12)
        }
    }

    @Test(
        "S3: the server's hash of an object is another once its content is, though its length is not",
        arguments: [100_000, 9_000_000])
    func mark(byteCount: Int) async throws {
        let server = try S3Server()
        try await with(server.settings()) { store in
            let object = trial.name("heron07-0042-061811Z.wav")
            let source = try await trial.source(trial.file(object.file, byteCount: byteCount))
            let metadata = try await trial.metadata(source)
            let mark = try await store.put(source, as: object, metadata, mode: .create) { _ in }.mark
            #expect(try await store.head(object)?.mark == mark && mark != nil)
            try server.python(
                """
                s3.put_object(Bucket="recordings", Key="heron07/\(object.path)", Body=b"\\0" * \(byteCount),
                    Metadata={"sha256": "\(metadata.sha256)"})
                """)
            let there = try #require(try await store.head(object))
            #expect(there.byteCount == byteCount && there.mark != mark)
        }
    }

    @Test("S3: another client reads the object, its type and its metadata")
    func otherClient() async throws {
        let server = try S3Server()
        try await with(server.settings()) { store in
            for (object, byteCount) in [
                (trial.name("heron07-0042-061811Z.wav"), 100_001),
                (trial.name("heron07-0043-061811Z.flac"), 20_000_000),
            ] {
                let path = try trial.file(object.file, byteCount: byteCount)
                let source = try await trial.source(path)
                let metadata = try await trial.metadata(source)
                let stored = try await store.put(source, as: object, metadata, mode: .create) { _ in }
                #expect(stored.metadata == metadata)
                #expect(try await store.head(object)?.metadata == metadata)
                let read = try server.python(
                    """
                    import hashlib, json
                    answer = s3.get_object(Bucket="recordings", Key="heron07/\(object.path)")
                    body = answer["Body"].read()
                    print(json.dumps({"sha256": hashlib.sha256(body).hexdigest(), "count": str(len(body)),
                        "type": answer["ContentType"], **{"meta-" + k: v for k, v in answer["Metadata"].items()}}))
                    """)
                let found = try JSONDecoder().decode([String: String].self, from: Data(read.utf8))
                var expected = ["sha256": metadata.sha256, "count": "\(byteCount)", "type": object.contentType]
                for (key, value) in metadata.texts { expected["meta-\(key)"] = value }
                #expect(found == expected)
            }
        }
    }

    /// Cancels an upload after this many bytes of the file were sent.
    private func cut(_ path: String, as object: ObjectName, at byteCount: Int64, in settings: Settings.Outbox.S3)
        async throws
    {
        try await with(settings) { store in
            let source = try await UploadSource(
                path: path, reader: trial.reader, throttle: Throttle(kilobitsPerSecond: 400_000))
            let metadata = try await trial.metadata(source)
            let isCancelled = await trial.isCancelled(after: byteCount) {
                _ = try await store.put(source, as: object, metadata, mode: .create, report: $0)
            }
            #expect(isCancelled)
        }
    }

    @Test("S3: an upload that was cut goes on where it was")
    func resume() async throws {
        let server = try S3Server()
        let object = trial.name("heron07-0042-061811Z.wav")
        let path = try file("a", mebibytes: 40)
        try await cut(path, as: object, at: 20 << 20, in: server.settings())
        let before = try server.partsSent().count
        try await with(server.settings()) { store in
            // An upload that can resume is kept.
            try await store.tidy()
            let source = try await trial.source(path)
            let metadata = try await trial.metadata(source)
            let reported = StoreTrial.Reported()
            let stored = try await store.put(source, as: object, metadata, mode: .create) { reported.note($0) }
            #expect(stored.sha256 == metadata.sha256 && stored.byteCount == 40 << 20)
            #expect(reported.sentBytes == 40 << 20 && reported.last == .verifying)
            // Two parts had arrived, and some bytes of the third one.
            #expect(try server.partsSent()[before...] == [3, 4, 5])
            #expect(try await trial.contents(of: object, in: store) == Data(contentsOf: URL(filePath: path)))
        }
    }

    @Test(
        "S3: an upload that was cut goes on with a key that may not list its parts, and a right that is missing is named"
    )
    func rights() async throws {
        let server = try S3Server(checksKeys: true, denied: "s3:ListMultipartUploadParts")
        let object = trial.name("heron07-0042-061811Z.wav")
        let path = try file("a", mebibytes: 20)
        try await cut(path, as: object, at: 9 << 20, in: server.settings(prefix: ""))
        let before = try server.partsSent().count
        try await with(server.settings(prefix: "")) { store in
            let source = try await trial.source(path)
            _ = try await store.put(source, as: object, try await trial.metadata(source), mode: .create) { _ in }
            #expect(try server.partsSent()[before...] == [2, 3])
        }
        let other = try S3Server(checksKeys: true, denied: "s3:ListBucket")
        try await with(other.settings(prefix: "")) { store in
            do {
                try await store.list { _ in }
                Issue.record("it did not fail")
            } catch let error as StoreError {
                #expect(
                    error
                        == StoreError(
                            .refused,
                            "outbox: http://127.0.0.1:\(other.server.port)/recordings: does not allow it (AccessDenied: Access Denied): "
                                + "the key in \(other.settings().credentialsFile) must be right, and needs the rights to list, "
                                + "read, write and delete below \"\""))
            }
        }
    }

    @Test("S3: an upload whose parts the server has lost begins anew")
    func lostUpload() async throws {
        let server = try S3Server()
        let object = trial.name("heron07-0042-061811Z.wav")
        let path = try file("a", mebibytes: 20)
        try await cut(path, as: object, at: 9 << 20, in: server.settings())
        try abortAll(server)
        let before = try server.partsSent().count
        try await with(server.settings()) { store in
            let source = try await trial.source(path)
            _ = try await store.put(source, as: object, try await trial.metadata(source), mode: .create) { _ in }
            #expect(try server.partsSent()[before...] == [1, 2, 3])
            #expect(try await trial.contents(of: object, in: store) == Data(contentsOf: URL(filePath: path)))
        }
    }

    @Test("S3: a file that changes between two attempts is reported, and nothing of it is stored")
    func changed() async throws {
        let server = try S3Server()
        let object = trial.name("heron07-0042-061811Z.wav")
        let path = try file("a", mebibytes: 20)
        let metadata = try await trial.metadata(trial.source(path))
        try await cut(path, as: object, at: 9 << 20, in: server.settings())
        _ = try file("a", mebibytes: 20, seed: 2)
        try await with(server.settings()) { store in
            let source = try await trial.source(path)
            await trial.expectProblem(.unreadable) {
                _ = try await store.put(source, as: object, metadata, mode: .create) { _ in }
            }
            #expect(try await store.head(object) == nil)
            // The same for a file that is sent whole.
            let small = UploadSource([1], called: "b", reader: trial.reader)
            await trial.expectProblem(.unreadable) {
                _ = try await store.put(small, as: object, metadata, mode: .create) { _ in }
            }
            #expect(try await store.head(object) == nil)
            // The file now has the content of another take. The upload starts again with its own hash.
            let new = try await trial.metadata(source)
            #expect(try await store.put(source, as: object, new, mode: .create) { _ in }.sha256 == new.sha256)
            #expect(try unfinished(server) == [])
        }
    }

    @Test("S3: what this kit left unfinished is aborted, and nothing else")
    func orphans() async throws {
        let server = try S3Server()
        let object = trial.name("heron07-0042-061811Z.wav")
        try await cut(try file("a", mebibytes: 20), as: object, at: 9 << 20, in: server.settings())
        try server.python(
            """
            for key in ["heron07/2026-11-21/heron07-0042-061811Z.wav", "heron07/2026-11-21/heron07-0043-061811Z.wav",
                        "heron07/2026-11-21/heron08-0043-061811Z.wav", "heron07/other",
                        "2026-11-21/heron07-0044-061811Z.wav"]:
                s3.create_multipart_upload(Bucket="recordings", Key=key)
            """)
        try await with(server.settings()) { store in
            try await store.tidy()
            #expect(
                try unfinished(server) == [
                    "2026-11-21/heron07-0044-061811Z.wav", "heron07/2026-11-21/heron07-0042-061811Z.wav",
                    "heron07/2026-11-21/heron08-0043-061811Z.wav", "heron07/other",
                ])
        }
    }

    @Test("S3: an object that comes in between is not overwritten", arguments: [1, 17], [false, true])
    func race(mebibytes: Int, isSame: Bool) async throws {
        let server = try S3Server()
        let object = trial.name("heron07-0042-061811Z.wav")
        let path = try file("a", mebibytes: mebibytes)
        let other = isSame ? path : try file("b", mebibytes: mebibytes, seed: 2)
        try await with(server.settings()) { store in
            let source = try await trial.source(path)
            let metadata = try await trial.metadata(source)
            let once = Once()
            func put() async throws {
                _ = try await store.put(source, as: object, metadata, mode: .create) { _ in
                    once.run {
                        try server.python(
                            """
                            s3.put_object(Bucket="recordings", Key="heron07/\(object.path)", Body=open("\(other)", "rb"))
                            """)
                    }
                }
            }
            if isSame {
                try await put()
            } else {
                await trial.expectProblem(.conflict) { try await put() }
            }
            #expect(once.error == nil)
            #expect(try await trial.contents(of: object, in: store) == Data(contentsOf: URL(filePath: other)))
            #expect(try unfinished(server) == [])
        }
    }

    @Test(
        "S3: an object that is not what was sent is reported, and stays",
        arguments: [
            // Other content without the metadata; shorter content with them; and content with them that differs only in
            // the server's checksum.
            "Body=b'other'", "Body=b'some', Metadata=metadata",
            "Body=b'other', Metadata=metadata, ChecksumAlgorithm='SHA256'",
        ])
    func damaged(replacement: String) async throws {
        let server = try S3Server()
        let object = trial.name("heron07-0042-061811Z.wav")
        try await with(server.settings()) { store in
            let source = UploadSource(Array("takes".utf8), called: "a", reader: trial.reader)
            let metadata = try await trial.metadata(source)
            let once = Once()
            await trial.expectProblem(.damaged) {
                _ = try await store.put(source, as: object, metadata, mode: .create) { progress in
                    guard progress == .verifying else { return }
                    once.run {
                        try server.python(
                            """
                            key = "heron07/\(object.path)"
                            metadata = s3.head_object(Bucket="recordings", Key=key)["Metadata"]
                            s3.put_object(Bucket="recordings", Key=key, \(replacement))
                            """)
                    }
                }
            }
            #expect(once.error == nil)
            #expect(try await store.head(object) != nil)
        }
    }

    @Test("S3: an object without our metadata is compared by its content")
    func foreign() async throws {
        let server = try S3Server()
        try server.python(
            """
            for number, body in [(42, b"same"), (43, b"else"), (44, b"longer")]:
                s3.put_object(Bucket="recordings", Key=f"heron07/2026-11-21/heron07-00{number}-061811Z.wav", Body=body)
            """)
        try await with(server.settings()) { store in
            let source = UploadSource(Array("same".utf8), called: "a", reader: trial.reader)
            let metadata = try await trial.metadata(source)
            let stored = try await store.put(
                source, as: trial.name("heron07-0042-061811Z.wav"), metadata, mode: .create
            ) { _ in Issue.record("sent") }
            #expect(stored.sha256 == metadata.sha256 && stored.metadata == nil)
            for number in [43, 44] {
                await trial.expectProblem(.conflict) {
                    _ = try await store.put(
                        source, as: trial.name("heron07-00\(number)-061811Z.wav"), metadata, mode: .create
                    ) { _ in Issue.record("sent") }
                }
            }
        }
    }

    @Test("S3: each refusal says what to correct, and no secret")
    func refusals() async throws {
        let server = try S3Server(checksKeys: true)
        let key = try server.key()
        let place = "outbox: http://127.0.0.1:\(server.server.port)"
        let wrong = "\(trial.folder)/wrong"
        func sentences(_ settings: Settings.Outbox.S3) async throws -> Set<String> {
            var sentences: Set<String> = []
            try await with(settings) { store in
                let source = UploadSource([1], called: "a", reader: trial.reader)
                let metadata = try await trial.metadata(source)
                let attempts: [() async throws -> Void] = [
                    {
                        _ = try await store.put(source, as: trial.name("a-0001-061811Z.wav"), metadata, mode: .create) {
                            _ in
                        }
                    },
                    { try await store.list { _ in } }, { try await store.tidy() },
                ]
                for attempt in attempts {
                    do {
                        try await attempt()
                        Issue.record("it did not fail")
                    } catch let error as StoreError {
                        #expect(error.problem == .refused)
                        #expect(!error.sentence.contains(key.id) && !error.sentence.contains(key.key))
                        sentences.insert(error.sentence)
                    }
                }
            }
            return sentences
        }
        var settings = server.settings(prefix: "")
        settings.credentialsFile = wrong
        try server.write(id: key.id, key: "wrong", to: wrong)
        #expect(
            try await sentences(settings) == [
                "\(place)/recordings: does not accept the key (SignatureDoesNotMatch: The request signature we calculated does not "
                    + "match the signature you provided. Check your key and signing method.): correct access_key_id and "
                    + "secret_access_key in \(wrong)"
            ])
        try server.write(id: "AKIAWRONG", key: key.key, to: wrong)
        #expect(
            try await sentences(settings) == [
                "\(place)/recordings: does not accept the key (InvalidAccessKeyId: The AWS Access Key Id you provided does not exist "
                    + "in our records.): correct access_key_id and secret_access_key in \(wrong)"
            ])
        settings = server.settings(prefix: "")
        settings.bucket = "none"
        #expect(
            try await sentences(settings) == [
                "\(place)/none: no such bucket: make it, or correct bucket in [outbox.s3]"
            ])
        settings.bucket = nil
        await trial.expectProblem(.refused) { try await with(settings) { _ in } }
        settings = server.settings(prefix: "")
        settings.endpoint = "http://user:secret@127.0.0.1"
        await trial.expectProblem(.refused) { try await with(settings) { _ in } }
        server.server.stop()
        settings.endpoint = server.settings().endpoint
        settings.credentialsFile = wrong
        await trial.expectProblem(.away) { try await with(settings) { try await $0.list { _ in } } }
    }
}

extension S3StoreTests {
    /// A file of random bytes, made faster than by `StoreTrial.file`.
    private func file(_ name: String, mebibytes: Int, seed: UInt64 = 1) throws -> String {
        var random = SeededRandom(seed: seed)
        var data = Data(capacity: mebibytes << 20)
        for _ in 0..<(mebibytes << 10) {
            let word = random.next()
            data.append(contentsOf: [UInt8](repeating: UInt8(truncatingIfNeeded: word), count: 1016))
            withUnsafeBytes(of: word) { data.append(contentsOf: $0) }
        }
        let path = "\(trial.folder)/\(name)"
        try data.write(to: URL(filePath: path))
        return path
    }

    /// The keys of the server's multipart uploads.
    private func unfinished(_ server: S3Server) throws -> [String] {
        try server.python(
            """
            print("\\n".join(sorted(u["Key"] for u in s3.list_multipart_uploads(Bucket="recordings").get("Uploads", []))))
            """
        ).split(separator: "\n").map(String.init)
    }

    private func abortAll(_ server: S3Server) throws {
        try server.python(
            """
            for u in s3.list_multipart_uploads(Bucket="recordings")["Uploads"]:
                s3.abort_multipart_upload(Bucket="recordings", Key=u["Key"], UploadId=u["UploadId"])
            """)
    }
}

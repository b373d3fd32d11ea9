import Foundation
import NIOHTTP1
import OtherPrograms
import Settings
import StoreTrials
import Synchronization
import Takes
import Testing

@testable import Upload
@testable import WebStores

/// The S3 tests with a service other than moto.
@Suite(.serialized, .needsServers, .enabled(if: S3SwiftServer.isInstalled, "OpenStack Swift is not installed"))
struct S3SwiftTests {
    let trial: StoreTrial
    let server: S3SwiftServer
    let settings: Settings.Outbox.S3

    init() throws {
        trial = try StoreTrial()
        server = try S3SwiftServer()
        var settings = Settings().outbox.s3
        settings.endpoint = server.endpoint
        settings.bucket = server.bucket
        settings.prefix = "heron07/"
        settings.credentialsFile = "\(trial.folder)/credentials"
        self.settings = settings
        try write(key: server.key)
    }

    private func write(key: String) throws {
        try Data("access_key_id = \(server.id)\nsecret_access_key = '\(key)'\n".utf8)
            .write(to: URL(filePath: settings.credentialsFile))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: settings.credentialsFile)
    }

    private func with(
        _ settings: Settings.Outbox.S3, ahead: Duration = .zero, asked: @escaping @Sendable () -> Void = {},
        _ body: (S3Store) async throws -> Void
    ) async throws {
        let web = try Web()
        do {
            try await body(
                S3Store(settings, web: web, resume: trial.resume, kit: "heron07") {
                    asked()
                    return WallTime(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000)) + ahead
                })
        } catch {
            await web.close()
            throw error
        }
        await web.close()
    }

    @Test("S3: takes are stored elsewhere, below any prefix")
    func check() async throws {
        for prefix in ["", "höhe 7+a&b=c%41/", "it's (*)/?b#c;/"] {
            var settings = settings
            settings.prefix = prefix
            try await with(settings) { store in
                try await trial.check(store, byteCounts: [0, 1, 100_000, prefix.isEmpty ? 9_000_000 : 2])
                try await store.tidy()
            }
        }
    }

    @Test("S3: a clock that is wrong is set right by the server's answer, once for all")
    func clock() async throws {
        for seconds in [-3600, 3600, 90_000_000] {
            let count = Atomic(0)
            try await with(settings, ahead: .seconds(seconds), asked: { count.add(1, ordering: .relaxed) }) { store in
                #expect(try await store.head(trial.name("heron07-0042-061811Z.wav")) == nil)
                let before = count.load(ordering: .relaxed)
                try await store.list { #expect($0.isEmpty) }
                // The clock is read for the request, for the difference, and for the repeated request.
                #expect(before == 3 && count.load(ordering: .relaxed) == before + 1)
            }
        }
    }

    @Test("S3: a wrong key, region or bucket is refused, and says what to correct")
    func refusals() async throws {
        func sentence(_ settings: Settings.Outbox.S3, _ body: (S3Store) async throws -> Void) async throws -> String {
            var sentence = ""
            try await with(settings) { store in
                do {
                    try await body(store)
                } catch let error as StoreError {
                    #expect(error.problem == .refused)
                    sentence = error.sentence
                }
            }
            return sentence
        }
        func list(_ store: S3Store) async throws { try await store.list { _ in } }
        func head(_ store: S3Store) async throws { _ = try await store.head(trial.name("heron07-0042-061811Z.wav")) }
        var region = settings
        region.region = "eu-west-9"
        let place = "outbox: \(server.endpoint)"
        for ask in [list, head] {
            #expect(
                try await sentence(region, ask)
                    == "\(place)/recordings: the bucket is in another region: write region = \"us-east-1\" in [outbox.s3], not "
                    + "\"eu-west-9\"")
        }
        var bucket = settings
        bucket.bucket = "none"
        #expect(
            try await sentence(bucket, list)
                == "\(place)/none: no such bucket: make it, or correct bucket in [outbox.s3]")
        try write(key: "wrong")
        for ask in [list, head] {
            let sentence = try await sentence(settings, ask)
            #expect(sentence.hasPrefix("\(place)/recordings: does not accept the key (SignatureDoesNotMatch: "))
            #expect(sentence.hasSuffix("): correct access_key_id and secret_access_key in \(settings.credentialsFile)"))
        }
    }

    @Test("S3: bytes that are not those of the signed hash, or of the checksum, are refused by the server")
    func checksums() async throws {
        let web = try Web()
        let bucket = try S3Bucket(settings, web: web) {
            WallTime(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
        }
        let sent = UploadSource([1, 2, 3], called: "sent", reader: trial.reader)
        let meant = UploadSource([1, 2, 4], called: "meant", reader: trial.reader)
        for (payload, checksum) in [(sent, meant), (meant, sent)] {
            let headers = S3Store.checksum(try await checksum.sha256())
            let body = S3Bucket.Body.part(sent, 0..<3, sha256: try await payload.sha256(), md5: [], report: { _ in })
            await trial.expectProblem(.damaged) {
                do {
                    try await bucket.ask(.init(method: .PUT, key: "a", headers: headers, body: body))
                } catch let failure as S3Failure {
                    throw failure.error(of: bucket)
                }
            }
        }
        await web.close()
    }

    @Test("S3: an upload that was cut elsewhere goes on, and others are aborted")
    func resume() async throws {
        let object = trial.name("heron07-0042-061811Z.wav")
        let path = try trial.file("a", byteCount: 20_000_000)
        for isKept in [false, true] {
            let source = try await trial.source(path)
            let metadata = try await trial.metadata(source)
            try await with(settings) { store in
                let isCancelled = await trial.isCancelled(after: 9_000_000) {
                    _ = try await store.put(source, as: object, metadata, mode: .create, report: $0)
                }
                #expect(isCancelled)
            }
            if !isKept {
                await trial.resume.remove(object, in: "s3:\(server.endpoint)/recordings/heron07/")
            }
            try await with(settings) { try await $0.tidy() }
        }
        try await with(settings) { store in
            let source = try await trial.source(path)
            let metadata = try await trial.metadata(source)
            let count = Atomic(0)
            // A part that is already there is reported once, a sent one in pieces of 256 KiB.
            let stored = try await store.put(source, as: object, metadata, mode: .create) { _ in
                count.add(1, ordering: .relaxed)
            }
            #expect(count.load(ordering: .relaxed) == 1 + 32 + 13 + 1 && stored.metadata == metadata)
            #expect(try await trial.contents(of: object, in: store) == Data(contentsOf: URL(filePath: path)))
            try await store.delete(object)
        }
    }
}

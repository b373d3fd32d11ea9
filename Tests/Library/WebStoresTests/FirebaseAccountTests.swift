import Foundation
import OtherPrograms
import Settings
import StoreTrials
import Synchronization
import Takes
import Testing
import Upload

@testable import WebStores

@Suite(.serialized, .needsServers)
struct FirebaseAccountTests {
    let servers: FirebaseServers
    let trial: StoreTrial
    var object: ObjectName { trial.name("heron07-0042-061811Z.wav") }
    var google: String { "http://127.0.0.1:\(servers.google.port)" }

    init() throws {
        servers = try FirebaseServers()
        trial = servers.trial
    }

    private func sentence(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return "no error"
        } catch {
            return "\(error)"
        }
    }

    @Test("Firebase: a token is granted once, until five minutes before its end, and again when it is not accepted")
    func cached() async throws {
        let store = try servers.store()
        for _ in 0..<3 { #expect(try await store.head(object) == nil) }
        #expect(try servers.control().grants == 1)
        try servers.control(#"{"revoke": true, "expires_in": 299}"#)
        #expect(try await store.head(object) == nil)
        #expect(try servers.control().grants == 2)
        for _ in 0..<3 { #expect(try await store.head(object) == nil) }
        #expect(try servers.control().grants == 5)
    }

    /// A test sets `now`. The calendar is the machine's, because the service compares times with it.
    private final class MovedClock: Clock {
        private let time = Mutex(Instant(nanoseconds: 0))

        func now() -> Instant { time.withLock { $0 } }
        func wallTime() -> WallTime { SystemClock().wallTime() }
        func pass(_ duration: Duration) { time.withLock { $0 = $0 + duration } }
    }

    @Test("Firebase: a token of an hour is used for 55 minutes")
    func lifetime() async throws {
        let clock = MovedClock()
        let store = try servers.store(clock: clock)
        var grants: [Int] = []
        for duration in [0, 3299, 1, 3299, 1] {
            clock.pass(.seconds(duration))
            #expect(try await store.head(object) == nil)
            grants.append(try servers.control().grants)
        }
        #expect(grants == [1, 1, 2, 2, 3])
    }

    @Test("Firebase: a key that is not accepted is refused with a reason, and no secret")
    func refused() async throws {
        try servers.control(#"{"skew": 7200}"#)
        let store = try servers.store()
        #expect(
            await sentence { _ = try await store.head(object) }
                == "outbox: \(google): does not accept the key of kit@project.iam.gserviceaccount.com in "
                + "\(servers.settings.serviceAccountFile): invalid_grant: Invalid JWT: Token must be a short-lived token (60 minutes) "
                + "and in a reasonable timeframe. Check your iat and exp values.: set the kit's clock")
        await trial.expectProblem(.refused) { _ = try await store.head(object) }

        // Another account's key.
        try servers.control(#"{"skew": 0}"#)
        let other = try FirebaseServers()
        var file = try String(contentsOfFile: other.settings.serviceAccountFile, encoding: .utf8)
        file.replace("\(other.google.port)", with: "\(servers.google.port)")
        let path = "\(trial.folder)/other.json"
        try write(file, path)
        var settings = servers.settings
        settings.serviceAccountFile = path
        let stranger = try servers.store(settings)
        let said = await sentence { _ = try await stranger.head(object) }
        #expect(
            said
                == "outbox: \(google): does not accept the key of kit@project.iam.gserviceaccount.com in \(path): invalid_grant: "
                + "Invalid JWT Signature.: make a new key of that account, and see whether the kit's clock is right")
    }

    @Test("Firebase: a token endpoint that is away or busy is waited for")
    func busy() async throws {
        try servers.control(#"{"token": {"status": 503, "headers": {"Retry-After": "7"}}}"#)
        let store = try servers.store()
        await trial.expectProblem(.busy(.seconds(7))) { _ = try await store.head(object) }
        servers.google.stop()
        await trial.expectProblem(.away) { _ = try await store.head(object) }
        #expect(
            await sentence { _ = try await store.head(object) }
                == "outbox: \(google): cannot be reached: Connection refused")
    }

    @Test("Firebase: the plan of a bucket names it, also if it cannot be opened")
    func plan() throws {
        var settings = Settings()
        let context = trial.context
        settings.outbox.firebase.bucket = "recordings"
        settings.outbox.firebase.prefix = "kits/"
        settings.outbox.firebase.serviceAccountFile = "\(trial.folder)/none.json"
        let plan = try #require(StorePlan.plan(.firebase, settings, context))
        #expect(plan.name == "firebase:https://storage.googleapis.com/recordings/kits/" && plan.needsClock)
        #expect(throws: StoreError.self) { try plan.open() }
        settings.outbox.firebase = servers.settings
        let local = try #require(StorePlan.plan(.firebase, settings, context))
        #expect(local.name == "firebase:\(google)/recordings/take s/ä+" && !local.needsClock)
        #expect(try local.open().name == local.name)
    }

    @Test("Firebase: a file that is no key of a service account is refused, and its text is not shown")
    func keyFile() async throws {
        var settings = servers.settings
        settings.serviceAccountFile = "\(trial.folder)/key.json"
        let path = settings.serviceAccountFile
        for (text, expected) in [
            (
                #"{"type": "hush"}"#,
                "outbox: \(path): is not a key of a service account: make one in the Google Cloud console (IAM, Service accounts, Keys, JSON)"
            ),
            (
                #"{"client_email": "a@b", "private_key": "hush"}"#,
                "outbox: \(path): its private_key is not an RSA key (PEM): download the key again"
            ),
        ] {
            try write(text, path)
            #expect(await sentence { _ = try servers.store(settings) } == expected)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(
            await sentence { _ = try servers.store(settings) }
                == "outbox: \(path): others than its owner may use it: chmod 600 \(path)")
        let key = try String(contentsOfFile: servers.settings.serviceAccountFile, encoding: .utf8)
        try write(key.replacing("http://127.0.0.1", with: "http://192.0.2.1"), path)
        #expect(
            await sentence { _ = try servers.store(settings) }
                .hasSuffix(": what the key in \(path) signs would be sent unencrypted: use https:// in its token_uri"))
        // A server on this machine needs no key.
        settings.serviceAccountFile = "\(trial.folder)/none.json"
        settings.endpoint = "https://storage.example.org"
        #expect(await sentence { _ = try servers.store(settings) }.contains("none.json"))
        settings.endpoint = "http://storage.example.org"
        #expect(
            await sentence { _ = try servers.store(settings) }.hasSuffix(
                ": an access token of the account in \(settings.serviceAccountFile) would be sent unencrypted: use https://"
            ))
        settings.bucket = nil
        #expect(
            await sentence { _ = try servers.store(settings) }
                == "outbox: a bucket is missing: write bucket = \"…\" in [outbox.firebase]")
    }

    private func write(_ text: String, _ path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        var answer: String
        var problem: StoreError.Problem
        var sentence: String
        var testDescription: String { sentence }
    }

    @Test(
        "Firebase: what the service refuses says what to do",
        arguments: [
            Refusal(
                answer: #""status": 403, "reason": "forbidden", "message": "kit has no storage.objects.get""#,
                problem: .hidden,
                sentence: "kit@project.iam.gserviceaccount.com has not the right: grant it Storage Object Admin "
                    + "(roles/storage.objectAdmin) on the bucket: kit has no storage.objects.get"),
            Refusal(
                answer: #""status": 403, "reason": "rateLimitExceeded", "headers": {"Retry-After": "3"}"#,
                problem: .busy(.seconds(3)), sentence: "too many requests: "),
            Refusal(
                answer: #""status": 403, "reason": "quotaExceeded", "message": "no more""#, problem: .full,
                sentence: "the quota is used up: no more"),
            Refusal(
                answer: #""status": 413, "message": "too long""#, problem: .rejected,
                sentence: "the service does not take files of this length: too long"),
            Refusal(
                answer: #""status": 429, "headers": {"Retry-After": "11"}"#, problem: .busy(.seconds(11)),
                sentence: "the service is busy: status 429: "),
            Refusal(
                answer: #""status": 503, "message": "back\nsoon""#, problem: .busy(nil),
                sentence: "the service is busy: status 503: back soon"),
            Refusal(
                answer: #""status": 401, "message": "Invalid Credentials""#, problem: .refused,
                sentence:
                    "kit@project.iam.gserviceaccount.com is not accepted: make a new key, and see whether the kit's clock is "
                    + "right: Invalid Credentials"),
        ])
    func problems(refusal: Refusal) async throws {
        let store = try servers.store()
        try servers.control("{\"fail\": [{\"method\": \"GET\", \"times\": 4, \(refusal.answer)}]}")
        #expect(
            await sentence { _ = try await store.head(object) }
                == "outbox: \(google): asking bucket recordings: heron07-0042-061811Z.wav: \(refusal.sentence)")
        await trial.expectProblem(refusal.problem) { _ = try await store.head(object) }
    }

    @Test("Firebase: a bucket that does not exist is refused, whatever is asked")
    func bucket() async throws {
        var settings = servers.settings
        settings.bucket = "nowhere"
        let store = try servers.store(settings)
        let source = UploadSource([1], called: "a", reader: trial.reader)
        let metadata = try await trial.metadata(source)
        await trial.expectProblem(.refused) { _ = try await store.head(object) }
        await trial.expectProblem(.refused) { try await store.list { _ in } }
        await trial.expectProblem(.refused) { try await store.delete(object) }
        await trial.expectProblem(.refused) {
            _ = try await store.put(source, as: object, metadata, mode: .create) { _ in }
        }
        #expect(
            await sentence { try await store.list { _ in } }
                == "outbox: \(google): listing bucket nowhere: no such bucket: see [outbox.firebase] bucket, and make it in "
                + "the Firebase console")
        // The emulator does not say whether the bucket or the object is missing; the upload does.
        settings.endpoint = servers.emulatorSettings.endpoint
        settings.serviceAccountFile = servers.emulatorSettings.serviceAccountFile
        let emulator = try servers.store(settings)
        await trial.expectProblem(.refused) {
            _ = try await emulator.put(source, as: object, metadata, mode: .create) { _ in }
        }
    }
}

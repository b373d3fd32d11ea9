import Foundation
import Settings
import StoreTrials
import Takes
import Upload

@testable import WebStores

/// Servers for tests of `FirebaseStore`: an emulator, and a front end like Google's (`Resources/google.py`).
final class FirebaseServers: Sendable {
    let trial: StoreTrial
    let emulator: TestServer
    /// Requires tokens, and checks preconditions. The emulator does neither.
    let google: TestServer
    let web: Web

    static let bucket = "recordings"
    static let prefix = "take s/ä+"

    init() throws {
        trial = try StoreTrial()
        emulator = try TestServer("gcp-storage-emulator") { port, _ in
            ["start", "--host=127.0.0.1", "--port=\(port)", "--in-memory", "--default-bucket=\(Self.bucket)"]
        }
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Resources/google.py").path
        let behind = emulator.port
        google = try TestServer("python3") { port, _ in [script, "\(port)", "\(behind)"] }
        web = try Web()
    }

    deinit { Task { [web] in await web.close() } }

    /// The emulator itself, without a service account.
    var emulatorSettings: Settings.Outbox.Firebase {
        var settings = Settings().outbox.firebase
        settings.bucket = Self.bucket
        settings.prefix = Self.prefix
        settings.endpoint = "http://127.0.0.1:\(emulator.port)"
        settings.serviceAccountFile = "\(trial.folder)/none.json"
        return settings
    }

    /// The bucket behind the front end.
    var settings: Settings.Outbox.Firebase {
        var settings = emulatorSettings
        settings.endpoint = "http://127.0.0.1:\(google.port)/"
        settings.serviceAccountFile = "\(google.folder)/service-account.json"
        return settings
    }

    func store(
        _ settings: Settings.Outbox.Firebase? = nil, clock: any Clock = SystemClock()
    ) throws -> FirebaseStore {
        try FirebaseStore(settings ?? self.settings, web: web, resume: trial.resume, clock: clock)
    }

    /// The requests that the front end received: granted tokens, and bytes of uploads.
    struct Report: Decodable {
        var grants: Int
        var received: Int64
        /// `Content-Range` of the requests to upload sessions, in order.
        var ranges: [String]
    }

    /// Changes the behaviour of the front end.
    @discardableResult
    func control(_ change: String? = nil) throws -> Report {
        let answer = try python(
            """
            import urllib.request
            print(urllib.request.urlopen("http://127.0.0.1:\(google.port)/control", rb'''\(change ?? "{}")''').read().decode())
            """)
        return try JSONDecoder().decode(Report.self, from: Data(answer.utf8))
    }

    /// Puts an object into the emulator's bucket like another program.
    func upload(_ path: String, as name: String, metadata: [String: String] = [:]) throws {
        let metadata = try String(decoding: JSONEncoder().encode(metadata), as: UTF8.self)
        try python(
            """
            import json, sys, urllib.request
            name, path, metadata = sys.argv[1:]
            description = json.dumps({"name": name, "metadata": json.loads(metadata)}).encode()
            body = b"--b\\r\\nContent-Type: application/json\\r\\n\\r\\n" + description
            body += b"\\r\\n--b\\r\\nContent-Type: audio/wav\\r\\n\\r\\n" + open(path, "rb").read() + b"\\r\\n--b--\\r\\n"
            url = "http://127.0.0.1:\(emulator.port)/upload/storage/v1/b/\(Self.bucket)/o?uploadType=multipart"
            urllib.request.urlopen(urllib.request.Request(url, body, {"Content-Type": "multipart/related; boundary=b"}))
            """, Self.prefix + name, path, metadata)
    }

    /// Runs Python with Google's own client, and returns its output.
    @discardableResult
    func python(_ code: String, _ arguments: String...) throws -> String {
        try TestServer.python(
            code, arguments, environment: ["STORAGE_EMULATOR_HOST": "http://127.0.0.1:\(emulator.port)"])
    }
}

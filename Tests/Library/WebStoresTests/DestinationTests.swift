import Foundation
import Settings
import StoreTrials
import Testing
import Upload

@testable import WebStores

/// Settings with an unclear destination for takes.
struct DestinationTests {
    private let trial: StoreTrial
    init() throws { trial = try StoreTrial() }

    /// Opens a store by settings.
    /// - Returns: why it cannot be used, or nil if it can.
    private func refusal(_ kind: Settings.Outbox.Store, _ text: String) async -> StoreError? {
        let settings = Settings.parse(text, file: "fieldfare.toml").settings
        let context = trial.context
        do {
            let store = try StorePlan.plan(kind, settings, context)?.open()
            await store?.close()
            return nil
        } catch {
            return error as? StoreError
        }
    }

    private func credentials(_ more: String) throws -> String {
        let path = "\(trial.folder)/s3.credentials"
        try Data("access_key_id = kit\nsecret_access_key = secret\nusername = kit\npassword = secret\n\(more)\n".utf8)
            .write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
    }

    private func s3(_ rest: String, credentials more: String = "") throws -> String {
        """
        [outbox]
        store = "s3"
        [outbox.s3]
        bucket = "recordings"
        credentials_file = "\(try credentials(more))"
        \(rest)
        """
    }

    @Test(arguments: ["", "endpoint = \"https://minio.example.org:9000/base\""])
    func `a key whose file names another host is not used`(_ endpoint: String) async throws {
        let host = endpoint.isEmpty ? "s3.us-east-1.amazonaws.com" : "minio.example.org"
        #expect(await refusal(.s3, try s3(endpoint, credentials: "host = \(host)")) == nil)
        let found = try #require(await refusal(.s3, try s3(endpoint, credentials: "host = archive.example.org")))
        #expect(found.problem == .refused)
        #expect(
            found.sentence
                == "outbox: \(trial.folder)/s3.credentials: names the host archive.example.org, and the store is at "
                + (endpoint.isEmpty ? host : "minio.example.org:9000")
                + ": nothing is sent there: correct the store's address, or host in that file")
    }

    @Test func `a password whose file names another host is not used`() async throws {
        func webdav(_ host: String) throws -> String {
            """
            [outbox]
            store = "webdav"
            [outbox.webdav]
            url = "https://cloud.example.org/takes/"
            credentials_file = "\(try credentials("host = '\(host)'"))"
            """
        }
        #expect(await refusal(.webdav, try webdav("cloud.example.org")) == nil)
        let found = await refusal(.webdav, try webdav("example.org"))
        #expect(found?.problem == .refused)
        #expect(found?.sentence.contains("names the host example.org, and the store is at cloud.example.org") == true)
    }

    @Test func `settings that are right are used`() async throws {
        #expect(await refusal(.s3, try s3("")) == nil)
        #expect(await refusal(.s3, try s3("endpoint = \"https://minio.example.org\"")) == nil)
    }

    @Test(
        arguments: [
            ("endpont = \"https://minio.example.org\"", "outbox.s3.endpont: found an unknown key"),
            ("endpoint = \"htps://minio.example.org\"", "outbox.s3.endpoint: found"),
            ("endpoint = \"minio.example.org\"", "outbox.s3.endpoint: found"),
            ("endpoint = 9000", "outbox.s3.endpoint: found"),
            ("regoin = \"eu-west-1\"", "outbox.s3.regoin: found an unknown key"),
            ("prefix = 7", "outbox.s3.prefix: found"),
            ("[outbox.s33]\nendpoint = \"https://minio.example.org\"", "outbox.s33: found an unknown key"),
        ])
    func `what is misspelt of a bucket sends nothing to Amazon`(rest: String, sentence: String) async throws {
        let error = await refusal(.s3, try s3(rest))
        #expect(error?.problem == .refused)
        let text = error?.sentence ?? ""
        #expect(text.hasPrefix("outbox: fieldfare.toml:") && text.contains(": \(sentence)"), "\(text)")
        #expect(text.hasSuffix(": nothing is sent there before that is corrected"), "\(text)")
    }

    @Test func `a key that is outside of its section counts, one of something else does not`() async throws {
        #expect(
            await refusal(.s3, "[outbox]\nendpoint = \"https://minio.example.org\"\n" + (try s3("")).dropFirst(9))
                != nil)
        #expect(await refusal(.s3, "[outbox]\nwindow = 7\n" + (try s3("")).dropFirst(9)) == nil)
        #expect(await refusal(.s3, "[capture]\nrate = 7\n" + (try s3(""))) == nil)
        #expect(await refusal(.s3, try s3("[outbox.firebase]\nendpont = \"https://gcs.example.org\"")) == nil)
    }

    @Test(
        arguments: [
            "endpont = \"http://localhost:1\"", "endpoint = \"localhost:1\"", "endpoint = \"http://localhost:1?a=b\"",
            "endpoint = \"http://kit@localhost:1\"", "endpoint = \"http://:1\"",
        ])
    func `what is misspelt of a Firebase bucket sends nothing to Google`(rest: String) async throws {
        let key = "service_account_file = \"\(trial.folder)/none.json\""
        let text = { (rest: String) in
            "[outbox]\nstore = \"firebase\"\n[outbox.firebase]\nbucket = \"recordings\"\n\(key)\n\(rest)\n"
        }
        #expect(await refusal(.firebase, text("endpoint = \"http://localhost:1\"")) == nil)
        let error = await refusal(.firebase, text(rest))
        #expect(error?.problem == .refused)
        #expect(error?.sentence.contains("outbox.firebase") == true, "\(error?.sentence ?? "")")
    }

    @Test(arguments: [
        "https:///recordings", "https://minio.example.org?a=b", "https://kit@minio.example.org", "https://:9000",
        "https://minio.example.org:port", "https://minio..example.org", "https://minio_example,org",
        "https://minio.example.org:99999",
    ])
    func `an address that names no host is refused`(endpoint: String) async throws {
        let error = await refusal(.s3, try s3("endpoint = \"\(endpoint)\""))
        #expect(error?.problem == .refused)
        #expect(error?.sentence.contains("outbox.s3") == true, "\(error?.sentence ?? "")")
    }
}

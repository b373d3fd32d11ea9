import Foundation
import Settings
import StoreTrials
import Testing

@testable import Upload
@testable import WebStores

/// moto's S3 server with one bucket, and boto3 as another client of it.
final class S3Server: Sendable {
    let server: TestServer
    let bucket = "recordings"
    private let credentials: String

    /// - Parameters:
    ///   - checksKeys: whether requests need an existing key, a valid signature, and a right.
    ///   - denied: an action that the key may not do.
    init(checksKeys: Bool = false, denied: String = "s3:None", pageLength: Int = 1000) throws {
        // The first actions make the user and the bucket.
        let count = checksKeys ? "4" : "inf"
        server = try TestServer("/usr/bin/env") { port, _ in
            [
                "INITIAL_NO_AUTH_ACTION_COUNT=\(count)", "MOTO_S3_DEFAULT_MAX_KEYS=\(pageLength)",
                "\(TestServer.programs)/moto_server", "-H", "127.0.0.1", "-p",
                "\(port)",
            ]
        }
        credentials = "\(server.folder)/s3.credentials"
        let keys = try Self.python(
            server.port,
            """
            import json
            iam = client("iam")
            iam.create_user(UserName="kit")
            rights = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"},
                {"Effect": "Deny", "Action": "\(denied)", "Resource": "*"}]}
            iam.put_user_policy(UserName="kit", PolicyName="all", PolicyDocument=json.dumps(rights))
            key = iam.create_access_key(UserName="kit")["AccessKey"]
            client("s3").create_bucket(Bucket="\(bucket)")
            print(key["AccessKeyId"], key["SecretAccessKey"])
            """
        ).split(whereSeparator: \.isWhitespace).map(String.init)
        try write(id: keys[0], key: keys[1], to: credentials)
    }

    func write(id: String, key: String, to path: String) throws {
        try Data("access_key_id = \(id)\nsecret_access_key = \(key)\n".utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    /// The values of the key file.
    func key() throws -> (id: String, key: String) {
        let values = try SecretFile(credentials, credentials: nil).values("access_key_id", "secret_access_key")
        return (values[0].text, values[1].text)
    }

    func settings(prefix: String = "heron07/") -> Settings.Outbox.S3 {
        var settings = Settings().outbox.s3
        settings.endpoint = "http://127.0.0.1:\(server.port)"
        settings.bucket = bucket
        settings.prefix = prefix
        settings.credentialsFile = credentials
        return settings
    }

    /// Returns the output of a script with boto3; `s3` is its client, and `client(NAME)` makes another one.
    @discardableResult
    func python(_ script: String) throws -> String {
        let key = try key()
        return try Self.python(server.port, "s3 = client(\"s3\", \"\(key.id)\", \"\(key.key)\")\n" + script)
    }

    private static func python(_ port: Int, _ script: String) throws -> String {
        let client = """
            import boto3
            def client(name, id="none", key="none"):
                return boto3.client(name, endpoint_url="http://127.0.0.1:\(port)", region_name="us-east-1",
                    aws_access_key_id=id, aws_secret_access_key=key)

            """
        return try TestServer.python(client + script)
    }

    /// The answered requests, from the server's log: `PUT /recordings/…`.
    func requests(_ method: String) throws -> [String] {
        try String(contentsOfFile: "\(server.folder)/server.log", encoding: .utf8).split(separator: "\n")
            .compactMap { line in
                guard let start = line.range(of: "\"\(method) "), let end = line.range(of: " HTTP/1.1\"") else {
                    return nil
                }
                return String(line[line.index(after: start.lowerBound)..<end.lowerBound])
            }
    }

    /// The numbers of the sent parts, in order.
    func partsSent() throws -> [Int] {
        try requests("PUT").compactMap { line in
            line.split(whereSeparator: { "?& ".contains($0) }).first { $0.hasPrefix("partNumber=") }
                .flatMap { Int($0.dropFirst("partNumber=".count)) }
        }
    }
}

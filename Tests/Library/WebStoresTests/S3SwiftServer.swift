import Foundation
import StoreTrials

/// OpenStack Swift with its S3 protocol (`s3api`): one node, and one bucket. Unlike moto, it checks signatures of any
/// path, checksums, the region and the clock.
final class S3SwiftServer: Sendable {
    let endpoint: String
    let bucket = "recordings"
    let id = "test:tester"
    let key = "testing"
    private let servers: [TestServer]

    /// Whether OpenStack Swift is installed next to the other servers.
    static let isInstalled = FileManager.default.isExecutableFile(atPath: "\(TestServer.programs)/swift-proxy-server")

    init() throws {
        var servers: [TestServer] = []
        var rings: [(kind: String, ring: Data)] = []
        for kind in ["account", "container", "object"] {
            let server = try Self.start(kind, rings: []) { _, folder in
                """
                devices = \(folder)
                mount_check = false
                [pipeline:main]
                pipeline = \(kind)-server
                [app:\(kind)-server]
                use = egg:swift#\(kind)
                """
            }
            try FileManager.default.createDirectory(atPath: "\(server.folder)/d1", withIntermediateDirectories: true)
            for step in [["create", "4", "1", "1"], ["add", "r1z1-127.0.0.1:\(server.port)/d1", "1"], ["rebalance"]] {
                try Self.run("swift-ring-builder", ["\(server.folder)/\(kind).builder"] + step)
            }
            rings.append((kind, try Data(contentsOf: URL(filePath: "\(server.folder)/\(kind).ring.gz"))))
            servers.append(server)
        }
        let proxy = try Self.start("proxy", rings: rings) { _, _ in
            """
            [pipeline:main]
            pipeline = catch_errors cache listing_formats s3api tempauth bulk slo dlo proxy-server
            [app:proxy-server]
            use = egg:swift#proxy
            account_autocreate = true
            [filter:catch_errors]
            use = egg:swift#catch_errors
            [filter:cache]
            use = egg:swift#memcache
            [filter:listing_formats]
            use = egg:swift#listing_formats
            [filter:s3api]
            use = egg:swift#s3api
            [filter:tempauth]
            use = egg:swift#tempauth
            user_test_tester = testing .admin
            [filter:bulk]
            use = egg:swift#bulk
            [filter:slo]
            use = egg:swift#slo
            [filter:dlo]
            use = egg:swift#dlo
            """
        }
        self.servers = servers + [proxy]
        endpoint = "http://127.0.0.1:\(proxy.port)"
        try Self.run(
            "python",
            [
                "-c",
                """
                import boto3
                boto3.client("s3", endpoint_url="\(endpoint)", region_name="us-east-1", aws_access_key_id="\(id)",
                    aws_secret_access_key="\(key)").create_bucket(Bucket="\(bucket)")
                """,
            ])
    }

    private static func start(
        _ kind: String, rings: [(kind: String, ring: Data)], _ rest: (_ port: Int, _ folder: String) -> String
    ) throws -> TestServer {
        try TestServer("/usr/bin/env") { port, folder in
            for (kind, ring) in rings { try ring.write(to: URL(filePath: "\(folder)/\(kind).ring.gz")) }
            try Data(
                """
                [swift-hash]
                swift_hash_path_suffix = a
                swift_hash_path_prefix = b
                [storage-policy:0]
                name = one
                default = yes
                """.utf8
            ).write(to: URL(filePath: "\(folder)/swift.conf"))
            let head = """
                [DEFAULT]
                bind_ip = 127.0.0.1
                bind_port = \(port)
                workers = 0
                user = \(NSUserName())
                swift_dir = \(folder)

                """
            try Data((head + rest(port, folder)).utf8).write(to: URL(filePath: "\(folder)/\(kind).conf"))
            return ["\(TestServer.programs)/swift-\(kind)-server", "\(folder)/\(kind).conf", "-v"]
        }
    }

    private static func run(_ program: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "\(TestServer.programs)/\(program)")
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw TestServer.Failure(text: "\(program) \(arguments): \(process.terminationStatus)")
        }
    }
}

import Foundation
import OtherPrograms
import Settings
import StoreTrials
import Testing

@testable import Upload
@testable import WebStores

/// A real WebDAV server with its files in `files`.
struct WebDAVTestServer {
    let server: TestServer
    var files: String { "\(server.folder)/files" }
    var root: String { "http://127.0.0.1:\(server.port)" }

    /// Shared by all tests, because a client must be closed before it is released.
    static let web = Result { () throws(StoreError) in try Web() }

    static let user = "kit"
    static let password = "päss:wörd"

    /// How long a server waits for a client that reads nothing, in seconds. A test may wait that long for its turn
    /// among the other tests. The servers' own limits of 10 and 60 would then cut an answer off.
    private static let patience = 900

    /// WsgiDAV with stored properties.
    static func wsgidav(basic: Bool = true) throws -> WebDAVTestServer {
        let server = try TestServer("wsgidav") { port, folder in
            try makeFolder("\(folder)/files")
            let configuration = """
                {"host": "127.0.0.1", "port": \(port), "provider_mapping": {"/": "\(folder)/files"},
                 "property_manager": true, "server_args": {"timeout": \(patience)},
                 "simple_dc": {"user_mapping": {"*": {"\(user)": {"password": "\(password)"}}}},
                 "http_authenticator": {"accept_basic": \(basic), "accept_digest": \(!basic),
                     "default_to_digest": \(!basic)}}
                """
            try Data(configuration.utf8).write(to: URL(filePath: "\(folder)/wsgidav.json"))
            return ["--config", "\(folder)/wsgidav.json"]
        }
        return WebDAVTestServer(server: server)
    }

    /// WsgiDAV without configuration: no password, and no properties.
    static func plainWsgidav() throws -> WebDAVTestServer {
        let server = try TestServer("wsgidav") { port, folder in
            try makeFolder("\(folder)/files")
            let configuration = """
                {"host": "127.0.0.1", "port": \(port), "provider_mapping": {"/": "\(folder)/files"},
                 "server_args": {"timeout": \(patience)}, "simple_dc": {"user_mapping": {"*": true}}}
                """
            try Data(configuration.utf8).write(to: URL(filePath: "\(folder)/wsgidav.json"))
            return ["--config", "\(folder)/wsgidav.json"]
        }
        return WebDAVTestServer(server: server)
    }

    /// Apache with mod_dav. It refuses files of more than 10 MB. `/old` redirects to `/new`, `/closed` is forbidden to
    /// everybody, and `/busy` always answers busy.
    static func apache() throws -> WebDAVTestServer {
        let server = try TestServer(OtherProgram.apache.path) { port, folder in
            try makeFolder("\(folder)/files")
            for path in ["\(folder)", "\(folder)/files"] where getuid() == 0 {
                let owner = getpwnam("www-data").pointee
                chown(path, owner.pw_uid, owner.pw_gid)
            }
            let modules = [
                "mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_basic", "alias", "headers",
                "dav",
                "dav_fs",
            ]
            let configuration = """
                \(modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n"))
                ServerName 127.0.0.1
                Listen 127.0.0.1:\(port)
                PidFile \(folder)/apache.pid
                DefaultRuntimeDir \(folder)
                ErrorLog \(folder)/error.log
                Timeout \(patience)
                User www-data
                Group www-data
                DocumentRoot \(folder)/files
                DavLockDB \(folder)/locks
                RedirectMatch ^/old(.*) http://user:secret@127.0.0.1:1/new$1?session=secret
                Redirect 503 /busy
                LimitRequestBody 10000000
                <Location /busy>
                  Header always set Retry-After 120
                </Location>
                <Location /closed>
                  Require all denied
                </Location>
                <Directory \(folder)/files>
                  Dav On
                  AuthType Basic
                  AuthName files
                  AuthUserFile \(folder)/users
                  Require valid-user
                </Directory>
                """
            try Data(configuration.utf8).write(to: URL(filePath: "\(folder)/apache.conf"))
            try run(OtherProgram.htpasswd.path, ["-bcB", "\(folder)/users", user, password])
            // A single process, so that one signal ends the server.
            return ["-X", "-f", "\(folder)/apache.conf"]
        }
        return WebDAVTestServer(server: server)
    }

    /// rclone as a server of a folder.
    static func rclone() throws -> WebDAVTestServer {
        let server = try TestServer(OtherProgram.rclone.path) { port, folder in
            try makeFolder("\(folder)/files")
            return [
                "serve", "webdav", "\(folder)/files", "--addr", "127.0.0.1:\(port)", "--user", user, "--pass", password,
                "--config", "\(folder)/rclone.conf",
                // Otherwise, it does not notice the tests' changes on the disk for 5 minutes.
                "--dir-cache-time", "0s",
            ]
        }
        return WebDAVTestServer(server: server)
    }

    /// WsgiDAV with Nextcloud's and ownCloud's extensions (`Resources/nextcloud.py`).
    static func nextcloud(_ options: String...) throws -> WebDAVTestServer { try nextcloud(options) }

    static func nextcloud(_ options: [String]) throws -> WebDAVTestServer {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Resources/nextcloud.py").path
        let server = try TestServer("python3") { port, folder in
            for kind in ["files", "uploads"] { try makeFolder("\(folder)/files/remote.php/dav/\(kind)/\(user)") }
            return [script, "\(port)", user, password] + options
        }
        return WebDAVTestServer(server: server)
    }

    /// The folder of a Nextcloud user.
    static let nextcloudFolder = "/remote.php/dav/files/\(user)/recordings"

    /// Apache as a proxy for another server, which it contacts by another name.
    static func proxy(to port: Int) throws -> TestServer {
        try TestServer(OtherProgram.apache.path) { own, folder in
            let modules = ["mpm_event", "authz_core", "proxy", "proxy_http"]
            let configuration = """
                \(modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n"))
                ServerName 127.0.0.1
                Listen 127.0.0.1:\(own)
                PidFile \(folder)/apache.pid
                DefaultRuntimeDir \(folder)
                ErrorLog \(folder)/error.log
                Timeout \(patience)
                User www-data
                Group www-data
                ProxyPass / http://localhost:\(port)/
                """
            try Data(configuration.utf8).write(to: URL(filePath: "\(folder)/apache.conf"))
            return ["-X", "-f", "\(folder)/apache.conf"]
        }
    }

    /// The paths of the requests that `nextcloud.py` received.
    func requests(_ method: String) throws -> [String] {
        try String(contentsOfFile: "\(server.folder)/server.log", encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("\(method) ") }.map { String($0.dropFirst(method.count + 1)) }
    }

    /// The settings of a store on the server. They name a password file, which is made if there is a password.
    func settings(
        _ path: String = "/recordings/heron 07/", password: String? = Self.password
    ) throws -> Settings.Outbox.WebDAV {
        let credentials = "\(server.folder)/webdav.credentials"
        if let password {
            try Data("username = \(Self.user)\npassword = \(password)\n".utf8).write(to: URL(filePath: credentials))
            chmod(credentials, 0o600)
        }
        var settings = Settings().outbox.webdav
        settings.url = root + path
        settings.credentialsFile = credentials
        return settings
    }

    func store(
        _ trial: StoreTrial, _ path: String = "/recordings/", password: String? = Self.password
    ) throws -> WebDAVStore {
        try WebDAVStore(settings(path, password: password), web: Self.web.get(), resume: trial.resume, kit: "heron07")
    }

    /// The names in a folder of the server, without the server's own files.
    func names(_ folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "\(files)/\(folder)")) ?? []).filter { $0 != ".DAV" }
            .sorted()
    }

    func content(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: "\(files)/\(path)")) }

    static func makeFolder(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    static func run(_ program: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(program)")
    }
}

import Foundation
import OtherPrograms
import Settings
import StoreTrials

@testable import Upload

/// OpenSSH's server on a free port, with its own keys, for the user who runs the tests.
final class SFTPServer: Sendable {
    let server: TestServer
    /// The folder of the stored files. Relative paths begin here.
    let files: String
    /// The file of the client's private key.
    let key: String
    /// The file of the server's key, with its port.
    let knownHosts: String

    /// - Parameter subsystem: the SFTP program for the folder of files; nil for no SFTP.
    init(subsystem: ((String) throws -> String?)? = nil) throws {
        // sshd requires this empty folder, owned by root. Its service makes it at boot.
        try? FileManager.default.createDirectory(atPath: "/run/sshd", withIntermediateDirectories: false)
        // sshd closes file descriptors that it does not know, and Foundation would treat that as its end. So it is the
        // child of a program that does not close them.
        server = try TestServer(OtherProgram.unshare.path) { port, folder in
            try Self.makeKey("\(folder)/host")
            try Self.makeKey("\(folder)/kit")
            let files = "\(folder)/files"
            try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: false)
            let sftp = try subsystem.map { try $0(files) } ?? "internal-sftp -d \(files)"
            let lines = [
                "ListenAddress 127.0.0.1:\(port)", "HostKey \(folder)/host", "PidFile none", "StrictModes no",
                "AuthorizedKeysFile \(folder)/kit.pub", "PasswordAuthentication no", "KbdInteractiveAuthentication no",
                "PermitRootLogin yes", "MaxStartups 100", sftp.map { "Subsystem sftp \($0)" } ?? "",
            ]
            try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: "\(folder)/sshd_config"))
            return ["--fork", "--kill-child", OtherProgram.sshd.path, "-D", "-e", "-f", "\(folder)/sshd_config"]
        }
        files = "\(server.folder)/files"
        key = "\(server.folder)/kit"
        knownHosts = "\(server.folder)/known_hosts"
        try write([server.port], to: knownHosts)
    }

    /// Makes a new pair of keys, `path` and `path.pub`.
    static func makeKey(_ path: String, passphrase: String = "") throws {
        try run(OtherProgram.sshKeygen.path, ["-q", "-t", "ed25519", "-N", passphrase, "-C", "", "-f", path])
    }

    /// Runs a program that must succeed.
    static func run(_ program: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw TestServer.Failure(text: "\(program): \(process.terminationStatus)")
        }
    }

    /// Writes a file of this server's key for these ports, as ssh-keyscan does.
    func write(_ ports: [Int], to path: String) throws {
        let key = try String(contentsOfFile: "\(server.folder)/host.pub", encoding: .utf8)
        let lines = ports.map { "[127.0.0.1]:\($0) \(key)" }
        try Data(lines.joined().utf8).write(to: URL(filePath: path))
    }

    var user: String { NSUserName() }
    /// The place in error sentences.
    var place: String { "sftp://\(user)@127.0.0.1:\(server.port)" }

    func settings(port: Int? = nil, folder: String? = nil) throws -> Settings.Outbox.SFTP {
        if let port { try write([server.port, port], to: knownHosts) }
        var settings = Settings().outbox.sftp
        settings.url = "sftp://\(user)@127.0.0.1:\(port ?? server.port)\(folder ?? files)"
        settings.keyFile = key
        settings.knownHostsFile = knownHosts
        return settings
    }

    /// A store with these time limits.
    func store(_ patience: SFTPConnection.Patience, folder: String? = nil) throws -> SFTPStore {
        let settings = try settings(folder: folder)
        let address = try SFTPAddress(settings.url ?? "")
        return try SFTPStore(address, kit: "heron07") { () throws(StoreError) in
            try SFTPConnection(
                SSHCommand(address, key: settings.keyFile, knownHosts: settings.knownHostsFile), patience: patience)
        }
    }
}

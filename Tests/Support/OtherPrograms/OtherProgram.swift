import Foundation
package import Testing

/// A program that others wrote, which tests run. A test that needs one that is not installed is skipped, and says so.
///
/// `deploy/test quick` reads the cases: one a line, with the program's name.
package enum OtherProgram: String, Sendable {
    case apache = "apache2"
    case bsdtar = "bsdtar"
    case chromium = "chromium"
    case curl = "curl"
    case ffmpeg = "ffmpeg"
    case flac = "flac"
    case gzip = "gzip"
    case htpasswd = "htpasswd"
    case java = "java"
    case mpv = "mpv"
    case openssl = "openssl"
    case python = "python3"
    case rclone = "rclone"
    case sha256sum = "sha256sum"
    case sox = "sox"
    case ssh = "ssh"
    case sshKeygen = "ssh-keygen"
    case sshd = "sshd"
    case tar = "tar"
    case unshare = "unshare"
    case unzip = "unzip"

    /// Where it is: on the `PATH`, or in a folder of the programs of root, which the `PATH` of others leaves out; nil: it is not installed.
    package var installedPath: String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (folders + ["/usr/sbin", "/sbin"]).lazy.map { "\($0)/\(rawValue)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Where it is. One that is not installed is looked for at its usual place, where it is not.
    package var path: String { installedPath ?? "/usr/bin/\(rawValue)" }

    /// Runs it to its end.
    /// - Returns: what it prints, errors too.
    /// - Throws: its status, if that is not 0; an error, if it is not installed.
    package func output(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(rawValue): \(text)")
        return text
    }
}

/// Python's programs of `Tests/Servers`, which `deploy/install-packages servers` installs.
package enum PythonServers {
    /// The folder of the programs.
    package static let programs =
        ProcessInfo.processInfo.environment["FIELDFARE_SERVERS"]
        ?? "\(FileManager.default.currentDirectoryPath)/.build/servers/bin"

    /// Whether they are installed.
    package static let areInstalled = FileManager.default.fileExists(atPath: "\(programs)/../installed")
}

extension Trait where Self == ConditionTrait {
    /// Skips a test on a machine that lacks one of these programs, and names it.
    package static func needs(_ programs: OtherProgram...) -> Self {
        let missing = programs.filter { $0.installedPath == nil }.map(\.rawValue)
        return .enabled(
            if: missing.isEmpty,
            "\(missing.joined(separator: ", ")) \(missing.count == 1 ? "is" : "are") not installed")
    }

    /// Skips a test on a machine without Python's servers.
    package static var needsServers: Self {
        .enabled(
            if: PythonServers.areInstalled,
            "the servers of Tests/Servers are not installed: deploy/install-packages servers installs them")
    }
}

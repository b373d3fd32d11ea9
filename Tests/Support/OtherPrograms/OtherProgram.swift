import Foundation
package import Testing

/// A third-party program that tests run. A test that needs a program that is not installed is skipped, with a message.
///
/// `deploy/test quick` reads the cases: there must be one on each line, with the program's name.
package enum OtherProgram: String, Sendable {
    case apache = "apache2"
    case bsdtar = "bsdtar"
    case chromium = "chromium"
    case clang = "clang"
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

    /// The program's path on the `PATH` or in root's program folders, which other users' `PATH` lacks. Nil if it is not
    /// installed.
    package var installedPath: String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (folders + ["/usr/sbin", "/sbin"]).lazy.map { "\($0)/\(rawValue)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// The program's path. For a program that is not installed, this is its usual path, where it does not exist.
    package var path: String { installedPath ?? "/usr/bin/\(rawValue)" }

    /// Runs the program to its end.
    /// - Returns: its output, including errors.
    /// - Throws: its exit status if that is not 0, or an error if it is not installed.
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

/// Python programs for `Tests/Servers`, which `deploy/install-packages servers` installs.
package enum PythonServers {
    package static let programs =
        ProcessInfo.processInfo.environment["FIELDFARE_SERVERS"]
        ?? "\(FileManager.default.currentDirectoryPath)/.build/servers/bin"

    package static let areInstalled = FileManager.default.fileExists(atPath: "\(programs)/../installed")
}

extension Trait where Self == ConditionTrait {
    /// Skips a test on a machine that lacks one of these programs, and names the missing ones.
    package static func needs(_ programs: OtherProgram...) -> Self {
        let missing = programs.filter { $0.installedPath == nil }.map(\.rawValue)
        return .enabled(
            if: missing.isEmpty,
            "\(missing.joined(separator: ", ")) \(missing.count == 1 ? "is" : "are") not installed")
    }

    /// Skips a test on a machine without the Python servers.
    package static var needsServers: Self {
        .enabled(
            if: PythonServers.areInstalled,
            "the servers of Tests/Servers are not installed: deploy/install-packages servers installs them")
    }
}

import Foundation
import Glibc
import OtherPrograms
import TestBench

/// A real server on a free port of the loopback address, with its own empty folder. It is stopped with this object.
package final class TestServer: @unchecked Sendable {
    package let port: Int
    /// Contains the server's files and configuration.
    package var folder: String { place.path }
    private let place = TestFolder()
    private let process = Process()

    /// The folder where `deploy/install-packages servers` installs the servers that are Python programs.
    package static let programs = PythonServers.programs

    /// Starts a program, and waits until it listens.
    /// - Parameters:
    ///   - program: an absolute path, or a program of `programs`.
    ///   - environment: variables in addition to those of this process.
    ///   - arguments: returns the arguments for the port and the folder.
    package init(
        _ program: String, environment: [String: String] = [:],
        _ arguments: (_ port: Int, _ folder: String) throws -> [String]
    ) throws {
        port = try Self.freePort()
        process.executableURL = URL(filePath: program.hasPrefix("/") ? program : "\(Self.programs)/\(program)")
        process.arguments = try arguments(port, folder)
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.currentDirectoryURL = URL(filePath: folder)
        let log = "\(folder)/server.log"
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        let output = FileHandle(forWritingAtPath: log)
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        while !Self.answers(port) {
            guard process.isRunning else {
                throw Failure(text: "\(program) ended: \((try? String(contentsOfFile: log, encoding: .utf8)) ?? "")")
            }
            usleep(20_000)
        }
    }

    deinit { stop() }

    /// The output of a script that the servers' Python runs.
    package static func python(
        _ script: String, _ arguments: [String] = [], environment: [String: String]? = nil
    ) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "\(programs)/python")
        process.arguments = ["-c", script] + arguments
        if let environment { process.environment = environment }
        // A pipe would be read by calls that a signal can interrupt.
        let folder = TestFolder()
        folder.write("", to: "printed")
        process.standardOutput = FileHandle(forWritingAtPath: "\(folder.path)/printed")
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(text: "python: \(process.terminationStatus)") }
        return (folder.text("printed") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    package var processIdentifier: Int32 { process.processIdentifier }

    package func stop() {
        if process.isRunning {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    package struct Failure: Error, CustomStringConvertible {
        package var text: String
        package init(text: String) { self.text = text }
        package var description: String { text }
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    package static func freePort() throws -> Int {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(number) }
        var address = address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(number, pointer, length) == 0 && getsockname(number, pointer, &length) == 0
            }
        }
        guard isBound else { throw Failure(text: "no free port: \(errno)") }
        return Int(in_port_t(bigEndian: address.sin_port))
    }

    package static func answers(_ port: Int) -> Bool {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(number) }
        return with(port) { connect(number, $0, $1) } == 0
    }

    /// Calls `body` with the loopback address and a port.
    static func with<Result>(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: address(port)) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                body(pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

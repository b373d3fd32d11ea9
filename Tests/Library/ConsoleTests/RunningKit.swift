import Control
import DiskCalls
import FinishedTakes
import Foundation
import OtherPrograms
import StoreTrials
import Takes
import TestBench

/// The real programs of a kit with a simulated card, in a temporary folder. They end with this object.
final class RunningKit {
    private let place = TestFolder()
    var folder: String { place.path }
    let library: TestServer
    /// The port for TLS.
    let tlsPort: Int
    private let watched = WatchedProgram()
    private var recorder: Process?
    /// The token of a paired phone.
    let token: String

    static let password = "wren and heron"

    /// The folder of the programs that were built with the tests.
    static let programs = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        .path

    /// The folder that takes are sent to, if any.
    var home: String { "\(folder)/home" }

    /// The folder of the history that the pages show. A simulated recorder keeps none.
    var history: String { "\(folder)/history" }

    /// - Parameters:
    ///   - console: lines of the settings' section.
    ///   - sends: whether takes are sent to the folder `home`.
    init(console: String = "", sends: Bool = false) throws {
        let folder = place.path
        for name in ["takes", "home"] { place.makeFolder(name) }
        let settings = "\(folder)/fieldfare.toml"
        place.write("\(Self.password)\n", to: "console.password")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(folder)/console.password")
        let secure = try TestServer.freePort()
        tlsPort = secure
        library = try TestServer(
            "\(Self.programs)/fieldfare-library", environment: watched.environment
        ) { port, _ in
            try """
            [kit]
            name = "heron07"
            [takes]
            directory = "\(folder)/takes"
            rejoin_seconds = 0
            [control]
            socket = "\(folder)/recorder.sock"
            [library]
            socket = "\(folder)/library.sock"
            directory = "\(folder)/library"
            [outbox]
            store = "\(sends ? "folder" : "none")"
            [outbox.folder]
            path = "\(folder)/home"
            [console]
            listen = "127.0.0.1:\(port)"
            \(console)

            """.write(toFile: settings, atomically: true, encoding: .utf8)
            return ["--settings", settings, "--tls", "127.0.0.1:\(secure)", "--history", "\(folder)/history"]
        }
        while !TestServer.answers(secure) { usleep(20_000) }
        token = try Curl(library.port).pair(name: "test", password: Self.password)
        try startRecorder()
    }

    deinit {
        stopRecorder()
        library.stop()
        watched.end()
    }

    /// Starts the recorder, and waits until it answers.
    /// - Parameter takes: the folder for takes below the kit's folder; nil for the library's folder.
    func startRecorder(takes: String? = nil) throws {
        var settings = "\(folder)/fieldfare.toml"
        if let takes {
            let text = try String(contentsOfFile: settings, encoding: .utf8)
            settings = "\(folder)/elsewhere.toml"
            try FileManager.default.createDirectory(atPath: "\(folder)/\(takes)", withIntermediateDirectories: true)
            try text.replacing("directory = \"\(folder)/takes\"", with: "directory = \"\(folder)/\(takes)\"")
                .write(toFile: settings, atomically: true, encoding: .utf8)
        }
        let process = Process()
        process.executableURL = URL(filePath: "\(Self.programs)/fieldfare-recorder")
        process.arguments = ["--simulate", "--settings", settings]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        recorder = process
        while process.isRunning {
            if let status = try? ControlClient(path: "\(folder)/recorder.sock").ask(.status),
                status["armed"]?.bool == true
            {
                return
            }
            usleep(20_000)
        }
        throw TestServer.Failure(text: "the recorder ended")
    }

    func stopRecorder() {
        guard let process = recorder, process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
    }

    /// Stops the recorder process like one that hangs, or lets it continue.
    func holdRecorder(_ isHeld: Bool) {
        guard let process = recorder, process.isRunning else { return }
        kill(process.processIdentifier, isHeld ? SIGSTOP : SIGCONT)
    }

    /// The library's peak memory so far, in KiB.
    func peakMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(library.processIdentifier)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }
        guard let peak = line?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw TestServer.Failure(text: status)
        }
        return peak
    }

    /// Requests of the paired phone.
    var phone: Curl { Curl(library.port, cookie: "fieldfare=\(token)") }
    /// Requests of a browser that is not paired.
    var stranger: Curl { Curl(library.port) }

    /// Records a take, and waits until the library has it.
    /// - Parameter seconds: its minimum length.
    /// - Returns: its stem.
    func record(note: String? = nil, seconds: Int = 0) throws -> String {
        _ = try phone.post("/api/deck/record")
        while try phone.get("/api/status").json?["synced_seconds"]?.double ?? 0 < Double(seconds) { usleep(20_000) }
        if let note { _ = try phone.post("/api/deck/mark", "{\"note\":\"\(note)\"}") }
        let stopped = try phone.post("/api/deck/stop")
        guard let stem = stopped.json?["selected"]?.text else { throw TestServer.Failure(text: stopped.body) }
        while try phone.get("/api/takes/\(stem)").status != 200 { usleep(20_000) }
        return stem
    }

    /// Puts a take of one part into the folder for takes, and waits until the library has it.
    /// - Parameters:
    ///   - sound: whole frames, as many as the sidecar says.
    ///   - isDamaged: whether the sidecar has the fingerprint of another sound.
    /// - Returns: its stem.
    func add(_ sidecar: Sidecar, _ sound: [UInt8], isDamaged: Bool = false) throws -> String {
        try TakesOnDisk.write(sidecar, sound, in: "\(folder)/takes", isDamaged: isDamaged)
        while try phone.get("/api/takes/\(sidecar.take)").status != 200 { usleep(20_000) }
        return sidecar.take
    }
}

extension RunningKit {
    /// Runs a program in the kit's folder, and waits for its end.
    func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> (status: Int32, report: String) {
        try Self.run(program, arguments, environment: environment, in: folder)
    }

    /// Runs one of the Python programs for the servers, or a program by its path, and waits for its end.
    /// - Parameter folder: the program's working directory. Its output is kept there, too.
    /// - Returns: its exit status, and its output.
    static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], in folder: String
    ) throws -> (status: Int32, report: String) {
        let process = Process()
        let path = program.hasPrefix("/") ? program : "\(TestServer.programs)/\(program)"
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.currentDirectoryURL = URL(filePath: folder)
        let log = "\(folder)/\(process.executableURL?.lastPathComponent ?? "").log"
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        process.standardInput = FileHandle.nullDevice
        // Both through one handle: with two, each would write over what the other one wrote.
        let output = FileHandle(forWritingAtPath: log)
        process.standardOutput = output
        process.standardError = output
        try process.run()
        process.waitUntilExit()
        return (process.terminationStatus, try String(contentsOfFile: log, encoding: .utf8))
    }

    /// A file next to the tests.
    static func resource(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Resources/\(name)").path
    }
}

/// Requests by curl, as an independent client.
struct Curl {
    private let port: Int
    private let cookie: String?
    private let isSecure: Bool

    /// - Parameter isSecure: uses TLS, with any certificate.
    init(_ port: Int, cookie: String? = nil, isSecure: Bool = false) {
        self.port = port
        self.cookie = cookie
        self.isSecure = isSecure
    }

    struct Answer {
        var status: Int
        /// Names in lower case.
        var headers: [String: String]
        var bytes: Data
        var body: String { String(decoding: bytes, as: UTF8.self) }
        var json: JSONValue? { try? JSONValue(decoding: bytes) }
        /// The `detail` of a problem.
        var detail: String? { json?["detail"]?.text }
    }

    func get(_ path: String, _ options: [String] = []) throws -> Answer { try run("GET", path, nil, options) }
    func post(_ path: String, _ json: String = "{}") throws -> Answer { try run("POST", path, json, []) }
    func patch(_ path: String, _ json: String) throws -> Answer { try run("PATCH", path, json, []) }

    /// Waits until the take is not being sent any more. A take is shown as done shortly before its upload has ended.
    func delete(_ path: String) throws -> Answer {
        while true {
            let answer = try run("DELETE", path, nil, [])
            guard answer.detail?.hasSuffix("it is being sent: wait until it is there") == true else { return answer }
            usleep(20_000)
        }
    }

    /// - Returns: the token of the phone.
    func pair(name: String, password: String) throws -> String {
        try Self.token(of: post("/api/session", "{\"name\":\"\(name)\",\"password\":\"\(password)\"}"))
    }

    /// The token of the phone that was paired by this answer.
    static func token(of answer: Answer) throws -> String {
        let cookie = answer.headers["set-cookie"] ?? ""
        guard answer.status == 201, cookie.hasPrefix("fieldfare-"), let start = cookie.firstIndex(of: "="),
            let end = cookie.firstIndex(of: ";")
        else {
            throw TestServer.Failure(text: answer.body)
        }
        return String(cookie[start..<end].dropFirst())
    }

    func run(_ method: String, _ path: String, _ json: String?, _ options: [String]) throws -> Answer {
        let folder = TestFolder()
        let place = folder.path + "/answer"
        var arguments = [
            "--silent", "--globoff", "--path-as-is", "--max-time", "300", "-D", "\(place).head", "-o", "\(place).body",
        ]
        if isSecure { arguments.append("--insecure") }
        arguments += method == "HEAD" ? ["--head"] : ["-X", method]
        if let cookie { arguments += ["-H", "Cookie: \(cookie)"] }
        if let json {
            folder.write(json, to: "answer.in")
            arguments += ["--data-binary", "@\(place).in", "-H", "Expect:"]
            if !options.contains(where: { $0.hasPrefix("Content-Type") }) {
                arguments += ["-H", "Content-Type: application/json"]
            }
        }
        let process = Process()
        process.executableURL = URL(filePath: OtherProgram.curl.path)
        process.arguments = arguments + options + ["\(isSecure ? "https" : "http")://127.0.0.1:\(port)\(path)"]
        try process.run()
        process.waitUntilExit()
        let lines = try String(contentsOfFile: "\(place).head", encoding: .utf8).split(whereSeparator: \.isNewline)
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
        }
        let status = lines.first.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
        let bytes = (try? Data(contentsOf: URL(filePath: "\(place).body"))) ?? Data()
        return Answer(status: status, headers: headers, bytes: bytes)
    }
}

import Control
import DiskCalls
import Dispatch
import Foundation
import StoreTrials
import Takes
import TestBench
import Transport
import Workers

/// The real library of a kit, with a recorder that only supports pairing. Both end with this object.
final class PhonesKit {
    private let place = TestFolder()
    var folder: String { place.path }
    let library: TestServer
    let recorder: PairingRecorder
    private let watched = WatchedProgram()
    /// The port for TLS.
    let tlsPort: Int

    /// - Parameters:
    ///   - tlsPort: the port for TLS; nil for a free port, for which this waits.
    ///   - prepare: called with the kit's folder before the library starts.
    init(tlsPort: Int? = nil, prepare: (String) throws -> Void = { _ in }) throws {
        let secure = try tlsPort ?? TestServer.freePort()
        self.tlsPort = secure
        let folder = place.path
        for name in ["takes", "library"] { place.makeFolder(name) }
        try prepare(folder)
        recorder = try PairingRecorder("\(folder)/recorder.sock")
        library = try TestServer(
            "\(RunningKit.programs)/fieldfare-library", environment: watched.environment
        ) { port, _ in
            let settings = "\(folder)/fieldfare.toml"
            try """
            [kit]
            name = "heron07"
            [takes]
            directory = "\(folder)/takes"
            [control]
            socket = "\(folder)/recorder.sock"
            [library]
            socket = "\(folder)/library.sock"
            directory = "\(folder)/library"
            [outbox]
            store = "none"
            [console]
            listen = "0.0.0.0:\(port)"

            """.write(toFile: settings, atomically: true, encoding: .utf8)
            return ["--settings", settings, "--tls", "127.0.0.1:\(secure)"]
        }
        while tlsPort == nil, !TestServer.answers(secure) { usleep(20_000) }
    }

    deinit {
        library.stop()
        watched.end()
        recorder.stop()
    }

    /// Requests of a browser that is not paired.
    var stranger: Curl { Curl(library.port) }

    /// Requests of a browser that is not paired, by TLS.
    var secure: Curl { Curl(tlsPort, isSecure: true) }

    /// The code that pairs a phone.
    var code: String { get throws { try kept("pairing-code").trimmingCharacters(in: .newlines) } }
    var wrongCode: String { get throws { try code == "000000" ? "000001" : "000000" } }

    /// The names of the paired phones, from the library's file.
    func phones() throws -> [String] {
        guard case .array(let phones)? = try JSONValue(decoding: kept("phones.json").utf8)["phones"] else { return [] }
        return phones.compactMap { $0["name"]?.text }
    }

    private func kept(_ name: String) throws -> String {
        try String(contentsOfFile: "\(folder)/library/\(name)", encoding: .utf8)
    }

    func pair(_ name: String, _ code: String? = nil, by browser: Curl? = nil) throws -> Curl.Answer {
        let code = code.map { ",\"code\":\"\($0)\"" } ?? ""
        return try (browser ?? stranger).post("/api/session", "{\"name\":\"\(name)\"\(code)}")
    }

    /// Requests of a phone that is paired now.
    func pairedPhone(_ name: String) throws -> Curl {
        recorder.holdPlay()
        return try cookie(of: pair(name, code))
    }

    /// Requests of the phone that was paired by this answer.
    func cookie(of answer: Curl.Answer) throws -> Curl {
        guard answer.status == 201, let cookie = answer.headers["set-cookie"]?.split(separator: ";").first else {
            throw TestServer.Failure(text: answer.body)
        }
        return Curl(library.port, cookie: String(cookie))
    }
}

/// The recorder's side of the control socket, on its own thread.
final class PairingRecorder: Sendable {
    private let thread: Workers.Thread
    private let ending = Mailbox<Void>()
    private let kept = Locked(Kept())

    private struct Kept {
        var window = PairingWindow()
        var events: [PhoneEvent] = []
    }

    init(_ path: String) throws {
        let ready = DispatchSemaphore(value: 0)
        thread = try Workers.Thread(name: "recorder") { [ending, kept] in
            let handler = Handler(kept)
            let server = try? ControlServer(path: path, handler: handler)
            ready.signal()
            guard let server else { return }
            let loop = Loop(clock: SystemClock())
            loop.watch(server.fileDescriptor) { server.serve(SystemClock().now()) }
            loop.watch(ending.fileDescriptor) { loop.stop() }
            loop.run { server.turn($0) }
        }
        ready.wait()
    }

    /// The events that the history received.
    var events: [PhoneEvent] { kept.withLock(\.events) }

    func holdPlay() { kept.withLock { $0.window.open(at: SystemClock().now()) } }

    func stop() {
        ending.post(())
        thread.join()
    }

    private final class Handler: ControlHandler {
        let kept: Locked<Kept>

        init(_ kept: Locked<Kept>) { self.kept = kept }

        var status: Status {
            var status = Status(version: "0")
            status.pairing = kept.withLock { $0.window.isOpen(at: SystemClock().now()) }
            return status
        }

        func take(codeThatIsRight isRight: Bool) -> PairingWindow.Answer {
            kept.withLock { $0.window.take(codeThatIsRight: isRight, at: SystemClock().now()) }
        }

        func note(_ event: PhoneEvent) { kept.withLock { $0.events.append(event) } }
        func perform(_ command: Transport.Command, answer: Answer) { answer.succeed(status) }
        func list(_ inventory: Inventory, answer: Answer) { answer.succeed(inventory, [] as [JSONValue]) }
        func light(_ lamp: String, answer: Answer) { answer.succeed() }
        func setClock(to time: WallTime, answer: Answer) { answer.succeed(status) }
        func indicate(_ state: UploadState?) {}
    }
}

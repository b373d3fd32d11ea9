import Control
import Doctor
import Glibc
import Lines
import Ring
import Takes
import TestBench
import Testing
import Transport
import Workers

@testable import Commands

/// Stores a command's output, and requests the end once the expected text has appeared.
final class PaperConsole: Console {
    var output = ""
    var complaints: [String] = []
    var isTerminal = false
    var width = 40
    var showsUnicode = true
    var isFull = false
    /// A person's input, or nil if the input is not a terminal.
    var typed: String?
    private(set) var questions: [String] = []
    var onWrite: (String) -> Void = { _ in }
    var onComplaint: (String) -> Void = { _ in }

    func write(_ text: String) throws(Failure) {
        guard !isFull else { throw Failure(exitStatus: 74, "fieldfare: cannot write the output: disk full") }
        output += text
        onWrite(output)
    }

    func complain(_ sentence: String) {
        complaints.append(sentence)
        onComplaint(sentence)
    }

    func ask(_ question: String) -> String? {
        questions.append(question)
        return typed
    }

    var lines: [String] {
        output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).dropLast()
    }
}

final class PaperSignals: Signals {
    private var ends: [Int32] = [-1, -1]
    var suspensions = 0
    var fileDescriptor: Int32 { ends[0] }

    init() {
        unsafe pipe(&ends)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    }

    deinit {
        for end in ends { close(end) }
    }

    func send(_ kind: SignalKind) {
        var byte: UInt8 =
            switch kind {
            case .end: 0
            case .suspend: 1
            case .resize: 2
            }
        _ = unsafe Glibc.write(ends[1], &byte, 1)
    }

    func next() -> SignalKind? {
        var byte: UInt8 = 0
        guard unsafe read(ends[0], &byte, 1) == 1 else { return nil }
        return [.end, .suspend, .resize][Int(byte)]
    }

    func suspend() {
        suspensions += 1
    }
}

/// A recorder that carries out commands, on its own thread and socket.
final class DeskRecorder {
    let path: String
    private let folder = TestFolder()
    private var thread: Thread?
    private let ending: [Int32]
    let received: Received

    final class Received: Sendable {
        let commands = Locked<[Transport.Command]>([])
        let lit = Locked<[String]>([])
        let times = Locked<[WallTime]>([])
        let findings = Locked<[Finding]>([])
        let isRecording = Locked(false)
        let isIdle = Locked(false)
        /// Whether it reports that nothing is recorded or played.
        let isAtRest = Locked(false)
        /// The folder of its takes, or nil for the one in `recordingStatus`.
        let directory = Locked<String?>(nil)
        /// The size of its bin, or nil if it has no bin, like an older recorder.
        let binBytes = Locked<Int64?>(nil)
        let played = Locked<[String]>([])
        /// The reported volume, or nil to report none, like an older recorder.
        let volume = Locked<Double?>(nil)
    }

    var commands: [Transport.Command] { received.commands.withLock { $0 } }

    /// - Parameter watched: publishes events each time that a watcher connects. If it returns false, the recorder
    ///   restarts.
    init(watched: @escaping @Sendable (ControlServer, Int) -> Bool = { _, _ in true }) throws {
        path = folder.path + "/recorder.sock"
        var ends: [Int32] = [-1, -1]
        unsafe pipe(&ends)
        ending = ends
        received = Received()
        let (path, received, end) = (path, received, ends[0])
        var isListening: [Int32] = [-1, -1]
        unsafe pipe(&isListening)
        let ready = isListening[1]
        thread = try Thread(name: "recorder") {
            var starts = 1
            var byte: UInt8 = 0
            while true {
                let recorder = ScriptedRecorder(received)
                guard let server = try? ControlServer(path: path, handler: recorder) else { return }
                if starts == 1 { _ = unsafe Glibc.write(ready, &byte, 1) }
                var isWatched = false
                var goesOn = true
                while goesOn {
                    var files = [
                        pollfd(fd: server.fileDescriptor, events: Int16(POLLIN), revents: 0),
                        pollfd(fd: end, events: Int16(POLLIN), revents: 0),
                    ]
                    let now = SystemClock().now()
                    let next = server.turn(now).map { Int32(clamping: ($0 - now).nanoseconds / 1_000_000 + 1) }
                    unsafe poll(&files, 2, next ?? -1)
                    if files[1].revents != 0 { return }
                    if files[0].revents != 0 { server.serve(SystemClock().now()) }
                    if server.hasWatchers, !isWatched {
                        isWatched = true
                        goesOn = watched(server, starts)
                    }
                }
                starts += 1
            }
        }
        // No client may connect before it listens.
        var byte: UInt8 = 0
        _ = unsafe read(isListening[0], &byte, 1)
        for end in isListening { close(end) }
    }

    deinit {
        var byte: UInt8 = 0
        _ = unsafe Glibc.write(ending[1], &byte, 1)
        thread?.join()
        for end in ending { close(end) }
    }
}

private final class ScriptedRecorder: ControlHandler {
    private let received: DeskRecorder.Received
    private var clock = recordingStatus.clock
    var status: Status {
        guard !received.isAtRest.withLock({ $0 }) else { return Status(version: "0") }
        var status = recordingStatus
        status.clock = clock
        if let directory = received.directory.withLock({ $0 }) { status.directory = directory }
        status.binBytes = received.binBytes.withLock { $0 }
        status.volume = received.volume.withLock { $0 }
        return status
    }

    init(_ received: DeskRecorder.Received) {
        self.received = received
    }

    func perform(_ command: Transport.Command, answer: Answer) {
        received.commands.withLock { $0.append(command) }
        switch command {
        case .play(.number(99)): answer.refuse(Refusal(.notFound, "play: there is no take 99"))
        case .play: answer.refuse(Refusal(.busy, "play: a take is recorded: stop it first"))
        case .stop where received.isIdle.withLock({ $0 }): answer.succeed(Status(version: "0"))
        case .discard(let stem, _) where received.played.withLock({ $0.contains(stem) }):
            answer.refuse(Refusal(.busy, "discard: \(stem) is being played: stop it first"))
        case .discard: answer.succeed(status)
        case .filter(.hertz(90000), _, _):
            answer.refuse(Refusal(.usage, "filter: low-pass: found 90000 Hz, allowed is 20 to 21600 Hz at 48000 Hz"))
        case .gain(.decibels(90), _):
            answer.refuse(Refusal(.badData, "capture: hw:CARD=Mic: cannot set a gain of 90 dB"))
        case .gain(_, agc: true): answer.refuse(Refusal(.notFound, "capture: hw:CARD=Mic: the card lacks it"))
        case .mark(let mark) where mark.content.note == "io": answer.refuse(Refusal(.io, "mark: the disk failed"))
        case .mark(let mark) where mark.content.note == "data": answer.refuse(Refusal(.badData, "mark: bad"))
        case .mark(let mark) where mark.content.note == "bug": break
        case .record, .recordFrom, .stop, .eject, .pause, .skip, .mark, .select, .filter, .gain, .volume, .pitch,
            .speed, .settle,
            .restore, .empty:
            answer.succeed(status)
        }
    }

    func list(_ inventory: Inventory, answer: Answer) {
        switch inventory {
        case .cards: answer.succeed(inventory, [DeskCard()])
        case .lines: answer.succeed(inventory, deskLines)
        case .bin: answer.succeed(inventory, [BinnedTake]())
        case .doctor: answer.succeed(inventory, received.findings.withLock { $0 })
        }
    }

    func light(_ lamp: String, answer: Answer) {
        switch lamp {
        case "upload": answer.refuse(Refusal(.notFound, "light: upload: no such lamp"))
        case "fault" where received.isRecording.withLock({ $0 }):
            answer.refuse(Refusal(.busy, "light: a take is recorded"))
        default: answer.succeed()
        }
        received.lit.withLock { $0.append(lamp) }
    }

    func setClock(to time: WallTime, answer: Answer) {
        received.times.withLock { $0.append(time) }
        guard time.microseconds > 0 else {
            return answer.refuse(Refusal(.badData, "clock: the clock cannot have this time"))
        }
        clock = .manual
        answer.succeed(status)
    }

    func indicate(_ state: UploadState?) {}
}

/// A card in the recorder's form.
private struct DeskCard: Encodable {
    var id = "usb:0d8c:0014"
    var names = ["path:1-1.4", "usb:0d8c:0014", "card:Device"]
    var name = "USB Audio Device"
    var kind = "usb"
    var captures = true
    var combinations = [Combination()]
    var busy_by = "pid 812, pulseaudio"
    var playback_combinations = [Combination(channels: [2], rates_hz: [96000])]
    var playback_busy_by = "pid 813, aplay"

    struct Combination: Encodable {
        var format = "S16_LE"
        var channels = [1, 2]
        var rates_hz = [44100, 48000]
    }
}

private let deskLines = [
    LineReport(chip: "gpiochip0", offset: 17, name: "GPIO17", output: false, used: true, consumer: "fieldfare"),
    LineReport(chip: "gpiochip0", offset: 5, name: nil, output: true, used: false, consumer: nil),
    LineReport(chip: "gpiochip10", offset: 0, name: nil, output: false, used: true, consumer: nil),
]

let recordingStatus: Status = {
    var status = Status(version: "0")
    status.state = .recording
    status.take = "heron07-0042-061811Z"
    status.selected = "heron07-0041-060000Z"
    status.frames = 4_003_200
    status.elapsedSeconds = 83.4
    status.syncedSeconds = 82.6
    status.rateHz = 48_000
    status.channels = 2
    status.format = .s24Packed
    status.card = "usb:0d8c:0014"
    status.lowPassHz = 21_600
    status.levelDBFS = [Level(peak: -12.34, rms: -24), Level(peak: nil, rms: nil)]
    status.directory = "/nowhere/takes"
    status.freeBytes = 12_345_678_901
    status.reserveBytes = 536_870_912
    status.timeLeftSeconds = 41_005
    status.clock = .ntp
    return status
}()

/// A machine without its own settings, cards and lines.
let bareMachine = LocalAccess(places: { _ in barePlaces }, problems: { _ in [] }, list: { _, _ in [] })

/// Paths where nothing exists.
let barePlaces: LocalAccess.Places = {
    var places = LocalAccess.Places()
    places.recorderSocket = "/tmp/fieldfare-missing/recorder.sock"
    places.librarySocket = "/tmp/fieldfare-missing/library.sock"
    places.takes = "/tmp/fieldfare-missing/takes"
    return places
}()

/// Runs a command. Returns its exit status and its output.
func run(
    _ arguments: [String], at recorder: DeskRecorder? = nil, library: DeskLibrary? = nil,
    access: LocalAccess = bareMachine,
    console: PaperConsole = PaperConsole(), signals: PaperSignals = PaperSignals()
) -> (status: Int32, output: [String], complaints: [String]) {
    let sockets =
        (recorder.map { ["--socket", $0.path] } ?? []) + (library.map { ["--library-socket", $0.path] } ?? [])
    var session = Session(
        console: console, access: access, clock: TestClock(wallTime: WallTime(microseconds: 0)),
        retry: .milliseconds(2), signals: { () throws(Failure) in signals })
    // The mode of the developer's terminal stays as it is.
    session.input = -1
    let status = Fieldfare.run(sockets + arguments, in: session)
    return (status, console.lines, console.complaints)
}

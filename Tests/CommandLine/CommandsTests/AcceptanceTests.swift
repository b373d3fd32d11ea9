import Control
import Doctor
import Files
import Glibc
import History
import Lines
import Panel
import Settings
import SoundCard
import Takes
import TestBench
import Testing
import Transport

@testable import Commands

/// A simulated person at a kit, who reacts to each question as a test says. Used on one thread.
private final class Person: PressSource, LevelSource {
    let fileDescriptor: Int32 = -1
    var heldDown: Set<Button> = []
    var problems: [Button: String] = [:]
    let format = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16)
    var channelNumbers = [1, 2]
    /// The current levels of the two microphones, in dBFS.
    var levels: [Double?] = [-60, -62]
    var (rateComplaint, fallComplaint): (String?, String?) = (nil, nil)
    let card: String? = "card:Loopback"
    /// The questions so far.
    private(set) var asked: [String] = []
    /// The reaction to a question.
    var reaction: (Person, String) -> Void = { _, _ in }
    private var pressed: [Button] = []
    private var ends: [Int32] = [-1, -1]

    init() { unsafe pipe(&ends) }

    deinit {
        leave()
        close(ends[0])
    }

    var input: Int32 { ends[0] }

    func ask(_ question: String) {
        asked.append(question)
        reaction(self, question)
    }

    func press(_ button: Button) { pressed.append(button) }

    func type(_ line: String) {
        var bytes = Array(line.utf8) + [10]
        _ = unsafe Glibc.write(ends[1], &bytes, bytes.count)
    }

    /// Ends the input.
    func leave() {
        if ends[1] >= 0 { close(ends[1]) }
        ends[1] = -1
    }

    func problem(of button: Button) -> String? { problems[button] }

    func presses() -> [Button] {
        defer { pressed = [] }
        return pressed
    }

    func next(until limit: Instant) throws(LevelFailure) -> [Level]? {
        levels.map { Level(peak: $0, rms: $0.map { $0 - 10 }) }
    }

    /// Does everything that a person should do.
    static func willing(_ person: Person, _ question: String) {
        for button in Button.allCases where question.hasPrefix("press \(button.rawValue) ") { person.press(button) }
        person.levels = [-60, -62]
        for (index, channel) in person.channelNumbers.enumerated()
        where question.hasPrefix("tap the microphone of channel \(channel)") {
            person.levels[index] = -12
        }
        if question.contains("(Enter: ") { person.type("") }
    }
}

@Suite struct AcceptanceTests {
    private let folder = TestFolder()
    private let console = PaperConsole()
    private let signals = PaperSignals()
    private let person = Person()
    private var report: String { folder.path + "/report.txt" }

    init() {
        folder.write(
            """
            [kit]
            name = "heron"
            [takes]
            directory = "/nowhere/takes"
            [panel.buttons]
            record = { line = "B1" }
            stop = { line = "B2" }
            play = { line = "B3" }
            back = { chip = "gpiochip0", offset = 9 }
            forward = { line = "B5" }
            [panel.leds]
            record = { line = "L1" }
            play = { line = "L2" }
            upload = { line = "L3" }
            fault = { line = "L4" }

            """, to: "kit.toml")
    }

    private func machine() -> LocalAccess {
        var access = LocalAccess(
            places: { _ in barePlaces }, problems: { _ in [] }, list: { _, _ in [] },
            lightLamps: { _, isLit throws(Failure) in
                for lamp in [Lamp.record, .play, .upload, .fault] { try isLit(lamp, nil) }
            })
        // Safe: everything happens on one thread.
        nonisolated(unsafe) let person = person
        access.acceptance.lines = {
            [LineReport(chip: "gpiochip0", offset: 17, name: "B1", output: false, used: true, consumer: nil)]
        }
        access.acceptance.openButtons = { _ in unsafe person }
        access.acceptance.cards = { [] }
        access.acceptance.openMicrophone = { _ in unsafe person }
        access.acceptance.measureSpeed = { _ in .skipped("no room") }
        access.acceptance.testCapacity = { _, _ in .skipped("no room") }
        access.acceptance.model = { "Test Board" }
        access.history = folder.path + "/history"
        return access
    }

    private func run(
        _ access: LocalAccess, at recorder: DeskRecorder? = nil, settings: String = "kit.toml", options: [String] = [],
        output: String? = nil
    ) -> (status: Int32, output: [String], complaints: [String]) {
        console.onComplaint = { [person] in person.ask($0) }
        var session = Session(
            console: console, access: access, clock: TestClock(step: .milliseconds(100)), retry: .milliseconds(2),
            signals: { [signals] () throws(Failure) in signals })
        session.input = person.input
        let socket = recorder.map { ["--socket", $0.path] } ?? []
        let status = Fieldfare.run(
            socket + [
                "--settings", folder.path + "/" + settings, "doctor", "--acceptance", "--output", output ?? report,
            ]
                + options, in: session)
        return (status, console.lines, console.complaints)
    }

    private var written: String {
        get throws { String(decoding: try FileSystem().contents(report), as: UTF8.self) }
    }

    private func outcomes(_ output: [String]) -> [String] {
        output.filter { $0.contains(":") }.map { line in
            line.prefix { $0 != ":" }.split(separator: " ").joined(separator: " ")
        }
    }

    @Test func `a kit that is well is accepted, and the report says so`() throws {
        person.reaction = Person.willing
        let result = run(machine())
        #expect(result.status == 0, "\(result)")
        #expect(
            outcomes(result.output) == [
                "ok buttons record", "ok buttons stop", "ok buttons play", "ok buttons back", "ok buttons forward",
                "ok lamps record", "ok lamps play", "ok lamps upload", "ok lamps fault",
                "ok microphone channel 1", "ok microphone channel 2", "skipped card capacity", "skipped card speed",
            ])
        #expect(result.output.last == report)
        let text = try written
        #expect(text.contains("kit      heron\n") && text.contains("model    Test Board\n"))
        #expect(text.contains("result   11 ok, 2 skipped\n"))
        for line in result.output.dropLast() { #expect(text.contains(line + "\n")) }
        #expect(person.asked.contains("press record (B1, line 17 of gpiochip0); Enter: skip"))
        #expect(person.asked.contains("press back (line 9 of gpiochip0); Enter: skip"))
    }

    @Test func `without a person all is skipped or failed, and nothing is ok`() throws {
        person.leave()
        let result = run(machine())
        #expect(result.status == 74)
        #expect(try written.contains("result   5 failed, 6 skipped\n"))
        #expect(result.output[1].hasPrefix("failed   buttons stop: B2, on no chip: no press was seen in 20 s"))
        #expect(result.output[5] == "skipped  lamps record: nobody answered")
        #expect(result.complaints.last == "doctor: 5 checks failed: see \(report)")
    }

    @Test func `each wrong button, lamp and microphone is named`() throws {
        person.heldDown = [.stop]
        person.problems = [.play: "buttons: B3: no line of that name"]
        person.reaction = { person, question in
            switch question {
            case let text where text.hasPrefix("press back"): person.press(.forward)
            case let text where text.hasPrefix("press forward"):
                // The last pressed button may still be held.
                person.press(.forward)
            case let text where text.contains("play lamp"): person.type("n")
            case let text where text.hasPrefix("tap"): person.levels = [-60, -12]
            default: Person.willing(person, question)
            }
        }
        let result = run(machine())
        #expect(result.status == 74)
        #expect(
            outcomes(result.output).filter { $0.hasPrefix("failed") } == [
                "failed buttons stop", "failed buttons play", "failed buttons back", "failed lamps play",
                "failed microphone channel 1",
            ])
        #expect(result.output[3].contains("back was asked for, and forward was seen"))
        #expect(result.output[6].contains("L2: was lit and not seen"))
        #expect(result.output[9].contains("channel 2 answered instead"))
    }

    @Test func `channels that were chosen are asked for by their numbers on the card`() throws {
        person.channelNumbers = [4, 2]
        person.reaction = Person.willing
        let result = run(machine())
        let taps = person.asked.filter { $0.hasPrefix("tap") }
        #expect(taps == [4, 2].map { "tap the microphone of channel \($0) a few times; Enter: skip" })
        #expect(
            outcomes(result.output).filter { $0.contains("microphone") } == [
                "ok microphone channel 4", "ok microphone channel 2",
            ])
    }

    @Test func `a wrong rate and a signal that fell are a failure each, though each microphone answers`() throws {
        (person.rateComplaint, person.fallComplaint) = ("card:Mic: runs at 32000 Hz: check it", "it fell: check it")
        person.reaction = Person.willing
        let output = run(machine()).output
        #expect(outcomes(output).filter { $0.hasPrefix("f") } == ["failed microphone rate", "failed microphone level"])
        #expect(output.count { $0.hasSuffix(": check it") } == 2)
    }

    @Test func `a card that may not be the one that is meant is a warning`() throws {
        func report(_ id: String, _ kind: CardKind) -> CardReport {
            CardReport(
                CardDescription(
                    index: 0, alsaID: id, name: "\(id) card", driver: "", kind: kind, references: [.cardID(id)],
                    captureDevices: [0]))
        }
        person.reaction = Person.willing
        for (others, sentence) in [
            ([], "this is not a microphone (loopback), taken because nothing better is there: plug in a sound card"),
            ([report("Mic", .usb)], "card:Mic \"Mic card\" is better, and takes its place while nothing is recorded"),
        ] {
            var access = machine()
            let cards = [report("Loopback", .loopback)] + others
            access.acceptance.cards = { cards }
            let result = run(access)
            let warnings = result.output.filter { $0.hasPrefix("warning  microphone card: card:Loopback: ") }
            #expect(warnings.last?.contains(sentence) == true)
        }
    }

    @Test func `what a person skips is skipped, and not ok`() throws {
        person.reaction = { person, question in person.type(question.contains("Enter: skip") ? "" : "s") }
        let result = run(machine())
        #expect(result.status == 75)
        #expect(result.complaints.last == "doctor: nothing was checked: see \(report)")
        #expect(try written.contains("result   11 skipped\n"))
        #expect(!result.output.contains { $0.hasPrefix("ok") })
    }

    @Test func `an answer that is none is no yes, and is asked for again`() throws {
        person.reaction = { person, question in
            if question.hasPrefix("found '") { return person.type("n") }
            if question.hasPrefix("the fault lamp") || question.hasPrefix("card:") { return person.type("dark") }
            Person.willing(person, question)
        }
        let result = run(machine())
        #expect(result.status == 74)
        #expect(outcomes(result.output).filter { $0.hasPrefix("failed") } == ["failed lamps fault"])
        #expect(
            person.asked.contains("found 'dark': type y for yes, n for no, s to skip, and Enter; Enter alone is yes"))
        #expect(result.output.contains { $0.contains("card all: skipped by the person") })
    }

    @Test func `a button that the settings do not wire as they should is named`() throws {
        person.reaction = Person.willing
        folder.write("[panel.buttons]\nrecord = { line = \"B1\", pull = \"sideways\" }\n", to: "bad.toml")
        let result = run(machine(), settings: "bad.toml")
        #expect(result.status == 78)
        #expect(result.output[0].hasPrefix("failed   settings file: ") && result.output[0].contains("pull"))
    }

    @Test func `a card that does not open is one failure`() throws {
        person.reaction = Person.willing
        var access = machine()
        access.acceptance.openMicrophone = { _ throws(LevelFailure) in throw LevelFailure("capture: no card") }
        let result = run(access)
        #expect(result.output.contains("failed   microphone card: capture: no card"))
        #expect(result.status == 74)
    }

    @Test func `the card is tested at what its takes need, and no longer than a person wants`() throws {
        person.reaction = Person.willing
        let wanted = Locked<[AcceptanceAccess.Storage]>([])
        var access = machine()
        nonisolated(unsafe) let signals = signals
        access.acceptance.testCapacity = { storage, ending in
            wanted.withLock { $0.append(storage) }
            if ending() != nil { return .skipped("too early") }
            unsafe signals.send(.end)
            return ending().map { .ended($0) } ?? .skipped("not asked")
        }
        let result = run(access)
        #expect(
            wanted.withLock { $0 } == [
                .init(directory: "/nowhere/takes", bytesPerSecond: 192_000, reserveBytes: 512 << 20)
            ])
        #expect(result.output.contains("skipped  card capacity: /nowhere/takes: not tested: it was interrupted"))
        #expect(result.status == 75)
    }

    @Test func `Ctrl-C ends it, and what was checked until then is kept`() throws {
        nonisolated(unsafe) let signals = signals
        person.reaction = { person, question in
            if question.hasPrefix("the play lamp") {
                unsafe signals.send(.end)
            } else {
                Person.willing(person, question)
            }
        }
        let result = run(machine())
        #expect(result.status == 75)
        #expect(try written.contains("result   6 ok, 3 skipped\n"))
        #expect(result.output.contains("skipped  microphone rest: interrupted"))
        #expect(result.complaints.last == "doctor: interrupted: \(report) has the results so far")
    }

    @Test func `an output that is gone costs no report`() throws {
        person.reaction = { [console] person, question in
            if question.hasPrefix("the upload lamp") { console.isFull = true }
            Person.willing(person, question)
        }
        #expect(run(machine()).status == 74)
        #expect(try written.contains("ok       lamps play: was seen\n"))
    }

    @Test func `who gives up at the buttons leaves no take that is recorded`() throws {
        let recorder = try DeskRecorder()
        recorder.received.isAtRest.withLock { $0 = true }
        _ = try FileSystem().makeFolder(folder.path + "/history")
        nonisolated(unsafe) let signals = signals
        person.reaction = { person, question in
            guard question.hasPrefix("press stop") else { return person.type("") }
            // The press of record has begun a take.
            recorder.received.isAtRest.withLock { $0 = false }
            unsafe signals.send(.end)
        }
        #expect(run(machine(), at: recorder).status == 75)
        #expect(recorder.commands.contains(.stop))
    }

    @Test func `JSON goes to the output, and all else to the standard error`() throws {
        person.leave()
        let result = run(machine(), options: ["--json"])
        #expect(result.output.count == 1)
        let json = try JSONValue(decoding: Array(result.output[0].utf8))
        #expect(json["kit"] == .string("heron") && json["exit_status"] == .integer(74))
        guard case .array(let checks)? = json["checks"] else {
            Issue.record("no checks")
            return
        }
        #expect(checks.count == 11)
        #expect(checks[0]["outcome"] == .string("failed") && checks[0]["part"] == .string("buttons"))
    }

    @Test func `it refuses while a take is recorded`() throws {
        // The simulated recorder always records.
        let result = run(machine(), at: try DeskRecorder())
        #expect(result.status == 75)
        #expect(result.complaints == ["doctor: a take is being recorded: stop it first"])
        #expect(throws: FileError.self) { try FileSystem().contents(report) }
    }

    @Test func `a report that cannot be written is shown`() throws {
        person.leave()
        let result = run(machine(), output: "/nowhere/report.txt")
        #expect(result.status == 73)
        #expect(
            result.complaints.last?.hasPrefix("doctor: the report cannot be written: create /nowhere/report.txt")
                == true)
        #expect(result.complaints.contains { $0.hasPrefix("Fieldfare acceptance report") })
    }

    private func refused(_ options: [String]) -> Int32 {
        Fieldfare.run(["doctor"] + options, in: Session(console: console, access: machine()))
    }

    @Test func `options that do not fit are refused`() {
        #expect(refused(["--output", "x"]) == 64 && refused(["--leds", "--acceptance"]) == 64)
    }

    @Test func `presses that the recorder notes are seen, those of before are not`() throws {
        func press(_ button: String, _ uptime: Double) -> HistoryRecord {
            HistoryRecord(at: WallTime(microseconds: 0), uptime: uptime, .pressed(.init(button)))
        }
        let path = folder.path + "/history"
        #expect(throws: FileError.self) { try HistoryPresses(path, at: Instant(nanoseconds: 0)) }
        var writer = HistoryWriter(HistoryFolder(path))
        let start = HistoryRecord(
            at: WallTime(microseconds: 0), uptime: 3, .started(.init(version: "1", bootID: "b", before: .none)))
        var records = [press("play", 900), start, press("record", 99)]
        try writer.append(&records)
        let presses = try HistoryPresses(path, at: Instant(nanoseconds: 100_000_000_000))
        #expect(presses.presses() == [])
        records = [press("stop", 100.5), press("eject", 102), press("back", 103)]
        try writer.append(&records)
        #expect(presses.presses() == [.stop, .back])
        #expect(presses.presses() == [])
    }
}

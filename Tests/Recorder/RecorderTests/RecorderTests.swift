import Deck
import Glibc
import Ring
import Settings
import Takes
import Testing

@testable import Recorder
@testable import Simulation

@Suite struct LogTests {
    @Test func `a reader of the log that hangs delays nothing, and learns how much was left out`() {
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let log = Log(isJournal: false, descriptor: ends[1])
        let line = String(repeating: "x", count: 999)
        for _ in 0..<100 { log.write(Report(.info, line)) }
        var bytes = [UInt8](repeating: 0, count: 1 << 17)
        let taken = unsafe bytes.withUnsafeMutableBytes { unsafe read(ends[0], $0.baseAddress, $0.count) }
        #expect(taken > 0 && taken % 1000 == 0)
        log.write(Report(.info, "the next"))
        let rest = unsafe bytes.withUnsafeMutableBytes { unsafe read(ends[0], $0.baseAddress, $0.count) }
        #expect(
            String(decoding: bytes.prefix(max(0, rest)), as: UTF8.self)
                == "log: \(100 - taken / 1000) lines were left out: their reader was too slow\nthe next\n")
    }

    @Test func `under journald a line begins with its severity, elsewhere it does not`() {
        let report = Report(.warning, "capture: a sentence")
        #expect(Log(isJournal: true).text(report) == "<4>capture: a sentence\n")
        #expect(Log(isJournal: false).text(report) == "capture: a sentence\n")
    }

    @Test func `a report is one line, whatever is in it`() {
        #expect(Log(isJournal: true).text(Report(.error, "one\ntwo\r\nthree")) == "<3>one two three\n")
    }

    @Test func `a panel in the terminal takes what the log says, while it is drawn`() {
        let messages = Messages()
        let log = Log(isJournal: false).shown(by: messages)
        log.write(Report(.info, "a test writes this line"))
        #expect(messages.take() == [])
        messages.open()
        log.write(Report(.info, "a test writes this line too"))
        #expect(messages.take() == ["a test writes this line too"])
    }
}

@Suite struct SettingsMappingTests {
    @Test func `what the settings say reaches the deck`() {
        let text = """
            [kit]
            name = "heron07"
            [capture]
            card = "usb:0d8c:0014"
            rate_hz = 96000
            channels = 1
            pre_roll_seconds = 10
            gain_db = 12.5
            [filter]
            low_pass_hz = 8000
            keep_unfiltered = true
            [takes]
            directory = "/data/takes"
            split_mib = 64
            reserve_mib = 100
            sync_seconds = 2
            [playback]
            monitor = "recording"
            [panel]
            debounce_milliseconds = 25
            """
        let (settings, problems) = Settings.parse(text, file: "kit.toml")
        #expect(problems == [])
        let options = DeckOptions(settings: settings, version: "1")
        #expect(options.kit == "heron07")
        #expect(options.capture.card == CardReference("usb:0d8c:0014"))
        #expect(options.capture.rateHz == 96000)
        #expect(options.capture.channels == 1)
        #expect(options.capture.gainDB == 12.5)
        #expect(options.isListening)
        #expect(options.preRoll == .seconds(10))
        #expect(options.filter == FilterRequest(lowPass: .hertz(8000)))
        #expect(options.keepsUnfiltered)
        #expect(options.directory == "/data/takes")
        #expect(options.splitBytes == 64 << 20)
        #expect(options.reserveBytes == 100 << 20)
        #expect(options.syncPromise == .seconds(2))
        #expect(options.monitor == .recording)
        #expect(options.pressAge == .milliseconds(85))
    }
}

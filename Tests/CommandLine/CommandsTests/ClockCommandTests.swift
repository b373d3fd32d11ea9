import Synchronization
import Takes
import Testing
import Transport

@testable import Commands

@Suite struct ClockCommandTests {
    private static let morning = WallTime(microseconds: 1_795_241_891_000_000)

    @Test(arguments: [["clock"], ["clock", "show"]])
    func `clock shows the time and its origin`(arguments: [String]) throws {
        let recorder = try DeskRecorder()
        #expect(run(arguments, at: recorder) == (0, ["1970-01-01T00:00:00Z, set over the network"], []))
        #expect(
            run(arguments + ["--json"], at: recorder)
                == (0, [#"{"clock":"ntp","time":"1970-01-01T00:00:00.000000Z"}"#], []))
    }

    @Test(arguments: [
        ["2026-11-21T06:18:11Z"], ["2026-11-21T07:18:11+01:00"], ["2026-11-21", "06:18:11Z"],
        ["2026-11-21", "06:18:11", "+00:00"],
    ])
    func `clock set sends the time to the recorder, and shows the clock after that`(time: [String]) throws {
        let recorder = try DeskRecorder()
        #expect(run(["clock", "set"] + time, at: recorder) == (0, ["1970-01-01T00:00:00Z, set by hand"], []))
        #expect(
            run(["--json", "clock", "set"] + time, at: recorder)
                == (0, [#"{"clock":"manual","time":"1970-01-01T00:00:00.000000Z"}"#], []))
        #expect(recorder.received.times.withLock { $0 } == [Self.morning, Self.morning])
    }

    @Test(
        arguments: [
            (
                ["clock", "set", "yesterday"], 64,
                "fieldfare clock set: found yesterday, allowed is a date and time such as 2026-11-21T06:18:11Z"
            ),
            (
                ["clock", "set", "2026-11-21", "06:18"], 64,
                "fieldfare clock set: 2026-11-21 06:18: of which zone is not said: "
                    + "add Z for UTC, or an offset such as +01:00"
            ),
            (
                ["clock", "set", "2026-02-30T06:18:11Z"], 65,
                "fieldfare clock set: 2026-02-30T06:18:11Z: no such day or time of day"
            ),
            (["clock", "set", "1969-12-31T23:59:59Z"], 65, "clock: the clock cannot have this time"),
            (
                ["clock", "set"], 64,
                "fieldfare clock: Missing expected argument '<time> ...': see 'fieldfare clock --help'"
            ),
            (["clock", "stop"], 64, "fieldfare clock: Unexpected argument 'stop': see 'fieldfare clock --help'"),
        ] as [([String], Int32, String)])
    func `a time that is none is one sentence`(arguments: [String], status: Int32, sentence: String) throws {
        let recorder = try DeskRecorder()
        #expect(run(arguments, at: recorder) == (status, [], [sentence]))
    }

    @Test func `a recorder that is down is exit status 69`() {
        for arguments in [["clock"], ["clock", "set", "2026-11-21T06:18:11Z"]] {
            #expect(run(["--socket", "/nowhere/recorder.sock"] + arguments).status == 69)
        }
    }

    @Test func `help explains how a time is written`() {
        let result = run(["clock", "set", "--help"])
        #expect(result.status == 0)
        #expect(result.output.joined().contains("2026-11-21T07:18:11+01:00"))
    }
}

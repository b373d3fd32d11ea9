import Takes
import Testing
import Transport

@testable import Commands

@Suite struct StatusTextTests {
    @Test func `a recorder at work`() {
        var status = recordingStatus
        status.highPassHz = 40.5
        status.gainDB = -7.5
        status.gainRangeDB = GainRange(min: -20, max: 20, step: 0.5)
        status.agc = false
        status.gaps = 1
        status.xruns = 2
        status.faults = [Fault(.diskFull, "takes: an hour is left"), Fault(.signal, "channel 2: dead for 10 s")]
        #expect(
            StatusText(status).lines == [
                "state     recording", "take      heron07-0042-061811Z", "selected  heron07-0041-060000Z",
                "time      0:01:23.4, on disk up to 0:01:22.6",
                "level     peak -12.3  silent  RMS -24.0  silent dBFS",
                "card      usb:0d8c:0014, 48000 Hz, 2 channels, S24_3LE",
                "gain      -7.5 dB (-20 to 20 dB), AGC off",
                "filter    low-pass 21600 Hz, high-pass 40.5 Hz, 24 dB/octave",
                "lost      1 gaps in this take, 2 overruns of the card",
                "space     12.3 GB free, room for 11 h 23 min", "clock     set over the network",
                "fault 2   takes: an hour is left", "fault 8   channel 2: dead for 10 s",
            ])
    }

    @Test func `channels that were chosen are named`() {
        var status = recordingStatus
        status.channelsOfCard = [1, 3]
        #expect(
            StatusText(status).lines.contains("card      usb:0d8c:0014, 48000 Hz, channels 1, 3 of the card, S24_3LE"))
    }

    @Test func `a recorder with nothing`() {
        var status = Status(version: "0")
        let common = ["level     none", "card      none", "filter    off: bit-exact", "space     unknown"]
        let rest = [
            "clock     not set: dates are not to be trusted: set it with 'fieldfare clock set'", "faults    none",
        ]
        #expect(StatusText(status).lines == ["state     idle, not armed"] + common + rest)
        status.armed = true
        #expect(StatusText(status).lines[0] == "state     idle, armed: press record and it records")
        status.state = .fault
        #expect(StatusText(status).lines[0] == "state     fault: it cannot record")
    }

    @Test func `a card without a gain`() {
        var status = recordingStatus
        #expect(status.gainText == "the card has no capture gain")
        status.agc = true
        #expect(status.gainText == "the card has no capture gain, AGC on")
        status.gainDB = 12
        #expect(status.gainText == "12 dB, AGC on")
    }

    @Test func `a recorder that plays`() {
        var status = recordingStatus
        status.state = .playing
        status.positionSeconds = 3
        #expect(StatusText(status).lines[3] == "time      0:00:03.0 of 0:01:23.4")
        #expect(status.situation == "playing heron07-0042-061811Z 0:00:03.0 of 0:01:23.4")
        status.pitchCents = -1200
        status.speed = 0.05
        status.expand = true
        #expect(
            StatusText(status).lines[4] == "playback  pitch -1200 cents, speed 0.05 expanded")
        #expect(
            status.situation
                == "playing heron07-0042-061811Z 0:00:03.0 of 0:01:23.4, pitch -1200 cents, speed 0.05 expanded")
    }

    @Test func `pairing has a line while it is open`() {
        var status = recordingStatus
        let before = StatusText(status).lines
        status.pairing = true
        let line = "pairing   phones may pair for 2 minutes"
        #expect(StatusText(status).lines.filter { !before.contains($0) } == [line])
        #expect(StatusText(status).lines.count == before.count + 1)
    }

    @Test func `less than the reserve is no room`() {
        var status = recordingStatus
        status.freeBytes = 500_000_000
        status.timeLeftSeconds = 0
        #expect(
            StatusText(status).lines.contains("space     500.0 MB free, room for 0 min"))
    }
}

@Suite struct FiguresTests {
    @Test(arguments: [
        (0.0, 1, "0.0"), (-12.34, 1, "-12.3"), (-12.35, 1, "-12.4"), (-0.04, 1, "0.0"), (-0.06, 1, "-0.1"),
        (99.95, 1, "100.0"), (1234.5, 0, "1235"), (0.007, 2, "0.01"), (1e300, 1, "1e+300"),
    ])
    func `decimals are rounded`(value: Double, digits: Int, text: String) {
        #expect(Figures.decimal(value, digits: digits) == text)
    }

    @Test(arguments: [
        (0.0, "0:00:00.0"), (59.99, "0:00:59.9"), (60, "0:01:00.0"), (83.4, "0:01:23.4"), (3600, "1:00:00.0"),
        (360_000, "100:00:00.0"), (-1, "0:00:00.0"),
    ])
    func `times are never later than it is`(seconds: Double, text: String) {
        #expect(Figures.time(seconds) == text)
    }

    @Test func `sizes, lengths and cutoffs are short`() {
        #expect(
            [0, 999, 1000, 12_345_678_901, 2_000_000_000_000].map(Figures.size)
                == ["0 B", "999 B", "1.0 kB", "12.3 GB", "2.0 TB"])
        #expect(
            [0, 59.9, 60, 3599, 3600, 90_061].map(Figures.lasting)
                == ["0 min", "0 min", "1 min", "59 min", "1 h 0 min", "25 h 1 min"])
        #expect([21600, 40.5, 0.25, 100].map { Figures.short($0) } == ["21600", "40.5", "0.25", "100"])
    }
}

@Suite struct AskedStateTests {
    @Test(
        arguments: [
            (["recording"], 0), (["playing"], 1), (["playing", "recording"], 0), (["idle", "fault", "paused"], 1),
        ] as [([String], Int32)])
    func `the exit status says whether it is in the state`(_ states: [String], _ expected: Int32) throws {
        let recorder = try DeskRecorder()
        let (status, output, complaints) = run(["status"] + states.flatMap { ["--is", $0] }, at: recorder)
        #expect(status == expected && output.isEmpty)
        #expect(complaints == (expected == 0 ? [] : ["status: the recorder's state is recording"]))
    }

    @Test func `armed is no state of its own`() throws {
        let recorder = try DeskRecorder()
        recorder.received.isAtRest.withLock { $0 = true }
        #expect(run(["status", "--is", "armed"], at: recorder).status == 1)
        #expect(run(["status", "--is", "idle"], at: recorder).status == 0)
    }

    @Test func `a recorder that does not answer is in no state`() {
        let (status, output, _) = run(["--socket", "/nowhere/recorder.sock", "status", "--is", "idle"])
        #expect(status == 69 && output.isEmpty)
        #expect(run(["status", "--is", "asleep"]).status == 64)
    }
}

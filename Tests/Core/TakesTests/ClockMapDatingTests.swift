import Takes
import Testing

/// Finished takes whose clock map does not note instants, as written by older versions.
@Suite struct ClockMapDatingTests {
    private let year = Int64(31_536_000_000_000)
    /// With this offset, a take at 5 s on the monotonic clock began at `started`.
    private let right = ClockOffset(microseconds: 1_795_241_886_250_000)

    /// A take at 48 kHz with a point every 60 s. `calendars` has the error of each date in microseconds, or nil for a
    /// point without a date.
    private func sidecar(_ calendars: [Int64?], startOff: Int64) -> Sidecar {
        let started = WallTime(microseconds: right.microseconds + 5_000_000 + startOff)
        let name = TakeName(kit: "a", number: 1, started: started)
        var sidecar = Sidecar(
            name: name, started: started, startedMonotonic: Instant(nanoseconds: 5_000_000_000), bootID: "b",
            clock: .unset, card: "card:Mic", format: StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16),
            preRollFrames: 0, gainDB: nil, agc: nil, version: "0")
        sidecar.clockMap = calendars.enumerated().map { index, off in
            let seconds = Int64(60 * index + 7)
            // The raw clock has another zero.
            let utc = off.map {
                WallTime(microseconds: right.microseconds + 5_000_000 + seconds * 1_000_000 + $0).iso8601
            }
            return Sidecar.ClockPoint(
                atFrame: TakeFrame(seconds * 48000), rawNs: 77_000_000_000 + seconds * 1_000_000_000, utc: utc,
                errorUs: 30)
        }
        return sidecar
    }

    private var cases: [(start: Int64, calendars: [Int64?])] {
        [
            (-year, [-year, -year, -year]), (-year, [nil, nil, nil]), (-year, [-year, -year, 0, 0]),
            (-year, [nil, nil, 0, 0]), (-year, [-year, 3_600_000_000, 0]), (3_600_000_000, [3_600_000_000, nil, 0]),
            (0, [0, year, year]), (0, [0, nil, 0]), (-year, [0, 0, 0]), (130_000, [130_000, 130_000]),
        ]
    }

    @Test func `all points lie on the calendar that was set, each within its error`() {
        for (index, one) in cases.enumerated() {
            var sidecar = sidecar(one.calendars, startOff: one.start)
            let truth = TrueStart(bootID: "b", offset: right, origin: .ntp)
            truth.date(&sidecar)
            for point in sidecar.clockMap {
                let utc = point.utc.flatMap { WallTime(iso8601: $0) }?.microseconds
                let expected = right.microseconds + 5_000_000 + (point.rawNs - 77_000_000_000) / 1000
                #expect(utc.map { abs($0 - expected) <= 1 } == true, "case \(index), frame \(point.atFrame.count)")
                #expect(point.errorUs >= 30 && point.errorUs < 300_000)
            }
            let once = sidecar
            truth.date(&sidecar)
            #expect(sidecar == once, "case \(index)")
        }
    }

    @Test func `a date that was shifted with the start keeps its error`() {
        var sidecar = sidecar([-year, -year], startOff: -year)
        TrueStart(bootID: "b", offset: right, origin: .ntp).date(&sidecar)
        #expect(sidecar.clockMap.map(\.errorUs) == [30, 30])
        #expect(sidecar.clockMap.allSatisfy { $0.utc?.hasPrefix("2026-11-21T06:") == true })
    }

    @Test func `takes of other boots, and dates of unknown origin, are left as they are`() {
        let before = sidecar([-year, nil], startOff: -year)
        for truth in [
            TrueStart(bootID: "c", offset: right, origin: .ntp), TrueStart(bootID: "", offset: right, origin: .ntp),
            TrueStart(bootID: "b", offset: right, origin: .unset),
        ] {
            var after = before
            truth.date(&after)
            #expect(after.clockMap == before.clockMap)
        }
    }

    /// A correctly dated take whose points note their instants. `calendars` has the error of each date in microseconds.
    private func notedSidecar(_ calendars: [Int64]) -> Sidecar {
        var sidecar = sidecar(calendars, startOff: 0)
        sidecar.clock = .ntp
        for index in sidecar.clockMap.indices {
            sidecar.clockMap[index].monotonicNs = 5_000_000_000 + Int64(60 * index + 7) * 1_000_000_000
        }
        return sidecar
    }

    @Test(arguments: [2000, -40_000, 99_000]) func `a calendar that is as good as the one before changes nothing`(
        step: Int64
    ) {
        var sidecar = notedSidecar([0, 0, 0])
        let before = sidecar
        let offset = ClockOffset(microseconds: right.microseconds + step)
        TrueStart(bootID: "b", offset: offset, origin: .ntp).date(&sidecar)
        #expect(sidecar == before)
    }

    @Test(arguments: [(0, 150_000), (20_000, 0)]) func `points on two calendars, or on a wrong one, are dated anew`(
        first: Int64, others: Int64
    ) {
        var sidecar = notedSidecar([first, others, others])
        TrueStart(bootID: "b", offset: right, origin: .ntp).date(&sidecar)
        #expect(sidecar.clockMap == notedSidecar([0, 0, 0]).clockMap)
    }
}

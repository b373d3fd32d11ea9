import FoundationEssentials
import Takes
import Testing

struct SidecarLedgerTests {
    static let rateHz = 48_000
    static let second = Int64(rateHz)

    static var ledger: SidecarLedger {
        let started = WallTime(microseconds: 1_795_241_891_250_000)
        return SidecarLedger(
            Sidecar(
                name: TakeName(kit: "heron07", number: 1, started: started), started: started,
                startedMonotonic: Instant(nanoseconds: 0), bootID: "b", clock: .ntp, card: "card:Loopback",
                format: StreamFormat(rateHz: rateHz, channels: 2, sampleFormat: .s16), preRollFrames: 0, gainDB: nil,
                agc: nil, version: "0.1"))
    }

    /// A ledger of a take without frames whose sidecar is on the disk.
    static var written: SidecarLedger {
        var ledger = ledger
        ledger.giveOut(frames: 0)
        ledger.written(ledger.change)
        return ledger
    }

    static func gap(at seconds: Int64, _ cause: Sidecar.Gap.Cause = .xrun, frames: Int64 = 48) -> TakeEvent {
        .gap(at: TakeFrame(seconds * second), frames: frames, cause: cause)
    }

    static func point(_ seconds: Int64) -> TakeEvent {
        .clock(
            Sidecar.ClockPoint(
                atFrame: TakeFrame(seconds * second), rawNs: seconds * 1_000_000_000, utc: nil, errorUs: 20))
    }

    static func loss(_ seconds: Int64, confidence: Double = 0.9) -> TakeEvent {
        .suspectedLoss(
            Sidecar.SuspectedLoss(
                afterFrame: TakeFrame(seconds * second), beforeFrame: TakeFrame((seconds + 1) * second), frames: 48,
                confidence: confidence))
    }

    static let urgent: [TakeEvent] = [
        .started(WallTime(microseconds: 1), Instant(nanoseconds: 2)),
        .marker(Sidecar.Marker(atFrame: .first, note: nil)), gap(at: 1),
        .filter(Sidecar.FilterChange(atFrame: .first, lowPassHz: nil, slopeDBPerOctave: 24, highPassHz: nil)),
        .gain(Sidecar.GainChange(atFrame: .first, gainDB: 12, agc: true)), .preRoll(frames: 9),
        .corrected(started: "2026-11-21T06:18:12.000000Z"),
    ]

    @Test(arguments: urgent) func `what a person would miss is due at the next sync, until it is written`(
        event: TakeEvent
    ) {
        var ledger = Self.written
        #expect(!ledger.isDue(frames: 100))
        ledger.note(event)
        #expect(ledger.isDue(frames: 100))
        let change = ledger.change
        ledger.giveOut(frames: 100)
        // The write may fail.
        #expect(ledger.isDue(frames: 101))
        ledger.written(change)
        #expect(!ledger.isDue(frames: 102))
    }

    @Test(arguments: [point(1), loss(1), .drift(ppm: 3)]) func `the rest is due once a minute has passed`(
        event: TakeEvent
    ) {
        var ledger = Self.written
        ledger.note(event)
        #expect(!ledger.isDue(frames: 60 * Self.second - 1))
        #expect(ledger.isDue(frames: 60 * Self.second))
        ledger.giveOut(frames: 60 * Self.second)
        ledger.written(ledger.change)
        #expect(!ledger.isDue(frames: 300 * Self.second))
    }

    @Test func `what is as it was is no change`() {
        var ledger = Self.written
        ledger.note(.preRoll(frames: 0))
        ledger.note(.corrected(started: nil))
        ledger.note(.gain(Sidecar.GainChange(atFrame: .first, gainDB: nil, agc: nil)))
        #expect(ledger.change == ledger.writtenChange)
    }

    @Test func `a gain is listed once for each change, and the newest one is always there`() {
        var ledger = Self.ledger
        for (frame, gain) in [(1, 3), (2, 3), (3, 6), (4, 3), (5, 3)] {
            ledger.note(.gain(Sidecar.GainChange(atFrame: TakeFrame(Int64(frame)), gainDB: Double(gain), agc: nil)))
        }
        #expect(ledger.sidecar.gain.map(\.atFrame.count) == [1, 3, 4])
        #expect(ledger.sidecar.gain.map(\.gainDB) == [3, 6, 3])
        #expect(ledger.sidecar.gainDB == nil)
        for index in 0..<SidecarLedger.mostGainChanges {
            let change = Sidecar.GainChange(atFrame: TakeFrame(Int64(10 + index)), gainDB: Double(index % 7), agc: nil)
            ledger.note(.gain(change))
        }
        #expect(ledger.sidecar.gain.count == SidecarLedger.mostGainChanges)
        #expect(ledger.sidecar.gain.last?.atFrame == TakeFrame(Int64(9 + SidecarLedger.mostGainChanges)))
    }

    @Test func `every event is in the sidecar`() {
        var ledger = Self.ledger
        for event in Self.urgent + [Self.point(1), Self.loss(1), .drift(ppm: 3)] { ledger.note(event) }
        ledger.end(by: .limit, levels: [])
        var expected = Self.ledger.sidecar
        expected.started = WallTime(microseconds: 1).iso8601
        expected.startedMonotonicNs = 2
        expected.markers = [Sidecar.Marker(atFrame: .first, note: nil)]
        expected.gaps = [Sidecar.Gap(atFrame: TakeFrame(48_000), frames: 48, cause: .xrun)]
        expected.filter = [
            Sidecar.FilterChange(atFrame: .first, lowPassHz: nil, slopeDBPerOctave: 24, highPassHz: nil)
        ]
        expected.gain = [Sidecar.GainChange(atFrame: .first, gainDB: 12, agc: true)]
        expected.preRollFrames = 9
        expected.startedCorrected = "2026-11-21T06:18:12.000000Z"
        expected.clockMap = [
            Sidecar.ClockPoint(atFrame: TakeFrame(48_000), rawNs: 1_000_000_000, utc: nil, errorUs: 20)
        ]
        expected.suspectedLosses = [
            Sidecar.SuspectedLoss(
                afterFrame: TakeFrame(48_000), beforeFrame: TakeFrame(96_000), frames: 48, confidence: 0.9)
        ]
        expected.clockDriftPPM = 3
        expected.endedBy = .limit
        #expect(ledger.sidecar == expected)
    }

    @Test func `a gap a second for a day is a thousand gaps, then ranges with exact sums, and few writes`() throws {
        var ledger = Self.written
        var writes = 0
        for second in 0..<86_400 as Range<Int64> {
            ledger.note(Self.gap(at: second, second % 10 == 9 ? .stall : .xrun))
            guard ledger.isDue(frames: (second + 1) * Self.second) else { continue }
            writes += 1
            ledger.giveOut(frames: (second + 1) * Self.second)
            ledger.written(ledger.change)
        }
        let gaps = ledger.sidecar.gaps
        #expect(gaps.count <= 2000)
        #expect(gaps.prefix(1000).allSatisfy { $0.count == nil })
        #expect(ledger.sidecar.gapCount == 86_400)
        #expect(gaps.reduce(0) { $0 + $1.frames } == 86_400 * 48)
        #expect(gaps.filter { $0.cause == .stall }.reduce(0) { $0 + $1.gapCount } == 8640)
        #expect(gaps.last.map { $0.end <= TakeFrame(86_400 * Self.second) } == true)
        for (gap, next) in zip(gaps, gaps.dropFirst()) { #expect(gap.atFrame <= next.atFrame) }
        #expect(try JSONEncoder().encode(ledger.sidecar).count < 256 << 10)
        // The first thousand are written at once, the others once a minute.
        #expect(writes <= 1000 + 85_400 / 60 + 1)
    }

    @Test func `a range is written with what readers of single gaps expect`() throws {
        var ledger = Self.ledger
        for second in 0..<1003 as Range<Int64> { ledger.note(Self.gap(at: second)) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let range = try String(decoding: encoder.encode(#require(ledger.sidecar.gaps.last)), as: UTF8.self)
        #expect(range == #"{"at_frame":48000000,"cause":"xrun","count":3,"frames":144,"until_frame":48096048}"#)
        #expect(try JSONDecoder().decode(Sidecar.Gap.self, from: Data(range.utf8)) == ledger.sidecar.gaps.last)
    }

    @Test func `gaps that touch are one gap, if they have one cause`() {
        var ledger = Self.ledger
        ledger.note(.gap(at: TakeFrame(10), frames: 5, cause: .xrun))
        ledger.note(.gap(at: TakeFrame(15), frames: 5, cause: .xrun))
        ledger.note(.gap(at: TakeFrame(20), frames: 5, cause: .stall))
        #expect(
            ledger.sidecar.gaps == [
                Sidecar.Gap(atFrame: TakeFrame(10), frames: 10, cause: .xrun),
                Sidecar.Gap(atFrame: TakeFrame(20), frames: 5, cause: .stall),
            ])
    }

    @Test func `the clock map of three weeks has at most 2000 points, evenly spread, and the newest`() {
        var ledger = Self.ledger
        let minutes: Int64 = 21 * 24 * 60
        for minute in 0..<minutes {
            ledger.note(Self.point(minute * 60))
            #expect(ledger.sidecar.clockMap.last?.rawNs == minute * 60_000_000_000)
            if minute == 24 * 60 { #expect(ledger.sidecar.clockMap.count == 24 * 60 + 1) }
        }
        let map = ledger.sidecar.clockMap
        #expect(map.count <= 2000 && map.count > 900)
        #expect(map.first?.atFrame == .first)
        let distances = Set(zip(map, map.dropFirst()).dropLast().map { $1.atFrame - $0.atFrame })
        #expect(distances.count == 1)
    }

    @Test func `a suspected loss each four seconds for a day leaves at most a thousand entries with exact sums`() {
        var ledger = Self.ledger
        for second in stride(from: 0 as Int64, to: 86_400, by: 4) {
            ledger.note(Self.loss(second, confidence: second == 40_000 ? 0.25 : 0.9))
        }
        let losses = ledger.sidecar.suspectedLosses
        #expect(losses.count <= 1000 && losses.count >= 500)
        #expect(losses.reduce(0) { $0 + $1.frames } == 21_600 * 48)
        #expect(losses.filter { $0.confidence == 0.25 }.count == 1)
        for (loss, next) in zip(losses, losses.dropFirst()) { #expect(loss.beforeFrame <= next.afterFrame) }
    }

    @Test func `there are at most 10 000 markers, of notes of at most 1000 bytes`() {
        var ledger = Self.ledger
        ledger.note(.marker(Sidecar.Marker(atFrame: .first, note: String(repeating: "ä", count: 600))))
        #expect(ledger.sidecar.markers[0].note == String(repeating: "ä", count: 500))
        for frame in 1..<20_000 as Range<Int64> {
            ledger.note(.marker(Sidecar.Marker(atFrame: TakeFrame(frame), note: nil)))
        }
        #expect(ledger.sidecar.markers.count == 10_000)
    }

    @Test func `markers that are dated to one frame get a frame each, at or before it`() {
        var ledger = Self.ledger
        for frame in [5, 90, 5, 90, 5, 0, 0] as [Int64] {
            ledger.note(.marker(Sidecar.Marker(atFrame: TakeFrame(frame), note: nil)))
        }
        #expect(ledger.sidecar.markers.map(\.atFrame.count) == [5, 90, 4, 89, 3, 0, 0])
    }
}

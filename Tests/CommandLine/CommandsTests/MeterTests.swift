import Takes
import Testing
import Transport

@testable import Commands

@Suite struct MeterTests {
    private let meter = Meter(width: 71, glyphs: .ascii)

    @Test func `the scale stands over the columns that its levels fill last`() {
        #expect(
            [
                meter.scale,
                meter.bar(channel: 1, level: Level(peak: -20, rms: -40), held: -10),
                meter.bar(channel: 12, level: Level(peak: 0, rms: -3.01), held: 0),
                meter.bar(channel: 3, level: Level(peak: nil, rms: nil), held: nil),
                meter.bar(channel: 4, level: Level(peak: -59.9, rms: -80), held: -59.9),
                meter.bar(channel: 5, level: Level(peak: 3, rms: 1), held: 3),
            ] == [
                "   -60    -50       -40       -30       -20       -10         0 dBFS",
                " 1 ####################====================.........|..........   -10.0",
                "12 #########################################################===    CLIP",
                " 3 ............................................................       -",
                " 4 =...........................................................   -59.9",
                " 5 ############################################################    CLIP",
            ])
    }

    @Test func `a narrow meter has a coarser scale, and is never narrower than ten columns`() {
        let narrow = Meter(width: 31, glyphs: .unicode)
        #expect(
            [narrow.scale, narrow.bar(channel: 1, level: Level(peak: -30, rms: -42), held: -15)] == [
                "   -60 -40   -20      0 dBFS", " 1 ██████▒▒▒▒····│·····   -15.0",
            ])
        #expect(
            Meter(width: 0, glyphs: .ascii).bar(channel: 1, level: Level(peak: -30, rms: -30), held: nil)
                == " 1 #####.....       -")
    }

    @Test func `a peak is held for a second and a half, then falls to the present level`() {
        var hold = PeakHold()
        func update(_ peak: Double?, _ milliseconds: Int64) -> Double? {
            hold.update([Level(peak: peak, rms: nil)], at: Instant(nanoseconds: milliseconds * 1_000_000))
            return hold.peaks[0]
        }
        #expect(update(nil, 0) == nil)
        #expect(update(-6, 100) == -6)
        #expect(update(-20, 200) == -6)
        #expect(update(-20, 1599) == -6)
        #expect(update(-20, 1600) == -20)
        #expect(update(-12, 1700) == -12)
        #expect(update(nil, 3200) == nil)
        hold.update([], at: Instant(nanoseconds: 0))
        #expect(hold.peaks == [])
    }

    @Test func `the picture has the situation, the meters and what is wrong, no line too long`() {
        var status = recordingStatus
        status.faults = [Fault(.signal, "channel 2: dead for 10 s: is its microphone plugged in?")]
        var view = LiveView(status: status)
        view.hold.update(status.levelDBFS, at: Instant(nanoseconds: 0))
        #expect(
            view.lines(width: 60, glyphs: .unicode) == [
                "recording heron07-0042-061811Z 0:01:23.4, on disk up to 0:0>",
                "   -60  -50     -40      -30     -20     -10       0 dBFS",
                " 1 █████████████████████████████▒▒▒▒▒▒▒▒▒▒··········   -12.3",
                " 2 ·················································       -",
                "fault 8: channel 2: dead for 10 s: is its microphone plugge>",
            ])
        #expect(
            view.line == "recording heron07-0042-061811Z 0:01:23.4, on disk up to 0:01:22.6, peak -12.3 silent dBFS, "
                + "fault 8: channel 2: dead for 10 s: is its microphone plugged in?")
        view.notice = "the recorder has gone: waiting for it"
        view.status.faults = []
        #expect(
            view.lines(width: 80, glyphs: .ascii) == [
                "recording heron07-0042-061811Z 0:01:23.4, on disk up to 0:01:22.6",
                "the recorder has gone: waiting for it",
            ])
    }

    @Test func `a picture is drawn in the place of the one before`() {
        var screen = LiveScreen()
        #expect(screen.draw(["a", "b"]) == "\ra\u{1b}[K\n\rb\u{1b}[K\n\u{1b}[J")
        #expect(screen.draw(["c"]) == "\u{1b}[2A\rc\u{1b}[K\n\u{1b}[J")
        screen.reset()
        #expect(screen.draw([]) == "\u{1b}[J")
        #expect(screen.draw(["d"]) == "\rd\u{1b}[K\n\u{1b}[J")
    }
}

import Takes
import Testing

@Suite struct TrueStartTests {
    private static let started = "2026-11-21T06:18:11.250000Z"
    /// With this offset, a take at 5 s on the monotonic clock began at `started`.
    private static let right = ClockOffset(microseconds: 1_795_241_886_250_000)

    struct Case: Sendable {
        var take = ClockOrigin.ntp
        var corrected: String?
        var boot = "b"
        var seconds: Double
        var now = ClockOrigin.ntp
        var result: String?
    }

    private static let cases = [
        // The clock was not set.
        Case(seconds: 0, result: nil),
        Case(seconds: 0.0999, result: nil),
        Case(seconds: -0.0999, result: nil),
        // The clock was set, by a known origin.
        Case(seconds: 0.1, result: "2026-11-21T06:18:11.350000Z"),
        Case(seconds: -86400, result: "2026-11-20T06:18:11.250000Z"),
        Case(take: .unset, seconds: 3600, now: .manual, result: "2026-11-21T07:18:11.250000Z"),
        // An unknown origin set the clock. It does not replace a date, in either direction.
        Case(take: .ntp, seconds: 315_532_800, now: .unset, result: nil),
        Case(take: .manual, seconds: -315_532_800, now: .unset, result: nil),
        Case(
            take: .rtc, corrected: "2026-11-21T07:18:11.000000Z", seconds: 60, now: .unset,
            result: "2026-11-21T07:18:11.000000Z"),
        Case(take: .unset, corrected: started, seconds: -315_532_800, now: .unset, result: started),
        Case(take: .unset, seconds: -315_532_800, now: .unset, result: nil),
        // The clock was set back: the first date was right.
        Case(corrected: "2036-11-20T06:18:11.250000Z", seconds: 0, result: nil),
        Case(corrected: "2036-11-20T06:18:11.250000Z", seconds: 60, result: "2026-11-21T06:19:11.250000Z"),
        // A date that is right by chance is confirmed only once the clock has a known origin. It stays confirmed.
        Case(take: .unset, seconds: 0, now: .unset, result: nil),
        Case(take: .unset, seconds: 0, now: .ntp, result: started),
        Case(take: .unset, seconds: 0.05, now: .manual, result: "2026-11-21T06:18:11.300000Z"),
        Case(take: .unset, corrected: started, seconds: 0.05, now: .manual, result: started),
        Case(take: .unset, corrected: started, seconds: 0, now: .unset, result: started),
        Case(take: .rtc, seconds: 0, now: .ntp, result: nil),
        // Only wrong dates are written again.
        Case(corrected: "2026-11-21T07:18:11.200000Z", seconds: 3600, result: "2026-11-21T07:18:11.200000Z"),
        Case(corrected: "2026-11-21T07:18:11.100000Z", seconds: 3600, result: "2026-11-21T07:18:11.250000Z"),
        Case(corrected: "soon", seconds: 3600, result: "2026-11-21T07:18:11.250000Z"),
        // The clock of another boot is another clock.
        Case(boot: "c", seconds: 3600, result: nil),
        Case(corrected: "2026-11-21T07:00:00.000000Z", boot: "c", seconds: 3600, result: "2026-11-21T07:00:00.000000Z"),
    ]

    private static func sidecar(_ origin: ClockOrigin, boot: String, started: String = started) -> Sidecar {
        let name = TakeName(kit: "a", number: 1, started: WallTime(microseconds: 0))
        var sidecar = Sidecar(
            name: name, started: WallTime(microseconds: 0), startedMonotonic: Instant(nanoseconds: 5_000_000_000),
            bootID: boot, clock: origin, card: "card:Mic",
            format: StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16), preRollFrames: 0, gainDB: nil,
            agc: nil, version: "0")
        sidecar.started = started
        return sidecar
    }

    @Test(arguments: cases)
    func `a take of this boot is dated by the calendar as it stands`(one: Case) {
        var sidecar = Self.sidecar(one.take, boot: one.boot)
        sidecar.startedCorrected = one.corrected
        let offset = ClockOffset(microseconds: Self.right.microseconds + Int64((one.seconds * 1e6).rounded()))
        let truth = TrueStart(bootID: "b", offset: offset, origin: one.now)
        #expect(truth.corrected(sidecar) == one.result)
        sidecar.startedCorrected = truth.corrected(sidecar)
        #expect(truth.corrected(sidecar) == one.result)
    }

    @Test func `without a boot's id no take is of this boot`() {
        let truth = TrueStart(bootID: "", offset: ClockOffset(microseconds: 0), origin: .ntp)
        #expect(truth.corrected(Self.sidecar(.unset, boot: "")) == nil)
    }

    @Test func `a start that cannot be read is replaced, and no monotonic time is too strange`() {
        let truth = TrueStart(bootID: "b", offset: Self.right, origin: .ntp)
        #expect(truth.corrected(Self.sidecar(.ntp, boot: "b", started: "?")) == Self.started)
        for nanoseconds in [Int64.min, .max] {
            var sidecar = Self.sidecar(.ntp, boot: "b")
            sidecar.startedMonotonicNs = nanoseconds
            #expect(truth.corrected(sidecar) != nil)
        }
    }
}

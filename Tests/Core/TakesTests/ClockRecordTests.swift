import Takes
import Testing

@Suite struct ClockRecordTests {
    private static let year: Int64 = 365 * 86_400_000_000
    private static let here = ClockOffset(microseconds: 1_795_241_886_250_000)

    private static func offset(_ seconds: Double) -> ClockOffset {
        ClockOffset(microseconds: here.microseconds + Int64(seconds * 1e6))
    }

    private static func record(_ origin: ClockOrigin, _ seconds: Double = 0, boot: String = "b") -> ClockRecord {
        ClockRecord(bootID: boot, origin: origin, offset: offset(seconds))
    }

    struct Look: Sendable {
        var isSynchronised = false
        var isSetFromRTC = false
        var seconds = 0.0
        var known: ClockRecord?
        var result: ClockRecord?
    }

    private static let looks = [
        // The clock was never set.
        Look(),
        Look(isSynchronised: true, result: record(.ntp)),
        Look(isSetFromRTC: true, result: record(.rtc)),
        Look(isSynchronised: true, isSetFromRTC: true, result: record(.ntp)),
        // Network time replaces any earlier knowledge.
        Look(isSynchronised: true, seconds: 9, known: record(.manual), result: record(.ntp, 9)),
        Look(isSynchronised: true, seconds: 9, known: record(.ntp), result: record(.ntp, 9)),
        Look(isSynchronised: true, known: record(.rtc), result: record(.ntp)),
        // The measured offset differs slightly at each reading.
        Look(isSynchronised: true, seconds: 0.0009, known: record(.ntp), result: record(.ntp)),
        Look(isSynchronised: true, seconds: 0.0011, known: record(.ntp), result: record(.ntp, 0.0011)),
        // The record is kept, wherever the calendar is set.
        Look(seconds: 0, known: record(.ntp), result: record(.ntp)),
        Look(seconds: 3e8, known: record(.ntp), result: record(.ntp)),
        Look(isSetFromRTC: true, seconds: 3e8, known: record(.rtc), result: record(.rtc)),
        Look(isSetFromRTC: true, seconds: 3e8, known: record(.manual), result: record(.manual)),
        // A record of another boot belongs to another clock.
        Look(known: record(.manual, boot: "c"), result: nil),
        Look(isSetFromRTC: true, known: record(.manual, boot: "c"), result: record(.rtc)),
        Look(isSynchronised: true, known: record(.ntp, boot: "c"), result: record(.ntp)),
    ]

    @Test(arguments: looks)
    func `what is known after a look`(look: Look) {
        let evidence = ClockEvidence(
            isSynchronised: look.isSynchronised, isSetFromRTC: look.isSetFromRTC, offset: Self.offset(look.seconds))
        #expect(ClockRecord.after(evidence, known: look.known, bootID: "b") == look.result)
    }

    struct Judgement: Sendable {
        var record: ClockRecord
        var seconds = 0.0
        var newestTake: String?
        var origin: ClockOrigin
    }

    private static let judgements = [
        Judgement(record: record(.ntp), origin: .ntp),
        Judgement(record: record(.manual), origin: .manual),
        Judgement(record: record(.rtc), origin: .rtc),
        // An unknown program set the calendar forward or back, by more or less than the tolerance.
        Judgement(record: record(.ntp), seconds: 2, origin: .unset),
        Judgement(record: record(.ntp), seconds: -2, origin: .unset),
        Judgement(record: record(.ntp), seconds: 1.999, origin: .ntp),
        Judgement(record: record(.manual), seconds: -1.999, origin: .manual),
        Judgement(record: record(.manual), seconds: 3e8, origin: .unset),
        Judgement(record: record(.rtc), seconds: -3e8, origin: .unset),
        // The battery of the clock was empty.
        Judgement(record: record(.rtc), newestTake: "2026-11-21", origin: .rtc),
        Judgement(record: record(.rtc), newestTake: "2026-11-22", origin: .unset),
        // The date from a person or the network may be before a take whose date was wrong.
        Judgement(record: record(.ntp), newestTake: "2036-11-22", origin: .ntp),
        Judgement(record: record(.manual), newestTake: "2036-11-22", origin: .manual),
    ]

    @Test(arguments: judgements)
    func `the origin holds while the calendar stays where it was right`(judgement: Judgement) {
        let origin = judgement.record.origin(
            at: Self.offset(judgement.seconds), today: "2026-11-21", newestTake: judgement.newestTake)
        #expect(origin == judgement.origin)
    }

    @Test func `a jump of ten years and back leaves the clock as right as it was`() {
        var known = ClockRecord.after(
            ClockEvidence(isSynchronised: true, isSetFromRTC: false, offset: Self.here), known: nil, bootID: "b")
        var seen: [ClockOrigin?] = []
        for years in [0, 10, 0, -10, 0] as [Int64] {
            let offset = ClockOffset(microseconds: Self.here.microseconds + years * Self.year)
            known = ClockRecord.after(
                ClockEvidence(isSynchronised: false, isSetFromRTC: false, offset: offset), known: known, bootID: "b")
            seen.append(known?.origin(at: offset, today: "2026-11-21", newestTake: nil))
        }
        #expect(seen == [.ntp, .unset, .ntp, .unset, .ntp])
    }

    @Test func `a record is a line and back`() {
        let record = ClockRecord(bootID: "0b0c0d0e-0000-4000-8000-000000000001", origin: .manual, offset: Self.here)
        #expect(record.line == "0b0c0d0e-0000-4000-8000-000000000001 manual 1795241886250000\n")
        #expect(ClockRecord(line: record.line) == record)
    }

    @Test(arguments: [
        "", "\n", "b ntp 1", "b ntp 1 \n", "b ntp\n", " ntp 1\n", "b unset 1\n", "b gps 1\n", "b ntp 1.5\n",
        "b ntp 99999999999999999999\n", "b ntp 1\nb ntp 1\n", "b  ntp 1\n",
    ])
    func `what is no record is none`(line: String) {
        #expect(ClockRecord(line: line) == nil)
    }
}

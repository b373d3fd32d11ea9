import Control
import Takes
import Testing
import Transport

@testable import Commands

@Suite struct OutboxCommandTests {
    private let report = OutboxReport(
        paused: true,
        stores: [
            .init(
                store: "stick", state: .waiting, why: "outbox: /run/fieldfare/stick/fieldfare: not there",
                until: "2026-11-21T07:00:00.000000Z", waiting: 3, waitingBytes: 61_000_000, elsewhere: 1, held: 1,
                done: 7),
            .init(
                store: "folder:/mnt/share", state: .ready, why: nil, until: nil, waiting: 0, waitingBytes: 0,
                elsewhere: 0,
                held: 0, done: 11),
        ],
        takes: [
            .init(
                take: "heron07-0042-061811Z", store: "stick", state: .sending, bytes: 20_000_000, sentBytes: 15_000_000,
                why: nil, until: nil),
            .init(
                take: "heron07-0043-061811Z", store: "stick", state: .verifying, bytes: 20_000_000,
                sentBytes: 20_000_000,
                why: nil, until: nil),
            .init(
                take: "heron07-0044-061811Z", store: "stick", state: .held, bytes: 1, sentBytes: nil,
                why: "outbox: another file is there", until: nil),
            .init(
                take: "heron07-0045-061811Z", store: "folder:/mnt/share", state: .waiting, bytes: 1_000_000,
                sentBytes: nil,
                why: nil, until: nil),
        ])

    @Test func `a report is read as lines, with a bar for what is sent`() {
        #expect(
            OutboxText(showsUnicode: false).lines(report) == [
                "paused: 'fieldfare outbox resume' sends again",
                "stick: cannot be reached: 3 waiting (61 MB), 1 elsewhere, 1 held, 7 done",
                "  outbox: /run/fieldfare/stick/fieldfare: not there, until 2026-11-21 07:00 UTC",
                "folder:/mnt/share: ready: 0 waiting, 11 done",
                "  heron07-0042-061811Z stick  ###############.....  15 MB of 20 MB",
                "  heron07-0043-061811Z stick  ####################  verifying",
                "  heron07-0044-061811Z stick  held: outbox: another file is there",
                "  heron07-0045-061811Z folder:/mnt/share  waiting, 1000 kB",
            ])
        #expect(OutboxText(showsUnicode: true).lines(report)[4].contains("███████████████░░░░░"))
        let none = OutboxReport(paused: false, stores: [], takes: [])
        #expect(OutboxText(showsUnicode: true).lines(none) == ["no store is named: [outbox] store"])
    }

    @Test func `each action asks the library for one thing`() throws {
        let library = try DeskLibrary([deskTake(1)])
        let report = report
        library.desk.outbox.withLock { $0 = report }
        let lines = OutboxText(showsUnicode: true).lines(report)
        for (words, message) in [
            ([], LibraryMessage.outbox(limit: 50)), (["list", "--limit", "3"], .outbox(limit: 3)),
            (["retry"], .outboxWish(.retry)), (["pause"], .outboxWish(.pause)), (["resume"], .outboxWish(.resume)),
        ] {
            let result = run(["outbox"] + words, library: library)
            #expect(result.status == 0 && result.complaints == [])
            #expect(result.output.count == lines.count)
            #expect(library.messages.last == message)
        }
        for (word, decision) in [("add", OutboxDecision.add), ("hold", .hold), ("remove", .remove)] {
            let result = run(["outbox", word, "1"], library: library)
            #expect(result.status == 0 && result.output.count == 1)
            #expect(library.messages.last == .outboxDecision(decision, .number(1)))
        }
        #expect(run(["outbox", "add", "9"], library: library).status == 66)
        #expect(run(["outbox", "--limit", "0"], library: library).status == 64)
    }
}

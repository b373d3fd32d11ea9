import DiskCalls
import History
import NIOPosix
import Takes
import TestBench
import Testing

@testable import Console

/// The history as browsers receive it.
@Suite(.waitsOnNamedThreads) struct HistoryPageTests {
    private let folder = TestFolder()

    private func routes() -> HistoryRoutes {
        HistoryRoutes(history: HistoryFolder("\(folder.path)/history"), pool: NIOThreadPool(numberOfThreads: 1))
    }

    private func write(_ lines: [String], to file: Int) {
        folder.write(lines.joined(separator: "\n"), to: "history/00000\(file).jsonl")
    }

    private func press(_ second: Int) -> String {
        #"{"at":"2026-11-21T06:18:\#(second).000000Z","button":"record","event":"press","uptime_seconds":\#(second)}"#
    }

    @Test func `the newest records are answered, the oldest of them first, and only their files are read`() throws {
        #expect(try routes().page(limit: 5).history.isEmpty)
        write(["damaged", press(10), press(11)], to: 1)
        write([press(12), "damaged", press(13), press(14)], to: 2)
        for (limit, first, damaged) in [(1, 14.0, 1), (3, 12, 1), (4, 11, 2), (20_000, 10, 2)] {
            let page = try routes().page(limit: limit)
            #expect(page.history.first?.uptime == first && page.history.last?.uptime == 14)
            #expect(page.damaged == damaged)
        }
    }

    @Test func `a summary reads the files of its hours, and has what happened in them`() throws {
        var served = routes()
        served.now = { WallTime(iso8601: "2026-11-21T06:20:00.000000Z")! }
        let fault =
            #"{"at":"2026-11-21T06:18:30.000000Z","code":4,"event":"fault","message":"slow","uptime_seconds":30}"#
        write([press(10)], to: 1)
        write([press(12), fault], to: 2)
        let summary = try served.summary(hours: 1)
        #expect(summary.until == "2026-11-21T06:20:00.000000Z" && summary.from == "2026-11-21T05:20:00.000000Z")
        #expect(summary.faults.map(\.message) == ["slow"])
        #expect(summary.runningSeconds == 110)
        #expect(try served.summary(hours: nil).from == "2026-11-21T06:18:10.000000Z")
    }

    @Test func `a history that cannot be read is said`() throws {
        folder.write("no folder", to: "history")
        let problem = #expect(throws: Problem.self) { try routes().page(limit: 1) }
        #expect(problem?.description.hasPrefix("history: ") == true)
    }
}

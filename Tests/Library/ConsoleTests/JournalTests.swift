import DiskCalls
import OtherPrograms
import TestBench
import Testing
import Transport

@testable import Console

@Suite(.waitsOnNamedThreads) struct JournalTests {
    private let folder = TestFolder()

    /// A journal whose program is a script.
    private func journal(_ script: String) throws -> Journal {
        let program = "\(folder.path)/journalctl"
        try Script.write(script, to: program)
        return Journal(program: program)
    }

    private func detail(_ script: String, after: String? = nil) throws -> String {
        let journal = try journal(script)
        do throws(Problem) {
            _ = try journal.page(limit: 2, after: after)
            return "none"
        } catch {
            return error.description
        }
    }

    @Test func `lines are read as journalctl writes them, and a page says what follows`() throws {
        let journal = try journal(
            #"""
            echo "$@" >"$0.asked"
            echo '{"__CURSOR":"s=1;i=3","__REALTIME_TIMESTAMP":"1795241891250000","PRIORITY":"3","SYSLOG_IDENTIFIER":"fieldfare-recorder","MESSAGE":"disk: full"}'
            echo '{"__CURSOR":"s=1;i=2","__REALTIME_TIMESTAMP":"1795241891000000","SYSLOG_IDENTIFIER":"systemd","MESSAGE":[119,114,255,110]}'
            echo '{"__CURSOR":"s=1;i=1","__REALTIME_TIMESTAMP":"1795241890000000","PRIORITY":"6","MESSAGE":"older"}'
            """#)
        let page = try journal.page(limit: 2, after: "s=0;i=9")
        #expect(
            page.lines == [
                .init(
                    time: "2026-11-21T06:18:11.250000Z", priority: 3, from: "fieldfare-recorder", text: "disk: full"),
                .init(time: "2026-11-21T06:18:11.000000Z", priority: 6, from: "systemd", text: "wr\u{fffd}n"),
            ])
        #expect(page.next == "s=1;i=1")
        let asked = try #require(folder.text("journalctl.asked"))
        #expect(asked.contains("--lines=3") && asked.contains("--cursor=s=0;i=9") && asked.contains("--reverse"))
        #expect(try journal.page(limit: 3, after: nil).next == nil)
    }

    @Test func `a program that fails, is missing or writes without end is a sentence`() throws {
        #expect(
            try detail("echo 'No journal files were opened due to insufficient permissions.' >&2; exit 1")
                == "log: \(folder.path)/journalctl: No journal files were opened due to insufficient permissions.: "
                + "look at it on the kit with journalctl")
        #expect(
            try detail("echo 'Failed to seek to cursor: Invalid argument' >&2; exit 1", after: "0")
                == "log: after: found \"0\", allowed is what 'next' of a page says")
        #expect(try detail("yes").contains("writes more than 8388608 bytes"))
        #expect(try detail("kill -9 $$").contains("failed with status -1"))
        #expect(throws: Problem.self) { try Journal(program: "/nonexistent").page(limit: 1, after: nil) }
        for after in ["", "s=1 --file=/etc/shadow", "S", String(repeating: "a", count: 301)] {
            #expect(try detail("exit 0", after: after).hasPrefix("log: after: found"))
        }
    }
}

import DiskCalls
import Foundation
import OtherPrograms
import StoreTrials
import TestBench
import Testing

@Suite(.waitsOnNamedThreads, .serialized, .fewKitsAtATime, .timeLimit(.minutes(15)), .needs(.curl))
struct BrowserTests {
    /// `FIELDFARE_PICTURES` names a folder for screenshots of each page.
    @Test(.needsServers, .needs(.chromium))
    func `a person with a phone records, finds, seeks and describes takes, and no page breaks WCAG 2.2 AA`() throws {
        let (status, report) = try BusyMachine.repeating("browser.py") {
            let kit = try RunningKit()
            var arguments = [
                RunningKit.resource("browser.py"), String(kit.library.port), kit.token, "\(kit.folder)/takes",
                RunningKit.password,
            ]
            if let pictures = ProcessInfo.processInfo.environment["FIELDFARE_PICTURES"] { arguments.append(pictures) }
            return try kit.run("python", arguments)
        }
        #expect(status == 0, "\(report.suffix(4000))")
    }
}

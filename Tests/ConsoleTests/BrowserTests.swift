import Foundation
import StoreTrials
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct BrowserTests {
    private static let hasChromium = FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium")

    /// `FIELDFARE_PICTURES` names a folder for screenshots of each page.
    @Test(.enabled(if: TestServer.areInstalled && hasChromium))
    func `a person with a phone records, finds, hears and describes takes, and no page breaks WCAG 2.2 AA`() throws {
        let kit = try RunningKit()
        let process = Process()
        process.executableURL = URL(filePath: "\(TestServer.programs)/python")
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Resources/browser.py").path
        process.arguments = [script, String(kit.library.port), kit.token, "\(kit.folder)/takes"]
        if let pictures = ProcessInfo.processInfo.environment["FIELDFARE_PICTURES"] {
            process.arguments?.append(pictures)
        }
        let log = "\(kit.folder)/browser.log"
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        process.standardOutput = FileHandle(forWritingAtPath: log)
        process.standardError = FileHandle(forWritingAtPath: log)
        try process.run()
        process.waitUntilExit()
        let report = try String(contentsOfFile: log, encoding: .utf8)
        #expect(process.terminationStatus == 0, "\(report.suffix(4000))")
    }
}

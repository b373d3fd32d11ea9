import DiskCalls
import Foundation
import TestBench
import Testing

@Suite(.waitsOnNamedThreads) struct OptionsTests {
    @Test func `fieldfare-library(8) describes every option, and no other`() throws {
        let options = try help().matches(of: /\n +(?:-h, )?--([a-z-]+)/).map { String($0.output.1) }
        let page = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../../deploy/man/fieldfare-library.8"), encoding: .utf8)
        let described = page.matches(of: /\n\.It Fl Fl ([a-z-]+)/).map { String($0.output.1) }
        #expect(described.sorted() == options.filter { $0 != "help" }.sorted())
        let synopsis = try #require(page.split(separator: ".Sh ").first { $0.hasPrefix("SYNOPSIS\n") })
        for option in described { #expect(synopsis.contains("Fl Fl \(option)"), "\(option)") }
    }

    private func help() throws -> String {
        let folder = TestFolder()
        folder.write("", to: "help")
        let process = Process()
        process.executableURL = URL(filePath: "\(RunningKit.programs)/fieldfare-library")
        process.arguments = ["--help"]
        process.standardOutput = FileHandle(forWritingAtPath: "\(folder.path)/help")
        try process.run()
        process.waitUntilExit()
        return try #require(folder.text("help"))
    }
}

import DiskCalls
import Foundation
import OtherPrograms
import TakeFiles
import TestBench
import Testing

@testable import Console

/// The support file as a browser receives it.
@Suite(.waitsOnNamedThreads, .serialized) final class SupportTests {
    private let folder = TestFolder()

    /// A desk whose program is a script. Its working folder is `$4`.
    private func desk(_ script: String) throws -> SupportDesk {
        let program = "\(folder.path)/fieldfare"
        try Script.write(script, to: program)
        return SupportDesk(folder: work, settingsFile: "/etc/fieldfare/fieldfare.toml", program: program)
    }

    private var work: String { folder.path + "/work" }

    @Test(.needs(.curl, .tar)) func `a phone receives the file of a kit, and the kit keeps none`() throws {
        let kit = try RunningKit()
        let answer = try kit.phone.get("/api/support")
        #expect(answer.status == 200)
        let archive = "\(kit.folder)/support.tar.gz"
        try Data(answer.bytes).write(to: URL(filePath: archive))
        let names = try kit.run(OtherProgram.tar.path, ["--list", "--gzip", "--file", archive]).report
        #expect(
            names.contains("/about.txt\n") && names.contains("/status.json\n") && names.contains("/settings.toml\n"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(kit.folder)/library/support") == [])
    }

    @Test func `what a process left is removed, and the file has no path any more`() throws {
        let desk = try desk(#"echo packed >"$4/kit.tar.gz"; echo "{\"file\":\"$4/kit.tar.gz\"}""#)
        try FileManager.default.createDirectory(atPath: "\(work)/left/over", withIntermediateDirectories: true)
        try "half".write(toFile: "\(work)/left/over/file", atomically: true, encoding: .utf8)
        let bundle = try desk.pack()
        #expect(bundle.name == "kit.tar.gz" && bundle.byteCount == 7)
        #expect(try FileManager.default.contentsOfDirectory(atPath: work) == [])
    }

    @Test(arguments: [
        ("echo 'support: the disk is full' >&2; exit 74", "the disk is full"),
        (
            #"echo '{"error":{"code":"io","message":"support: the disk is full"}}' >&2; exit 74"#,
            "fieldfare: support: the disk is full: make"
        ),
        ("echo '{}'", "work/support.tar.gz: No such file or directory"),
        (#"echo '{"file":"/nonexistent/kit.tar.gz"}'"#, "open /nonexistent/kit.tar.gz: No such file or directory"),
    ])
    func `what went wrong is said, with what helps`(script: String, fact: String) throws {
        let desk = try desk(script)
        let problem = #expect(throws: Problem.self) { try desk.pack() }
        let sentence = problem?.description ?? ""
        #expect(sentence.contains(fact) && sentence.hasSuffix("make the file on the kit with 'sudo fieldfare support'"))
    }

    @Test func `one browser at a time has the file made`() async throws {
        let desk = try desk("")
        let inner = try await desk.one {
            await #expect(throws: Problem.self) { try await desk.one { true } }
            return 1
        }
        #expect(inner == 1)
        #expect(try await desk.one { true })
    }
}

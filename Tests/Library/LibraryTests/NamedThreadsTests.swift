import DiskCalls
import Foundation
import OtherPrograms
import Testing

/// Checks that waits for a disk on a shared thread are found. Each file has its own name because tests run in parallel.
@Suite(.waitsOnNamedThreads, .enabled(if: DiskFault.areFound, "calls are not watched under a sanitizer"))
struct NamedThreadsTests {
    private let path = FileManager.default.temporaryDirectory.appending(path: "opened-\(UUID().uuidString)").path

    private var frames: [[String]] { DiskFault.found(at: path).map(\.frames) }

    @Test func `a file that an actor opens on a shared thread is a fault`() async {
        await SharedThreadActor().open(path)
        // An optimised build has one function for both actors.
        #expect(frames.count == 1 && frames.joined().contains { $0.contains("ThreadActor.open") })
    }

    @Test func `a file that an actor opens on its own thread is no fault, nor one that a test opens`() async throws {
        try await OwnThreadActor().open(path)
        _ = try? Data(contentsOf: URL(filePath: path))
        #expect(frames == [])
    }

    @Test(.needs(.clang)) func `a program reports what its unnamed threads open`() throws {
        let source = """
            #include <fcntl.h>
            #include <pthread.h>
            void *run(void *path) { return open(path, O_RDONLY) < 0 ? path : NULL; }
            int main(int count, char **arguments) {
                run(arguments[1]);
                pthread_t thread;
                return pthread_create(&thread, NULL, run, arguments[1]) || pthread_join(thread, NULL);
            }
            """
        defer { for end in ["", ".c"] { unlink(path + end) } }
        try Data(source.utf8).write(to: URL(filePath: "\(path).c"))
        _ = try OtherProgram.clang.output(["-pthread", "-o", path, "\(path).c"])
        let program = WatchedProgram()
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.environment = ProcessInfo.processInfo.environment.merging(program.environment) { $1 }
        process.arguments = [path]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && program.faults.map(\.call) == ["open \(path)"])
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path

    @Test(arguments: ["Catalog", "Console", "Exports", "Library"])
    func `each suite of the library is watched`(target: String) throws {
        let folder = "\(Self.folder)/\(target)Tests"
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix("Tests.swift") }
        let unwatched = try files.filter { file in
            let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
            let suites = text.ranges(of: "@Suite").count
            return suites == 0 || text.ranges(of: ".waitsOnNamedThreads").count != suites
        }
        #expect(files.count > 1 && unwatched == [])
    }
}

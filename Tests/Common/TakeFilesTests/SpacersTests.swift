import Files
import PowerCuts
import TakeFiles
import TestBench
import Testing

@Suite struct SpacersTests {
    @Test func `spacers that a cut left are removed when the takes are opened`() throws {
        let bench = TestFolder(in: .memory)
        let calls = FaultyCalls(root: bench.path)
        let files = FileSystem(calls: calls).on(.exFAT)
        calls.magic = 0x2011_BAB0
        let day = "\(bench.path)/2026-11-21"
        for folder in [day, "\(bench.path)/.spacer-1"] { _ = try files.makeFolder(folder) }
        for file in [".spacer-1", ".spacer-3"] { _ = try files.create("\(day)/\(file)", isNew: true) }
        _ = try TakesDirectory(path: bench.path, files: FileSystem(calls: calls))
        #expect(try files.entries(day) == [])
        #expect(try files.entries(bench.path).sorted() == [".lock", "2026-11-21"])
    }
}

import DiskCalls
import Foundation
import OtherPrograms
import TestBench
import Testing

@testable import Console

@Suite(.waitsOnNamedThreads) struct GzipTests {
    @Test(.needs(.gzip), arguments: [0, 1, 100_000])
    func `gzip restores what was compressed`(_ count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * $0 >> 3) }
        let packed = try #require(Gzip.compressed(bytes))
        let folder = TestFolder()
        folder.write(packed, to: "packed")
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: OtherProgram.gzip.path)
        process.arguments = ["-dc", "\(folder.path)/packed"]
        process.standardOutput = pipe
        try process.run()
        let restored = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(Array(restored) == bytes)
    }

    @Test(arguments: [
        ("gzip", true), ("deflate, gzip;q=0.5", true), ("*", true), ("GZIP", true), ("br", false), (nil, false),
        ("gzip;q=0", false), ("gzip;q=0, *", false), ("*;q=1, gzip;q=0", false), ("gzip;q=nan", false),
        ("gzip; q=0.0, br", false), ("xgzip", false),
    ])
    func `it is sent to those that take it`(_ field: String?, _ isAccepted: Bool) {
        #expect(Gzip.isAccepted(by: field) == isAccepted)
    }
}

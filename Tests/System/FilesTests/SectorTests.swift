import Files
import Foundation
import Glibc
import PowerCuts
import Takes
import TestBench
import Testing

/// Entries of exFAT within one sector of the folder.
@Suite struct SectorTests {
    private let bench = TestFolder(in: .memory)
    private let calls: FaultyCalls
    private let files: FileSystem

    init() {
        calls = FaultyCalls(root: bench.path)
        files = FileSystem(calls: calls).on(.exFAT)
    }

    /// Makes a file whose name needs two units of an entry. The entry has four units in total.
    private func make(_ entryStarts: [Int64], isNew: Bool = true) throws -> [String] {
        calls.entryStarts = entryStarts
        calls.trace = []
        _ = try files.createWhole("\(bench.path)/kit-0001-120000Z.wav.part", isNew: isNew)
        return calls.trace
    }

    private var around: String { String(bench.path[..<(bench.path.lastIndex(of: "/") ?? bench.path.startIndex)]) }

    private let made = "create kit-0001-120000Z.wav.part"

    @Test(arguments: [0, 128, 384, 512, 100 * 512 + 384] as [Int64])
    func `an entry in one sector is left there`(start: Int64) throws {
        #expect(try make([start]) == [made])
    }

    @Test(arguments: [416, 448, 480, 512 + 416] as [Int64])
    func `an entry across two sectors becomes a spacer's, and the file gets the next place`(start: Int64) throws {
        #expect(
            try make([start, start + 96]) == [
                made, "rename kit-0001-120000Z.wav.part .spacer-1", made, "remove .spacer-1",
                "fsync \(around)", "fsync .",
            ])
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.path) == ["kit-0001-120000Z.wav.part"])
    }

    @Test func `three spacers are the most, and what they leave is removed later`() throws {
        #expect(try make([480, 480, 480, 480]).filter { $0.hasPrefix("rename") }.count == 3)
        _ = try files.create("\(bench.path)/.spacer-2", isNew: true)
        calls.trace = []
        files.removeSpacers(in: bench.path)
        #expect(calls.trace == ["remove .spacer-2"])
    }

    @Test func `a folder gets its entry in one sector as well`() throws {
        calls.entryStarts = [480, 576]
        calls.trace = []
        _ = try files.makeWholeFolder("\(bench.path)/2026-11-21")
        #expect(
            calls.trace == [
                "mkdir 2026-11-21", "rename 2026-11-21 .spacer-1", "mkdir 2026-11-21", "rmdir .spacer-1",
                "fsync \(around)", "fsync .",
            ])
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.path) == ["2026-11-21"])
    }

    @Test func `a folder that is there stays where it is, with what is in it`() throws {
        _ = try files.makeFolder("\(bench.path)/2026-11-21")
        _ = try files.create("\(bench.path)/2026-11-21/kit-0001-120000Z.wav", isNew: true)
        calls.entryStarts = [480, 480, 480, 480]
        calls.trace = []
        _ = try files.makeWholeFolder("\(bench.path)/2026-11-21")
        #expect(calls.trace == [])
        #expect(try files.entries("\(bench.path)/2026-11-21") == ["kit-0001-120000Z.wav"])
    }

    @Test func `what has the name of a spacer and cannot be replaced costs no file`() throws {
        _ = try files.makeFolder("\(bench.path)/.spacer-1")
        _ = try files.create("\(bench.path)/.spacer-1/notes.txt", isNew: true)
        let moved = "rename kit-0001-120000Z.wav.part .spacer-2"
        #expect(
            try make([480, 480, 576]) == [
                made, moved, made, "remove .spacer-2", "fsync \(around)", "fsync .",
            ])
        files.removeSpacers(in: bench.path)
        #expect(try files.entries("\(bench.path)/.spacer-1") == ["notes.txt"])
    }

    @Test func `where there is room for one entry alone, the file has that`() throws {
        calls.entryStarts = [480, 480]
        calls.trace = []
        let count = Locked(0)
        calls.setRefusal { verb, _ in
            guard verb == "create" else { return nil }
            return count.withLock { count in
                count += 1
                return count == 2 ? ENOSPC : nil
            }
        }
        let file = try files.createWhole("\(bench.path)/kit-0001-120000Z.wav.part", isNew: true)
        try files.write([1], to: file, at: 0)
        #expect(try files.contents("\(bench.path)/kit-0001-120000Z.wav.part") == [1])
        #expect(try files.entries(bench.path) == ["kit-0001-120000Z.wav.part"])
    }

    @Test func `a folder that cannot be read, and another file system, cost no file`() throws {
        calls.setRefusal { verb, _ in verb == "find" ? EIO : nil }
        #expect(try make([480]) == [made])
        calls.setRefusal { _, _ in nil }
        calls.entryStarts = [480]
        calls.trace = []
        _ = try FileSystem(calls: calls).createWhole("\(bench.path)/kit-0001-120000Z.wav.part", isNew: false)
        #expect(calls.trace == [made])
    }
}

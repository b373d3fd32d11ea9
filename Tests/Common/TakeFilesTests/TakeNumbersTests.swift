import Files
import Glibc
import PowerCuts
import Takes
import TestBench
import Testing

@testable import TakeFiles

struct TakeNumbersTests {
    let scratch = TestFolder(in: .memory)
    let files = FileSystem()

    private func numbers(
        highest: Int = 0, calls: (any SystemCalls)? = nil, mark: KitMark? = nil
    ) throws -> TakeNumbers {
        let files = calls.map { FileSystem(calls: $0) } ?? files
        return TakeNumbers(in: try files.openFolder(scratch.path), files: files, highest: highest, mark: mark)
    }

    private func next(_ numbers: TakeNumbers) throws -> Int {
        try numbers.next(kit: "heron07", started: morning, nameTime: .utc).number
    }

    private var written: String {
        get throws { String(decoding: try files.contents("\(scratch.path)/.number"), as: UTF8.self) }
    }

    @Test func `numbers follow the highest, and are on the disk before they are used`() throws {
        let numbers = try numbers(highest: 41)
        #expect(numbers.last == 41)
        #expect(try next(numbers) == 42)
        #expect(try written == "42\n")
        #expect(try next(numbers) == 43)
        #expect(try written == "43\n")
        #expect(numbers.last == 43)
    }

    @Test(arguments: [
        "heron07-0001_20261121_061811.json", "heron07-0001-raw_20261121_061811.wav.part",
        "heron07-0001_20261121_061811.dat.part",
    ]) func `a number whose take has any file is passed over`(file: String) throws {
        _ = try files.makeFolder("\(scratch.path)/2026-11-21")
        scratch.write([], to: "2026-11-21/\(file)")
        #expect(try next(numbers()) == 2)
    }

    @Test func `while the day cannot be listed, the names that the take needs are looked up one by one`() throws {
        _ = try files.makeFolder("\(scratch.path)/2026-11-21")
        scratch.write([], to: "2026-11-21/heron07-0001-raw_20261121_061811.wav.part")
        let calls = FaultyCalls(root: scratch.path)
        calls.setRefusal { call, subject in call == "list" && subject == "2026-11-21" ? EIO : nil }
        #expect(try next(numbers(calls: calls)) == 2)
    }

    @Test func `the kit's mark and the folder share the numbers`() throws {
        _ = try files.makeFolder("\(scratch.path)/state")
        let mark = KitMark(folder: "\(scratch.path)/state")
        let one = try numbers(highest: 4, mark: mark)
        let other = try numbers(mark: mark)
        #expect(try [next(one), next(other), next(one)] == [5, 6, 7])
        #expect(try numbers(mark: mark).last == 7)
        #expect(one.newMarkFailure() == nil)
    }

    @Test func `a kit that has given all numbers says so`() throws {
        let numbers = try numbers(highest: TakeName.highestNumber)
        #expect(throws: FileError("count on in", scratch.path, code: EOVERFLOW)) { _ = try next(numbers) }
    }

    @Test func `a number that could not be written is lost`() throws {
        let calls = FaultyCalls(root: scratch.path)
        let numbers = try numbers(calls: calls)
        calls.setPlan { _, verb in verb == "rename" ? ENOSPC : nil }
        #expect(throws: FileError("rename", "\(scratch.path)/.number.tmp", code: ENOSPC)) { _ = try next(numbers) }
        calls.setPlan { _, _ in nil }
        #expect(try next(numbers) == 2)
    }

    @Test func `the last number is kept if the disk has a lower one, and only then`() throws {
        let calls = FaultyCalls(root: scratch.path)
        let numbers = try numbers(highest: 7, calls: calls)
        try numbers.keep()
        #expect(try written == "7\n")
        calls.trace = []
        try numbers.keep()
        #expect(calls.trace == [])
        scratch.write(Array("9\n".utf8), to: ".number")
        try numbers.keep()
        #expect(try written == "9\n")
    }
}

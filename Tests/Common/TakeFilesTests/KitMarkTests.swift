import Files
import Glibc
import PowerCuts
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// Numbers that belong to the kit, independent of the storage that it records on.
struct KitMarkTests {
    let scratch = TestFolder(in: .memory)
    let files = FileSystem()
    var state: String { scratch.path + "/state" }
    var mark: KitMark { KitMark(folder: state) }

    init() throws { _ = try files.makeFolder(state) }

    func number(on stick: String, _ mark: KitMark) throws -> Int {
        try TakesDirectory(path: "\(scratch.path)/\(stick)", mark: mark).nextTake(kit: "heron07", started: morning)
            .number
    }

    @Test func `a fresh stick goes on with the kit's numbers, and so does each that it is swapped with`() throws {
        #expect(try number(on: "a", mark) == 1)
        #expect(try number(on: "a", mark) == 2)
        #expect(try number(on: "b", mark) == 3)
        #expect(try number(on: "a", mark) == 4)
        #expect(try files.contents("\(state)/.number") == Array("4\n".utf8))
        #expect(try files.contents("\(scratch.path)/b/.number") == Array("3\n".utf8))
    }

    @Test func `a stick with higher numbers raises the mark`() throws {
        _ = try TakesDirectory(path: scratch.path + "/a")
        _ = try files.makeFolder(scratch.path + "/a/2026-11-20")
        _ = try files.create(scratch.path + "/a/2026-11-20/other-0041-000000Z.json", isNew: true)
        #expect(try number(on: "b", mark) == 1)
        #expect(try number(on: "a", mark) == 42)
        #expect(try number(on: "b", mark) == 43)
    }

    @Test func `of a mark that was cut while it was replaced, the draft counts`() throws {
        #expect(try number(on: "a", mark) == 1)
        try files.rename("\(state)/.number", to: "\(state)/.number.tmp")
        _ = try files.create("\(state)/.number", isNew: true)
        #expect(try number(on: "b", mark) == 2)
    }

    @Test func `a directory that is open learns of the numbers that were given elsewhere`() throws {
        let mark = mark
        let a = try TakesDirectory(path: scratch.path + "/a", mark: mark)
        let b = try TakesDirectory(path: scratch.path + "/b", mark: mark)
        #expect(try a.nextTake(kit: "heron07", started: morning).number == 1)
        #expect(try b.nextTake(kit: "heron07", started: morning).number == 2)
        #expect(try a.nextTake(kit: "heron07", started: morning).number == 3)
    }

    @Test(arguments: ["create", "rename", "fsync"])
    func `a mark that cannot be written stops no take, repeats no number and is reported once`(
        verb: String
    ) throws {
        let calls = FaultyCalls(root: state)
        calls.setRefusal { call, _ in call == verb ? EROFS : nil }
        let mark = KitMark(folder: state, files: FileSystem(calls: calls))
        let a = try TakesDirectory(path: scratch.path + "/a", mark: mark)
        #expect(a.newMarkFailure() == nil)
        #expect(try a.nextTake(kit: "heron07", started: morning).number == 1)
        let failure = try #require(a.newMarkFailure())
        #expect(failure.hasPrefix("number: "))
        #expect(failure.hasSuffix(": Read-only file system: numbers are counted by the takes that are found alone"))
        #expect(try a.nextTake(kit: "heron07", started: morning).number == 2)
        #expect(a.newMarkFailure() == nil)
        #expect(try number(on: "b", mark) == 3)
    }

    @Test func `without the kit's folder, takes are numbered by their storage, and that is reported`() throws {
        let mark = KitMark(folder: scratch.path + "/nowhere")
        let a = try TakesDirectory(path: scratch.path + "/a", mark: mark)
        #expect(try a.nextTake(kit: "heron07", started: morning).number == 1)
        #expect(
            a.newMarkFailure()
                == "number: open \(scratch.path)/nowhere: No such file or directory: numbers are counted by the takes that are "
                + "found alone")
    }
}

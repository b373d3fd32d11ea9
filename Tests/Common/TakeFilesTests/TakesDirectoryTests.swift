import Files
import Foundation
import Glibc
import PowerCuts
import TakePlaces
import Takes
import TestBench
import Testing

@testable import TakeFiles

struct TakesDirectoryTests {
    let scratch = TestFolder(in: .memory)
    var path: String { scratch.path + "/takes" }
    let files = FileSystem()

    func write(_ text: String, to name: String) throws {
        let file = try files.create("\(path)/\(name)", isNew: false)
        try files.write(Array(text.utf8), to: file, at: 0)
    }

    func nextNumber(started: WallTime = morning) throws -> Int {
        try TakesDirectory(path: path).nextTake(kit: "heron07", started: started).number
    }

    @Test func `numbers count from 1, across openings, and are on the disk before they are used`() throws {
        #expect(try nextNumber() == 1)
        #expect(try files.contents("\(path)/.number") == Array("1\n".utf8))
        let directory = try TakesDirectory(path: path)
        #expect(try directory.nextTake(kit: "heron07", started: morning).stem == "heron07-0002_20261121_061811")
        #expect(try directory.nextTake(kit: "heron07", started: morning).stem == "heron07-0003_20261121_061811")
        #expect(try files.contents("\(path)/.number") == Array("3\n".utf8))
    }

    @Test func `a clock that goes back ten years repeats no number`() throws {
        let past = WallTime(microseconds: morning.microseconds - 315_532_800_000_000)
        for (number, time) in [morning, past, morning, past].enumerated() {
            let directory = try TakesDirectory(path: path)
            let output = try TakeOutput(directory, started: time)
            _ = try output.finish(endedBy: .stop, levels: [])
            #expect(output.name.number == number + 1)
        }
        #expect(try TakesDirectory(path: path).takes().map(\.number) == [1, 2, 3, 4])
    }

    @Test(arguments: [
        "", "garbage", "12", "-5\n", "7 \n", "\0\0\0\0", "99999999999999999999\n", String(repeating: "9", count: 500),
    ]) func `a number that is garbled is replaced by the highest on the disk`(text: String) throws {
        let directory = try TakesDirectory(path: path)
        for _ in 1...2 {
            let output = try TakeOutput(directory)
            _ = try output.finish(endedBy: .stop, levels: [])
        }
        try write(text, to: ".number")
        try files.remove("\(path)/.lock")
        #expect(try nextNumber() == 3)
    }

    @Test(arguments: [
        "heron07-0041-061811Z.wav.part", "heron07-0041-061811Z.json.part", "heron07-0041-061811Z-p3-raw.wav.part",
        "heron07-0041-061811Z.dat.part",
        "otherkit-0041-000000Z.json.part.tmp", "heron07-0041-061811Z.flac",
    ]) func `what a cut left behind keeps its number`(file: String) throws {
        #expect(try nextNumber() == 1)
        _ = try files.makeFolder("\(path)/2016-01-01")
        try write("", to: "2016-01-01/\(file)")
        try files.remove("\(path)/.number")
        #expect(try nextNumber() == 42)
        #expect(try nextNumber() == 43)
    }

    @Test(arguments: [EIO, EACCES], ["open", "list"])
    func `a day that cannot be read is skipped and reported once, and numbers go on`(code: Int32, verb: String) throws {
        for day in ["2026-11-19", "2026-11-20"] {
            try _ = TakesDirectory(path: path)
            _ = try files.makeFolder("\(path)/\(day)")
        }
        try write("", to: "2026-11-19/a-0005-000000Z.json")
        try write("", to: "2026-11-20/a-0007-000000Z.json")
        let calls = FaultyCalls(root: path)
        calls.setRefusal { call, subject in call == verb && subject == "2026-11-20" ? code : nil }
        let failure = FileError(verb, "\(path)/2026-11-20", code: code)
        for (last, number) in [("7\n", 8), ("3\n", 6)] {
            try write(last, to: ".number")
            let directory = try TakesDirectory(path: path, files: FileSystem(calls: calls))
            #expect(try directory.takes().map(\.number) == [5])
            #expect(directory.newlyUnreadable() == [failure])
            #expect(try directory.leftovers() == [])
            #expect(directory.newlyUnreadable() == [])
            #expect(try directory.nextTake(kit: "heron07", started: morning).number == number)
        }
    }

    @Test func `a last number that cannot be read is reported, and numbers go on from what is there`() throws {
        _ = try TakesDirectory(path: path)
        _ = try files.makeFolder("\(path)/2026-11-20")
        try write("", to: "2026-11-20/a-0007-000000Z.json")
        try write("9\n", to: ".number")
        let calls = FaultyCalls(root: path)
        calls.setRefusal { call, subject in call == "read" && subject == ".number" ? EIO : nil }
        let directory = try TakesDirectory(path: path, files: FileSystem(calls: calls))
        #expect(directory.newlyUnreadable() == [FileError("read", "\(path)/.number", code: EIO)])
        #expect(directory.lastNumber == 7)
    }

    @Test func `a directory that cannot be read at all is not opened`() throws {
        try _ = TakesDirectory(path: path)
        let calls = FaultyCalls(root: path)
        calls.setRefusal { call, subject in call == "list" && subject == "." ? EIO : nil }
        #expect(throws: FileError("list", path, code: EIO)) {
            _ = try TakesDirectory(path: path, files: FileSystem(calls: calls))
        }
    }

    @Test func `a number that could not be written is not given, nor is it given later`() throws {
        let calls = FaultyCalls(root: path)
        let directory = try TakesDirectory(path: path, files: FileSystem(calls: calls))
        calls.setPlan { _, verb in verb == "rename" ? ENOSPC : nil }
        #expect(throws: FileError("rename", "\(path)/.number.tmp", code: ENOSPC)) {
            _ = try directory.nextTake(kit: "heron07", started: morning)
        }
        calls.setPlan { _, _ in nil }
        #expect(try directory.nextTake(kit: "heron07", started: morning).number == 2)
    }

    @Test func `only finished takes are listed, by number`() throws {
        let directory = try TakesDirectory(path: path)
        for day in ["2026-11-21", "2016-01-01", "not-a-day"] { _ = try files.makeFolder("\(path)/\(day)") }
        for file in [
            "2026-11-21/a-0010-000000Z.json", "2026-11-21/a-0009-235959Z.json", "2026-11-21/a-0011-000000Z.json.part",
            "2026-11-21/a-0012-000000Z.wav", "2026-11-21/notes.json", "2016-01-01/b-10000-000000Z.json",
            "2016-01-01/a-0002-000000Z.json", "not-a-day/a-0013-000000Z.json", "2026-11-22",
        ] { try write("", to: file) }
        #expect(
            try directory.takes().map { "\($0.day)/\($0.stem)" } == [
                "2016-01-01/a-0002-000000Z", "2026-11-21/a-0009-235959Z", "2026-11-21/a-0010-000000Z",
                "2016-01-01/b-10000-000000Z",
            ])
    }

    @Test func `a take is removed with all its files, and only they`() throws {
        let directory = try TakesDirectory(path: path)
        var names: [TakeName] = []
        for _ in 1...3 {
            let output = try TakeOutput(directory, keepsUnfiltered: true, splitBytes: 8192)
            try output.append(1000, unfiltered: true)
            _ = try output.finish(endedBy: .stop, levels: [])
            names.append(output.name)
        }
        try write("kept", to: "2026-11-21/notes.txt")
        try write("left over", to: "2026-11-21/\(names[1].stem).dat.part")
        let before = try everything(in: path)
        try directory.remove(names[1])
        #expect(try everything(in: path) == before.filter { !$0.key.isFile(of: names[1].stem) })
        #expect(try directory.takes() == [names[0], names[2]])
    }

    @Test func `a removal that is cut leaves no take of half its files`() throws {
        let calls = FaultyCalls(root: path)
        let directory = try TakesDirectory(path: path, files: FileSystem(calls: calls))
        let output = try TakeOutput(directory)
        _ = try output.finish(endedBy: .stop, levels: [])
        calls.setRefusal { verb, subject in verb == "remove" && subject.hasSuffix(".dat") ? EIO : nil }
        #expect(throws: FileError.self) { try directory.remove(output.name) }
        calls.setRefusal { _, _ in nil }
        #expect(try directory.takes() == [])
        #expect(try recoverAll(in: directory) == [.discarded])
        #expect(try everything(in: path).keys.sorted() == [".lock", ".number"])
    }

    @Test func `wherever a removal is cut, the take is whole, or recovery removes all of it`() throws {
        var cut = 0
        var stayed: Set<Bool> = []
        while true {
            let scratch = TestFolder(in: .memory)
            let calls = FaultyCalls(root: scratch.path)
            let directory = try TakesDirectory(path: scratch.path, files: FileSystem(calls: calls))
            let output = try TakeOutput(directory, keepsUnfiltered: true)
            try output.append(100, unfiltered: true)
            _ = try output.finish(endedBy: .stop, levels: [])
            let before = try everything(in: scratch.path)
            let left = Locked(cut)
            calls.setRefusal { _, _ in
                left.withLock {
                    $0 -= 1
                    return $0 < 0 ? EIO : nil
                }
            }
            do {
                try directory.remove(output.name)
                break
            } catch {}
            calls.setRefusal { _, _ in nil }
            let isTake = try directory.takes() == [output.name]
            stayed.insert(isTake)
            let outcomes = try recoverAll(in: directory)
            // Nothing is left if only the last sync was interrupted.
            let allowed: [[TakeRecovery.Outcome]] = [[], isTake ? [.unchanged] : [.discarded]]
            #expect(allowed.contains(outcomes), "cut \(cut): \(outcomes)")
            #expect(
                try isTake ? everything(in: scratch.path) == before : everything(in: scratch.path).count == 2,
                "cut \(cut)")
            cut += 1
        }
        #expect(cut > 8 && stayed == [true, false])
    }

    @Test func `on a disk without room for a note a take is removed without one`() throws {
        let calls = FaultyCalls(root: path)
        let directory = try TakesDirectory(path: path, files: FileSystem(calls: calls))
        let output = try TakeOutput(directory)
        _ = try output.finish(endedBy: .stop, levels: [])
        calls.setRefusal { verb, subject in verb == "create" && subject.hasSuffix(".removed") ? ENOSPC : nil }
        try directory.remove(output.name)
        #expect(try everything(in: path).keys.sorted() == [".lock", ".number"])
    }

    @Test func `a second recorder gets the first one's process, and may begin once that has ended`() throws {
        var first: TakesDirectory? = try TakesDirectory(path: path)
        #expect(first != nil)
        let error = #expect(throws: TakesLockError.self) { _ = try TakesDirectory(path: path) }
        #expect(
            error?.description
                == "record in \(path): pid \(getpid()) already does: stop it, or name another directory under [takes]")
        first = nil
        _ = try TakesDirectory(path: path)
    }

    @Test func `a child process that has a copy of the lock's file does not keep the lock`() throws {
        var first: TakesDirectory? = try TakesDirectory(path: path)
        #expect(first != nil)
        // The state after fork(2) until the child executes its program.
        let copies = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
            .filter {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == "\(path)/.lock"
            }
            .map { dup($0) }
        defer { copies.forEach { close($0) } }
        try #require(copies.count == 1)
        first = nil
        _ = try TakesDirectory(path: path)
    }

    @Test func `files are for the group and for no others, whatever the umask`() throws {
        let mask = umask(0o077)
        defer { umask(mask) }
        let directory = try TakesDirectory(path: path)
        let output = try TakeOutput(directory, keepsUnfiltered: true)
        try output.append(10, unfiltered: true)
        _ = try output.finish(endedBy: .stop, levels: [])
        #expect(rights(path) == "2750")
        #expect(rights("\(path)/2026-11-21") == "2750")
        for file in try everything(in: path).keys where file != ".lock" {
            #expect(rights("\(path)/\(file)") == "640", "\(file)")
        }
    }

    @Test func `a finished take's sidecar is replaced whole, with the next revision`() throws {
        let calls = FaultyCalls(root: path)
        let directory = try TakesDirectory(path: path, files: FileSystem(calls: calls))
        let output = try TakeOutput(directory)
        let first = try output.finish(endedBy: .stop, levels: [])
        calls.trace = []
        #expect(try directory.revise(output.name) { _ in } == first)
        #expect(calls.trace == [])
        let second = try directory.revise(output.name) { $0.startedCorrected = "2026-11-21T06:18:12.000000Z" }
        #expect(second.revision == 2)
        #expect(second.startedCorrected == "2026-11-21T06:18:12.000000Z")
        #expect(try directory.sidecar(of: output.name) == second)
        let file = "2026-11-21/\(output.name.stem).json"
        #expect(
            calls.trace == [
                "create \(file).tmp", "write \(file).tmp", "fsync \(file).tmp", "fsync 2026-11-21",
                "rename \(file).tmp \(file)", "fsync \(file)", "fsync 2026-11-21",
            ])
    }

    @Test func `a revision that fails at any call leaves the old sidecar or the new one`() throws {
        let calls = FaultyCalls(root: path)
        let directory = try TakesDirectory(path: path, files: FileSystem(calls: calls))
        let output = try TakeOutput(directory)
        var last = try output.finish(endedBy: .stop, levels: [])
        var failures = 0
        for index in 0... {
            calls.setPlan { number, _ in number == index ? EIO : nil }
            let revised = try? directory.revise(output.name) { $0.agc = $0.agc != true }
            calls.setPlan { _, _ in nil }
            let now = try directory.sidecar(of: output.name)
            #expect(now == last || now.revision == last.revision + 1)
            if let revised {
                #expect(now == revised)
                break
            }
            failures += 1
            last = now
        }
        #expect(failures > 5)
    }

    @Test func `storage that is not mounted is reported, not replaced`() {
        let error = #expect(throws: FileError.self) { _ = try TakesDirectory(path: scratch.path + "/card/takes") }
        #expect(
            error?.description
                == "make folder \(scratch.path)/card/takes: No such file or directory: see that it was not deleted, and that its storage is mounted"
        )
    }

    @Test func `free space is what the file system says`() throws {
        let calls = FaultyCalls(root: path)
        let directory = try TakesDirectory(path: path, files: FileSystem(calls: calls))
        #expect(try directory.freeBytes() > 0)
        calls.setPlan { _, _ in EIO }
        #expect(throws: FileError("measure", path, code: EIO)) { _ = try directory.freeBytes() }
        #expect(throws: FileError("list", path, code: EIO)) { _ = try directory.takes() }
    }
}

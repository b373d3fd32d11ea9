import Files
import Glibc
import PowerCuts
import Takes
import TestBench
import Testing

@testable import History

/// The history on a real disk.
@Suite final class HistoryFolderTests {
    private let place = TestFolder()
    private var path: String { place.path }
    private let files = FileSystem()
    private var folder: HistoryFolder { HistoryFolder(path + "/history") }

    private func record(_ number: Int, _ event: HistoryEvent? = nil) -> HistoryRecord {
        HistoryRecord(
            at: WallTime(microseconds: 1_795_241_891_000_000 + Int64(number) * 1_000_000), uptime: Double(number),
            event ?? .pressed(.init("record")))
    }

    private func write(_ text: String, to name: String) throws {
        _ = try files.makeFolder(folder.path)
        let file = try files.create(folder.path + "/" + name, isNew: false)
        try files.write(Array(text.utf8), to: file, at: 0)
    }

    private func append(_ records: [HistoryRecord], with writer: inout HistoryWriter) throws {
        var records = records
        try writer.append(&records)
        #expect(records.isEmpty)
    }

    @Test func `what is appended is read in its order, also by another writer`() throws {
        var writer = HistoryWriter(folder)
        try append([record(1), record(2)], with: &writer)
        try append([record(3)], with: &writer)
        var second = HistoryWriter(folder)
        try append([record(4)], with: &second)
        #expect(try folder.records().records == (1...4).map { record($0) })
        #expect(try folder.numbers() == [1])
        let since = record(3).at
        #expect(try folder.records(since: since).records == [record(3), record(4)])
    }

    @Test func `only files that may have records of the wanted time are read`() throws {
        func line(_ number: Int) -> String { String(decoding: record(number).line ?? [], as: UTF8.self) }
        func found(_ stretch: Range<Int>) throws -> [Double] {
            try folder.records(around: record(stretch.lowerBound).at..<record(stretch.upperBound).at).records
                .map(\.uptime)
        }
        for file in 0..<5 {
            let lines = (0..<3).map { line(100 * file + $0) }
            try write(lines.joined(), to: "00000\(file + 1).jsonl")
        }
        #expect(try found(201..<202) == [200, 201, 202])
        #expect(try found(150..<200) == [100, 101, 102])
        #expect(try found(150..<300) == [100, 101, 102, 200, 201, 202])
        #expect(try found(401..<900) == [400, 401, 402])
        #expect(try found(-9..<0).isEmpty)
        // After a start without a clock, older dates follow newer ones.
        try write(line(-9000) + line(250), to: "000004.jsonl")
        #expect(try found(201..<202) == [200, 201, 202, -9000, 250])
        // A file whose beginning cannot be read may have any date before that of the next one.
        try write("damaged\n" + line(1), to: "000001.jsonl")
        #expect(try found(401..<900) == [400, 401, 402])
        #expect(try found(-9000 ..< -8999) == [1, -9000, 250])
    }

    @Test func `a file that began with a wrong, later date is read for the true one`() throws {
        func text(_ numbers: [Int]) -> String {
            numbers.map { String(decoding: record($0).line ?? [], as: UTF8.self) }.joined()
        }
        try write(text([100, 101]), to: "000001.jsonl")
        try write(text([9000, 9001, 202, 203]), to: "000002.jsonl")
        func found(_ stretch: Range<Int>) throws -> [Double] {
            try folder.records(around: record(stretch.lowerBound).at..<record(stretch.upperBound).at).records
                .map(\.uptime)
        }
        #expect(try found(150..<300) == [100, 101, 9000, 9001, 202, 203])
        #expect(try found(150..<200) == [100, 101])
        // A power cut left an unfinished line.
        try write(text([9000, 202]) + "{", to: "000002.jsonl")
        #expect(try found(200..<300) == [100, 101, 9000, 202])
    }

    @Test func `files of a run whose clock was not set do not hide those before them`() throws {
        let old = HistoryRecord(at: WallTime(microseconds: 60_000_000), uptime: 60, .pressed(.init("record")))
        let texts = [record(10), record(20), old, record(30)].map { String(decoding: $0.line ?? [], as: UTF8.self) }
        for (index, text) in texts.enumerated() { try write(text, to: "00000\(index + 1).jsonl") }
        #expect(try folder.records(newest: 100, backTo: record(15).at).records.map(\.uptime) == [10, 20, 60, 30])
        #expect(try folder.records(newest: 100, backTo: record(25).at).records.map(\.uptime) == [20, 60, 30])
    }

    @Test func `of the files before a time, only the newest is read`() throws {
        for number in 1...4 {
            let text = String(decoding: record(number * 10).line ?? [], as: UTF8.self)
            try write(text, to: "00000\(number).jsonl")
        }
        func uptimes(backTo number: Int?) throws -> [Double] {
            try folder.records(newest: 100, backTo: number.map { record($0).at }).records.map(\.uptime)
        }
        #expect(try uptimes(backTo: nil) == [10, 20, 30, 40])
        #expect(try uptimes(backTo: 35) == [30, 40])
        #expect(try uptimes(backTo: 40) == [30, 40])
        #expect(try uptimes(backTo: 99) == [40])
        #expect(try uptimes(backTo: 0) == [10, 20, 30, 40])
    }

    @Test func `a history that is not there is empty`() throws {
        #expect(try folder.records().records.isEmpty)
        #expect(RunEnd(before: [], bootID: "a", wasReset: false) == .none)
    }

    @Test func `after a cut at any byte all whole lines are there, and what follows is whole`() throws {
        let lines = [record(1), record(2), record(3)].map { String(decoding: $0.line ?? [], as: UTF8.self) }
        let whole = lines.joined()
        for end in 0...whole.utf8.count {
            try write(String(whole.prefix(end)), to: "000001.jsonl")
            var writer = HistoryWriter(folder)
            try append([record(9)], with: &writer)
            let kept = lines.indices.filter { lines[...$0].joined().utf8.count <= end }
            let found = try folder.records()
            #expect(found.records == kept.map { record($0 + 1) } + [record(9)])
            #expect(found.damaged == 0)
        }
    }

    @Test func `zeros and other bytes that a cut left are skipped and counted`() throws {
        let line = String(decoding: record(1).line ?? [], as: UTF8.self)
        try write(line + "\0\0\0\0\n" + "}{\n" + line, to: "000001.jsonl")
        let found = try folder.records()
        #expect(found.records == [record(1), record(1)])
        #expect(found.damaged == 2)
    }

    @Test func `a file ends at its size, and the oldest are removed`() throws {
        let count = HistoryFolder.fileCount
        for number in 1...count {
            try write("x\n", to: String(repeating: "0", count: 6 - String(number).count) + "\(number).jsonl")
        }
        let full = try files.open(folder.file(count))
        try files.truncate(full, to: HistoryFolder.fileBytes)
        var writer = HistoryWriter(folder)
        try append([record(1)], with: &writer)
        #expect(try folder.numbers() == Array(2...(count + 1)))
        #expect(try folder.records().records == [record(1)])
        // A file with another name stays unchanged.
        try write("mine", to: "notes.txt")
        let many = (1...3000).map {
            record($0, .faultBegan(.init(code: 4, message: String(repeating: "m", count: 100))))
        }
        try append(many, with: &writer)
        try append([record(2)], with: &writer)
        #expect(try folder.numbers() == Array(4...(count + 3)))
        #expect(try folder.records().records.count == many.count + 2)
        for count in [1, 1000, many.count + 9] {
            #expect(try folder.records(newest: count).records[...] == folder.records().records.suffix(count))
        }
        #expect(try files.contents(folder.path + "/notes.txt") == Array("mine".utf8))
    }

    @Test func `a folder that cannot be made is an error with its path, and the next append works`() throws {
        let blocked = try files.create(folder.path, isNew: true)
        var writer = HistoryWriter(folder)
        #expect(throws: FileError.self) { try append([record(1)], with: &writer) }
        try files.remove(blocked.path)
        try append([record(1)], with: &writer)
        #expect(try folder.records().records == [record(1)])
    }

    @Test func `a file that cannot be read hides no other, and what follows has a file of its own`() throws {
        var writer = HistoryWriter(folder)
        try append([record(1, .started(.init(version: "1", bootID: "a", before: .none)))], with: &writer)
        try files.rename(folder.file(1), to: folder.file(2))
        for number in [1, 3] { _ = try files.makeFolder(folder.file(number)) }
        #expect(folder.lastRun() == nil)
        #expect(RunEnd(before: folder.lastRun(), bootID: "a", wasReset: false) == .unknown)
        var second = HistoryWriter(folder)
        try append([record(2)], with: &second)
        #expect(try folder.numbers() == [1, 2, 3, 4])
        let found = try folder.records()
        #expect(found.records.map(\.uptime) == [1, 2])
        #expect(found.unreadable.count == 2 && found.unreadable[0].contains("000001.jsonl"))
        #expect(try folder.records(newest: 1).unreadable.isEmpty)
        try append([record(3, .started(.init(version: "1", bootID: "b", before: .unknown)))], with: &second)
        #expect(folder.lastRun()?.map(\.uptime) == [3])
        for number in [1, 3] { try files.removeFolder(folder.file(number)) }
    }

    @Test func `other names with numbers are not the history's`() throws {
        for name in ["0000000000012.jsonl", "9223372036854775807.jsonl", "-00001.jsonl", "000000.jsonl", "00001.jsonl"]
        {
            try write("x\n", to: name)
        }
        #expect(try folder.numbers().isEmpty && folder.lastRun() == [])
        var writer = HistoryWriter(folder)
        try append([record(1)], with: &writer)
        #expect(try folder.numbers() == [1])
    }

    @Test func `what was written and not synced is written once`() throws {
        let disk = try PowerCutDisk(root: path)
        var writer = HistoryWriter(HistoryFolder(folder.path, files: FileSystem(calls: disk)))
        try append([record(1)], with: &writer)
        for number in [2, 4] {
            // The records are written, but their sync fails.
            disk.limit = disk.count + 1
            var records = [record(number), record(number + 1)]
            #expect(throws: FileError.self) { try writer.append(&records) }
            #expect(records.count == 2)
            disk.limit = .max
            try append(records, with: &writer)
        }
        #expect(try folder.records().records == (1...5).map { record($0) })
    }
}

import Glibc
import TakeFiles
import Takes
import Testing

@testable import History

/// The history on a real disk.
@Suite final class HistoryFolderTests {
    private let path: String
    private let files = FileSystem()
    private var folder: HistoryFolder { HistoryFolder(path + "/history") }

    init() {
        var template = Array("/tmp/fieldfare-history-XXXXXX".utf8CString)
        unsafe template.withUnsafeMutableBufferPointer { _ = unsafe mkdtemp($0.baseAddress!) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in (try? files.entries(folder.path)) ?? [] { try? files.remove(folder.path + "/" + name) }
        unsafe rmdir(folder.path)
        unsafe rmdir(path)
    }

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

    @Test func `what is appended is read in its order, also by another writer`() throws {
        var writer = HistoryWriter(folder)
        try writer.append([record(1), record(2)])
        try writer.append([record(3)])
        var second = HistoryWriter(folder)
        try second.append([record(4)])
        #expect(try folder.records().records == (1...4).map { record($0) })
        #expect(try folder.numbers() == [1])
        let since = record(3).at
        #expect(try folder.records(since: since).records == [record(3), record(4)])
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
            try writer.append([record(9)])
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
        try writer.append([record(1)])
        #expect(try folder.numbers() == Array(2...(count + 1)))
        #expect(try folder.records().records == [record(1)])
        // A name that is none of its files stays as it is.
        try write("mine", to: "notes.txt")
        let many = (1...3000).map {
            record($0, .faultBegan(.init(code: 4, message: String(repeating: "m", count: 100))))
        }
        try writer.append(many)
        try writer.append([record(2)])
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
        #expect(throws: FileError.self) { try writer.append([record(1)]) }
        try files.remove(blocked.path)
        try writer.append([record(1)])
        #expect(try folder.records().records == [record(1)])
    }
}

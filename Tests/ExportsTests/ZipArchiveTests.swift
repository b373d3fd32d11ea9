import Foundation
import TakeFiles
import Testing

@testable import Exports

@Suite struct ZipArchiveTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "zip-\(UUID().uuidString)").path

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    private func write(_ archive: ZipArchive, to path: String) throws -> Int64 {
        var archive = archive
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let file = try #require(FileHandle(forWritingAtPath: path))
        var count: Int64 = 0
        while let piece = try archive.next() {
            count += Int64(piece.count)
            try file.write(contentsOf: Data(piece))
        }
        return count
    }

    private func python(_ script: String, _ arguments: String...) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test func `an archive is as long as it said, and Python's zipfile finds every file in it bit for bit`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var entries: [ZipArchive.Entry] = []
        for (index, count) in [0, 1, 65_535, 65_536, 200_001].enumerated() {
            let path = "\(folder)/file\(index)"
            try Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ index) }).write(to: URL(filePath: path))
            entries.append(.init(path: path, name: "2026-11-21/Zaunkönig/file\(index)"))
        }
        let archive = try ZipArchive(entries)
        #expect(try write(archive, to: "\(folder)/all.zip") == archive.byteCount)
        let script = """
            import sys, zipfile
            archive = zipfile.ZipFile(sys.argv[1])
            assert archive.testzip() is None
            for info in archive.infolist():
                assert archive.read(info) == open(sys.argv[2] + "/" + info.filename.split("/")[-1], "rb").read()
            print(len(archive.infolist()), archive.infolist()[0].filename)
            """
        #expect(try python(script, "\(folder)/all.zip", folder) == "5 2026-11-21/Zaunkönig/file0")
    }

    @Test func `lengths and places beyond the limit of 32 bits stand in ZIP64 fields`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // The limit is lowered: 4 GiB take long to read.
        for (name, count) in [("large", 100_001), ("small", 1)] {
            try Data(repeating: 7, count: count).write(to: URL(filePath: "\(folder)/\(name)"))
        }
        let archive = try ZipArchive(
            [.init(path: "\(folder)/large", name: "large"), .init(path: "\(folder)/small", name: "small")],
            files: FileSystem(), limit: 100_000)
        #expect(try write(archive, to: "\(folder)/all.zip") == archive.byteCount)
        let script = """
            import struct, sys, zipfile
            archive = zipfile.ZipFile(sys.argv[1])
            assert archive.testzip() is None
            data = open(sys.argv[1], "rb").read()
            end = data.rindex(b"PK\\5\\6")
            print([info.file_size for info in archive.infolist()], data.count(b"PK\\6\\6"), struct.unpack("<I", data[end + 16:end + 20])[0] == 0xffffffff)
            """
        #expect(try python(script, "\(folder)/all.zip") == "[100001, 1] 1 True")
    }

    @Test func `a file that is cut or removed while it is sent ends the archive with an error`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = "\(folder)/file"
        try Data(count: 200_000).write(to: URL(filePath: path))
        var archive = try ZipArchive([.init(path: path, name: "file"), .init(path: path, name: "again")])
        _ = try archive.next()
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.truncate(atOffset: 70_000)
        #expect(throws: ExportError.self) { while try archive.next() != nil {} }
        try FileManager.default.removeItem(atPath: path)
        #expect(throws: (any Error).self) { try ZipArchive([.init(path: path, name: "file")]) }
    }
}

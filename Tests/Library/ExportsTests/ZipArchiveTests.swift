import DiskCalls
import Files
import Foundation
import OtherPrograms
import Takes
import TestBench
import Testing

@testable import Exports

@Suite(.waitsOnNamedThreads) struct ZipArchiveTests {
    private let place = TestFolder()
    private var folder: String { place.path }

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

    /// The output of a program that reads a file from a pipe, where it cannot seek.
    private func printed(by program: OtherProgram, _ arguments: [String], receiving path: String) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "file=$1; shift; cat \"$file\" | \"$@\"", "sh", path, program.path] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(program.rawValue)")
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func python(_ script: String, _ arguments: String...) throws -> String {
        try printed(by: .python, ["-c", script] + arguments, receiving: "/dev/null")
    }

    /// An archive of files, and of bytes that are not in a file. From 100 000 bytes on, lengths are in ZIP64 fields.
    private func mixed(to path: String) throws -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        var entries: [ZipArchive.Entry] = []
        for (index, count) in [0, 1, 65_535, 65_536, 200_001].enumerated() {
            let file = "\(folder)/file\(index)"
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ index) }
            try Data(bytes).write(to: URL(filePath: file))
            let name = "2026-11-21/Zaunkönig/file\(index)"
            entries.append(.init(path: file, name: name))
            contents[name] = bytes
        }
        let time = try #require(WallTime(iso8601: "2026-11-21T06:18:11.250000Z"))
        for count in [0, 20_000] {
            let bytes = [UInt8](repeating: 9, count: count)
            entries.append(.init(bytes: bytes, modified: time, name: "bytes\(count)"))
            contents["bytes\(count)"] = bytes
        }
        let archive = try ZipArchive(entries, files: FileSystem(), limit: 100_000)
        #expect(try write(archive, to: path) == archive.byteCount)
        return contents
    }

    private static let java = """
        import java.util.zip.*;
        class Receive {
            public static void main(String[] arguments) throws Exception {
                ZipInputStream zip = new ZipInputStream(System.in);
                for (ZipEntry entry; (entry = zip.getNextEntry()) != null;) {
                    long declared = entry.getSize();
                    byte[] bytes = zip.readAllBytes();
                    CRC32 crc = new CRC32();
                    crc.update(bytes);
                    System.out.println(new String(entry.getName().getBytes("UTF-8"), "ISO-8859-1").length()
                        + " " + (declared == bytes.length) + " " + crc.getValue());
                }
            }
        }
        """

    @Test(.needs(.java)) func `Java's reader of streams, which refuses data descriptors, finds every file bit for bit`()
        throws
    {
        let contents = try mixed(to: "\(folder)/all.zip")
        try Self.java.write(toFile: "\(folder)/Receive.java", atomically: true, encoding: .utf8)
        let lines = try printed(by: .java, ["\(folder)/Receive.java"], receiving: "\(folder)/all.zip")
        let expected = contents.map { name, bytes in
            var check = CRC32(.ieee)
            check.update(bytes)
            return "\(name.utf8.count) true \(check.value)"
        }
        #expect(lines.split(separator: "\n").map(String.init).sorted() == expected.sorted())
    }

    @Test(.needs(.bsdtar)) func `bsdtar, which reads from a pipe, finds every file bit for bit`() throws {
        let contents = try mixed(to: "\(folder)/all.zip")
        let away = "\(folder)/away"
        try FileManager.default.createDirectory(atPath: away, withIntermediateDirectories: false)
        _ = try printed(by: .bsdtar, ["-x", "-f", "-", "-C", away], receiving: "\(folder)/all.zip")
        for (name, bytes) in contents { #expect(try Data(contentsOf: URL(filePath: "\(away)/\(name)")) == Data(bytes)) }
    }

    @Test(.needs(.unzip)) func `unzip finds no fault in an archive`() throws {
        _ = try mixed(to: "\(folder)/all.zip")
        let report = try printed(by: .unzip, ["-t", "\(folder)/all.zip"], receiving: "/dev/null")
        #expect(report.hasSuffix("No errors detected in compressed data of \(folder)/all.zip."))
    }

    @Test(.needs(.python))
    func `an archive is as long as it said, and Python's zipfile finds every file in it bit for bit`() throws {
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

    @Test(.needs(.python)) func `lengths and places beyond the limit of 32 bits stand in ZIP64 fields`() throws {
        // The limit is lowered, because reading 4 GiB would take long.
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

    /// The fields of a local header (APPNOTE 4.3.7, and 4.5.3 for its ZIP64 field).
    private func head(_ bytes: [UInt8]) -> (flags: Int, crc: Int, size: Int, extra: [Int]) {
        func number(_ place: Int, _ count: Int) -> Int {
            bytes[place..<(place + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        let extra = 30 + number(26, 2)
        return (
            number(6, 2), number(14, 4), number(22, 4),
            number(28, 2) == 0
                ? [] : [number(extra, 2), number(extra + 2, 2), number(extra + 4, 8), number(extra + 12, 8)]
        )
    }

    @Test func `the head of a file beyond 4 GiB has its length in a ZIP64 field, and the archive's length is exact`()
        throws
    {
        let (large, small) = ("\(folder)/large", "\(folder)/small")
        let size = 5 << 30
        #expect(FileManager.default.createFile(atPath: large, contents: nil) && truncate(large, size) == 0)
        try Data([7]).write(to: URL(filePath: small))
        // The checksum is known already, so that the 5 GiB need not be read.
        let checksums = ZipChecksums()
        checksums.keep(0x0102_0304, of: large, try FileSystem().attributes(large))
        var archive = try ZipArchive(
            [.init(path: large, name: "large"), .init(path: small, name: "small")], checksums: checksums)
        let piece = try #require(try archive.next())
        let found = head(piece)
        #expect(found.flags == 1 << 11 && found.crc == 0x0102_0304 && found.size == 0xffff_ffff)
        #expect(found.extra == [1, 16, size, size])
        let files = 30 + 5 + 20 + size + 30 + 5 + 1
        let directory = 46 + 5 + 20 + 46 + 5 + 12
        #expect(archive.byteCount == Int64(files + directory + 56 + 20 + 22))
    }

    @Test func `what is known of a file spares reading it twice, until the file changes`() throws {
        let path = "\(folder)/file"
        let checksums = ZipChecksums()
        func crc() throws -> (crc: Int, pauses: Int) {
            var archive = try ZipArchive([.init(path: path, name: "file")], checksums: checksums)
            var pauses = 0
            while let piece = try archive.next() {
                if piece.isEmpty {
                    pauses += 1
                } else {
                    let found = head(piece)
                    while try archive.next() != nil {}
                    return (found.crc, pauses)
                }
            }
            return (0, 0)
        }
        try Data(repeating: 1, count: 200_000).write(to: URL(filePath: path))
        let first = try crc()
        #expect(first.pauses > 1)
        #expect(try crc() == (first.crc, 0))
        try Data(repeating: 2, count: 200_000).write(to: URL(filePath: path))
        let other = try crc()
        #expect(other.crc != first.crc && other.pauses > 1)
    }

    @Test func `archives of the same file at the same time read it for its checksum once together`() throws {
        let path = "\(folder)/file"
        try Data(repeating: 1, count: 100 << 16).write(to: URL(filePath: path))
        let checksums = ZipChecksums()
        var archives = try (0..<10).map { _ in try ZipArchive([.init(path: path, name: "file")], checksums: checksums) }
        var heads: [Int: [UInt8]] = [:]
        var pauses = 0
        while heads.count < archives.count {
            for index in archives.indices where heads[index] == nil {
                guard let piece = try archives[index].next() else { break }
                if piece.isEmpty { pauses += 1 } else { heads[index] = piece }
            }
        }
        // In each archive one pause to open the file, and one for each of a hundred pieces in total.
        #expect(pauses == 110)
        #expect(Set(heads.values).count == 1)
    }

    @Test func `only so many checksums are kept, and those that were used last`() {
        let checksums = ZipChecksums(most: 2)
        let attributes = FileAttributes(byteCount: 1, modifiedNs: 2, inode: 3)
        for (index, path) in ["a", "b"].enumerated() { checksums.keep(UInt32(index), of: path, attributes) }
        #expect(checksums.value(of: "a", attributes) == 0)
        checksums.keep(2, of: "c", attributes)
        #expect(["a", "b", "c"].map { checksums.value(of: $0, attributes) } == [0, nil, 2])
        #expect(checksums.value(of: "a", FileAttributes(byteCount: 1, modifiedNs: 3, inode: 3)) == nil)
    }

    @Test func `a file that is changed between its two readings ends the archive before its last piece`() throws {
        let path = "\(folder)/file"
        for place in [0, 199_999] as [UInt64] {
            try Data(count: 200_000).write(to: URL(filePath: path))
            var archive = try ZipArchive([.init(path: path, name: "file")])
            while try archive.next() == [] {}
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.seek(toOffset: place)
            try file.write(contentsOf: Data([1]))
            var count = 0
            #expect(
                throws: ExportError(.take, "archive: \(path) was changed while it was sent: download it again")
            ) { while let piece = try archive.next() { count += piece.count } }
            #expect(count < 200_000)
        }
    }

    @Test func `a file that gets another length before its turn ends the archive; one that is replaced after is sent`()
        throws
    {
        let (path, new) = ("\(folder)/file", "\(folder)/new")
        for count in [199_999, 200_001] {
            try Data(count: 200_000).write(to: URL(filePath: path))
            var archive = try ZipArchive([.init(path: path, name: "file")])
            try Data(count: count).write(to: URL(filePath: path))
            #expect(throws: ExportError.self) { while try archive.next() != nil {} }
        }
        try Data(count: 200_000).write(to: URL(filePath: path))
        var archive = try ZipArchive([.init(path: path, name: "file")])
        while try archive.next() == [] {}
        try Data(repeating: 1, count: 300_000).write(to: URL(filePath: new))
        #expect(rename(new, path) == 0)
        var count: Int64 = 34
        while let piece = try archive.next() { count += Int64(piece.count) }
        #expect(count == archive.byteCount)
    }

    @Test func `a file that is cut or removed while it is sent ends the archive with an error`() throws {
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

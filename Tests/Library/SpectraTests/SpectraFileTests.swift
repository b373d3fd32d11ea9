import Files
import Glibc
import PowerCuts
import SeededRandom
import Takes
import TestBench
import Testing

@testable import Spectra

@Suite struct SpectraFileTests {
    private let folder = TestFolder()
    private let sha256 = String(repeating: "0123456789abcdef", count: 4)
    private var path: String { "\(folder.path)/a.spectrum" }

    /// Sound at the lowest rate, which needs the least time.
    private func sound(_ channels: Int = 1) -> StreamFormat {
        StreamFormat(rateHz: 1000, channels: channels, sampleFormat: .s16)
    }

    private func write(_ samples: [Int16], channels: Int = 1, files: FileSystem = FileSystem()) throws {
        let writer = try SpectraWriter(
            path, sound: sound(channels), frames: Int64(samples.count / channels), files: files)
        let input = bytes(samples)
        for start in stride(from: 0, to: input.count, by: 5000) {
            try writer.append(input.span.bytes.extracting(start..<min(input.count, start + 5000)))
        }
        try writer.finish(sha256: sha256)
    }

    private func names() -> [String] { ((try? FileSystem().entries(folder.path)) ?? []).sorted() }

    private func content() throws -> [UInt8] { try FileSystem().contents(path, limit: 1 << 26) }

    /// The greatest of each `factor` columns.
    private func pooled(_ columns: [UInt8], _ factor: Int) -> [UInt8] {
        var pooled: [UInt8] = []
        for start in stride(from: 0, to: columns.count, by: 256 * factor) {
            var column = Array(columns[start..<start + 256])
            for place in start..<min(columns.count, start + 256 * factor) {
                column[place % 256] = max(column[place % 256], columns[place])
            }
            pooled += column
        }
        return pooled
    }

    private func level(_ reader: SpectraReader, _ level: Int, channel: Int) throws -> [UInt8] {
        let count = reader.levels.levels[level].count
        return try stride(from: 0, to: count, by: 1000).flatMap { start in
            try reader.columns(start..<min(count, start + 1000), level: level, channel: channel)
        }
    }

    @Test func `a file has the columns of each channel, and the greatest of them in its levels`() throws {
        let frames = 100 * 9000 + 1
        var samples = noise(2 * frames, level: 0.01, seed: 1)
        for index in stride(from: 0, to: samples.count, by: 70_001) { samples[index] = 30_000 }
        try write(samples, channels: 2)
        let all = try columns(bytes(samples), sound(2))
        let reader = try SpectraReader(path)
        #expect(reader.frames == Int64(frames) && reader.sha256 == sha256)
        #expect(reader.format == (try ColumnFormat(rateHz: 1000, channels: 2)))
        #expect(reader.levels.levels.map(\.span) == [1, 16, 64])
        #expect(reader.levels.levels.map(\.count) == [9001, 563, 141])
        for channel in 0..<2 {
            let wanted = values(of: channel, in: all, channels: 2)
            for (index, found) in reader.levels.levels.enumerated() {
                #expect(try level(reader, index, channel: channel) == pooled(wanted, Int(found.span)))
            }
        }
        #expect(try reader.columns(8990..<20_000, level: 0, channel: 0).count == 11 * 256)
        #expect(names() == ["a.spectrum"])
        let length = 64 + 9705 * 512 + 80
        #expect(try content().count == length)
        #expect(try SpectraWriter.byteCount(of: sound(2), frames: Int64(frames)) == Int64(length))
    }

    @Test func `the beginning is as documented`() throws {
        try write(noise(250, level: 0.1, seed: 1))
        let head = try content()[..<60]
        let numbers: [UInt8] = [
            1, 0, 0, 0, 0xe8, 3, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 10, 0, 0, 0, 0, 1, 0, 0, 0x38, 0xff, 0xff, 0xff,
            0xe8, 3, 0, 0, 250, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
        ]
        #expect(Array(head) == Array("FFSPECTR".utf8) + numbers)
    }

    @Test func `an hour of a channel takes at most 10 MB, and a day is shown by few columns`() throws {
        for rateHz in [8000, 48_000, 384_000] {
            let format = try ColumnFormat(rateHz: rateHz, channels: 1)
            #expect(try SpectraFrame(format, frames: Int64(3600 * rateHz)).byteCount <= 10_000_000)
            let day = try SpectraFrame(format, frames: Int64(86_400 * rateHz))
            #expect(day.byteCount <= 240_000_000)
            for columns in [1, 1999, 2000, 2001, 36_000, 864_000] as [Int64] {
                let level = day.levels.levels[day.levels.index(showing: columns, most: 2000)]
                #expect((columns + level.span - 1) / level.span <= 2000)
            }
            #expect(day.levels.index(showing: 2000, most: 2000) == 0)
        }
    }

    @Test func `a picture shows the greatest of what it covers, and of nothing far from it`() throws {
        var samples = noise(100 * 2000, level: 0.001, seed: 3)
        for index in stride(from: 777, to: samples.count, by: 20_011) { samples[index] = 30_000 }
        try write(samples)
        let reader = try SpectraReader(path)
        let all = try level(reader, 0, channel: 0)
        var random = SeededRandom(seed: 6)
        for _ in 0..<full(300, usually: 30) {
            let from = Int64(random.below(samples.count - 1))
            let to = from + 1 + Int64(random.below(samples.count - Int(from)))
            let count = 1 + random.below(300)
            let found = try reader.picture(of: from..<to, columns: count, channel: 0)
            #expect(found.count == count * 256)
            let length = Double(to - from) / Double(count)
            for column in 0..<count {
                let begin = Double(from) + Double(column) * length
                let first = Int(begin / 100)
                let last = min(1999, max(first, Int((begin + length - 1) / 100)))
                // A level's column is not wider than the picture's.
                let wide = Int(length / 100) + 1
                let near = max(0, first - wide)...min(1999, last + wide)
                for band in stride(from: 0, to: 256, by: 51) {
                    let value = found[column * 256 + band]
                    let least = (first...last).map { all[$0 * 256 + band] }.max() ?? 0
                    let most = near.map { all[$0 * 256 + band] }.max() ?? 0
                    #expect((least...most).contains(value))
                }
            }
        }
    }

    @Test func `a picture of all channels has the greatest of them`() throws {
        try write(noise(3 * 20_000, level: 0.1, seed: 5), channels: 3)
        let reader = try SpectraReader(path)
        let all = try reader.picture(of: 150..<19_950, columns: 33, channel: nil)
        let each = try (0..<3).map { try reader.picture(of: 150..<19_950, columns: 33, channel: $0) }
        #expect(all == (0..<33 * 256).map { place in each.map { $0[place] }.max() ?? 0 })
        #expect(Set(each).count == 3)
    }

    // MARK: - Hostile files

    private func problem() -> String? { SpectraErrorText.of { _ = try SpectraReader(path) } }

    @Test func `a file that was cut anywhere is incomplete`() throws {
        try write(noise(450, level: 0.1, seed: 1))
        let whole = try content()
        for count in 0..<whole.count {
            folder.write(Array(whole[..<count]), to: "a.spectrum")
            #expect(problem() == "spectrum: \(path) is incomplete: it must be computed again")
        }
        folder.write(whole, to: "a.spectrum")
        #expect(problem() == nil)
        folder.write(whole + [0], to: "a.spectrum")
        #expect(
            problem()
                == "spectrum: \(path) cannot be used: it has \(whole.count + 1) bytes, and its beginning says \(whole.count): it must be computed again"
        )
    }

    @Test func `a file with a wrong byte in its beginning or end mark is refused`() throws {
        try write(noise(450, level: 0.1, seed: 1))
        let whole = try content()
        var random = SeededRandom(seed: 3)
        for place in Array(0..<64) + Array(whole.count - 80..<whole.count) {
            var damaged = whole
            damaged[place] ^= UInt8(1 + random.below(255))
            folder.write(damaged, to: "a.spectrum")
            let error = #expect(throws: SpectraError.self) { _ = try SpectraReader(path) }
            #expect(error?.kind == .file, "byte \(place)")
        }
    }

    @Test func `any numbers with a right checksum are refused, or are those of the file`() throws {
        try write(noise(450, level: 0.1, seed: 1))
        let whole = try content()
        var random = SeededRandom(seed: 4)
        for _ in 0..<full(100_000, usually: 500) {
            var head = Array(whole[..<60])
            for _ in 0...random.below(3) {
                let place = 12 + random.below(48)
                head[place] = random.pick([0, 1, 2, 127, 128, 255, head[place] &+ 1])
            }
            var check = CRC32(.ieee)
            check.update(head)
            for place in 0..<4 { head.append(UInt8(truncatingIfNeeded: check.value >> UInt32(8 * place))) }
            guard head != Array(whole[..<64]) else { continue }
            folder.write(head + whole[64...], to: "a.spectrum")
            let error = #expect(throws: SpectraError.self) { _ = try SpectraReader(path) }
            #expect(error?.kind == .file)
        }
    }

    @Test func `a file of another version names both versions`() throws {
        try write(noise(450, level: 0.1, seed: 1))
        var other = try content()
        other[8] = 2
        folder.write(other, to: "a.spectrum")
        #expect(
            problem()
                == "spectrum: \(path) cannot be used: it has version 2, this program reads version 1: it must be computed again"
        )
    }

    @Test func `a file that is cut while it is open gives an error`() throws {
        try write(noise(100 * 600, level: 0.1, seed: 1))
        let reader = try SpectraReader(path)
        folder.write(Array(try content()[..<5000]), to: "a.spectrum")
        #expect(throws: SpectraError.self) { _ = try reader.columns(0..<600, level: 0, channel: 0) }
        #expect(throws: SpectraError.self) { _ = try reader.picture(of: 0..<60_000, columns: 9, channel: 0) }
    }

    @Test func `what a file does not have is refused`() throws {
        try write(noise(100 * 5000, level: 0.1, seed: 1))
        let reader = try SpectraReader(path)
        for (range, level, channel) in [(0..<1, 2, 0), (0..<1, -1, 0), (0..<1, 0, 1), (0..<1, 0, -1), (0..<4097, 0, 0)]
            as [(Range<Int64>, Int, Int)]
        {
            #expect(throws: SpectraError.self) { _ = try reader.columns(range, level: level, channel: channel) }
        }
        #expect(try reader.columns(-5 ..< -1, level: 0, channel: 0) == [])
        #expect(try reader.columns(Int64.max - 1..<Int64.max, level: 1, channel: 0) == [])
        for (range, count, channel) in [
            (-1..<5, 1, 0), (0..<500_001, 1, 0), (7..<7, 1, 0), (0..<7, 0, 0), (0..<7, 4097, 0), (0..<7, 1, 1),
        ] as [(Range<Int64>, Int, Int)] {
            #expect(throws: SpectraError.self) { _ = try reader.picture(of: range, columns: count, channel: channel) }
        }
    }

    @Test func `a link is not followed`() throws {
        try write(noise(450, level: 0.1, seed: 1))
        #expect(symlink(path, "\(folder.path)/link") == 0)
        #expect(throws: FileError.self) { _ = try SpectraReader("\(folder.path)/link") }
    }

    // MARK: - Writing

    @Test func `sound of another length than stated gets no file`() throws {
        for (stated, found) in [(100, 101), (101, 100), (100 * 600, 100 * 20_000), (0, 1)] {
            let input = bytes(noise(found, level: 0.1, seed: 1))
            let error = #expect(throws: SpectraError.self) {
                let writer = try SpectraWriter(path, sound: sound(), frames: Int64(stated))
                try writer.append(input.span.bytes)
                try writer.finish(sha256: sha256)
            }
            #expect(error?.kind == .sound)
            #expect(names() == [])
        }
    }

    @Test func `a sound without frames has a file without columns`() throws {
        try write([])
        let reader = try SpectraReader(path)
        #expect(reader.frames == 0 && reader.levels.levels.map(\.count) == [0])
        #expect(try reader.columns(0..<9, level: 0, channel: 0) == [])
        #expect(throws: SpectraError.self) { _ = try reader.picture(of: 0..<1, columns: 1, channel: 0) }
    }

    @Test func `numbers that no sound has are refused`() {
        for frames in [-1, .min, .max, SpectraFrame.mostFrames + 1] as [Int64] {
            #expect(throws: SpectraError.self) { _ = try SpectraWriter(path, sound: sound(), frames: frames) }
        }
        for sha256 in ["", "0", String(repeating: "0", count: 65), String(repeating: "X", count: 64)] {
            #expect(throws: SpectraError.self) {
                try SpectraWriter(path, sound: sound(), frames: 0).finish(sha256: sha256)
            }
        }
        #expect(names() == [])
    }

    @Test func `the end mark is written after the columns are on the disk, and the name comes last`() throws {
        let calls = FaultyCalls(root: folder.path)
        try write(noise(250, level: 0.1, seed: 1), files: FileSystem(calls: calls))
        #expect(
            calls.trace.filter { !$0.contains("fchmod") } == [
                "create a.spectrum.tmp", "write a.spectrum.tmp", "write a.spectrum.tmp", "fdatasync a.spectrum.tmp",
                "write a.spectrum.tmp", "rename a.spectrum.tmp a.spectrum", "fsync a.spectrum",
            ])
    }

    @Test func `whichever call fails, there is an error, and the file is whole or none`() throws {
        let samples = noise(100 * 600, level: 0.1, seed: 1)
        let counted = FaultyCalls(root: folder.path)
        try write(samples, files: FileSystem(calls: counted))
        let whole = try content()
        for failing in 0..<counted.count {
            unlink(path)
            let calls = FaultyCalls(root: folder.path) { number, _ in number == failing ? ENOSPC : nil }
            #expect(throws: FileError.self) { try write(samples, files: FileSystem(calls: calls)) }
            if names().contains("a.spectrum") { #expect(try content() == whole) }
            #expect(!names().contains("a.spectrum.tmp"), "call \(failing)")
        }
    }
}

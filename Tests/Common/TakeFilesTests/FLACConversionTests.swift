import Files
import Glibc
import PowerCuts
import TakePlaces
import Takes
import Testing

@testable import TakeFiles

/// The conversion of a take to FLAC, and its state after an interruption or a failure.
struct FLACConversionTests {
    let bench: ConversionBench

    init() throws { bench = try ConversionBench() }

    @Test(arguments: [
        stereo16, StreamFormat(rateHz: 44_100, channels: 1, sampleFormat: .s24),
        StreamFormat(rateHz: 192_000, channels: 8, sampleFormat: .s24Packed),
        StreamFormat(rateHz: 8000, channels: 3, sampleFormat: .s16),
        StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s32, significantBits: 24),
    ]) func `a take becomes FLAC, twin and parts, sample for sample`(format: StreamFormat) throws {
        let take = try bench.pendingTake(format, frames: 20_000)
        let before = try bench.directory.sidecar(of: take)
        let outcome = try bench.convert(take)
        let after = try bench.directory.sidecar(of: take)
        #expect(outcome == .converted(after))
        var expected = before
        expected.revision = 2
        expected.pendingFormat = nil
        expected.parts[0].file = "\(take.stem).flac"
        expected.parts[1].file = expected.parts[1].file.replacing(".wav", with: ".flac")
        expected.parts[0].unfilteredFile = take.stem.file("-raw.flac")
        expected.parts[1].unfilteredFile = expected.parts[1].file.twin
        #expect(after == expected)
        try bench.expectConverted(take, format.stored)
        #expect(try bench.convert(take) == .nothingToDo)
    }

    @Test
    func `a file is synced before it is renamed, renamed before the sidecar names it, and the WAV is removed last`()
        throws
    {
        let take = try bench.pendingTake()
        _ = try bench.convert(take)
        let stem = "2026-11-21/\(take.stem)"
        let bases = ["", "-raw", "-p2", "-p2-raw"].map { stem.file($0) }
        let trace = bench.calls.trace.enumerated().filter { index, call in
            // Consecutive writes of a file count once.
            index == 0 || !call.hasPrefix("write") || bench.calls.trace[index - 1] != call
        }.map(\.element)
        var expected = bases.flatMap { ["create \($0).flac.part", "write \($0).flac.part", "fsync \($0).flac.part"] }
        expected += bases.flatMap { ["rename \($0).flac.part \($0).flac", "fsync \($0).flac"] } + ["fsync 2026-11-21"]
        expected += ["create \(stem).json.tmp", "write \(stem).json.tmp", "fsync \(stem).json.tmp", "fsync 2026-11-21"]
        expected += ["rename \(stem).json.tmp \(stem).json", "fsync \(stem).json", "fsync 2026-11-21"]
        expected += ["-raw", "", "-p2-raw", "-p2"].map { "remove \(stem.file("\($0).wav"))" } + ["fsync 2026-11-21"]
        #expect(trace == expected)
    }

    @Test func `wherever it is cut, the take is whole, and another conversion ends it`() throws {
        let count = try ConversionBench.callCount()
        #expect(count > 60)
        for index in 0..<count {
            let bench = try ConversionBench()
            let take = try bench.pendingTake()
            bench.calls.setPlan { number, _ in number >= index ? EIO : nil }
            let conversion = FLACConversion(of: take, in: bench.directory, reserveBytes: 0)
            #expect(throws: FileError.self, "from call \(index) on") { _ = try bench.run(conversion) }
            bench.calls.setPlan { _, _ in nil }
            try bench.expectWhole(take, "from call \(index) on")
            let left = try bench.directory.takesInWAV()
            #expect(left == [take] || index >= count - 2, "from call \(index) on")
            // The last step syncs the folder. After that, nothing is left to do.
            let outcome = try bench.convert(take)
            #expect(
                outcome == .converted(try bench.directory.sidecar(of: take)) || (outcome == .nothingToDo && left == []))
            try bench.expectConverted(take, stereo16, "from call \(index) on")
        }
    }

    @Test func `one call that fails is reported, and the next step begins again`() throws {
        for index in 0..<(try ConversionBench.callCount()) {
            let bench = try ConversionBench()
            let take = try bench.pendingTake()
            bench.calls.setPlan { number, _ in number == index ? EIO : nil }
            let conversion = FLACConversion(of: take, in: bench.directory, reserveBytes: 0)
            do throws(FileError) {
                _ = try bench.run(conversion)
            } catch {
                #expect(error.code == EIO)
                try bench.expectWhole(take, "at call \(index)")
                #expect(try bench.names().filter { $0.hasSuffix(".flac.part") } == [], "at call \(index)")
                _ = try bench.run(conversion)
            }
            try bench.expectConverted(take, stereo16, "at call \(index)")
        }
    }

    @Test func `calls that are interrupted or cut short are continued`() throws {
        let take = try bench.pendingTake()
        bench.calls.setPlan { number, _ in number % 2 == 1 ? nil : EINTR }
        _ = try bench.convert(take)
        try bench.expectConverted(take)
    }

    @Test func `a conversion that is given up leaves the take as it was`() throws {
        let take = try bench.pendingTake(frames: 300_000)
        let before = try everything(in: bench.directory.path)
        let conversion = FLACConversion(of: take, in: bench.directory, reserveBytes: 0)
        var steps = 0
        while try bench.names().allSatisfy({ !$0.hasSuffix(".flac.part") }) {
            #expect(try conversion.step() == nil)
            steps += 1
        }
        for _ in 0..<3 { #expect(try conversion.step() == nil) }
        conversion.cancel()
        #expect(try everything(in: bench.directory.path) == before)
        // Four files of 300 000 frames in total are encoded and compared, none of them in one step.
        while try conversion.step() == nil { steps += 1 }
        #expect(steps > 2 * 2 * 300_000 * 2 / 131_072)
        try bench.expectConverted(take)
    }

    @Test func `what a cut left is made again`() throws {
        let take = try bench.pendingTake()
        let files = FileSystem()
        for name in ["-raw.flac.part", ".flac.part", "-p2.flac", "-p2-raw.flac"] {
            let bytes = Array("fLaC".utf8) + [0, 0, 0, 34]
            try files.write(bytes, to: files.create(bench.path(take.stem.file(name)), isNew: true), at: 0)
        }
        _ = try bench.convert(take)
        try bench.expectConverted(take)
    }

    @Test func `WAV beside FLAC that the sidecar names is removed, if the FLAC is as long as it says`() throws {
        let take = try bench.pendingTake()
        let waves = try everything(in: bench.directory.path).filter { $0.key.hasSuffix(".wav") }
        _ = try bench.convert(take)
        let files = FileSystem()
        func putBack() throws {
            for (name, bytes) in waves {
                try files.write(bytes, to: files.create("\(bench.directory.path)/\(name)", isNew: false), at: 0)
            }
        }
        try putBack()
        #expect(try bench.directory.takesInWAV() == [take])
        let sidecar = try bench.directory.sidecar(of: take)
        #expect(try bench.convert(take) == .converted(sidecar))
        #expect(try bench.directory.takesInWAV() == [])
        try bench.expectConverted(take)

        // The twin's FLAC is truncated. Both files of the part are encoded again, and the other part's WAV is removed.
        try putBack()
        let twin = try files.open(bench.path(take.stem.file("-p2-raw.flac")))
        try files.truncate(twin, to: 100)
        #expect(try bench.convert(take) == .converted(try bench.directory.sidecar(of: take)))
        #expect(try bench.directory.sidecar(of: take).revision == sidecar.revision + 2)
        try bench.expectConverted(take)

        // If neither file holds the recorded sound, neither is changed.
        for name in ["-p2.flac", "-p2.wav"] {
            let file = try files.create(bench.path(take.stem.file(name)), isNew: false)
            try files.write([1], to: file, at: 0)
        }
        let before = try everything(in: bench.directory.path)
        _ = try bench.convert(take)
        #expect(try everything(in: bench.directory.path) == before)
    }

    @Test func `a take that is gone, or not pending, is left alone`() throws {
        let take = try bench.pendingTake()
        let conversion = FLACConversion(of: take, in: bench.directory, reserveBytes: 0)
        for _ in 0..<4 { _ = try conversion.step() }
        try bench.directory.remove(take)
        #expect(try bench.run(conversion) == .nothingToDo)
        #expect(try bench.names() == [])

        let output = try TakeOutput(bench.directory)
        try output.append(100)
        _ = try output.finish(endedBy: .stop, levels: [])
        let before = try everything(in: bench.directory.path)
        #expect(try bench.convert(output.name) == .nothingToDo)
        let sidecar = try FileSystem().open(bench.directory.sidecarPath(of: output.name))
        try FileSystem().write(Array("x".utf8), to: sidecar, at: 0)
        #expect(try bench.convert(output.name) == .nothingToDo)
        #expect(try everything(in: bench.directory.path).count == before.count)
    }
}

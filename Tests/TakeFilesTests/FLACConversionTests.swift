import Glibc
import Takes
import Testing

@testable import TakeFiles

struct FLACConversionTests {
    let scratch = ScratchFolder()
    let calls: FaultyCalls
    let directory: TakesDirectory

    init() throws {
        calls = FaultyCalls(root: scratch.path + "/takes")
        directory = try TakesDirectory(path: scratch.path + "/takes", files: FileSystem(calls: calls))
    }

    /// A finished take of two parts with a twin each, 300 frames in all, that is to become FLAC.
    func pendingTake(_ format: StreamFormat = stereo16, frames: Int64 = 300) throws -> TakeName {
        let output = try TakeOutput(directory, format, keepsUnfiltered: true)
        try output.append(frames * 2 / 3, format, unfiltered: true)
        try output.beginPart(format: format, firstFrame: frames * 2 / 3)
        try output.append(frames - frames * 2 / 3, format, unfiltered: true)
        output.sidecar.markers = [Sidecar.Marker(atFrame: 7, note: "wren"), Sidecar.Marker(atFrame: 250, note: nil)]
        output.sidecar.pendingFormat = "flac"
        output.sidecar.endedBy = .stop
        _ = try output.finish()
        calls.trace = []
        return output.name
    }

    func names() throws -> [String] {
        try everything(in: directory.path).keys.filter { $0.contains("/") }.map { String($0.dropFirst(11)) }.sorted()
    }

    /// Steps until it is over.
    func run(_ conversion: FLACConversion) throws(FileError) -> FLACConversion.Outcome {
        while true {
            if let outcome = try conversion.step() { return outcome }
        }
    }

    func convert(_ take: TakeName, reserveBytes: Int64 = 0) throws(FileError) -> FLACConversion.Outcome {
        try run(FLACConversion(of: take, in: directory, reserveBytes: reserveBytes))
    }

    func path(_ name: String) -> String { "\(directory.path)/2026-11-21/\(name)" }

    static let stem = "heron07-0001-061811Z"
    static let converted = ["-p2-raw.flac", "-p2.flac", "-raw.flac", ".dat", ".flac", ".json"].map { stem + $0 }
    static let original = ["-p2-raw.wav", "-p2.wav", "-raw.wav", ".dat", ".json", ".wav"].map { stem + $0 }

    /// That the take is FLAC and nothing else, and holds what the WAV files held.
    func expectConverted(_ take: TakeName, _ format: StreamFormat = stereo16, _ comment: Comment? = nil) throws {
        #expect(try names() == Self.converted, comment)
        let sidecar = try directory.sidecar(of: take)
        #expect(sidecar.pendingFormat == nil, comment)
        #expect(sidecar.parts.map(\.file) == ["\(Self.stem).flac", "\(Self.stem)-p2.flac"], comment)
        for part in sidecar.parts {
            let range = part.firstFrame..<part.firstFrame + part.frames
            #expect(try frames(of: path(part.file)) == sound(range, format), comment)
            let twin = part.file.replacing(".flac", with: "-raw.flac")
            #expect(try frames(of: path(twin)) == sound(range, format, seed: 7), comment)
            #expect(rights(path(part.file)) == "640", comment)
        }
    }

    @Test(arguments: [
        stereo16, StreamFormat(rateHz: 44_100, channels: 1, sampleFormat: .s24),
        StreamFormat(rateHz: 192_000, channels: 8, sampleFormat: .s24Packed),
        StreamFormat(rateHz: 8000, channels: 3, sampleFormat: .s16),
    ]) func `a take becomes FLAC, twin and parts, sample for sample`(format: StreamFormat) throws {
        let take = try pendingTake(format, frames: 20_000)
        let before = try directory.sidecar(of: take)
        let outcome = try convert(take)
        let after = try directory.sidecar(of: take)
        #expect(outcome == .converted(after))
        var expected = before
        expected.revision = 2
        expected.pendingFormat = nil
        expected.parts[0].file = "\(take.stem).flac"
        expected.parts[1].file = "\(take.stem)-p2.flac"
        #expect(after == expected)
        try expectConverted(take, format.stored)
        #expect(try convert(take) == .nothingToDo)
    }

    @Test func `what is written is synced before it gets its name, named before it is told, told before the WAV goes`()
        throws
    {
        let take = try pendingTake()
        _ = try convert(take)
        let stem = "2026-11-21/\(take.stem)"
        let bases = ["", "-raw", "-p2", "-p2-raw"].map { stem + $0 }
        let trace = calls.trace.enumerated().filter { index, call in
            // Of the writes of a file, the first tells enough.
            index == 0 || !call.hasPrefix("write") || calls.trace[index - 1] != call
        }.map(\.element)
        var expected = bases.flatMap { ["create \($0).flac.part", "write \($0).flac.part", "fsync \($0).flac.part"] }
        expected += bases.map { "rename \($0).flac.part \($0).flac" } + ["fsync 2026-11-21"]
        expected += ["create \(stem).json.tmp", "write \(stem).json.tmp", "fsync \(stem).json.tmp"]
        expected += ["rename \(stem).json.tmp \(stem).json", "fsync 2026-11-21"]
        expected += ["-raw", "", "-p2-raw", "-p2"].map { "remove \(stem)\($0).wav" } + ["fsync 2026-11-21"]
        #expect(trace == expected)
    }

    /// How many calls a conversion makes.
    func callCount() throws -> Int {
        let bench = try FLACConversionTests()
        let take = try bench.pendingTake()
        bench.calls.setPlan { _, _ in nil }
        _ = try bench.convert(take)
        return bench.calls.count
    }

    /// Of every part and twin, a file that its sidecar or its name leads to holds the sound.
    func expectWhole(_ take: TakeName, _ comment: Comment) throws {
        let sidecar = try directory.sidecar(of: take)
        let there = Set(try names())
        for part in sidecar.parts {
            let range = part.firstFrame..<part.firstFrame + part.frames
            let found = try? frames(of: path(part.file))
            #expect(found == sound(range, stereo16), comment)
            let base = part.file.prefix { $0 != "." } + "-raw"
            let twin = there.contains("\(base).wav") ? "\(base).wav" : "\(base).flac"
            let foundTwin = try? frames(of: path(twin))
            #expect(foundTwin == sound(range, stereo16, seed: 7), comment)
        }
    }

    @Test func `wherever it is cut, the take is whole, and another conversion ends it`() throws {
        let count = try callCount()
        #expect(count > 60)
        for index in 0..<count {
            let bench = try FLACConversionTests()
            let take = try bench.pendingTake()
            bench.calls.setPlan { number, _ in number >= index ? EIO : nil }
            let conversion = FLACConversion(of: take, in: bench.directory, reserveBytes: 0)
            #expect(throws: FileError.self, "from call \(index) on") { _ = try bench.run(conversion) }
            bench.calls.setPlan { _, _ in nil }
            try bench.expectWhole(take, "from call \(index) on")
            let left = try bench.directory.takesInWAV()
            #expect(left == [take] || index >= count - 2, "from call \(index) on")
            // The last step syncs the folder: then nothing is left to be done.
            let outcome = try bench.convert(take)
            #expect(
                outcome == .converted(try bench.directory.sidecar(of: take)) || (outcome == .nothingToDo && left == []))
            try bench.expectConverted(take, stereo16, "from call \(index) on")
        }
    }

    @Test func `one call that fails is told, and the next step begins anew`() throws {
        for index in 0..<(try callCount()) {
            let bench = try FLACConversionTests()
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

    @Test func `calls that are interrupted or cut short are gone on with`() throws {
        let take = try pendingTake()
        calls.setPlan { number, _ in number % 2 == 1 ? nil : EINTR }
        _ = try convert(take)
        try expectConverted(take)
    }

    // MARK: - What stays WAV, and why

    /// That the take is WAV as it was, but pending no more.
    func expectKept(_ take: TakeName, _ outcome: FLACConversion.Outcome, _ reason: String) throws {
        let sidecar = try directory.sidecar(of: take)
        #expect(outcome == .kept(sidecar, "convert \(Self.stem) to FLAC: \(reason): it stays WAV"))
        #expect(sidecar.pendingFormat == nil)
        #expect(sidecar.revision == 2)
        #expect(sidecar.parts.map(\.file) == ["\(Self.stem).wav", "\(Self.stem)-p2.wav"])
        #expect(try convert(take) == .nothingToDo)
    }

    @Test(arguments: [
        (
            StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .float),
            "FLAC holds no FLOAT_LE here, only integers of up to 24 bits"
        ),
        (
            StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s32),
            "FLAC holds no S32_LE here, only integers of up to 24 bits"
        ),
        (StreamFormat(rateHz: 48_000, channels: 9, sampleFormat: .s16), "FLAC holds up to 8 channels, not 9"),
        (StreamFormat(rateHz: 768_000, channels: 1, sampleFormat: .s16), "FLAC holds up to 655350 Hz, not 768000"),
    ]) func `what FLAC cannot hold stays WAV`(format: StreamFormat, reason: String) throws {
        let take = try pendingTake(format)
        let outcome = try convert(take)
        try expectKept(take, outcome, reason)
        #expect(try names() == Self.original)
    }

    @Test func `a part that is gone, or of another length, stays as it is`() throws {
        let take = try pendingTake()
        try FileSystem().remove(path("\(take.stem)-p2.wav"))
        let outcome = try convert(take)
        try expectKept(take, outcome, "\(path("\(take.stem)-p2.wav")) is not there")
        #expect(try names() == Self.original.filter { $0 != "\(take.stem)-p2.wav" })

        let bench = try FLACConversionTests()
        let other = try bench.pendingTake()
        let twin = bench.path("\(other.stem)-raw.wav")
        let file = try FileSystem().open(twin)
        try FileSystem().truncate(file, to: 4096 + 4 * 150)
        let cut = try bench.convert(other)
        try bench.expectKept(other, cut, "\(twin) holds 150 frames, and its sidecar says 200")
        #expect(try bench.names() == Self.original)

        try FileSystem().truncate(file, to: 20)
        _ = try bench.directory.revise(other) { $0.pendingFormat = "flac" }
        guard case .kept(_, let reason) = try bench.convert(other) else {
            Issue.record("a file that is no sound file is converted")
            return
        }
        #expect(reason.hasPrefix("convert \(other.stem) to FLAC: open \(twin): "))
    }

    @Test func `a take without sound, or without a place in time, stays WAV`() throws {
        let output = try TakeOutput(directory)
        output.sidecar.pendingFormat = "flac"
        output.sidecar.endedBy = .stop
        _ = try output.finish()
        let wav = path("\(output.name.stem).wav")
        let empty = try convert(output.name)
        let sidecar = try directory.sidecar(of: output.name)
        let reason = "convert \(output.name.stem) to FLAC: \(wav) holds 0 frames, and its sidecar says 0: it stays WAV"
        #expect(empty == .kept(sidecar, reason))

        let bench = try FLACConversionTests()
        for place in [Int64.min, -1, Int64.max] {
            let take = try bench.pendingTake()
            _ = try bench.directory.revise(take) { $0.parts[1].firstFrame = place }
            #expect(try bench.convert(take) == .nothingToDo)
        }
    }

    @Test func `a sidecar that names files of others leads to none of them`() throws {
        let other = try pendingTake()
        let before = try names()
        // Those of the other's second part are as long as those of this one's.
        for file in [
            "\(other.stem)-p2.wav", "\(other.stem)-p2.flac", "../2026-11-21/\(other.stem)-p2.wav",
            "../2026-11-21/\(other.stem).wav", "", "x.wav",
        ] {
            let take = try pendingTake()
            _ = try directory.revise(take) { $0.parts[1].file = file }
            #expect(try convert(take) == .nothingToDo)
            #expect(try names().filter { $0.hasPrefix(other.stem) } == before.filter { $0.hasPrefix(other.stem) })
        }
    }

    /// Where in a FLAC file of 100 frames something is changed, from its end.
    @Test(arguments: [0, 1, 2, 40, 100, 300])
    func `FLAC that the disk gives back otherwise never takes the WAV's place`(
        place: Int
    ) throws {
        let take = try pendingTake()
        let part = path("\(take.stem)-p2.flac.part")
        calls.setPlan { _, verb in
            guard verb == "forget", let file = try? FileSystem().open(part) else { return nil }
            let bytes = (try? FileSystem().contents(part)) ?? []
            let index = bytes.count - 1 - place
            try? FileSystem().write([~bytes[index]], to: file, at: Int64(index))
            return nil
        }
        let outcome = try convert(take)
        calls.setPlan { _, _ in nil }
        guard case .kept(let sidecar, let reason) = outcome else {
            Issue.record("it is \(outcome)")
            return
        }
        #expect(reason.hasPrefix("convert \(take.stem) to FLAC: ") && reason.hasSuffix(": it stays WAV"))
        #expect(sidecar.parts.map(\.file) == ["\(take.stem).wav", "\(take.stem)-p2.wav"])
        #expect(try names() == Self.original)
        try expectWhole(take, "\(place)")
    }

    @Test(arguments: [
        (100, 1, "differs at frame 73"), (99, 0, "differs at frame 99"), (101, 0, "differs at frame 101"),
    ])
    func `FLAC of other sound, though whole, never takes the WAV's place`(
        frames: Int64, change: Int, reason: String
    ) throws {
        let take = try pendingTake()
        let part = path("\(take.stem)-p2.flac.part")
        calls.setPlan { _, verb in
            guard verb == "forget", (try? FileSystem().contents(part)) != nil else { return nil }
            do {
                var source = try SoundFileReader(path: "\(part.prefix { $0 != "." }).wav")
                var samples = [Int32](repeating: 0, count: 202)
                var span = samples.mutableSpan
                _ = try source.read(into: &span)
                samples[2 * 73 + 1] &+= Int32(change) << 16
                let file = try FileSystem().create(part, isNew: false)
                var writer = try FLACWriter(
                    to: file, files: FileSystem(), format: stereo16,
                    metadata: FLACMetadata(comments: [], frames: frames, rateHz: 48_000))
                try writer.write(samples, frames: Int(frames))
                try writer.finish()
            } catch {
                Issue.record(error)
            }
            return nil
        }
        let outcome = try convert(take)
        calls.setPlan { _, _ in nil }
        try expectKept(take, outcome, "read back from the disk, \(take.stem)-p2.flac \(reason)")
        #expect(try names() == Self.original)
    }

    // MARK: - Room

    @Test func `without room beside the reserve it is not begun, and tried again later`() throws {
        let take = try pendingTake()
        let conversion = FLACConversion(of: take, in: directory, reserveBytes: 512 << 20)
        calls.free = 516 << 20
        // Four files, with 1 MiB each for what is said of the sound.
        let reason =
            "convert \(take.stem) to FLAC: 516 MiB are free, and 516 are needed, of them 512 as reserve: free some space"
        #expect(try run(conversion) == .later(reason))
        #expect(calls.trace.allSatisfy { $0.hasPrefix("remove") && $0.hasSuffix(".flac") })
        #expect(try names() == Self.original)
        #expect(try directory.sidecar(of: take).pendingFormat == "flac")
        calls.free = 517 << 20
        #expect(try run(conversion) == .converted(try directory.sidecar(of: take)))
        try expectConverted(take)
    }

    @Test func `room that goes while it is under way ends it for now`() throws {
        let take = try pendingTake()
        let conversion = FLACConversion(of: take, in: directory, reserveBytes: 512 << 20)
        calls.free = 600 << 20
        while try names().allSatisfy({ !$0.hasSuffix(".flac.part") }) { #expect(try conversion.step() == nil) }
        calls.free = 512 << 20 - 1
        guard case .later = try run(conversion) else {
            Issue.record("it goes on")
            return
        }
        #expect(try names() == Self.original)
        calls.free = nil
        #expect(try convert(take) == .converted(try directory.sidecar(of: take)))
    }

    @Test func `a disk that fills meanwhile is left as it was, and it goes on when there is room`() throws {
        for index in 0..<(try callCount()) {
            let bench = try FLACConversionTests()
            let take = try bench.pendingTake()
            bench.calls.setPlan { number, verb in
                number >= index && (verb == "create" || verb == "write") ? ENOSPC : nil
            }
            let conversion = FLACConversion(of: take, in: bench.directory, reserveBytes: 0)
            let outcome = try bench.run(conversion)
            bench.calls.setPlan { _, _ in nil }
            guard case .later(let reason) = outcome else {
                try bench.expectConverted(take, stereo16, "call \(index)")
                continue
            }
            #expect(reason.contains("No space left on device: free some space"), "call \(index)")
            try bench.expectWhole(take, "call \(index)")
            #expect(try bench.names().filter { $0.hasSuffix(".part") } == [], "call \(index)")
            let again = try bench.run(conversion)
            #expect(again == .converted(try bench.directory.sidecar(of: take)), "call \(index)")
            try bench.expectConverted(take, stereo16, "call \(index)")
        }
    }

    // MARK: - What is met

    @Test func `a conversion that is given up leaves the take as it was`() throws {
        let take = try pendingTake(frames: 300_000)
        let before = try everything(in: directory.path)
        let conversion = FLACConversion(of: take, in: directory, reserveBytes: 0)
        var steps = 0
        while try names().allSatisfy({ !$0.hasSuffix(".flac.part") }) {
            #expect(try conversion.step() == nil)
            steps += 1
        }
        for _ in 0..<3 { #expect(try conversion.step() == nil) }
        conversion.cancel()
        #expect(try everything(in: directory.path) == before)
        // Four files of 300 000 frames in all, encoded and compared: none in one step.
        while try conversion.step() == nil { steps += 1 }
        #expect(steps > 2 * 2 * 300_000 * 2 / 131_072)
        try expectConverted(take)
    }

    @Test func `what a cut left is made anew`() throws {
        let take = try pendingTake()
        let files = FileSystem()
        for name in ["-raw.flac.part", ".flac.part", "-p2.flac", "-p2-raw.flac"] {
            try files.write([1, 2, 3], to: files.create(path(take.stem + name), isNew: true), at: 0)
        }
        _ = try convert(take)
        try expectConverted(take)
    }

    @Test func `WAV beside FLAC that the sidecar names goes, if the FLAC is as long as it says`() throws {
        let take = try pendingTake()
        let waves = try everything(in: directory.path).filter { $0.key.hasSuffix(".wav") }
        _ = try convert(take)
        let files = FileSystem()
        func putBack() throws {
            for (name, bytes) in waves {
                try files.write(bytes, to: files.create("\(directory.path)/\(name)", isNew: false), at: 0)
            }
        }
        try putBack()
        #expect(try directory.takesInWAV() == [take])
        let sidecar = try directory.sidecar(of: take)
        #expect(try convert(take) == .converted(sidecar))
        #expect(try directory.takesInWAV() == [])
        try expectConverted(take)

        // A twin's FLAC that is cut: both files of the part are made anew, the other part's WAV goes as it is.
        try putBack()
        let twin = try files.open(path("\(take.stem)-p2-raw.flac"))
        try files.truncate(twin, to: 100)
        #expect(try convert(take) == .converted(try directory.sidecar(of: take)))
        #expect(try directory.sidecar(of: take).revision == sidecar.revision + 2)
        try expectConverted(take)

        // Neither is what it should be: neither is touched.
        for name in ["-p2.flac", "-p2.wav"] {
            let file = try files.create(path(take.stem + name), isNew: false)
            try files.write([1], to: file, at: 0)
        }
        let before = try everything(in: directory.path)
        _ = try convert(take)
        #expect(try everything(in: directory.path) == before)
    }

    @Test func `a take that is gone, or not pending, is left alone`() throws {
        let take = try pendingTake()
        let conversion = FLACConversion(of: take, in: directory, reserveBytes: 0)
        for _ in 0..<4 { _ = try conversion.step() }
        try directory.remove(take)
        #expect(try run(conversion) == .nothingToDo)
        #expect(try names() == [])

        let output = try TakeOutput(directory)
        try output.append(100)
        output.sidecar.endedBy = .stop
        _ = try output.finish()
        let before = try everything(in: directory.path)
        #expect(try convert(output.name) == .nothingToDo)
        let sidecar = try FileSystem().open(directory.sidecarPath(of: output.name))
        try FileSystem().write(Array("x".utf8), to: sidecar, at: 0)
        #expect(try convert(output.name) == .nothingToDo)
        #expect(try everything(in: directory.path).count == before.count)
    }
}

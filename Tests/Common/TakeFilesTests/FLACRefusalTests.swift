import Files
import Glibc
import PowerCuts
import TakePlaces
import Takes
import Testing

@testable import TakeFiles

/// Takes that stay WAV, and the reasons.
struct FLACRefusalTests {
    let bench: ConversionBench

    init() throws { bench = try ConversionBench() }

    @Test(arguments: [
        (
            StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .float),
            "FLAC holds no FLOAT_LE here, only integers of up to 24 bits"
        ),
        (
            StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s32),
            "FLAC holds integers of up to 24 bits here, and \(ConversionBench.stem).wav has more at frame 0"
        ),
        (StreamFormat(rateHz: 48_000, channels: 9, sampleFormat: .s16), "FLAC holds up to 8 channels, not 9"),
        (StreamFormat(rateHz: 768_000, channels: 1, sampleFormat: .s16), "FLAC holds up to 655350 Hz, not 768000"),
    ]) func `what FLAC cannot hold stays WAV`(format: StreamFormat, reason: String) throws {
        let take = try bench.pendingTake(format)
        let outcome = try bench.convert(take)
        try bench.expectKept(take, outcome, reason)
        #expect(try bench.names() == ConversionBench.original)
    }

    /// A pending take of 32 bits whose low 8 bits are zero in all its files.
    func reducibleTake(frames: Int64 = 20_000) throws -> TakeName {
        let take = try bench.pendingTake(Self.words, frames: frames)
        var sidecar = try bench.directory.sidecar(of: take)
        for name in try bench.names() where name.hasSuffix(".wav") {
            var bytes = try FileSystem().contents(bench.path(name))
            let end = 4096 + Int(try SoundFileReader(path: bench.path(name)).frames) * Self.words.bytesPerFrame
            for place in stride(from: 4096, to: end, by: 4) { bytes[place] = 0 }
            try FileSystem().write(bytes, to: FileSystem().open(bench.path(name)), at: 0)
            // Use the fingerprint of this sound.
            var digest = SoundDigest()
            digest.update(Array(bytes[4096..<end]))
            for part in sidecar.parts.indices {
                if sidecar.parts[part].file == name { sidecar.parts[part].soundSHA256 = digest.hexadecimal }
                if sidecar.parts[part].unfilteredFile == name {
                    sidecar.parts[part].unfilteredSoundSHA256 = digest.hexadecimal
                }
            }
        }
        // The length does not change: only digests differ.
        let path = bench.path("\(take.stem).json")
        try FileSystem().write(SidecarFile.bytes(sidecar), to: FileSystem().open(path), at: 0)
        return take
    }

    static let words = StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s32)

    @Test func `32 bits whose low 8 are zero become FLAC of 24, sample for sample`() throws {
        let take = try reducibleTake()
        let before = try bench.names().filter { $0.hasSuffix(".wav") }.map { try frames(of: bench.path($0)) }
        _ = try bench.convert(take)
        #expect(try bench.names() == ConversionBench.converted)
        let after = try bench.names().filter { $0.hasSuffix(".flac") }
        for (wav, name) in zip(before, after) {
            // The same bytes without the zeros.
            #expect(try frames(of: bench.path(name)) == wav.enumerated().filter { $0.offset % 4 != 0 }.map(\.element))
        }
        // The delivered format is unchanged.
        #expect(try bench.directory.sidecar(of: take).parts.map(\.format) == [.s32, .s32])
    }

    @Test(arguments: [(0, 0), (1, 1999), (1, 6665)])
    func `32 bits of which one sample needs more than 24 stay WAV, all parts`(part: Int, frame: Int) throws {
        let take = try reducibleTake()
        let name = ["\(take.stem).wav", take.stem.file("-p2-raw.wav")][part]
        let file = try FileSystem().open(bench.path(name))
        try FileSystem().write([1], to: file, at: Int64(4096 + 8 * frame + 4))
        let outcome = try bench.convert(take)
        try bench.expectKept(
            take, outcome, "FLAC holds integers of up to 24 bits here, and \(name) has more at frame \(frame)")
        #expect(try bench.names() == ConversionBench.original)
    }

    @Test func `a part that is gone, or of another length, stays as it is`() throws {
        let take = try bench.pendingTake()
        try FileSystem().remove(bench.path(take.stem.file("-p2.wav")))
        let outcome = try bench.convert(take)
        try bench.expectKept(take, outcome, "\(bench.path(take.stem.file("-p2.wav"))) is not there")
        #expect(try bench.names() == ConversionBench.original.filter { $0 != take.stem.file("-p2.wav") })

        let second = try ConversionBench()
        let other = try second.pendingTake()
        let twin = second.path(other.stem.file("-raw.wav"))
        let file = try FileSystem().open(twin)
        try FileSystem().truncate(file, to: 4096 + 4 * 150)
        let cut = try second.convert(other)
        try second.expectKept(other, cut, "\(twin) holds 150 frames, and its sidecar says 200")
        #expect(try second.names() == ConversionBench.original)

        try FileSystem().truncate(file, to: 20)
        _ = try second.directory.revise(other) { $0.pendingFormat = "flac" }
        guard case .kept(_, let reason) = try second.convert(other) else {
            Issue.record("a file that is no sound file is converted")
            return
        }
        #expect(reason.hasPrefix("convert \(other.stem) to FLAC: open \(twin): "))
    }

    @Test func `a take without sound, or without a place in time, stays WAV`() throws {
        let output = try TakeOutput(bench.directory, pendingFormat: "flac")
        _ = try output.finish(endedBy: .stop, levels: [])
        let wav = bench.path("\(output.name.stem).wav")
        let empty = try bench.convert(output.name)
        let sidecar = try bench.directory.sidecar(of: output.name)
        let reason = "convert \(output.name.stem) to FLAC: \(wav) holds 0 frames, and its sidecar says 0: it stays WAV"
        #expect(empty == .kept(sidecar, reason))

        let second = try ConversionBench()
        for place in [Int64.min, -1, Int64.max] {
            let take = try second.pendingTake()
            _ = try second.directory.revise(take) { $0.parts[1].firstFrame = TakeFrame(place) }
            #expect(try second.convert(take) == .nothingToDo)
        }
    }

    @Test func `a sidecar that names files of others leads to none of them`() throws {
        let other = try bench.pendingTake()
        let before = try bench.names()
        // The other take's second part has the same length as this one's.
        for file in [
            other.stem.file("-p2.wav"), other.stem.file("-p2.flac"), "../2026-11-21/\(other.stem.file("-p2.wav"))",
            "../2026-11-21/\(other.stem).wav", "", "x.wav",
        ] {
            let take = try bench.pendingTake()
            _ = try bench.directory.revise(take) { $0.parts[1].file = file }
            #expect(try bench.convert(take) == .nothingToDo)
            #expect(
                try bench.names().filter { $0.isFile(of: other.stem) } == before.filter { $0.isFile(of: other.stem) })
        }
    }

    /// The offset of a change in a FLAC file of 100 frames, from its end.
    @Test(arguments: [0, 1, 2, 40, 100, 300])
    func `FLAC that the disk gives back otherwise never takes the WAV's place`(
        place: Int
    ) throws {
        let take = try bench.pendingTake()
        let part = bench.path(take.stem.file("-p2.flac.part"))
        bench.calls.setPlan { _, verb in
            guard verb == "dropCache", let file = try? FileSystem().open(part) else { return nil }
            let bytes = (try? FileSystem().contents(part)) ?? []
            let index = bytes.count - 1 - place
            try? FileSystem().write([~bytes[index]], to: file, at: Int64(index))
            return nil
        }
        let outcome = try bench.convert(take)
        bench.calls.setPlan { _, _ in nil }
        guard case .kept(let sidecar, let reason) = outcome else {
            Issue.record("it is \(outcome)")
            return
        }
        #expect(reason.hasPrefix("convert \(take.stem) to FLAC: ") && reason.hasSuffix(": it stays WAV"))
        #expect(sidecar.parts.map(\.file) == ["\(take.stem).wav", take.stem.file("-p2.wav")])
        #expect(try bench.names() == ConversionBench.original)
        try bench.expectWhole(take, "\(place)")
    }

    @Test(arguments: [
        (100, 1, "differs at frame 73"), (99, 0, "differs at frame 99"), (101, 0, "differs at frame 101"),
    ])
    func `FLAC of other sound, though whole, never takes the WAV's place`(
        frames: Int64, change: Int, reason: String
    ) throws {
        let take = try bench.pendingTake()
        let part = bench.path(take.stem.file("-p2.flac.part"))
        bench.calls.setPlan { _, verb in
            guard verb == "dropCache", (try? FileSystem().contents(part)) != nil else { return nil }
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
        let outcome = try bench.convert(take)
        bench.calls.setPlan { _, _ in nil }
        try bench.expectKept(take, outcome, "read back from the disk, \(take.stem.file("-p2.flac")) \(reason)")
        #expect(try bench.names() == ConversionBench.original)
    }

    enum Damage: CaseIterable {
        case gone, empty, cut
    }

    @Test(arguments: Damage.allCases)
    func `what a cut conversion has made stays where the WAV is not whole any more`(damage: Damage) throws {
        let converted = try ConversionBench()
        _ = try converted.convert(converted.pendingTake())
        let flac = try FileSystem().contents(converted.path(ConversionBench.stem.file("-p2.flac")))
        let bench = try ConversionBench()
        let take = try bench.pendingTake()
        let (files, wave) = (FileSystem(), bench.path(take.stem.file("-p2.wav")))
        for name in ["-p2.flac.part", ".flac.part"] {
            try files.write(flac, to: files.create(bench.path(take.stem.file(name)), isNew: true), at: 0)
        }
        switch damage {
        case .gone: try files.remove(wave)
        case .empty: try files.truncate(files.open(wave), to: 0)
        case .cut: try files.truncate(files.open(wave), to: 4096 + 100)
        }
        _ = try bench.convert(take)
        #expect(try files.contents(bench.path(take.stem.file("-p2.flac.part"))) == flac)
        #expect(try !bench.names().contains("\(take.stem).flac.part"))
    }
}

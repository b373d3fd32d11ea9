import Files
import Filters
import Glibc
import PowerCuts
import TakePlaces
import Takes
import Testing

@testable import TakeFiles

/// The recovery of interrupted takes.
struct TakeRecoveryTests {
    let bench = RecoveryBench()

    @Test func `its sidecar has what was known and what its sound shows`() throws {
        let path = SignalPath(format: stereo16, design: .off(rateHz: 48_000))
        let bytes = sound(0..<2000, stereo16)
        var stored = [UInt8](repeating: 0, count: bytes.count)
        bytes.withUnsafeBytes { input in stored.withUnsafeMutableBytes { _ = path.process(input, into: $0) } }

        var known: Sidecar?
        let name = try bench.record(pendingFormat: "flac") { output in
            output.note(markers: [Sidecar.Marker(atFrame: 900, note: "owl")])
            try output.append(1950)
            try output.sync()
            try output.append(50)
            known = output.sidecar
        }
        var expected = try #require(known)
        expected.recovered = true
        expected.endedBy = .powerCut
        expected.levels = path.levels.map(Sidecar.Levels.init)
        expected.setParts(
            [(1, 0, 896), (2, 896, 896), (3, 1792, 208)].map { number, first, frames in
                Sidecar.Part(
                    file: name.audioFile(part: number), firstFrame: first, frames: frames, rateHz: 48_000,
                    format: .s16)
            })
        var found = try #require(try bench.recovered())
        for part in found.parts.indices {
            var digest = SoundDigest()
            digest.update(try frames(of: "\(bench.folder)/\(found.parts[part].file)"))
            #expect(found.parts[part].soundSHA256 == digest.hexadecimal)
            #expect(found.parts[part].fingerprint == (part < 2 ? .capture : .later))
            (found.parts[part].soundSHA256, found.parts[part].fingerprint) = (nil, nil)
        }
        #expect(found == expected)
        #expect(
            try bench.files.contents("\(bench.folder)/\(name.stem).dat")
                == PeaksFile(rateHz: 48_000, channels: 2, pairs: path.finishPeaks()).bytes)
        let second = try SoundFileReader(path: "\(bench.folder)/\(name.audioFile(part: 2))")
        #expect(second.cues() == [SoundFileReader.Cue(frame: 4, label: "owl")])
        #expect(second.origin()?.description == "Take \(name.stem), kit heron07")
    }

    @Test func `a take of this boot was ended by a crash, unless its draft has the reason`() throws {
        _ = try bench.record { try $0.append(10) }
        #expect(try bench.recovered(bootID: CutTake.bootID)?.endedBy == .crash)
        let levels = [Sidecar.Levels(peakDBFS: -1, rmsDBFS: -2, clippedFrames: 3, filterClippedFrames: 4)]
        _ = try bench.cutInFinish(endedBy: .shutdown, levels: levels) { try $0.append(10) }
        let sidecar = try bench.recovered(bootID: CutTake.bootID)
        #expect(sidecar?.endedBy == .shutdown)
        #expect(sidecar?.recovered == true)
        // The filter's clipping is stored nowhere else.
        #expect(sidecar?.levels == levels)
    }

    @Test func `closing chunks are not taken for sound, even without a draft`() throws {
        for isDraftThere in [true, false] {
            let name = try bench.cutInFinish { output in
                try output.append(333)
                output.note(markers: [Sidecar.Marker(atFrame: 30, note: "a bell")])
            }
            if !isDraftThere { try bench.files.remove("\(bench.folder)/\(name.stem).json.part") }
            let sidecar = try bench.recovered()
            #expect(sidecar?.frames == 333)
            #expect(sidecar?.endedBy == (isDraftThere ? .stop : .unknown))
            let audio = "\(bench.folder)/\(name.stem).wav"
            #expect(try frames(of: audio) == sound(0..<333, stereo16))
            let length = try bench.files.contents(audio).count
            #expect(length == 4096 + 333 * 4 + (isDraftThere ? 36 + 32 : 0))
        }
    }

    @Test func `nor is what follows sound of an odd size without markers`() throws {
        let mono = StreamFormat(rateHz: 48_000, channels: 1, sampleFormat: .s24Packed)
        for isDraftThere in [true, false] {
            let name = try bench.cutInFinish(mono) { try $0.append(101, mono) }
            if !isDraftThere { try bench.files.remove("\(bench.folder)/\(name.stem).json.part") }
            #expect(try bench.recovered()?.frames == 101)
            let audio = "\(bench.folder)/\(name.stem).wav"
            #expect(try frames(of: audio) == sound(0..<101, mono))
            #expect(try bench.files.contents(audio).suffix(9) == [0] + Array("JUNK".utf8) + [0, 0, 0, 0])
        }
    }

    @Test func `what lies beyond the end is taken out`() throws {
        _ = try bench.record { output in
            try output.append(100)
            output.note(markers: [50, 100, 101].map { Sidecar.Marker(atFrame: $0, note: nil) })
            output.note(
                gaps: [(10, 5), (90, 20), (100, 7)].map {
                    Sidecar.Gap(atFrame: $0, frames: $1, cause: .stall)
                })
            output.note(
                filter: [0, 99, 100].map {
                    Sidecar.FilterChange(atFrame: $0, lowPassHz: nil, slopeDBPerOctave: 24, highPassHz: nil)
                })
            for frame: Int64 in [0, 99, 100] {
                output.note(.gain(Sidecar.GainChange(atFrame: TakeFrame(frame), gainDB: Double(frame), agc: nil)))
            }
            try output.sync()
        }
        let sidecar = try bench.recovered()
        #expect(sidecar?.gain.map(\.atFrame.count) == [0, 99])
        #expect(sidecar?.markers.map(\.atFrame.count) == [50, 100])
        #expect(sidecar?.gaps.map(\.frames) == [5, 10])
        #expect(sidecar?.filter.map(\.atFrame.count) == [0, 99])
    }

    @Test func `each of two twins keeps its frames, whatever the other has`() throws {
        func cut(_ name: TakeName, to frames: Int64, isUnfiltered: Bool) throws {
            let file = try bench.files.open(
                "\(bench.folder)/\(name.audioFile(part: 1, isUnfiltered: isUnfiltered)).part")
            try bench.files.truncate(file, to: 4096 + frames * 4 + 3)
        }
        let slow = StreamFormat(rateHz: 1000, channels: 2, sampleFormat: .s16)
        for (filtered, unfiltered, expected) in [
            (Int64(90_000), Int64(89_000), [Int64(90_000), 89_000]), (500, 90_000, [500, 90_000]),
            (90_000, 100, [90_000, 100]), (90_000, 0, [90_000]),
        ] {
            let name = try bench.record(slow, keepsUnfiltered: true, splitBytes: TakeOutput.largestSplitBytes) {
                output in
                try output.append(90_001, unfiltered: true)
                try output.sync()
            }
            try cut(name, to: filtered, isUnfiltered: false)
            try cut(name, to: unfiltered, isUnfiltered: true)
            #expect(try bench.recovered()?.frames == filtered)
            let found = ["", "-raw"].compactMap {
                try? SoundFileReader(path: "\(bench.folder)/\(name.stem.file("\($0).wav"))").frames
            }
            #expect(found == expected)
        }
    }

    @Test(arguments: [nil, 0, 300, 4096])
    func `a twin is not removed that alone has the sound`(left: Int64?) throws {
        for isAfterAnother in [false, true] {
            let split = isAfterAnother ? 4096 + 1000 * Int64(stereo16.bytesPerFrame) : TakeOutput.largestSplitBytes
            let name = try bench.record(keepsUnfiltered: true, splitBytes: split) { output in
                try output.append(1500, unfiltered: true)
                try output.sync()
            }
            let part = isAfterAnother ? 2 : 1
            let path = "\(bench.folder)/\(name.audioFile(part: part)).part"
            if let left {
                try bench.files.truncate(try bench.files.open(path), to: left)
            } else {
                try bench.files.remove(path)
            }
            let twin = "\(bench.folder)/\(name.audioFile(part: part, isUnfiltered: true))"
            let sound = try frames(of: twin + ".part")
            _ = try bench.recover()
            _ = try bench.recover()
            let listed = try bench.files.entries(bench.folder)
            let found = try ["", ".part"].compactMap {
                bench.files.isTaken(twin + $0) ? try frames(of: twin + $0) : nil
            }
            #expect(found == [sound], "\(listed)")
            for file in try bench.files.entries(bench.folder) { try bench.files.remove("\(bench.folder)/\(file)") }
        }
    }

    @Test func `sound that was on the disk is not given up for a twin that another program shortened`() throws {
        for isTwinCut in [true, false] {
            let name = try bench.record(keepsUnfiltered: true, splitBytes: TakeOutput.largestSplitBytes) { output in
                try output.append(48_000, unfiltered: true)
                output.note(markers: [Sidecar.Marker(atFrame: 10, note: nil)])
                try output.sync()
            }
            let cut = "\(bench.folder)/\(name.audioFile(part: 1, isUnfiltered: isTwinCut)).part"
            try bench.files.truncate(try bench.files.open(cut), to: 4096 + 20_000 * Int64(stereo16.bytesPerFrame))
            let part = try #require(bench.recovered()?.parts.first)
            #expect(part.frames == (isTwinCut ? 48_000 : 20_000))
            #expect(part.twinFrames == (isTwinCut ? 20_000 : 48_000))
            for file in try bench.files.entries(bench.folder) { try bench.files.remove("\(bench.folder)/\(file)") }
        }
    }

    @Test func `a take without a frame is removed`() throws {
        for cut in 0..<4 {
            let name = try bench.record(keepsUnfiltered: true) { _ in }
            if cut > 0 { try bench.files.remove("\(bench.folder)/\(name.stem.file("-raw.wav.part"))") }
            if cut > 1 { try bench.files.remove("\(bench.folder)/\(name.stem).wav.part") }
            if cut > 2 { try bench.make(Array("{\"agc\" : fal".utf8), "\(name.stem).json.part") }
            #expect(try bench.recover() == [.removed])
            #expect(try bench.files.entries(bench.folder) == [])
        }
    }

    @Test func `it is done in slices, and sound that cannot be read costs the levels only`() throws {
        let bytes = [UInt8](repeating: 1, count: 1 << 20)
        func take() throws {
            _ = try bench.record(splitBytes: 64 << 20) { output in
                for _ in 0..<5 { try bytes.withUnsafeBytes { try output.append($0) } }
            }
        }
        try take()
        let calls = FaultyCalls(root: bench.path)
        let directory = try TakesDirectory(path: bench.path, files: FileSystem(calls: calls))
        let name = try directory.leftovers()[0]
        let recovery = TakeRecovery(of: name, in: directory, bootID: "")
        var steps = 0
        var outcome: TakeRecovery.Outcome?
        while outcome == nil {
            // The fourth slice cannot be read.
            if steps == 5 { calls.setPlan { _, verb in verb == "read" ? EIO : nil } }
            outcome = try recovery.step()
            calls.setPlan { _, _ in nil }
            steps += 1
        }
        #expect(steps == 2 + 4 + 6)
        #expect(
            recovery.shortcomings == [
                "not all of its sound can be read: "
                    + FileError("read", "\(bench.folder)/\(name.stem).wav.part", code: EIO).description
            ])
        let sidecar = try directory.sidecar(of: name)
        #expect(outcome == .recovered(sidecar))
        #expect(sidecar.frames == 5 << 18)
        #expect(sidecar.levels == [])
        #expect(try bench.files.entries(bench.folder).sorted() == ["\(name.stem).json", "\(name.stem).wav"])
    }

    @Test
    func `leftovers are found by their names, by number, and so are finished takes with something left beside them`()
        throws
    {
        _ = try TakesDirectory(path: bench.path)
        for day in ["2026-11-21", "2016-01-01"] { _ = try bench.files.makeFolder("\(bench.path)/\(day)") }
        for file in [
            "2026-11-21/a-0010-000000Z.json", "2026-11-21/a-0010-000000Z.json.tmp",
            "2026-11-21/a-0010-000000Z.wav.part", "2026-11-21/a-0012-000000Z-p2-raw.wav.part",
            "2026-11-21/a-0011-000000Z.json.part.tmp", "2016-01-01/a-0013-000000Z.wav", "2016-01-01/notes.wav.part",
            "2026-11-21/a-0012-000000Z-p2.json", "2026-11-21/a-0009-000000Z.json", "2026-11-21/a-0009-000000Z.wav",
            "2026-11-21/a-0009-000000Z.dat",
        ] { _ = try bench.files.create("\(bench.path)/\(file)", isNew: true) }
        let directory = try TakesDirectory(path: bench.path)
        #expect(try directory.leftovers().map(\.number) == [10, 11, 12, 13])
        #expect(try directory.takes().map(\.number) == [9, 10])
    }
}

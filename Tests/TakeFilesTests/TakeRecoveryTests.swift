import Filters
import Glibc
import Synchronization
import Takes
import Testing

@testable import TakeFiles

/// What a recovery makes of takes that were cut, and of files that only look like them.
struct TakeRecoveryTests {
    let scratch = ScratchFolder()
    var path: String { scratch.path + "/takes" }
    var folder: String { path + "/2026-11-21" }
    let files = FileSystem()

    /// Records until `cut`, and lets go without an end.
    func record(
        _ format: StreamFormat = stereo16, keepsUnfiltered: Bool = false, splitBytes: Int64 = 8192,
        _ work: (TakeOutput) throws -> Void
    ) throws -> TakeName {
        let output = try TakeOutput(
            TakesDirectory(path: path), format, keepsUnfiltered: keepsUnfiltered, splitBytes: splitBytes)
        try work(output)
        return output.name
    }

    func recover(bootID: String = "another") throws -> [TakeRecovery.Outcome] {
        try recoverAll(in: TakesDirectory(path: path), bootID: bootID)
    }

    /// The only outcome, of a take that was recovered.
    func recovered(bootID: String = "another") throws -> Sidecar? {
        let outcomes = try recover(bootID: bootID)
        #expect(outcomes.count == 1)
        guard case .recovered(let sidecar)? = outcomes.first else {
            Issue.record("\(outcomes)")
            return nil
        }
        #expect(try recover() == [])
        return sidecar
    }

    /// The reason for which the only leftover take is left, which changes nothing.
    func reason() throws -> String? {
        let before = try everything(in: path).filter { !$0.key.hasPrefix(".") }
        let outcomes = try recover()
        let isSame = try everything(in: path).filter { !$0.key.hasPrefix(".") } == before
        #expect(isSame)
        guard case .left(let reason)? = outcomes.first, outcomes.count == 1 else { return nil }
        return reason.replacing(": left where it is, in \(folder)", with: "").replacing(folder, with: "DAY")
    }

    func write(_ bytes: [UInt8], to name: String, at offset: Int64 = 0) throws {
        try files.write(bytes, to: files.open("\(folder)/\(name)"), at: offset)
    }

    func make(_ bytes: [UInt8], _ name: String) throws {
        _ = try? files.makeFolder(path)
        _ = try? files.makeFolder(folder)
        try files.write(bytes, to: files.create("\(folder)/\(name)", isNew: false), at: 0)
    }

    static let junk = (0..<9000).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 / 256) }

    @Test func `it tells what was known and what its sound says`() throws {
        let path = SignalPath(format: stereo16, design: .off(rateHz: 48_000))
        let bytes = sound(0..<2000, stereo16)
        var stored = [UInt8](repeating: 0, count: bytes.count)
        bytes.withUnsafeBytes { input in stored.withUnsafeMutableBytes { _ = path.process(input, into: $0) } }

        var known: Sidecar?
        let name = try record { output in
            output.sidecar.markers = [Sidecar.Marker(atFrame: 900, note: "owl")]
            output.sidecar.pendingFormat = "flac"
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
        #expect(try recovered() == expected)
        #expect(
            try files.contents("\(folder)/\(name.stem).dat")
                == PeaksFile(rateHz: 48_000, channels: 2, pairs: path.finishPeaks()).bytes)
        let second = try SoundFileReader(path: "\(folder)/\(name.audioFile(part: 2))")
        #expect(second.cues() == [SoundFileReader.Cue(frame: 4, label: "owl")])
        #expect(second.origin()?.description == "Take \(name.stem), kit heron07")
    }

    @Test func `a take of this boot was ended by a crash, one that told why by that`() throws {
        _ = try record { try $0.append(10) }
        #expect(try recovered(bootID: CutTake.bootID)?.endedBy == .crash)
        let levels = [Sidecar.Levels(peakDBFS: -1, rmsDBFS: -2, clippedFrames: 3, filterClippedFrames: 4)]
        _ = try cutInFinish { output in
            try output.append(10)
            output.sidecar.endedBy = .shutdown
            output.sidecar.levels = levels
        }
        let sidecar = try recovered(bootID: CutTake.bootID)
        #expect(sidecar?.endedBy == .shutdown)
        #expect(sidecar?.recovered == true)
        // The filter's clipping is told nowhere else.
        #expect(sidecar?.levels == levels)
    }

    /// Records a take that is cut when its audio is to get its final name.
    func cutInFinish(_ work: (TakeOutput) throws -> Void) throws -> TakeName {
        let calls = FaultyCalls(root: path)
        let output = try TakeOutput(TakesDirectory(path: path, files: FileSystem(calls: calls)))
        try work(output)
        // The first rename is that of the sidecar's draft.
        let renames = Mutex(0)
        calls.setPlan { _, verb in
            guard verb == "rename" else { return nil }
            return renames.withLock {
                $0 += 1
                return $0 > 1 ? EIO : nil
            }
        }
        #expect(throws: FileError.self) { _ = try output.finish() }
        return output.name
    }

    @Test(arguments: [[UInt8](repeating: 0, count: 4096), Array(junk.prefix(4096))])
    func `a head that is destroyed is made again of what the draft tells`(head: [UInt8]) throws {
        let take = { (output: TakeOutput) in
            try output.append(2000, unfiltered: true)
            try output.sync()
            try output.append(50, unfiltered: true)
        }
        let name = try record(keepsUnfiltered: true, take)
        for part in 1...3 {
            for isUnfiltered in [false, true] {
                try write(head, to: name.audioFile(part: part, isUnfiltered: isUnfiltered) + ".part")
            }
        }
        #expect(try recovered()?.frames == 2050)
        let damaged = try everything(in: folder)
        // The same of a take that is as it was.
        _ = try record(keepsUnfiltered: true, take)
        _ = try recovered()
        for (file, bytes) in damaged where file.hasSuffix(".wav") {
            let other = try files.contents("\(folder)/\(file.replacing("-0001-", with: "-0002-"))")
            #expect(bytes.dropFirst(4096) == other.dropFirst(4096))
            let own = try #require(WAVHeaderReading(Array(bytes.prefix(4096))))
            #expect(own.format == stereo16)
            #expect(own.origin?.started == WAVHeaderReading(Array(other.prefix(4096)))?.origin?.started)
        }
    }

    @Test(arguments: ["garbled", "gone", "of another take"])
    func `without a draft the heads tell what they can`(draft: String) throws {
        let other = StreamFormat(rateHz: 96_000, channels: 2, sampleFormat: .s16)
        let name = try record { output in
            try output.append(1000)
            try output.sync()
            try output.beginPart(format: other, firstFrame: 480_000)
            try output.append(300, other)
            try output.sync()
        }
        let sidecar = "\(folder)/\(name.stem).json.part"
        if draft == "gone" { try files.remove(sidecar) }
        if draft == "garbled" { try make(Self.junk, "\(name.stem).json.part") }
        if draft == "of another take" {
            var wrong = try SidecarFile.sidecar(files.contents(sidecar), path: "")
            wrong.take = "heron07-0009-061811Z"
            try make(SidecarFile.bytes(wrong), "\(name.stem).json.part")
        }
        let found = try #require(try recovered())
        #expect(found.endedBy == .unknown)
        #expect(found.started == morning.iso8601)
        #expect(found.card == "usb:0d8c:0014")
        #expect(found.version == "0.1")
        #expect(found.kit == "heron07")
        #expect(found.bootID == "")
        #expect(found.clock == .unset)
        #expect(found.parts.map(\.frames) == [896, 104, 300])
        #expect(found.parts.map(\.firstFrame) == [0, 896, 480_000])
        #expect(found.parts.map(\.rateHz) == [48_000, 48_000, 96_000])
        let bytes = try found.parts.flatMap { try frames(of: "\(folder)/\($0.file)") }
        #expect(bytes == sound(0..<1300, stereo16))
    }

    /// A take whose draft cannot be read, the first `times` times; and what stands in the way beside.
    private func unreadDraft(
        times: Int = .max, isDamaged: Bool = false, refusal: @escaping @Sendable (String, String) -> Bool
    ) throws -> (name: TakeName, before: [String: [UInt8]], outcome: Result<TakeRecovery.Outcome, any Error>) {
        let name = try record { output in
            output.sidecar.markers = [Sidecar.Marker(atFrame: 3, note: "owl")]
            try output.append(1000)
            try output.sync()
        }
        if isDamaged { try write(Self.junk, to: "\(name.audioFile(part: 2)).part") }
        let calls = FaultyCalls(root: path)
        let directory = try TakesDirectory(path: path, files: FileSystem(calls: calls))
        let draft = "2026-11-21/\(name.stem).json.part"
        let left = Mutex(times)
        calls.setRefusal { verb, subject in
            if refusal(verb, subject) { return EIO }
            guard verb == "read", subject == draft else { return nil }
            return left.withLock {
                $0 -= 1
                return $0 >= 0 ? EIO : nil
            }
        }
        let before = try everything(in: folder)
        let outcome = Result { try #require(try recoverAll(in: directory).first) }
        return (name, before, outcome)
    }

    @Test func `a draft that cannot be read is as good as gone where the heads are whole, and is kept`() throws {
        let (name, before, outcome) = try unreadDraft { _, _ in false }
        guard case .recovered(let sidecar) = try outcome.get() else { return #expect(Bool(false)) }
        #expect(sidecar.frames == 1000)
        #expect(sidecar.endedBy == .unknown)
        #expect(sidecar.markers == [])
        #expect(sidecar.started == morning.iso8601)
        let kept = "\(name.stem).json.part.unread"
        #expect(
            try files.entries(folder).sorted()
                == [".dat", "-p2.wav", ".json", ".json.part.unread", ".wav"].map { name.stem + $0 }.sorted())
        #expect(try files.contents("\(folder)/\(kept)") == before["\(name.stem).json.part"])
        #expect(try recover() == [])
    }

    @Test func `a draft that cannot be read once is read at the second time`() throws {
        let (_, _, outcome) = try unreadDraft(times: 1) { _, _ in false }
        guard case .recovered(let sidecar) = try outcome.get() else { return #expect(Bool(false)) }
        #expect(sidecar.markers == [Sidecar.Marker(atFrame: 3, note: "owl")])
        #expect(sidecar.endedBy == .powerCut)
    }

    @Test(arguments: [("write", ".lock"), ("fsync", ".lock"), ("read", ".wav.part"), ("open", ".wav.part")])
    func `a draft that cannot be read is not given up while more than it cannot be`(verb: String, file: String) throws {
        let (name, before, outcome) = try unreadDraft { $0 == verb && $1.hasSuffix(file) }
        #expect(throws: FileError.self) { _ = try outcome.get() }
        #expect(try everything(in: folder) == before)
        // It was only that.
        #expect(try recovered()?.markers.count == 1)
        _ = name
    }

    @Test func `a draft that cannot be read is not given up for heads that are damaged`() throws {
        let (name, before, outcome) = try unreadDraft(isDamaged: true) { _, _ in false }
        #expect(throws: FileError("read", "\(folder)/\(name.stem).json.part", code: EIO)) { _ = try outcome.get() }
        #expect(try everything(in: folder) == before)
    }

    @Test func `a draft that is damaged is kept, and the heads tell`() throws {
        let name = try record { output in
            output.sidecar.markers = [Sidecar.Marker(atFrame: 3, note: "owl")]
            try output.append(10)
            try output.sync()
        }
        let draft = "\(name.stem).json.part"
        var garbled = try files.contents("\(folder)/\(draft)", limit: 1 << 20)
        garbled.replaceSubrange(20..<40, with: repeatElement(0xff, count: 20))
        try files.remove("\(folder)/\(draft)")
        try make(garbled, draft)
        let directory = try TakesDirectory(path: path)
        let recovery = TakeRecovery(of: name, in: directory, bootID: "")
        while try recovery.step() == nil {}
        #expect(
            recovery.shortcomings == [
                "only its sound is known: \(folder)/\(draft): it is damaged: kept as \(draft).unread"
            ])
        #expect(try files.contents("\(folder)/\(draft).unread", limit: 1 << 20) == garbled)
        let sidecar = try directory.sidecar(of: name)
        #expect(sidecar.frames == 10)
        #expect(sidecar.endedBy == .unknown)
    }

    @Test func `a draft that had not replaced the old one yet is taken where the old one is gone`() throws {
        let name = try record { output in
            output.sidecar.markers = [Sidecar.Marker(atFrame: 3, note: nil)]
            try output.append(10)
            try output.sync()
        }
        let draft = "\(folder)/\(name.stem).json.part"
        try files.rename(draft, to: draft + ".tmp")
        try make(Self.junk, "\(name.stem).json.part")
        // It is the only one there is: a recovery that is cut must not cost it.
        for index in 0... {
            let scratch = try ScratchFolder(everything(in: path))
            let calls = FaultyCalls(root: scratch.path)
            let isOver = try { () throws -> Bool in
                let directory = try TakesDirectory(path: scratch.path, files: FileSystem(calls: calls))
                calls.setPlan { number, _ in number >= index ? EIO : nil }
                return (try? recoverAll(in: directory)) != nil
            }()
            _ = try recoverAll(in: TakesDirectory(path: scratch.path))
            let sidecar = try TakesDirectory(path: scratch.path).sidecar(of: name)
            #expect(sidecar.markers == [Sidecar.Marker(atFrame: 3, note: nil)], "\(index)")
            #expect(sidecar.endedBy == .powerCut, "\(index)")
            if isOver { break }
        }
    }

    @Test func `closing chunks are not taken for sound, even without a draft`() throws {
        for isDraftThere in [true, false] {
            let name = try cutInFinish { output in
                try output.append(333)
                output.sidecar.markers = [Sidecar.Marker(atFrame: 30, note: "a bell")]
                output.sidecar.endedBy = .stop
            }
            if !isDraftThere { try files.remove("\(folder)/\(name.stem).json.part") }
            let sidecar = try recovered()
            #expect(sidecar?.frames == 333)
            #expect(sidecar?.endedBy == (isDraftThere ? .stop : .unknown))
            let audio = "\(folder)/\(name.stem).wav"
            #expect(try frames(of: audio) == sound(0..<333, stereo16))
            let length = try files.contents(audio).count
            #expect(length == 4096 + 333 * 4 + (isDraftThere ? 36 + 32 : 0))
        }
    }

    @Test func `what lies beyond the end is taken out`() throws {
        _ = try record { output in
            try output.append(100)
            output.sidecar.markers = [50, 100, 101].map { Sidecar.Marker(atFrame: $0, note: nil) }
            output.sidecar.gaps = [(10, 5), (90, 20), (100, 7)].map {
                Sidecar.Gap(atFrame: $0, frames: $1, cause: .stall)
            }
            output.sidecar.filter = [0, 99, 100].map {
                Sidecar.FilterChange(atFrame: $0, lowPassHz: nil, slopeDBPerOctave: 24, highPassHz: nil)
            }
            try output.sync()
        }
        let sidecar = try recovered()
        #expect(sidecar?.markers.map(\.atFrame) == [50, 100])
        #expect(sidecar?.gaps.map(\.frames) == [5, 10])
        #expect(sidecar?.filter.map(\.atFrame) == [0, 99])
    }

    @Test func `twins end with the same frame, but sound is not given up for a twin that is damaged`() throws {
        func cut(_ name: TakeName, to frames: Int64, isUnfiltered: Bool) throws {
            let file = try files.open("\(folder)/\(name.audioFile(part: 1, isUnfiltered: isUnfiltered)).part")
            try files.truncate(file, to: 4096 + frames * 4 + 3)
        }
        let slow = StreamFormat(rateHz: 1000, channels: 2, sampleFormat: .s16)
        for (filtered, unfiltered, expected) in [
            (Int64(90_000), Int64(89_000), [Int64(89_000), 89_000]), (500, 90_000, [500, 90_000]),
            (90_000, 100, [90_000, 100]), (90_000, 0, [90_000]),
        ] {
            let name = try record(slow, keepsUnfiltered: true, splitBytes: TakeOutput.largestSplitBytes) { output in
                try output.append(90_001, unfiltered: true)
                try output.sync()
            }
            try cut(name, to: filtered, isUnfiltered: false)
            try cut(name, to: unfiltered, isUnfiltered: true)
            #expect(try recovered()?.frames == filtered - (unfiltered == 89_000 ? 1000 : 0))
            let found = ["", "-raw"].compactMap { try? SoundFileReader(path: "\(folder)/\(name.stem)\($0).wav").frames }
            #expect(found == expected)
        }
    }

    @Test func `a take without a frame is removed`() throws {
        for cut in 0..<4 {
            let name = try record(keepsUnfiltered: true) { _ in }
            if cut > 0 { try files.remove("\(folder)/\(name.stem)-raw.wav.part") }
            if cut > 1 { try files.remove("\(folder)/\(name.stem).wav.part") }
            if cut > 2 { try make(Array("{\"agc\" : fal".utf8), "\(name.stem).json.part") }
            #expect(try recover() == [.removed])
            #expect(try files.entries(folder) == [])
        }
    }

    @Test func `what has neither a draft nor a head is left where it is`() throws {
        let name = try record { try $0.append(100) }
        try make(Self.junk, "\(name.stem).json.part")
        try write(Array(Self.junk.prefix(4096)), to: "\(name.stem).wav.part")
        #expect(try reason() == "\(name.stem): neither its sidecar nor the head of an audio file can be read")
    }

    @Test func `files that nobody knows what they are of are left where they are, and named`() throws {
        let stem = "heron07-0007-061811Z"
        let whole = try record { try $0.append(100) }
        try files.rename("\(folder)/\(whole.stem).wav.part", to: "\(folder)/\(stem).wav")
        for name in try files.entries(folder) where name.contains("-0001-") { try files.remove("\(folder)/\(name)") }
        #expect(try reason() == "\(stem): its files have no sidecar, like those of a take whose removal was cut")
        try make(Self.junk, "\(stem).wav.part")
        #expect(try reason() == "\(stem): an audio file is there both with and without '.part'")
        try files.remove("\(folder)/\(stem).wav")
        #expect(try reason() == "\(stem): neither its sidecar nor the head of an audio file can be read")
        try make([], "\(stem).wav.part")
        try make(Self.junk, "\(stem).notes")
        #expect(try reason() == "\(stem): it has no sound, and files that no recorder left")
    }

    @Test func `links, folders and pipes are not followed`() throws {
        try make([1, 2, 3], "elsewhere")
        let stem = "heron07-0007-061811Z"
        let audio = "\(folder)/\(stem).wav.part"
        #expect(symlink("\(folder)/elsewhere", audio) == 0)
        #expect(try reason() == "open DAY/\(stem).wav.part: Too many levels of symbolic links")
        #expect(try files.contents("\(folder)/elsewhere") == [1, 2, 3])
        try files.remove(audio)
        _ = try files.makeFolder(audio)
        #expect(try reason() == "open DAY/\(stem).wav.part: Is a directory")
        rmdir(audio)
        #expect(mkfifo(audio, 0o600) == 0)
        #expect(try recover() == [.left("measure \(audio): Illegal seek: left where it is, in \(folder)")])
        try files.remove(audio)
        #expect(mkfifo("\(folder)/\(stem).json.part", 0o600) == 0)
        #expect(
            try recover()
                == [.left("measure \(folder)/\(stem).json.part: Illegal seek: left where it is, in \(folder)")])
    }

    @Test func `it is done in slices, and sound that cannot be read costs the levels only`() throws {
        let bytes = [UInt8](repeating: 1, count: 1 << 20)
        func take() throws {
            _ = try record(splitBytes: 64 << 20) { output in
                for _ in 0..<5 { try bytes.withUnsafeBytes { try output.append($0) } }
            }
        }
        try take()
        let calls = FaultyCalls(root: path)
        let directory = try TakesDirectory(path: path, files: FileSystem(calls: calls))
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
        #expect(steps == 2 + 4 + 5)
        #expect(
            recovery.shortcomings == [
                "not all of its sound can be read: "
                    + FileError("read", "\(folder)/\(name.stem).wav.part", code: EIO).description
            ])
        guard case .recovered(let sidecar)? = outcome else { return }
        #expect(sidecar.frames == 5 << 18)
        #expect(sidecar.levels == [])
        #expect(try files.entries(folder).sorted() == ["\(name.stem).json", "\(name.stem).wav"])
    }

    @Test func `leftovers are told by their names, by number, and no finished take is among them`() throws {
        _ = try TakesDirectory(path: path)
        for day in ["2026-11-21", "2016-01-01"] { _ = try files.makeFolder("\(path)/\(day)") }
        for file in [
            "2026-11-21/a-0010-000000Z.json", "2026-11-21/a-0010-000000Z.json.tmp",
            "2026-11-21/a-0010-000000Z.wav.part", "2026-11-21/a-0012-000000Z-p2-raw.wav.part",
            "2026-11-21/a-0011-000000Z.json.part.tmp", "2016-01-01/a-0013-000000Z.wav", "2016-01-01/notes.wav.part",
            "2026-11-21/a-0012-000000Z-p2.json",
        ] { _ = try files.create("\(path)/\(file)", isNew: true) }
        let directory = try TakesDirectory(path: path)
        #expect(try directory.leftovers().map(\.number) == [11, 12, 13])
        #expect(try directory.takes().map(\.number) == [10])
    }
}

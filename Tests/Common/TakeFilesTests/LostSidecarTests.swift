import Files
import Glibc
import PowerCuts
import TakePlaces
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// A finished take whose sidecar is missing or damaged.
struct LostSidecarTests {
    let bench = RecoveryBench()

    enum Damage: CaseIterable {
        case gone, empty, half, zeros, text, otherJSON, ofAnotherTake, ofNoPart, noParts, folder, brokenLink, pipe
    }

    /// A take with everything that audio files can describe: twins, splits, a part with another rate after a jump,
    /// markers.
    private func finishedTake() throws -> (name: TakeName, sidecar: Sidecar) {
        var known: Sidecar?
        let name = try bench.record(keepsUnfiltered: true) { output in
            try output.append(2000, unfiltered: true)
            output.note(markers: [
                Sidecar.Marker(atFrame: 900, note: "owl, \"very\" near\n"), Sidecar.Marker(atFrame: 10, note: nil),
            ])
            try output.beginPart(format: CutTake.otherRate, firstFrame: 480_000)
            try output.append(441, unfiltered: true)
            output.note(markers: [Sidecar.Marker(atFrame: 480_160, note: "Marker 9")])
            var region = Sidecar.Marker(atFrame: 480_320, note: nil)
            (region.endFrame, region.label) = (TakeFrame(480_480), "wren")
            output.note(markers: [region, Sidecar.Marker(atFrame: 480_480, note: nil)])
            known = try output.finish(endedBy: .stop, levels: [])
        }
        return (name, try #require(known))
    }

    private func sidecarPath(_ name: TakeName) -> String { "\(bench.folder)/\(name.stem).json" }

    private func damage(_ name: TakeName, _ damage: Damage) throws {
        let path = sidecarPath(name)
        let whole = try bench.files.contents(path)
        func put(_ bytes: [UInt8]) throws { try bench.make(bytes, "\(name.stem).json") }
        switch damage {
        case .gone: try bench.files.remove(path)
        case .empty: try put([])
        case .half: try put(Array(whole.prefix(whole.count / 2)))
        case .zeros: try put([UInt8](repeating: 0, count: whole.count))
        case .text: try put(Array("gone\n".utf8))
        case .otherJSON: try put(Array("{\"take\":\"\(name.stem)\",\"schema\":1}".utf8))
        case .ofAnotherTake, .ofNoPart:
            var other = try SidecarFile.sidecar(whole, path: path)
            if damage == .ofAnotherTake { other.take = "heron07-0009_20261121_061811" }
            for part in other.parts.indices {
                other.parts[part].file =
                    damage == .ofAnotherTake ? "heron07-0009_20261121_061811.wav" : "\(name.stem)-x.wav"
                other.parts[part].unfilteredFile = nil
            }
            other.parts.removeLast(other.parts.count - 1)
            try put(SidecarFile.bytes(other))
        case .noParts:
            var other = try SidecarFile.sidecar(whole, path: path)
            other.parts = []
            try put(SidecarFile.bytes(other))
        case .folder:
            try bench.files.remove(path)
            _ = try bench.files.makeFolder(path)
        case .brokenLink:
            try bench.files.remove(path)
            #expect(symlink("nowhere", path) == 0)
        case .pipe:
            try bench.files.remove(path)
            #expect(mkfifo(path, 0o600) == 0)
        }
    }

    /// Checks the sidecar that was made from the sound of a whole take.
    private func check(_ rebuilt: Sidecar, _ whole: Sidecar, _ comment: Comment) throws {
        #expect(rebuilt.recovered, comment)
        #expect(rebuilt.endedBy == .unknown, comment)
        #expect(rebuilt.markers == whole.markers, comment)
        #expect(rebuilt.started == whole.started, comment)
        #expect(rebuilt.card == whole.card, comment)
        #expect(rebuilt.version == whole.version, comment)
        #expect((rebuilt.kit, rebuilt.number) == (whole.kit, whole.number), comment)
        #expect((rebuilt.rateHz, rebuilt.channels) == (whole.rateHz, whole.channels), comment)
        #expect(rebuilt.frames == whole.frames, comment)
        #expect(rebuilt.levels.count == whole.channels, comment)
        #expect(rebuilt.parts.count == whole.parts.count, comment)
        for (part, known) in zip(rebuilt.parts, whole.parts) {
            var bare = part
            (bare.soundSHA256, bare.unfilteredSoundSHA256, bare.fingerprint) = (nil, nil, nil)
            var other = known
            (other.soundSHA256, other.unfilteredSoundSHA256, other.fingerprint) = (nil, nil, nil)
            #expect(bare == other, comment)
            #expect(part.fingerprint == .later, comment)
            #expect(part.soundSHA256 == soundSHA256(try frames(of: "\(bench.folder)/\(part.file)")), comment)
            if let twin = part.unfilteredFile {
                #expect(part.unfilteredSoundSHA256 == soundSHA256(try frames(of: "\(bench.folder)/\(twin)")), comment)
            }
        }
    }

    private func recover(_ directory: TakesDirectory) throws -> (outcomes: [TakeRecovery.Outcome], lacks: [String]) {
        var outcomes: [TakeRecovery.Outcome] = []
        var lacks: [String] = []
        for name in Set(try directory.leftovers() + directory.takesWithDamagedSidecars()).sorted() {
            let recovery = TakeRecovery(of: name, in: directory, bootID: "")
            while true {
                guard let outcome = try recovery.step() else { continue }
                outcomes.append(outcome)
                break
            }
            lacks += recovery.shortcomings
        }
        return (outcomes, lacks)
    }

    private func sounds() throws -> [String: [UInt8]] {
        // A pipe may have the name of the sidecar, and must not be read.
        let names = try bench.files.entries(bench.folder).filter { $0.hasSuffix(".wav") || $0.hasSuffix(".flac") }
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try bench.files.contents("\(bench.folder)/\($0)", limit: 1 << 24)) })
    }

    @Test(arguments: Damage.allCases)
    func `a finished take is whole again but for what only its sidecar said`(damage: Damage) throws {
        let (name, whole) = try finishedTake()
        let peaks = try? bench.files.contents("\(bench.folder)/\(name.stem).dat")
        try self.damage(name, damage)
        let before = try sounds()
        let isKept = damage != .gone
        let old = try? bench.files.contents(sidecarPath(name))
        let directory = try TakesDirectory(path: bench.path)
        let (outcomes, lacks) = try recover(directory)
        let rebuilt = try directory.sidecar(of: name)
        #expect(outcomes == [.recovered(rebuilt)], "\(damage)")
        try check(rebuilt, whole, "\(damage)")
        #expect(try sounds() == before)
        #expect(lacks.count == 1)
        let kept = "\(bench.folder)/\(name.stem).json.damaged"
        #expect(bench.files.isTaken(kept) == isKept)
        if let old, damage != .folder, damage != .pipe, damage != .brokenLink {
            #expect(try bench.files.contents(kept) == old)
        }
        #expect(try directory.takes() == [name])
        #expect(try recover(directory).outcomes == [])
        #expect(try bench.files.contents("\(bench.folder)/\(name.stem).dat").count > 24)
        _ = peaks
        #expect(try TakeAudio(of: name, in: directory).parts.map(\.frames) == rebuilt.parts.map(\.frames))
    }

    @Test func `a sidecar cut at any byte is not taken for one, and its take is rebuilt`() throws {
        let (name, whole) = try finishedTake()
        let bytes = try bench.files.contents(sidecarPath(name))
        let files = try everything(in: bench.folder)
        for count in stride(from: 0, to: bytes.count - 2, by: 211) {
            for (file, content) in files { try bench.make(content, file) }
            try bench.make(Array(bytes.prefix(count)), "\(name.stem).json")
            let directory = try TakesDirectory(path: bench.path)
            #expect(try recover(directory).outcomes.count == 1, "\(count)")
            try check(try directory.sidecar(of: name), whole, "\(count)")
        }
    }

    @Test func `what was kept before is not replaced`() throws {
        let (name, _) = try finishedTake()
        let texts = ["one", "two", "three"]
        let directory = try TakesDirectory(path: bench.path)
        for text in texts {
            try bench.make(Array(text.utf8), "\(name.stem).json")
            _ = try recover(directory)
        }
        let kept = try ["", ".2", ".3"].map { try bench.files.contents(sidecarPath(name) + ".damaged" + $0) }
        #expect(kept == texts.map { Array($0.utf8) })
        try directory.remove(name)
        #expect(try bench.files.entries(bench.folder) == [])
    }

    @Test(arguments: [16, 24], [false, true])
    func `a take that is FLAC is rebuilt from its comments and its sound`(bits: Int, isCut: Bool) throws {
        let format = StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: bits == 16 ? .s16 : .s24Packed)
        let directory = try TakesDirectory(path: bench.path)
        let output = try TakeOutput(
            directory, format, keepsUnfiltered: true, splitBytes: 32_768, pendingFormat: "flac")
        try output.append(6000, format, unfiltered: true)
        output.note(markers: [
            Sidecar.Marker(atFrame: 5400, note: "wren"), Sidecar.Marker(atFrame: 17, note: nil),
        ])
        let name = output.name
        _ = try output.finish(endedBy: .stop, levels: [])
        let waves = try everything(in: bench.folder).filter { $0.key.hasSuffix(".wav") }
        let conversion = FLACConversion(of: name, in: directory, reserveBytes: 0)
        while try conversion.step() == nil {}
        let whole = try directory.sidecar(of: name)
        #expect(whole.parts.allSatisfy { $0.file.hasSuffix(".flac") })
        if isCut {
            // The conversion was interrupted before it removed the last files.
            for (file, bytes) in waves where !file.contains("\(name.stem).wav") { try bench.make(bytes, file) }
        }
        try damage(name, isCut ? .gone : .half)
        let before = try sounds()
        _ = try recover(directory)
        let rebuilt = try directory.sidecar(of: name)
        try check(rebuilt, whole, "\(bits)")
        #expect(rebuilt.clock == .ntp)
        #expect(try sounds() == before)
        for (part, file) in zip(
            rebuilt.parts, waves.keys.filter { !$0.contains("-raw") }.sorted { $0.count < $1.count })
        {
            #expect(part.soundSHA256 == soundSHA256(try frames(of: "\(bench.folder)/\(part.file)")))
            #expect(try #require(waves[file]).count >= 4096)
        }
    }

    @Test func `a take whose conversion was cut before its sidecar named FLAC is WAV, and still to be converted`()
        throws
    {
        let directory = try TakesDirectory(path: bench.path)
        let output = try TakeOutput(directory, pendingFormat: "flac")
        try output.append(3000)
        let name = output.name
        let whole = try output.finish(endedBy: .stop, levels: [])
        let wave = try bench.files.contents("\(bench.folder)/\(name.stem).wav")
        let conversion = FLACConversion(of: name, in: directory, reserveBytes: 0)
        while try conversion.step() == nil {}
        try bench.make(wave, "\(name.stem).wav")
        try damage(name, .zeros)
        _ = try recover(directory)
        let rebuilt = try directory.sidecar(of: name)
        #expect(rebuilt.parts.map(\.file) == whole.parts.map(\.file))
        #expect(rebuilt.pendingFormat == "flac")
        #expect(try directory.awaitsConversion(name))
    }

    /// A take whose sidecar cannot be read at the first `times` attempts.
    private func unread(times: Int, refusal: @escaping @Sendable (String, String) -> Bool = { _, _ in false }) throws
        -> (name: TakeName, directory: TakesDirectory, before: [String: [UInt8]])
    {
        let (name, _) = try finishedTake()
        let before = try everything(in: bench.folder)
        let calls = FaultyCalls(root: bench.path)
        let directory = try TakesDirectory(path: bench.path, files: FileSystem(calls: calls))
        let left = Locked(times)
        let sidecar = "2026-11-21/\(name.stem).json"
        calls.setRefusal { verb, subject in
            if refusal(verb, subject) { return EIO }
            guard verb == "read", subject == sidecar else { return nil }
            return left.withLock {
                $0 -= 1
                return $0 >= 0 ? EIO : nil
            }
        }
        return (name, directory, before)
    }

    @Test(arguments: 1...6) func `a read error that passes costs a whole take nothing`(times: Int) throws {
        let (name, directory, before) = try unread(times: times)
        #expect(try recover(directory).outcomes.allSatisfy { $0 == .unchanged })
        #expect(try everything(in: bench.folder) == before)
        _ = name
    }

    @Test func `a sidecar that can never be read is kept, and its take rebuilt`() throws {
        let (name, directory, before) = try unread(times: .max)
        let (outcomes, _) = try recover(directory)
        #expect(outcomes.count == 1)
        let after = try everything(in: bench.folder)
        #expect(after["\(name.stem).json.damaged"] == before["\(name.stem).json"])
        #expect(after["\(name.stem).json"] != before["\(name.stem).json"])
    }

    @Test(arguments: [("write", ".lock"), ("fsync", ".lock"), ("read", ".wav"), ("open", ".wav")])
    func `nothing is rebuilt while the storage gives back nothing else`(verb: String, file: String) throws {
        let (_, directory, before) = try unread(times: .max) { $0 == verb && $1.hasSuffix(file) }
        #expect(throws: FileError.self) { _ = try recover(directory) }
        #expect(try everything(in: bench.folder) == before)
    }

    @Test(arguments: [1, 2]) func `a draft that cannot be read for a moment is not given up for what the sound says`(
        times: Int
    )
        throws
    {
        // A take that was finished except for its sidecar, which is damaged.
        let name = try bench.cutInFinish { try $0.append(1000) }
        try bench.files.rename("\(bench.folder)/\(name.stem).wav.part", to: "\(bench.folder)/\(name.stem).wav")
        try bench.make([1, 2, 3], "\(name.stem).json")
        let calls = FaultyCalls(root: bench.path)
        let directory = try TakesDirectory(path: bench.path, files: FileSystem(calls: calls))
        let left = Locked(times)
        calls.setRefusal { verb, subject in
            guard verb == "read", subject == "2026-11-21/\(name.stem).json.part" else { return nil }
            return left.withLock {
                $0 -= 1
                return $0 >= 0 ? EIO : nil
            }
        }
        _ = try recover(directory)
        let sidecar = try directory.sidecar(of: name)
        #expect(sidecar.endedBy == .stop)
        #expect(try !bench.files.entries(bench.folder).contains { $0.hasSuffix(".unread") })
    }

    @Test func `sound that cannot be read to its end has no fingerprint, and is a take`() throws {
        let (name, _) = try finishedTake()
        try damage(name, .gone)
        let calls = FaultyCalls(root: bench.path)
        let directory = try TakesDirectory(path: bench.path, files: FileSystem(calls: calls))
        let readsOfFirst = Locked(0)
        calls.setRefusal { verb, subject in
            guard verb == "read" else { return nil }
            // Reads of its header, its closing chunks and its sound come before reads of the third part's sound.
            if subject.hasSuffix("\(name.stem).wav") { readsOfFirst.withLock { $0 += 1 } }
            return subject.hasEnding("-p3.wav") && readsOfFirst.withLock({ $0 > 2 }) ? EIO : nil
        }
        _ = try recover(directory)
        calls.setRefusal { _, _ in nil }
        let sidecar = try directory.sidecar(of: name)
        #expect(sidecar.parts.map(\.fingerprint) == [.later, .later, nil, nil])
        #expect(sidecar.levels == [])
    }

    @Test func `WAV files of another program, or of another take, are left where they are`() throws {
        let (name, _) = try finishedTake()
        let wave = try bench.files.contents("\(bench.folder)/\(name.stem).wav")
        try { try TakesDirectory(path: bench.path).remove(name) }()
        var plain = Array("RIFF".utf8) + [36, 16, 0, 0]
        plain += Array("WAVEfmt ".utf8) + [16, 0, 0, 0, 1, 0, 1, 0, 0x80, 0xbb, 0, 0, 0, 0x77, 1, 0, 2, 0, 16, 0]
        plain += Array("data".utf8) + [0, 16, 0, 0] + [UInt8](repeating: 1, count: 4096)
        let stem = "heron07-0007_20261121_061811"
        for bytes in [plain, wave] {
            try bench.make(bytes, "\(stem).wav")
            #expect(try bench.reason() == "\(stem): its files have no sidecar")
        }
        try bench.make(Array("{}".utf8), "\(stem).json")
        let before = try everything(in: bench.folder)
        let outcomes = try recover(TakesDirectory(path: bench.path)).outcomes
        #expect(
            outcomes == [
                .left("\(stem): it is finished, and its sidecar cannot be read: left where it is, in \(bench.folder)")
            ])
        #expect(try everything(in: bench.folder) == before)
    }

    @Test(arguments: ["9.0.0", "0.2", "1.0-beta"])
    func `a sidecar that a later version wrote is not damaged`(version: String) throws {
        let (name, _) = try finishedTake()
        let text = try String(decoding: bench.files.contents(sidecarPath(name)), as: UTF8.self)
            .replacing("\"ended_by\" : \"stop\"", with: "\"ended_by\" : \"a new reason\"")
            .replacing("\"version\" : \"0.1\"", with: "\"version\" : \"\(version)\"")
        try bench.make(Array(text.utf8), "\(name.stem).json")
        let before = try everything(in: bench.folder)
        let directory = try TakesDirectory(path: bench.path)
        #expect(try recover(directory).outcomes == [])
        #expect(try everything(in: bench.folder) == before)
    }

    @Test func `a removal that was noted is not carried out on a take whose sidecar is damaged`() throws {
        let (name, _) = try finishedTake()
        try damage(name, .zeros)
        try bench.make([], "\(name.stem).json.removed")
        let before = try sounds()
        let directory = try TakesDirectory(path: bench.path)
        _ = try recover(directory)
        #expect(try sounds() == before)
        #expect(try directory.takes() == [name])
        #expect(try bench.files.entries(bench.folder).contains("\(name.stem).json.removed") == false)
    }

    @Test(arguments: [Damage.half, .gone]) func `cut at any call, it comes to the same end`(damage: Damage) throws {
        let (name, _) = try finishedTake()
        try bench.files.remove("\(bench.folder)/\(name.stem).dat")
        try self.damage(name, damage)
        let contents = try everything(in: bench.path)
        var expected: [String: [UInt8]]?
        for index in 0... {
            let scratch = TestFolder(contents)
            let calls = FaultyCalls(root: scratch.path)
            let isOver = try { () throws -> Bool in
                let directory = try TakesDirectory(path: scratch.path, files: FileSystem(calls: calls))
                calls.setPlan { number, _ in number >= index ? EIO : nil }
                guard (try? recover(directory)) != nil else { return false }
                calls.setPlan { _, _ in nil }
                return (try? directory.sidecar(of: name)) != nil
            }()
            try { _ = try recover(try TakesDirectory(path: scratch.path)) }()
            let after = try everything(in: scratch.path).filter { $0.key != ".lock" }
            if expected == nil { expected = after }
            let isSame = after == expected
            #expect(isSame, "\(index)")
            if isOver { break }
        }
    }

    @Test(arguments: PowerCut.Loss.allCases)
    func `a power cut at any moment costs neither the sound nor what was kept`(loss: PowerCut.Loss) throws {
        let (name, _) = try finishedTake()
        try damage(name, .half)
        let old = try bench.files.contents(sidecarPath(name))
        let contents = try everything(in: bench.path)
        let scratch = TestFolder(contents)
        let disk = try PowerCutDisk(root: scratch.path, isFAT: loss == .apart)
        let begin = disk.count
        try { _ = try recover(TakesDirectory(path: scratch.path, files: FileSystem(calls: disk))) }()
        #expect(disk.count > begin)
        for count in begin...disk.count {
            let left = disk.files(after: count, losing: loss, seed: UInt64(count))
            let other = TestFolder(left)
            let directory = try TakesDirectory(path: other.path)
            _ = try recover(directory)
            let after = try everything(in: other.path)
            let isSound = contents.filter { $0.key.hasSuffix(".wav") }.allSatisfy { after[$0.key] == $0.value }
            #expect(isSound, "\(count)")
            #expect(try directory.sidecar(of: name).recovered, "\(count)")
            if loss != .apart {
                #expect(after.contains { $0.key.contains(".json.damaged") && $0.value == old }, "\(count)")
            }
        }
    }

    @Test(arguments: [false, true], [0, 1, 300])
    func `a file that is cut is damaged, its twin is not, and the sidecar says what there was`(
        isTwin: Bool, left: Int64
    )
        throws
    {
        let (name, whole) = try finishedTake()
        try damage(name, .gone)
        let cut = name.audioFile(part: 2, isUnfiltered: isTwin)
        try bench.files.truncate(bench.files.open("\(bench.folder)/\(cut)"), to: Int64(WAVHeader.byteCount) + left * 4)
        let directory = try TakesDirectory(path: bench.path)
        _ = try recover(directory)
        let rebuilt = try directory.sidecar(of: name)
        #expect(rebuilt.frames == whole.frames)
        #expect(rebuilt.parts.map(\.frames) == whole.parts.map(\.frames))
        #expect(rebuilt.parts.map(\.firstFrame) == whole.parts.map(\.firstFrame))
        #expect(rebuilt.parts.allSatisfy { $0.unfilteredFrames == nil })
        for (file, finding) in try bench.findings(rebuilt) {
            guard file == cut else {
                guard case .asRecorded = finding else { Issue.record("\(file): \(finding)"); continue }
                continue
            }
            #expect(finding == .cut(frames: left))
        }
    }

    @Test(arguments: [false, true]) func `a file that another program shortened with its head is as long as it says`(
        isTwin: Bool
    ) throws {
        let (name, whole) = try finishedTake()
        try damage(name, .gone)
        let short = name.audioFile(part: 1, isUnfiltered: isTwin)
        let path = "\(bench.folder)/\(short)"
        try bench.files.truncate(bench.files.open(path), to: Int64(WAVHeader.byteCount) + 400 * 4)
        func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        try bench.write(number(WAVHeader.byteCount + 1600 - 8), to: short, at: 4)
        try bench.write(number(1600), to: short, at: Int64(WAVHeader.byteCount) - 4)
        let directory = try TakesDirectory(path: bench.path)
        _ = try recover(directory)
        let rebuilt = try directory.sidecar(of: name)
        let first = whole.parts[0].frames
        #expect(rebuilt.parts[0].frames == (isTwin ? first : 400))
        #expect(rebuilt.parts[0].unfilteredFrames == (isTwin ? 400 : first))
        #expect(try bench.findings(rebuilt).values.allSatisfy { !$0.isDamage })
        // Computed from the time in its header, which has a resolution of microseconds.
        #expect(abs(rebuilt.parts[1].firstFrame - whole.parts[1].firstFrame) <= 1)
        let bytes = try bench.files.contents(sidecarPath(name))
        #expect(try SidecarFile.sidecar(bytes, path: "") == rebuilt)
    }
}

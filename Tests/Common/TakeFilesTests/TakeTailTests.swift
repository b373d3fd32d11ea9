import Files
import Glibc
import PowerCuts
import TakePlaces
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// A stop that is undone or not.
struct TakeTailTests {
    let scratch = TestFolder(in: .memory)
    let directory: TakesDirectory
    let files = FileSystem()

    init() throws {
        directory = try TakesDirectory(path: scratch.path + "/takes")
    }

    var folder: String { "\(directory.path)/2026-11-21" }

    /// A finished take of 100 frames with a tail of 50, of which 30 are synced.
    func takeWithTail(pendingFormat: String? = nil, splitBytes: Int64 = TakeOutput.largestSplitBytes) throws
        -> TakeOutput
    {
        let output = try TakeOutput(directory, splitBytes: splitBytes, pendingFormat: pendingFormat)
        try output.append(100)
        output.appendPeaks([1, 2, 3, 4, 9])
        _ = try output.finish(endedBy: .stop, levels: [])
        try output.beginTail(format: stereo16)
        try output.append(30)
        output.appendPeaks([5, 6, 7, 8])
        try output.sync()
        try output.append(20)
        return output
    }

    /// A copy of all files, as if the process had ended, after its recovery.
    func recoveredCopy() throws -> (outcomes: [TakeRecovery.Outcome], files: [String: [UInt8]]) {
        let copy = try TestFolder(everything(in: directory.path))
        let outcomes = try recoverAll(in: TakesDirectory(path: copy.path))
        return (outcomes, try everything(in: copy.path).filter { $0.key != ".lock" })
    }

    @Test func `a take whose stop is taken back has the sound of one that was never stopped`() throws {
        let output = try takeWithTail()
        try output.rejoin()
        #expect(output.sidecar.endedBy == nil)
        #expect(output.syncedFrames == 150)
        output.note(.marker(Sidecar.Marker(atFrame: TakeFrame(120), note: "here")))
        output.appendPeaks([9, 10, 11, 12])
        try output.append(50)
        try output.sync()
        let levels = [Sidecar.Levels(peakDBFS: -1, rmsDBFS: -2, clippedFrames: 3, filterClippedFrames: 4)]
        let sidecar = try output.finish(endedBy: .limit, levels: levels)
        #expect(sidecar.revision == 2)
        #expect(sidecar.endedBy == .limit)
        #expect(sidecar.levels == levels)
        #expect(sidecar.frames == 200)
        #expect(sidecar.parts.map(\.file) == [1, 2].map { output.name.audioFile(part: $0) })
        #expect(sidecar.parts.map(\.firstFrame.count) == [0, 100])
        #expect(try directory.sidecar(of: output.name) == sidecar)
        let sounds = try sidecar.parts.flatMap { try frames(of: "\(folder)/\($0.file)") }
        #expect(sounds == sound(0..<200, stereo16))
        let reader = try SoundFileReader(path: "\(folder)/\(output.name.audioFile(part: 2))")
        #expect(reader.cues() == [SoundFileReader.Cue(frame: 20, label: "here")])
        let peaks = PeaksFile(rateHz: 48_000, channels: 2, pairs: Array(1...12)).bytes
        #expect(try files.contents("\(folder)/\(output.name.stem).dat") == peaks)
        let stem = output.name.stem
        #expect(try files.entries(folder).sorted() == ["-p2.wav", ".dat", ".json", ".wav"].map { stem.file($0) })
        #expect(try directory.leftovers() == [])
    }

    @Test func `a tail that is dropped leaves nothing, and nothing of it is noted`() throws {
        let output = try takeWithTail()
        output.note(.marker(Sidecar.Marker(atFrame: TakeFrame(120), note: "here")))
        let before = try directory.sidecar(of: output.name)
        try output.dropTail()
        #expect(try directory.sidecar(of: output.name) == before)
        #expect(before.markers == [] && before.endedBy == .stop && before.frames == 100)
        let stem = output.name.stem
        #expect(try files.entries(folder).sorted() == [".dat", ".json", ".wav"].map { stem.file($0) })
        #expect(try directory.leftovers() == [])
    }

    @Test func `while there is a tail the take is finished, and not to be recovered or converted`() throws {
        let output = try takeWithTail(pendingFormat: "flac")
        #expect(try directory.takes() == [output.name])
        #expect(try directory.leftovers() == [])
        #expect(try !directory.awaitsConversion(output.name))
        #expect(try TakeAudio(of: output.name, in: directory).parts.map(\.frames) == [100])
        try output.dropTail()
        #expect(try directory.awaitsConversion(output.name))
    }

    @Test func `a tail that a cut left is removed, and the take is as it was`() throws {
        let output = try takeWithTail()
        let (outcomes, after) = try recoveredCopy()
        #expect(outcomes == [.unchanged])
        try output.dropTail()
        #expect(try after == everything(in: directory.path).filter { $0.key != ".lock" })
    }

    @Test func `what was revised meanwhile holds on, and while the take goes on nothing is revised`() throws {
        let output = try takeWithTail()
        let corrected = "2026-11-21T06:18:12.000000Z"
        #expect(try directory.revise(output.name) { $0.startedCorrected = corrected }.revision == 2)
        try output.rejoin()
        #expect(throws: FileError("revise", directory.sidecarPath(of: output.name), code: EBUSY)) {
            try directory.revise(output.name) { $0.startedCorrected = nil }
        }
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(sidecar.revision == 3)
        #expect(sidecar.startedCorrected == corrected)
        #expect(try directory.revise(output.name) { $0.startedCorrected = nil }.revision == 4)
    }

    @Test func `a take that was converted does not go on`() throws {
        let output = try takeWithTail()
        _ = try directory.revise(output.name) { $0.parts[0].file = "\(output.name.stem).flac" }
        let before = try directory.sidecar(of: output.name)
        #expect(throws: FileError("go on with", directory.sidecarPath(of: output.name), code: EINVAL)) {
            try output.rejoin()
        }
        try output.dropTail()
        #expect(try directory.sidecar(of: output.name) == before)
        #expect(try files.entries(folder).filter { $0.contains(".tail") || $0.contains(".part") } == [])
    }

    @Test func `a tail as long as a part goes on in another file`() throws {
        let output = try takeWithTail(splitBytes: 8192)
        try output.append(2000)
        try output.sync()
        #expect(try files.entries(folder).filter { $0.hasSuffix(".tail") }.count == 3)
        try output.rejoin()
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(sidecar.parts.map(\.frames) == [100, 896, 896, 258])
        #expect(try sidecar.parts.flatMap { try frames(of: "\(folder)/\($0.file)") } == sound(0..<2150, stereo16))
    }

    @Test func `a take may be taken back more than once`() throws {
        let output = try takeWithTail()
        try output.rejoin()
        #expect(try output.finish(endedBy: .stop, levels: []).revision == 2)
        try output.beginTail(format: stereo16)
        try output.append(10)
        try output.rejoin()
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(sidecar.revision == 3)
        #expect(sidecar.parts.map(\.frames) == [100, 50, 10])
        #expect(try sidecar.parts.flatMap { try frames(of: "\(folder)/\($0.file)") } == sound(0..<160, stereo16))
    }

    @Test func `a take that goes on and is cut is recovered with a higher revision`() throws {
        let output = try takeWithTail()
        try output.rejoin()
        try output.append(50)
        let (outcomes, after) = try recoveredCopy()
        guard case .recovered(let sidecar)? = outcomes.first, outcomes.count == 1 else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(sidecar.revision == 2 && sidecar.recovered && sidecar.endedBy == .powerCut)
        #expect(sidecar.parts.map(\.frames) == [100, 100])
        #expect(sidecar.levels.count == 2)
        // The waveform of both parts: 200 frames are one pixel.
        #expect(after["2026-11-21/\(output.name.stem).dat"]?.count == 24 + 4)
        #expect(after.keys.filter { $0.contains(".part") } == [])
    }

    @Test func `so is one whose draft is damaged, which is kept`() throws {
        let output = try takeWithTail()
        try output.rejoin()
        try files.truncate(files.open("\(folder)/\(output.name.stem).json.part"), to: 20)
        let (outcomes, after) = try recoveredCopy()
        guard case .recovered(let sidecar)? = outcomes.first, outcomes.count == 1 else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(sidecar.revision == 2)
        #expect(sidecar.parts.map(\.frames) == [100, 50])
        #expect(sidecar.parts.map(\.firstFrame.count) == [0, 100])
        #expect(sidecar.started == morning.iso8601)
        #expect(after.keys.contains { $0.hasSuffix(".json.part.unread") })
    }

    @Test(arguments: [true, false]) func `one whose finished file is damaged or gone is left as it is`(isGone: Bool)
        throws
    {
        let output = try takeWithTail()
        try output.rejoin()
        let file = "\(output.name.stem).wav"
        if isGone {
            try files.remove("\(folder)/\(file)")
        } else {
            try files.truncate(files.open("\(folder)/\(file)"), to: 4200)
        }
        let before = try everything(in: directory.path).filter { $0.key != ".lock" }
        let (outcomes, after) = try recoveredCopy()
        let problem = "\(output.name.stem): its finished file \(file) is \(isGone ? "not there" : "damaged")"
        guard case .left(let reason)? = outcomes.first, outcomes.count == 1 else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(reason.hasPrefix(problem))
        #expect(after == before)
    }

    @Test func `a file beside a finished take that is not the recorder's stays where it is`() throws {
        let output = try takeWithTail()
        let other = "\(folder)/\(output.name.stem.file("-p9.wav"))"
        let bytes = try files.contents("\(folder)/\(output.name.stem).wav")
        try files.write(bytes, to: files.create(other, isNew: true), at: 0)
        let (outcomes, after) = try recoveredCopy()
        #expect(outcomes == [.unchanged])
        #expect(after["2026-11-21/\(output.name.stem.file("-p9.wav"))"] == bytes)
        #expect(after.keys.filter { $0.hasSuffix(".tail") } == [])
    }

    @Test func `a take that goes on and is abandoned keeps all frames`() throws {
        let output = try takeWithTail()
        try output.rejoin()
        try output.append(50)
        _ = try output.syncPoint()
        let remains = output.abandon(endedBy: .storageError, levels: [])
        #expect(remains == TakeRemains(name: output.name, safeFrames: 200, isFinished: true, error: nil))
        #expect(try directory.sidecar(of: output.name).revision == 2)
    }

    @Test func `the next take begins before the last one is finished, without a missing frame`() throws {
        let first = try TakeOutput(directory)
        try first.append(100)
        let second = try TakeOutput(directory)
        #expect(second.name.number == 2)
        try sound(100..<160, stereo16).withUnsafeBytes { try second.append($0) }
        try second.sync()
        let sidecar = try first.finish(endedBy: .next, levels: [])
        #expect(sidecar.frames == 100)
        #expect(try directory.takes() == [first.name])
        #expect(try directory.leftovers() == [second.name])
        _ = try second.finish(endedBy: .stop, levels: [])
        let sounds = try [first, second].flatMap { try frames(of: "\(folder)/\($0.name.audioFile(part: 1))") }
        #expect(sounds == sound(0..<160, stereo16))
    }
}

/// A tail that is interrupted at every system call and at every write to the disk.
struct TailCutTests {
    /// Recovers the take and checks it, twice.
    private func recover(
        _ contents: [String: [UInt8]], _ take: TailTake, _ owed: TailTake.Owed, isExact: Bool = true, _ comment: Comment
    ) throws {
        let scratch = TestFolder(contents)
        let directory = try TakesDirectory(path: scratch.path)
        for outcome in try recoverAll(in: directory) {
            // If the sound was not synced, only its unfiltered twin may exist.
            if case .left(let reason) = outcome, owed.frames > 0 { Issue.record("\(reason), \(comment)") }
        }
        #expect(try directory.leftovers() == [] || owed.frames == 0 || !isExact, comment)
        try take.check(in: directory, comment, isExact: isExact, owed: owed)
        let after = try everything(in: scratch.path)
        _ = try recoverAll(in: directory)
        #expect(try everything(in: scratch.path) == after, comment)
    }

    @Test(arguments: TailTake.End.allCases, [Int.max, 1000])
    func `a tail cut at any call is the finished take, or one that went on`(end: TailTake.End, largestWrite: Int) throws
    {
        var cuts = 0
        for index in stride(from: 0, to: .max, by: largestWrite == .max ? 1 : 3) {
            let scratch = TestFolder(in: .memory)
            let path = scratch.path + "/takes"
            let calls = FaultyCalls(root: path, largestWrite: largestWrite)
            let directory = try TakesDirectory(path: path, files: FileSystem(calls: calls))
            calls.setPlan { number, _ in number >= index ? EIO : nil }
            let take = TailTake.record(in: directory, end)
            // The tail is over even if its removal fails.
            if take.isOver, calls.count <= index { break }
            try recover(everything(in: path), take, take.owed, "killed at call \(index), \(end)")
            cuts += 1
        }
        #expect(cuts > 40)
    }

    @Test(arguments: PowerCut.Loss.allCases, TailTake.End.allCases)
    func `a power cut at any moment of a tail costs nothing that was synced`(
        loss: PowerCut.Loss, end: TailTake.End
    ) throws {
        let scratch = TestFolder(in: .memory)
        let path = scratch.path + "/takes"
        _ = try FileSystem().makeFolder(path)
        let disk = try PowerCutDisk(root: path, isFAT: loss == .apart)
        let directory = try TakesDirectory(path: path, files: FileSystem(calls: disk))
        let begin = disk.count
        var owed: [(from: Int, TailTake.Owed)] = []
        let take = TailTake.record(in: directory, end) { owed.append((disk.count, $0)) }
        #expect(take.isOver)
        for count in begin...disk.count {
            for seed in 0..<(loss == .blocks || loss == .apart ? 3 : 1) as Range<UInt64> {
                let sure = owed.last { $0.from <= count }?.1 ?? TailTake.Owed()
                try recover(
                    disk.files(after: count, losing: loss, seed: seed &* 1000 &+ UInt64(count)), take, sure,
                    isExact: loss == .nothing || loss == .everything,
                    "cut after \(count) of \(begin)...\(disk.count), \(loss), \(end), seed \(seed)")
            }
        }
    }

    @Test(arguments: PowerCut.Loss.allCases)
    func `a power cut while a take that went on is recovered costs nothing`(loss: PowerCut.Loss) throws {
        let scratch = TestFolder(in: .memory)
        let path = scratch.path + "/takes"
        _ = try FileSystem().makeFolder(path)
        let disk = try PowerCutDisk(root: path, isFAT: loss == .apart)
        let directory = try TakesDirectory(path: path, files: FileSystem(calls: disk))
        var owed: [(from: Int, TailTake.Owed)] = []
        let take = TailTake.record(in: directory, .rejoined) { owed.append((disk.count, $0)) }
        let finished = try #require(owed.first { !$0.1.finished.isEmpty }).from
        var cuts = 0
        for count in stride(from: finished, through: disk.count, by: 7) {
            let sure = owed.last { $0.from <= count }?.1 ?? TailTake.Owed()
            let isExact = loss == .nothing || loss == .everything
            let contents = disk.files(after: count, losing: loss, seed: UInt64(count))
            let second = TestFolder(contents)
            let calls = try PowerCutDisk(root: second.path, isFAT: loss == .apart)
            _ = try recoverAll(in: TakesDirectory(path: second.path, files: FileSystem(calls: calls)))
            for event in 0...calls.count {
                try recover(
                    calls.files(after: event, losing: loss, seed: UInt64(event)), take, sure, isExact: isExact,
                    "cut after \(count), its recovery after \(event), \(loss)")
                cuts += 1
            }
        }
        #expect(cuts > 40)
    }
}

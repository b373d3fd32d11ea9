import Files
import Glibc
import PowerCuts
import TakePlaces
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// Storage that fails, at every call of a take.
struct TakeFailureTests {
    static let filtered = sound(0..<2000, stereo16)
    static let unfiltered = sound(0..<2000, stereo16, seed: 7)

    /// The state that a short take reported until it ended.
    struct Course {
        var error: FileError?
        var remains: TakeRemains?
        var isFinished = false
        var syncedFrames: Int64 = 0
        var name: TakeName?
        /// Whether `finish` was called, so that closing chunks may follow the sound.
        var finishWasTried = false
        var peaksFailure: FileError?
    }

    /// The waveform of the short take, in the pieces in which it is appended.
    static let peaks = (0..<3).map { piece in [Int8](repeating: piece, count: 4000) }

    /// Three syncs, markers, a waveform, and a split into three parts, with a twin; then the end. A failure ends it in
    /// the same way as in the recorder.
    func shortTake(in directory: TakesDirectory) -> Course {
        var course = Course()
        var begun: TakeOutput?
        do {
            let output = try TakeOutput(directory, keepsUnfiltered: true, splitBytes: 8192)
            begun = output
            course.name = output.name
            for (count, peaks) in zip([100, 700, 1200] as [Int64], Self.peaks) {
                try output.append(count, unfiltered: true)
                output.appendPeaks(peaks)
                output.note(markers: [Sidecar.Marker(atFrame: output.frames - 1, note: nil)])
                try output.sync()
            }
            course.finishWasTried = true
            let sidecar = try output.finish(endedBy: .stop, levels: [])
            course.isFinished = sidecar.frames == 2000
            course.syncedFrames = output.syncedFrames
        } catch let error as FileError {
            course.error = error
            if let output = begun {
                course.syncedFrames = output.syncedFrames
                let ending: Sidecar.Ending = error.isDiskFull ? .diskFull : .storageError
                course.remains = output.abandon(endedBy: ending, levels: [])
                course.isFinished = course.remains!.isFinished
            }
        } catch {
            Issue.record("\(error)")
        }
        course.peaksFailure = begun?.peaksFailure
        return course
    }

    /// The take's sound in its files, with or without `.part`. All parts before the last are whole.
    func soundOnDisk(_ name: TakeName, isUnfiltered: Bool, in path: String) throws -> [UInt8] {
        var found: [UInt8] = []
        for part in 1... {
            let file = "\(path)/\(name.day)/\(name.audioFile(part: part, isUnfiltered: isUnfiltered))"
            let bytes = (try? FileSystem().contents(file)) ?? (try? FileSystem().contents(file + ".part"))
            guard let bytes else { break }
            // A part that could not be split is longer, and its header contains its length.
            let grown = WAVHeaderReading(Array(bytes.prefix(WAVHeader.byteCount)))?.dataBytes ?? 0
            found += bytes.dropFirst(WAVHeader.byteCount).prefix(max(896 * 4, Int(grown)))
        }
        return found
    }

    /// Fails the calls of a plan during the second take of a directory, and checks both takes.
    func check(
        _ plan: @escaping FaultyCalls.Plan, isBriefly: Bool = false, _ comment: Comment
    ) throws -> Course {
        let scratch = TestFolder(in: .memory)
        let path = scratch.path + "/takes"
        let calls = FaultyCalls(root: path)
        let directory = try TakesDirectory(path: path, files: FileSystem(calls: calls))
        #expect(shortTake(in: directory).isFinished)
        let before = try everything(in: path).filter { $0.key.contains("heron07-0001") }
        #expect(before.count == 8)

        calls.setPlan(plan)
        let course = shortTake(in: directory)
        calls.setPlan { _, _ in nil }

        let after = try everything(in: path)
        #expect(after.filter { $0.key.contains("heron07-0001") } == before, comment)
        if let name = course.name {
            for isUnfiltered in [false, true] {
                let safe = max(course.syncedFrames, course.remains?.safeFrames ?? 0)
                let expected = isUnfiltered ? Self.unfiltered : Self.filtered
                let found = try soundOnDisk(name, isUnfiltered: isUnfiltered, in: path)
                #expect(found.prefix(Int(safe) * 4) == expected.prefix(Int(safe) * 4), comment)
                #expect(found.count >= Int(safe) * 4, comment)
                if !course.finishWasTried { #expect(expected.starts(with: found), comment) }
            }
            // All files next to a finished sidecar have their final names and match it.
            let stem = "2026-11-21/\(name.stem)"
            let isMarked = (after["\(stem).json"] != nil) == course.isFinished
            #expect(isMarked || ["sync", "open"].contains(course.error?.operation), comment)
            if course.isFinished {
                let sidecar = try directory.sidecar(of: name)
                for part in sidecar.parts {
                    let audio = try frames(of: "\(path)/2026-11-21/\(part.file)")
                    let range = part.firstFrame.count..<part.firstFrame.count + part.frames
                    let bytes = Int(range.lowerBound) * 4..<Int(range.upperBound) * 4
                    #expect(audio[...] == Self.filtered[bytes], comment)
                }
                #expect(sidecar.frames == sidecar.parts.reduce(0) { $0 + $1.frames }, comment)
                #expect(
                    !after.keys.contains { $0.isFile(of: stem) && $0.contains(".part") && !$0.contains(".j") }, comment)
                // The waveform is complete or missing.
                let peaks = PeaksFile(rateHz: 48_000, channels: 2, pairs: Array(Self.peaks.joined())).bytes
                let isWanting = course.peaksFailure != nil || course.remains != nil
                #expect(after["\(stem).dat"] == peaks || (isWanting && after["\(stem).dat"] == nil), comment)
            } else if after.keys.contains(where: { $0.isFile(of: stem) && $0.contains(".wav") }) {
                let sidecar = try #require(after["\(stem).json.part"] ?? after["\(stem).json"], comment)
                _ = try SidecarFile.sidecar(sidecar, path: stem)
            }
        } else {
            // A take that could not be begun leaves no sound, and no file at all if the storage allows their removal.
            let left = after.filter { $0.key.contains("heron07-0002") }
            #expect(left.filter { $0.key.contains(".wav") }.allSatisfy { $0.value.count <= 4096 }, comment)
            if isBriefly { #expect(left.isEmpty, comment) }
        }
        // The recorder continues: when the storage works again, takes succeed.
        let next = shortTake(in: directory)
        #expect(next.isFinished, comment)
        #expect(next.name!.number > 1, comment)
        #expect(next.name != course.name, comment)
        return course
    }

    /// The number of calls of the short take if none fails.
    func callCount() throws -> Int {
        let scratch = TestFolder(in: .memory)
        let calls = FaultyCalls(root: scratch.path + "/takes")
        let directory = try TakesDirectory(path: scratch.path + "/takes", files: FileSystem(calls: calls))
        _ = shortTake(in: directory)
        let before = calls.count
        _ = shortTake(in: directory)
        return calls.count - before
    }

    @Test(arguments: [EIO, ENOSPC]) func `storage that fails at any call, for good, costs nothing that was synced`(
        code: Int32
    ) throws {
        var finished = 0
        let count = try callCount()
        #expect(count > 90)
        for index in 0..<count {
            let course = try check({ number, _ in number >= index ? code : nil }, "from call \(index) on")
            #expect(course.error?.code == (index < count - 2 ? code : nil), "from call \(index) on")
            if course.isFinished { finished += 1 }
        }
        // Storage that stays broken commits nothing.
        #expect(finished == 2)
    }

    @Test(arguments: [EIO, ENOSPC]) func `a waveform that cannot be written ends no take`(code: Int32) throws {
        var failures = 0
        // Making the file needs an open, its permissions and its header. The pixels follow.
        for index in 0..<8 {
            let scratch = TestFolder(in: .memory)
            let calls = FaultyCalls(root: scratch.path + "/takes")
            let directory = try TakesDirectory(path: scratch.path + "/takes", files: FileSystem(calls: calls))
            let output = try TakeOutput(directory)
            // The remains of the file can always be removed, and are removed at once.
            calls.setPlan { number, verb in number >= index && verb != "remove" ? code : nil }
            for _ in 0..<4 { output.appendPeaks([Int8](repeating: 1, count: 4096)) }
            calls.setPlan { _, _ in nil }
            if let failure = output.peaksFailure {
                failures += 1
                #expect(failure.code == code)
                let verb = index == 0 ? "create" : index == 1 ? "set the rights of" : "write"
                #expect(failure.operation == verb)
                #expect(failure.path == "\(directory.path)/2026-11-21/\(output.name.stem).dat.part")
                let left = try everything(in: directory.path).keys.filter { $0.contains(".dat") }
                #expect(left == [])
            }
            try output.append(100)
            try output.sync()
            output.appendPeaks([Int8](repeating: 1, count: 4096))
            let sidecar = try output.finish(endedBy: .stop, levels: [])
            #expect(sidecar.frames == 100)
            let stem = "2026-11-21/\(output.name.stem)"
            let whole = ["\(stem).dat", "\(stem).json", "\(stem).wav"]
            let expected = output.peaksFailure == nil ? whole : Array(whole.dropFirst())
            #expect(try everything(in: directory.path).keys.sorted() == [".lock", ".number"] + expected)
        }
        #expect(failures == 7)
    }

    @Test(arguments: [EIO, ENOSPC]) func `a waveform that fails at the take's end costs the take nothing`(
        code: Int32
    ) throws {
        // Its six calls: open, permissions, header, pixels, header, sync.
        for failing in 0..<6 {
            let scratch = TestFolder(in: .memory)
            let calls = FaultyCalls(root: scratch.path + "/takes")
            let directory = try TakesDirectory(path: scratch.path + "/takes", files: FileSystem(calls: calls))
            let output = try TakeOutput(directory)
            try output.append(100)
            output.appendPeaks([1, 2, 3, 4])
            // Header and sync of the sound, then nine calls that replace the sidecar.
            calls.setPlan { number, _ in number == 11 + failing ? code : nil }
            let sidecar = try output.finish(endedBy: .stop, levels: [])
            #expect(sidecar.endedBy == .stop)
            #expect(output.peaksFailure?.code == code)
            #expect(output.peaksFailure?.path.hasSuffix(".dat.part") == true)
            let stem = "2026-11-21/\(output.name.stem)"
            #expect(
                try everything(in: directory.path).keys.sorted() == [
                    ".lock", ".number", "\(stem).json", "\(stem).wav",
                ])
        }
    }

    @Test(arguments: [EIO, ENOSPC]) func `one call that fails, whichever, still leaves a take with every frame`(
        code: Int32
    ) throws {
        for index in 0..<(try callCount()) {
            let course = try check({ number, _ in number == index ? code : nil }, isBriefly: true, "at call \(index)")
            if let remains = course.remains {
                #expect(remains.isFinished, "at call \(index)")
            }
        }
    }

    @Test func `a full disk that still takes what replaces old bytes ends the take with every frame that was synced`()
        throws
    {
        // From the third write of sound, no file can grow. Headers, syncs and renames still work.
        for index in 20..<(try callCount()) {
            let course = try check(
                { number, verb in number >= index && (verb == "create" || verb == "write") ? ENOSPC : nil },
                "from call \(index) on")
            if let error = course.error {
                #expect(error.isDiskFull)
                #expect(
                    error.description.hasSuffix(
                        "No space left on device: free some space, or name another directory under [takes]"))
            }
        }
    }

    @Test(arguments: 1...3) func `calls that are interrupted are made again until they are done`(times: Int) throws {
        let course = try check({ number, _ in number % (times + 1) == times ? nil : EINTR }, "\(times)")
        #expect(course.error == nil)
        #expect(course.isFinished)
    }

    @Test func `writes that are cut short are continued`() throws {
        let scratch = TestFolder(in: .memory)
        let calls = FaultyCalls(root: scratch.path + "/takes", largestWrite: 7)
        let directory = try TakesDirectory(path: scratch.path + "/takes", files: FileSystem(calls: calls))
        let course = shortTake(in: directory)
        #expect(course.isFinished)
        let found = try soundOnDisk(course.name!, isUnfiltered: true, in: directory.path)
        #expect(Array(found.prefix(8000)) == sound(0..<2000, stereo16, seed: 7))
    }

    @Test func `on storage that takes headers but syncs no more the header counts the synced frames`() throws {
        let scratch = TestFolder(in: .memory)
        let calls = FaultyCalls(root: scratch.path + "/takes")
        let directory = try TakesDirectory(path: scratch.path + "/takes", files: FileSystem(calls: calls))
        let output = try TakeOutput(directory)
        try output.append(100)
        try output.sync()
        try output.append(50)
        calls.setPlan { _, verb in verb == "fsync" || verb == "fdatasync" ? EIO : nil }
        #expect(throws: FileError.self) { try output.sync() }
        let remains = output.abandon(endedBy: .storageError, levels: [])
        #expect(remains.safeFrames == 100)
        #expect(!remains.isFinished)
        let path = "\(directory.path)/2026-11-21/heron07-0001_20261121_061811.wav.part"
        #expect(try frames(of: path) == sound(0..<100, stereo16))
        // The rest is still there, for a recovery when the storage works again.
        #expect(try FileSystem().contents(path).count == 4096 + 150 * 4)
    }

    @Test func `a take that only cannot get its name keeps every frame, and is whole under its first name`() throws {
        let scratch = TestFolder(in: .memory)
        let calls = FaultyCalls(root: scratch.path + "/takes")
        let directory = try TakesDirectory(path: scratch.path + "/takes", files: FileSystem(calls: calls))
        let output = try TakeOutput(directory)
        try output.append(100)
        try output.sync()
        try output.append(50)
        calls.setPlan { _, verb in verb == "rename" ? EROFS : nil }
        #expect(throws: FileError.self) { _ = try output.finish(endedBy: .stop, levels: []) }
        #expect(output.syncedFrames == 150)
        calls.setPlan { _, verb in verb == "rename" || verb == "fsync" ? EROFS : nil }
        let remains = output.abandon(endedBy: .storageError, levels: [])
        #expect(remains.safeFrames == 150)
        #expect(!remains.isFinished)
        let path = "\(directory.path)/2026-11-21/heron07-0001_20261121_061811.wav.part"
        #expect(try frames(of: path) == sound(0..<150, stereo16))
    }
}

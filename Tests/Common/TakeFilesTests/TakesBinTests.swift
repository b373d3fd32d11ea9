import Files
import Foundation
import PowerCuts
import TakePlaces
import Takes
import TestBench
import Testing

@testable import TakeFiles

private let bootID = "0b0c0d0e-0000-4000-8000-000000000001"
private let day = Duration.seconds(86400)

/// A moment `seconds` after the first one.
func binMoment(
    _ seconds: Int64 = 0, calendar: Int64? = nil, _ origin: ClockOrigin = .ntp, boot: String = bootID
) -> BinMoment {
    BinMoment(
        Instant(nanoseconds: (100 + seconds) * 1_000_000_000),
        wall: WallTime(microseconds: morning.microseconds + (calendar ?? seconds) * 1_000_000), origin: origin,
        bootID: boot)
}

@Suite struct TakesBinTests {
    private let scratch = TestFolder(in: .memory)
    private var path: String { scratch.path + "/takes" }

    private func directory(_ calls: (any SystemCalls)? = nil) throws -> TakesDirectory {
        let directory = try TakesDirectory(path: path, files: calls.map { FileSystem(calls: $0) } ?? FileSystem())
        directory.readBin(at: binMoment())
        return directory
    }

    /// Records a take with every feature.
    private func record(in directory: TakesDirectory) throws -> TakeName {
        let take = CutTake.record(in: directory)
        #expect(take.isFinished)
        return try #require(take.name)
    }

    private func files(of take: TakeName, in folder: String = "") throws -> [String: [UInt8]] {
        try everything(in: path).filter {
            $0.key.isFile(of: "\(folder)\(take.day)/\(take.stem)") && !$0.key.hasSuffix(".json.binned")
        }
    }

    @Test func `a take goes into the bin whole, is in no list then, and comes back as it was`() throws {
        let directory = try directory()
        let (first, take) = (try record(in: directory), try record(in: directory))
        // A damaged sidecar that a recorder kept moves with the take.
        scratch.write([1, 2], to: "takes/\(take.day)/\(take.stem).json.damaged")
        let before = try files(of: take)
        #expect(before.count > 8)
        try directory.moveToBin(take, at: binMoment())
        #expect(try directory.takes() == [first])
        #expect(try directory.leftovers() == [] && directory.takesInWAV() == [first])
        #expect(try TakesFolder(path: path).takes().takes == [first])
        #expect(try files(of: take).isEmpty)
        #expect(
            try Set(files(of: take, in: ".bin/").map { $0.key.dropFirst(5) }) == Set(before.map { $0.key[...] }))
        let item = try #require(directory.bin.items.first)
        #expect(item.take == take && item.binned == "2026-11-21T06:18:11.250000Z")
        #expect(item.byteCount >= before.values.reduce(0) { $0 + Int64($1.count) })
        try directory.restore(take)
        #expect(try unrestored(files(of: take)) == before)
        #expect(try everything(in: path).keys.filter { $0.hasPrefix(".bin/") } == [".bin/.age"])
        #expect(try directory.takes() == [first, take] && directory.bin.items.isEmpty)
    }

    @Test func `numbers of takes in the bin, and of those that were emptied from it, are not given again`() throws {
        var opened: TakesDirectory? = try directory()
        let take = try record(in: try #require(opened))
        try opened?.moveToBin(take, at: binMoment())
        // Remove the other record of the number.
        unlink("\(path)/.number")
        opened = nil
        opened = try directory()
        #expect(opened?.lastNumber == take.number)
        try opened?.empty(take)
        opened = nil
        #expect(try directory().nextTake(kit: "heron07", started: morning).number == take.number + 1)
    }

    @Test func `a bin that is a link, a file or a folder of others is not followed, and nothing is deleted`() throws {
        let directory = try directory()
        let take = try record(in: directory)
        let before = try files(of: take)
        let elsewhere = scratch.path + "/elsewhere"
        mkdir(elsewhere, 0o755)
        for make in [
            { symlink(elsewhere, directory.binPath) },
            { close(creat(directory.binPath, 0o644)) },
        ] {
            _ = make()
            #expect(throws: FileError.self) { try directory.moveToBin(take, at: binMoment()) }
            directory.readBin(at: binMoment())
            #expect(directory.bin.newProblems().count == 1 || directory.bin.items.isEmpty)
            #expect(try files(of: take) == before && directory.takes() == [take])
            unlink(directory.binPath)
        }
        mkdir(directory.binPath, 0o755)
        symlink(elsewhere, "\(directory.binPath)/\(take.day)")
        #expect(throws: FileError.self) { try directory.moveToBin(take, at: binMoment()) }
        #expect(try files(of: take) == before && everything(in: elsewhere).isEmpty)
    }

    /// A take in the bin with one file in the folder of its day, as after an interrupted move, and the calls of a
    /// directory that is not read yet.
    private func halfBinnedTake() throws -> (TakeName, FaultyCalls) {
        let take = try { () throws -> TakeName in
            let directory = try directory()
            let take = try record(in: directory)
            try directory.moveToBin(take, at: binMoment())
            return take
        }()
        try FileManager.default.moveItem(
            atPath: "\(path)/.bin/\(take.day)/\(take.stem).wav", toPath: "\(path)/\(take.day)/\(take.stem).wav")
        scratch.write(BinNote(since: 0, binned: nil).bytes, to: "takes/.bin/\(take.day)/\(take.stem).json.binned")
        return (take, FaultyCalls(root: path))
    }

    @Test(arguments: ["", "/2026-11-21"], ["list", "open"])
    func `a bin that cannot be read now brings no take back`(folder: String, verb: String) throws {
        let (take, calls) = try halfBinnedTake()
        calls.setRefusal { $0 == verb && $1 == ".bin\(folder)" ? EIO : nil }
        let directory = try directory(calls)
        if folder.isEmpty {
            #expect(throws: FileError.self) { _ = try directory.leftovers() }
        } else {
            #expect(try directory.leftovers() == [])
        }
        #expect(directory.bin.isReadAgain)
        calls.setRefusal { _, _ in nil }
        #expect(try directory.leftovers() == [])
        directory.readBin(at: binMoment())
        #expect(!directory.bin.isReadAgain && directory.bin.items.map(\.take) == [take])
        #expect(try files(of: take).isEmpty)
    }

    @Test func `a link, a file or nothing in the bin's place keeps no take from being recovered`() throws {
        let directory = try directory()
        let output = try TakeOutput(directory)
        try output.append(100)
        try output.sync()
        for make in ["", "file", "link"] {
            try? FileManager.default.removeItem(atPath: "\(path)/.bin")
            if make == "file" { scratch.write([1], to: "takes/.bin") }
            if make == "link" { #expect(symlink("nowhere", "\(path)/.bin") == 0) }
            #expect(try directory.leftovers() == [output.name], "\(make)")
        }
    }

    @Test func `what is emptied from the bin leaves nothing in the folder of its day that would be a take again`()
        throws
    {
        let (take, calls) = try halfBinnedTake()
        calls.setRefusal { $0 == "list" && $1 == take.day ? EIO : nil }
        let directory = try directory(calls)
        #expect(directory.bin.items.map(\.take) == [take])
        #expect(throws: FileError.self) { try directory.empty(take) }
        calls.setRefusal { _, _ in nil }
        #expect(throws: FileError.putBack("\(path)/\(take.day)/\(take.stem).wav")) { try directory.empty(take) }
        directory.readBin(at: binMoment())
        try directory.empty(take)
        #expect(try files(of: take).isEmpty && files(of: take, in: ".bin/").isEmpty)
        #expect(try directory.leftovers() == [])
    }

    /// Makes these calls fail after the sidecar is removed from the folder of its day. The sidecar cannot be examined
    /// either.
    private func failBehindRemoval(of take: TakeName, _ failing: String, _ calls: FaultyCalls) {
        let sidecar = "\(take.day)/\(take.stem).json"
        let isGone = Locked(false)
        calls.setRefusal { verb, subject in
            if verb == "remove", subject == sidecar { isGone.withLock { $0 = true } }
            guard isGone.withLock({ $0 }) else { return nil }
            return verb == failing || verb == "stat" && subject == sidecar ? EIO : nil
        }
    }

    @Test func `a move that fails when it cannot be known where the take is keeps its only sidecar`() throws {
        let calls = FaultyCalls(root: path)
        let directory = try directory(calls)
        let take = try record(in: directory)
        let before = try files(of: take)
        failBehindRemoval(of: take, "rename", calls)
        #expect(throws: FileError.self) { try directory.moveToBin(take, at: binMoment()) }
        calls.setRefusal { _, _ in nil }
        directory.readBin(at: binMoment())
        #expect(directory.bin.items.map(\.take) == [take])
        try directory.restore(take)
        #expect(try unrestored(files(of: take)) == before)
    }

    @Test func `a removal that fails when it cannot be known what is left goes on later`() throws {
        let calls = FaultyCalls(root: path)
        let directory = try directory(calls)
        let take = try record(in: directory)
        failBehindRemoval(of: take, "fsync", calls)
        #expect(throws: FileError.self) { try directory.remove(take) }
        calls.setRefusal { _, _ in nil }
        #expect(try recoverAll(in: directory) == [.discarded])
        #expect(try files(of: take).isEmpty)
    }

    @Test func `a take in a bin that was not read keeps its sidecar when another of its name is deleted`() throws {
        let calls = FaultyCalls(root: path)
        let take = try { () throws -> TakeName in
            let directory = try self.directory()
            let take = try record(in: directory)
            let copy = try everything(in: "\(path)/\(take.day)")
            try directory.moveToBin(take, at: binMoment())
            for (name, bytes) in copy { scratch.write(bytes, to: "takes/\(take.day)/\(name)") }
            _ = try directory.revise(take) { $0.gainDB = 3 }
            return take
        }()
        calls.setRefusal { $0 == "list" && $1 == ".bin" ? EIO : nil }
        let directory = try directory(calls)
        calls.setRefusal { _, _ in nil }
        let before = try everything(in: path).filter { $0.key.isFile(of: take.stem) }
        let error = #expect(throws: FileError.self) { try directory.moveToBin(take, at: binMoment()) }
        #expect(error?.code == EEXIST)
        #expect(try everything(in: path).filter { $0.key.isFile(of: take.stem) } == before)
    }

    @Test func `a number is not given while its day cannot be listed and has a file of it`() throws {
        let calls = FaultyCalls(root: path)
        let directory = try directory(calls)
        try FileManager.default.createDirectory(atPath: "\(path)/2026-11-21", withIntermediateDirectories: true)
        scratch.write([1], to: "takes/2026-11-21/heron07-0001_20261121_061811.json.part")
        calls.setRefusal { $0 == "list" && $1 == "2026-11-21" ? EIO : nil }
        #expect(try directory.nextTake(kit: "heron07", started: morning).number == 2)
    }

    @Test func `a take of the same name that lies there stops a restore, and is not touched`() throws {
        let directory = try directory()
        let take = try record(in: directory)
        try directory.moveToBin(take, at: binMoment())
        let binned = try files(of: take, in: ".bin/")
        let sidecar = "takes/\(take.day)/\(take.stem).json"
        scratch.write([7], to: sidecar)
        #expect(throws: FileError("restore", directory.sidecarPath(of: take), code: EEXIST)) {
            try directory.restore(take)
        }
        directory.readBin(at: binMoment())
        #expect(try files(of: take, in: ".bin/") == binned && directory.bin.items.map(\.take) == [take])
        #expect(try files(of: take).values.map { $0 } == [[7]])
    }

    @Test func `what the disk has no room for in the bin takes the place of the oldest in it`() throws {
        let calls = FaultyCalls(root: path)
        let directory = try directory(calls)
        let takes = try (0..<3).map { _ in try record(in: directory) }
        try directory.moveToBin(takes[0], at: binMoment())
        // No file can be made until the first take in the bin is removed.
        let oldest = "\(path)/.bin/\(takes[0].day)/\(takes[0].stem).wav"
        calls.setPlan { _, name in name == "create" && access(oldest, F_OK) == 0 ? ENOSPC : nil }
        try directory.moveToBin(takes[1], at: binMoment())
        #expect(directory.bin.items.map(\.take) == [takes[1]])
        calls.setPlan { _, name in name == "create" ? ENOSPC : nil }
        #expect(throws: FileError.self) { try directory.moveToBin(takes[2], at: binMoment()) }
        #expect(try directory.takes() == [takes[2]])
    }

    @Test func `bytes in the bin are free`() throws {
        let calls = FaultyCalls(root: path)
        calls.free = 1000
        let directory = try directory(calls)
        let take = try record(in: directory)
        #expect(try directory.freeBytes() == 1000)
        try directory.moveToBin(take, at: binMoment())
        #expect(try directory.freeBytes() == 1000 + directory.bin.byteCount && directory.bin.byteCount > 20_000)
        #expect(directory.bin.lastFreeBytes == 1000)
        // Removing a link frees no bytes.
        let long = scratch.path + "/long"
        scratch.write([UInt8](repeating: 0, count: 1 << 20), to: "long")
        symlink(long, "\(path)/.bin/\(take.day)/\(take.stem).txt")
        directory.readBin(at: binMoment())
        #expect(directory.bin.byteCount < 1 << 20)
    }
}

/// When takes are deleted from the bin.
@Suite struct BinAgeTests {
    private func age(_ moments: [BinMoment]) -> Int64 {
        var age = BinAge(seconds: 0, at: moments[0])
        for moment in moments.dropFirst() { age.advance(to: moment) }
        return age.seconds
    }

    @Test func `within a boot the bin ages by the clock that nobody sets`() {
        #expect(age([binMoment(), binMoment(3600)]) == 3600)
        #expect(age([binMoment(), binMoment(60, calendar: 40 * 86400, .manual)]) == 60)
        #expect(age([binMoment(0, calendar: -1_700_000_000, .unset), binMoment(60, calendar: 60)]) == 60)
        #expect(age([binMoment(), binMoment(60, calendar: -40 * 86400, .manual)]) == 60)
    }

    @Test func `between boots it ages by a date from the network, by a day at most of any other, and not without one`()
    {
        let month: Int64 = 31 * 86400
        #expect(age([binMoment(500), binMoment(5, calendar: 500 + month, boot: "b")]) == month)
        #expect(age([binMoment(500, .rtc), binMoment(5, calendar: 500 + month, boot: "b")]) == 86400)
        #expect(age([binMoment(500), binMoment(5, calendar: 500 + month, .manual, boot: "b")]) == 86400)
        #expect(age([binMoment(500, .unset), binMoment(5, calendar: 500 + month, boot: "b")]) == 0)
        #expect(age([binMoment(500), binMoment(5, calendar: 500 + month, .unset, boot: "b")]) == 0)
        #expect(age([binMoment(500), binMoment(5, calendar: -month, boot: "b")]) == 0)
    }

    /// Two takes in the bin, of which the first is overdue. The directory is closed when this returns.
    private func binTakes(below path: String) throws -> [TakeName] {
        let directory = try TakesDirectory(path: path + "/takes")
        directory.readBin(at: binMoment())
        var takes: [TakeName] = []
        for second in [0, 20 * 86400] as [Int64] {
            let output = try TakeOutput(directory)
            try output.append(10)
            _ = try output.finish(endedBy: .stop, levels: [])
            try directory.moveToBin(output.name, at: binMoment(second))
            takes.append(output.name)
        }
        try directory.keepBinAge(at: binMoment(31 * 86400))
        #expect(directory.bin.overdue.map(\.take) == [takes[0]])
        return takes
    }

    @Test func `it outlives the process, and what is damaged of it makes nothing older`() throws {
        let age = BinAge(seconds: 77, at: binMoment())
        #expect(BinAge(age.bytes) == age)
        #expect(BinAge([]) == nil && BinAge(Array(#"{"age_seconds":-1}"#.utf8)) == nil)
        let scratch = TestFolder(in: .memory)
        let takes = try binTakes(below: scratch.path)
        // Another boot, a year later by a clock that somebody set.
        let note = "\(scratch.path)/takes/.bin/\(takes[0].day)/\(takes[0].stem).json.binned"
        for damage in [#"{"since_age_seconds":99999999999}"#, "", "{}"] {
            try Data(damage.utf8).write(to: URL(fileURLWithPath: note))
            let directory = try TakesDirectory(path: scratch.path + "/takes")
            let later = binMoment(9, calendar: 366 * 86400, .manual, boot: "b")
            directory.readBin(at: later)
            try directory.keepBinAge(at: later)
            #expect(directory.bin.items.count == 2 && directory.bin.overdue.isEmpty, "\(damage)")
        }
    }
}

/// A move of a take to the bin or out of it, interrupted at every moment.
@Suite struct BinCutTests {
    enum Way: CaseIterable { case into, out, emptied }

    /// A directory with a take. If the take must come out of the bin, it is already there.
    private func prepare(_ way: Way, _ path: String) throws -> (TakesDirectory, TakeName, [String: [UInt8]]) {
        let directory = try TakesDirectory(path: path)
        #expect(CutTake.record(in: directory).isFinished)
        let take = try #require(CutTake.record(in: directory).name)
        let before = try everything(in: path).filter { $0.key.isFile(of: "\(take.day)/\(take.stem)") }
        directory.readBin(at: binMoment())
        if way != .into { try directory.moveToBin(take, at: binMoment()) }
        return (directory, take, before)
    }

    private func act(_ way: Way, _ take: TakeName, in directory: TakesDirectory) throws {
        directory.readBin(at: binMoment())
        switch way {
        case .into: try directory.moveToBin(take, at: binMoment())
        case .out: try directory.restore(take)
        case .emptied: try directory.empty(take)
        }
    }

    /// Checks after the next start that the take is in exactly one place, unless it was deleted.
    private func check(
        _ contents: [String: [UInt8]], _ take: TakeName, _ before: [String: [UInt8]], _ way: Way, _ comment: Comment
    ) throws {
        let scratch = TestFolder(contents)
        let directory = try TakesDirectory(path: scratch.path)
        directory.readBin(at: binMoment())
        for outcome in try recoverAll(in: directory) {
            if case .left(let reason) = outcome { Issue.record("\(reason), \(comment)") }
        }
        #expect(directory.bin.newProblems() == [], comment)
        let isThere = try directory.contains(take)
        let isBinned = directory.bin.find(stem: take.stem) != nil
        #expect(!(isThere && isBinned), comment)
        #expect(isThere || isBinned || way == .emptied, comment)
        #expect(way != .emptied || !isThere, comment)
        let all = try everything(in: scratch.path)
        if isThere {
            #expect(!all.keys.contains { $0.isFile(of: ".bin/\(take.day)/\(take.stem)") }, comment)
        } else {
            #expect(!all.keys.contains { $0.isFile(of: "\(take.day)/\(take.stem)") }, comment)
        }
        if isBinned { try directory.restore(take) }
        let after = try everything(in: scratch.path).filter { $0.key.isFile(of: "\(take.day)/\(take.stem)") }
        // At least the sound must be complete or completely removed.
        #expect(isThere || isBinned ? unrestored(after) == before : after.isEmpty, comment)
        #expect(try directory.nextTake(kit: CutTake.kit, started: morning).number > take.number, comment)
        #expect(try directory.takes().contains { $0.number == 1 }, comment)
    }

    @Test(arguments: Way.allCases) func `a process that is killed at any call leaves it wholly in one place`(
        _ way: Way
    ) throws {
        var (cuts, last) = (0, 0)
        // Every fifth call, since each takes long in a debug build.
        for index in stride(from: 0, to: .max, by: 5) {
            let scratch = TestFolder(in: .memory)
            let path = scratch.path + "/takes"
            var prepared: (TakesDirectory, TakeName, [String: [UInt8]])? = try prepare(way, path)
            let (take, before) = (try #require(prepared).1, try #require(prepared).2)
            prepared = nil
            let calls = FaultyCalls(root: path)
            let isOver = try { () throws -> Bool in
                let directory = try TakesDirectory(path: path, files: FileSystem(calls: calls))
                let first = calls.count
                calls.setPlan { number, _ in number - first >= index ? EIO : nil }
                return (try? act(way, take, in: directory)) != nil
            }()
            try check(try everything(in: path), take, before, way, "\(way), killed at call \(index)")
            // Steps that may fail follow the last one that must succeed.
            if isOver, last + 12 < index { break }
            if !isOver { (cuts, last) = (cuts + 1, index) }
        }
        #expect(cuts > 5)
    }

    @Test(arguments: Way.allCases, [false, true])
    func `an operation of which one call fails leaves it wholly in one place`(_ way: Way, isFAT: Bool) throws {
        var failures = 0
        for index in stride(from: isFAT ? 0 : 3, to: .max, by: 7) {
            let scratch = TestFolder(in: .memory)
            let path = scratch.path + "/takes"
            var prepared: (TakesDirectory, TakeName, [String: [UInt8]])? = try prepare(way, path)
            let (take, before) = (try #require(prepared).1, try #require(prepared).2)
            prepared = nil
            let calls = FaultyCalls(root: path)
            if isFAT { calls.magic = 0x4D44 }
            let isOver = try { () throws -> Bool in
                let directory = try TakesDirectory(path: path, files: FileSystem(calls: calls))
                let first = calls.count
                calls.setPlan { number, _ in number - first == index ? EIO : nil }
                return (try? act(way, take, in: directory)) != nil && calls.count - first <= index
            }()
            try check(try everything(in: path), take, before, way, "\(way), call \(index) failed")
            if isOver { break }
            failures += 1
        }
        #expect(failures > 3)
    }

    @Test(
        arguments: [
            (PowerCut.Loss.everything, [1]), (.contents, [1]), (.blocks, [1]), (.apart, [1, 2]),
        ] as [(PowerCut.Loss, [UInt64])], Way.allCases)
    func `a power cut at any moment leaves it wholly in one place`(
        loss: (PowerCut.Loss, seeds: [UInt64]), _ way: Way
    ) throws {
        let scratch = TestFolder(in: .memory)
        let path = scratch.path + "/takes"
        var prepared: (TakesDirectory, TakeName, [String: [UInt8]])? = try prepare(way, path)
        let (take, before) = (try #require(prepared).1, try #require(prepared).2)
        prepared = nil
        let disk = try PowerCutDisk(root: path, isFAT: loss.0 == .apart)
        try act(way, take, in: try TakesDirectory(path: path, files: FileSystem(calls: disk)))
        for seed in loss.seeds {
            for count in stride(from: Int(seed), through: disk.count, by: 3) {
                let contents = disk.files(after: count, losing: loss.0, seed: seed &* 1000 &+ UInt64(count))
                try check(
                    contents, take, before, way, "\(way), cut after \(count) of \(disk.count), \(loss.0), seed \(seed)")
            }
        }
    }
}

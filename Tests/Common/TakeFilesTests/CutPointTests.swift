import Files
import Glibc
import PowerCuts
import Synchronization
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// A take and its recovery, each interrupted at every system call.
struct CutPointTests {
    /// The content of the disk if the process is killed before call `index` of the second take of a directory, or nil
    /// if the take ended before that call.
    func killed(
        at index: Int, largestWrite: Int = .max
    ) throws -> (contents: [String: [UInt8]], take: CutTake)? {
        let scratch = TestFolder(in: .memory)
        let path = scratch.path + "/takes"
        let calls = FaultyCalls(root: path, largestWrite: largestWrite)
        let directory = try TakesDirectory(path: path, files: FileSystem(calls: calls))
        #expect(CutTake.record(in: directory).isFinished)
        calls.setPlan { number, _ in number >= index ? EIO : nil }
        let take = CutTake.record(in: directory)
        return take.isFinished ? nil : (try everything(in: path), take)
    }

    /// Recovers the take, checks it, and returns the content of the disk afterwards.
    func recover(
        _ contents: [String: [UInt8]], _ take: CutTake, _ comment: Comment
    ) throws -> [String: [UInt8]] {
        let scratch = TestFolder(contents)
        let directory = try TakesDirectory(path: scratch.path)
        for outcome in try recoverAll(in: directory) {
            switch outcome {
            case .recovered(let sidecar):
                // Its sidecar was already written, and only lacked its final name.
                #expect(sidecar.recovered || sidecar.endedBy == .stop, comment)
                #expect(try directory.sidecar(of: take.name!) == sidecar, comment)
                #expect(sidecar.endedBy == .powerCut || sidecar.endedBy == .stop, comment)
            case .removed: #expect(take.owed.frames == 0, comment)
            case .unchanged: #expect(try directory.takes().contains { $0 == take.name }, comment)
            case .left(let reason): Issue.record("\(reason), \(comment)")
            case .discarded: Issue.record("discarded, \(comment)")
            }
        }
        #expect(try directory.leftovers() == [], comment)
        try take.check(in: directory, comment)
        let after = try everything(in: scratch.path)
        let isFirst = { (file: String) in file.contains("heron07-0001") }
        #expect(after.filter { isFirst($0.key) } == contents.filter { isFirst($0.key) }, comment)
        #expect(try recoverAll(in: directory) == [], comment)
        #expect(try everything(in: scratch.path) == after, comment)
        let number = try directory.nextTake(kit: CutTake.kit, started: morning).number
        #expect(number > take.name?.number ?? 1, comment)
        return after
    }

    @Test(arguments: [Int.max, 1000, 61]) func `a take cut at any call is a take of all that was synced`(
        largestWrite: Int
    ) throws {
        var cuts = 0
        var recovered = 0
        let step = largestWrite == .max ? 1 : largestWrite < 100 ? 61 : 5
        for index in stride(from: 0, to: .max, by: step) {
            guard let (contents, take) = try killed(at: index, largestWrite: largestWrite) else { break }
            let after = try recover(contents, take, "killed at call \(index), writes of \(largestWrite)")
            cuts += 1
            if after.keys.contains(where: { $0.contains("heron07-0002") && $0.hasSuffix(".json") }) { recovered += 1 }
        }
        #expect(cuts > 25)
        #expect(recovered > 20)
    }

    @Test(arguments: [Int.max, 1500]) func `a recovery cut at any call comes to the same end when it is begun again`(
        largestWrite: Int
    ) throws {
        var cuts = 0
        for index in stride(from: 5, to: .max, by: largestWrite == .max ? 41 : 97) {
            guard let (contents, take) = try killed(at: index) else { break }
            let expected = try recover(contents, take, "killed at call \(index)")
            for second in stride(from: index % 2, to: .max, by: 2) {
                let scratch = TestFolder(contents)
                let calls = FaultyCalls(root: scratch.path, largestWrite: largestWrite)
                let isOver = try { () throws -> Bool in
                    let directory = try TakesDirectory(path: scratch.path, files: FileSystem(calls: calls))
                    calls.setPlan { number, _ in number >= second ? EIO : nil }
                    return (try? recoverAll(in: directory)) != nil
                }()
                if isOver { break }
                let left = try everything(in: scratch.path)
                let again = try recover(left, take, "killed at call \(index), its recovery at call \(second)")
                let isSame = again.filter { $0.key != ".lock" } == expected.filter { $0.key != ".lock" }
                #expect(isSame, "killed at call \(index), its recovery at call \(second)")
                cuts += 1
            }
        }
        #expect(cuts > 40)
    }
}

/// The same for a power cut, after which the disk contains only synced data.
struct PowerCutTests {
    /// A disk after one take was finished and another one recorded, with the events after which frames were synced.
    func record(
        isFAT: Bool
    ) throws -> (disk: PowerCutDisk, begin: Int, owed: [(from: Int, CutTake.Owed)], take: CutTake) {
        let scratch = TestFolder(in: .memory)
        let path = scratch.path + "/takes"
        _ = try FileSystem().makeFolder(path)
        let disk = try PowerCutDisk(root: path, isFAT: isFAT)
        let directory = try TakesDirectory(path: path, files: FileSystem(calls: disk))
        #expect(CutTake.record(in: directory).isFinished)
        let begin = disk.count
        var owed: [(from: Int, CutTake.Owed)] = []
        let take = CutTake.record(in: directory) { owed.append((disk.count, $0)) }
        #expect(take.isFinished)
        return (disk, begin, owed, take)
    }

    /// Recovers the take after the power cut, and returns the content of the disk afterwards.
    func recover(
        _ contents: [String: [UInt8]], _ take: CutTake, _ owed: CutTake.Owed, isExact: Bool, _ comment: Comment
    ) throws -> [String: [UInt8]] {
        let scratch = TestFolder(contents)
        let directory = try TakesDirectory(path: scratch.path)
        let outcomes = try recoverAll(in: directory)
        for outcome in outcomes {
            // If the sound was not synced, only its unfiltered twin may exist.
            if case .left(let reason) = outcome, owed.frames > 0 { Issue.record("\(reason), \(comment)") }
        }
        #expect(try directory.leftovers() == [] || owed.frames == 0 || !isExact, comment)
        try take.check(in: directory, comment, isExact: isExact, owed: owed)
        let after = try everything(in: scratch.path)
        // The draft of its sidecar may still exist, since it is removed after the sidecar is safe.
        let isFirst = { (file: String) in file.contains("heron07-0001") && !file.hasSuffix(".json.part") }
        #expect(after.filter { isFirst($0.key) } == contents.filter { isFirst($0.key) }, comment)
        #expect(after.keys.count(where: isFirst) == 10, comment)
        let isBegun = contents.keys.contains { $0.contains("heron07-0002") }
        let number = try directory.nextTake(kit: CutTake.kit, started: morning).number
        #expect(number > (isBegun ? 2 : 1), comment)
        return after
    }

    // Without losses a power cut is like a kill, which has its own test. Random losses are tried with several seeds.
    @Test(
        arguments: [
            (PowerCut.Loss.everything, [1]), (.contents, [1]), (.blocks, [1, 2]), (.apart, [1, 2, 3, 4]),
        ] as [(PowerCut.Loss, [UInt64])])
    func `a power cut at any moment costs nothing that was synced`(loss: PowerCut.Loss, seeds: [UInt64]) throws {
        let (disk, begin, owed, take) = try record(isFAT: loss == .apart)
        for seed in seeds {
            for count in begin...disk.count {
                let contents = disk.files(after: count, losing: loss, seed: seed &* 1000 &+ UInt64(count))
                let sure = owed.last { $0.from <= count }?.1 ?? CutTake.Owed()
                _ = try recover(
                    contents, take, sure, isExact: loss == .everything,
                    "cut after \(count) of \(begin)...\(disk.count), \(loss), seed \(seed)")
            }
        }
    }

    @Test(arguments: PowerCut.Loss.allCases)
    func `a power cut during the recovery changes nothing of its end`(loss: PowerCut.Loss) throws {
        let (disk, begin, owed, take) = try record(isFAT: loss == .apart)
        var cuts = 0
        for count in stride(from: begin, through: disk.count, by: 61) {
            let sure = owed.last { $0.from <= count }?.1 ?? CutTake.Owed()
            let contents = disk.files(after: count, losing: loss, seed: UInt64(count))
            let isExact = loss == .nothing || loss == .everything
            let expected = try recover(contents, take, sure, isExact: isExact, "cut after \(count), \(loss)")
            let scratch = TestFolder(contents)
            let second = try PowerCutDisk(root: scratch.path, isFAT: loss == .apart)
            let calls = second
            try { _ = try recoverAll(in: TakesDirectory(path: scratch.path, files: FileSystem(calls: calls))) }()
            for event in stride(from: count % 2, through: second.count, by: 2) {
                let left = second.files(after: event, losing: loss, seed: UInt64(event))
                let comment: Comment = "cut after \(count), its recovery after \(event), \(loss)"
                let again = try recover(left, take, sure, isExact: isExact, comment)
                let isSame = again.filter { $0.key != ".lock" } == expected.filter { $0.key != ".lock" }
                #expect(isSame, comment)
                cuts += 1
            }
        }
        #expect(cuts > 40)
    }
}

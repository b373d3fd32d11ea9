import Files
import Glibc
import PowerCuts
import TakePlaces
import Takes
import Testing

@testable import TakeFiles

/// Objects that are not files of the take have names that its next part would get.
struct PartNumbersTests {
    let bench = RecoveryBench()

    enum Obstacle: CaseIterable { case file, folder, pipe, link }

    private func place(_ obstacle: Obstacle, _ file: String) throws {
        let path = "\(bench.folder)/\(file)"
        switch obstacle {
        case .file: try bench.make(RecoveryBench.junk, file)
        case .folder: #expect(mkdir(path, 0o755) == 0)
        case .pipe: #expect(mkfifo(path, 0o644) == 0)
        case .link: #expect(symlink("nowhere", path) == 0)
        }
    }

    private func expectKept(_ obstacle: Obstacle, _ file: String) throws {
        let found = try bench.files.status(named: "\(bench.folder)/\(file)")
        #expect(found.kind == (obstacle == .file ? .file : obstacle == .folder ? .folder : .other))
        if obstacle == .file { #expect(try bench.files.contents("\(bench.folder)/\(file)") == RecoveryBench.junk) }
    }

    private func expectSound(_ sidecar: Sidecar, _ numbers: [Int], of name: TakeName) throws {
        #expect(sidecar.parts.map(\.file) == numbers.map { name.audioFile(part: $0) })
        let stored = try sidecar.parts.flatMap { part in
            try Array(frames(of: "\(bench.folder)/\(part.file)").prefix(Int(part.frames) * 4))
        }
        #expect(stored == sound(0..<sidecar.frames, stereo16))
    }

    @Test(
        arguments: [
            "-p2.wav", "-p2.wav.part", "-p2.wav.tail", "-p2-raw.wav", "-p2-raw.wav.part", "-p2-raw.wav.tail",
        ], Obstacle.allCases)
    func `a part gets a number of which nothing has a name, and recovery finds it`(
        ending: String, obstacle: Obstacle
    ) throws {
        for (isCut, keepsUnfiltered) in [(false, false), (true, false), (false, true), (true, true)] {
            let directory = try TakesDirectory(path: bench.path)
            let output = try TakeOutput(directory, keepsUnfiltered: keepsUnfiltered, splitBytes: 8192)
            let name = output.name
            try place(obstacle, name.stem.file(ending))
            try output.append(1500, unfiltered: keepsUnfiltered)
            try output.sync()
            let sidecar: Sidecar
            if isCut {
                sidecar = try #require(try recoverTake(name, in: directory))
            } else {
                sidecar = try output.finish(endedBy: .stop, levels: [])
            }
            #expect(sidecar.frames == 1500)
            try expectSound(sidecar, [1, 3], of: name)
            try expectKept(obstacle, name.stem.file(ending))
            #expect(try directory.leftovers() == [])
        }
    }

    private func recoverTake(_ name: TakeName, in directory: TakesDirectory) throws -> Sidecar? {
        let recovery = TakeRecovery(of: name, in: directory, bootID: "another")
        while true {
            guard let outcome = try recovery.step() else { continue }
            if case .recovered(let sidecar) = outcome { return sidecar }
            Issue.record("\(outcome)")
            return nil
        }
    }

    @Test func `a file that takes no more sound is left for a number that is free`() throws {
        let calls = FaultyCalls(root: bench.path)
        let directory = try TakesDirectory(path: bench.path, files: FileSystem(calls: calls))
        let output = try TakeOutput(directory)
        try output.append(500)
        let name = output.name
        let file = "2026-11-21/\(name.audioFile(part: 1)).part"
        try place(.file, "\(name.audioFile(part: 2)).part")
        calls.setRefusal { verb, subject in verb == "write" && subject == file ? EPERM : nil }
        try output.append(500)
        calls.setRefusal { _, _ in nil }
        try expectSound(try output.finish(endedBy: .stop, levels: []), [1, 3], of: name)
    }

    @Test(
        arguments: ["-p2.wav", "-p2.wav.part", "-p2-raw.wav", "-p2-raw.wav.part", "-p3.wav", "-p3-raw.wav.part"],
        Obstacle.allCases)
    func `a tail gets free numbers when its take goes on`(ending: String, obstacle: Obstacle) throws {
        // The simulated FAT does not report the kind of an object.
        let cutOnFAT = obstacle == .file ? [(true, true)] : []
        for (isCut, isFAT) in [(false, false), (true, false), (false, true)] + cutOnFAT {
            let calls = FaultyCalls(root: bench.path)
            let files = isFAT ? FileSystem(calls: calls) : FileSystem()
            let directory = try TakesDirectory(path: bench.path, files: files)
            if isFAT { calls.magic = 0x4D44 }
            let output = try TakeOutput(directory, keepsUnfiltered: true, splitBytes: 8192)
            let name = output.name
            try output.append(500, unfiltered: true)
            _ = try output.finish(endedBy: .stop, levels: [])
            try output.beginTail(format: stereo16)
            // The tail has two files.
            try output.append(1500, unfiltered: true)
            try output.sync()
            try place(obstacle, name.stem.file(ending))
            try output.rejoin()
            let sidecar: Sidecar
            if isCut {
                sidecar = try #require(try recoverTake(name, in: directory))
            } else {
                try output.append(100, unfiltered: true)
                sidecar = try output.finish(endedBy: .stop, levels: [])
            }
            #expect(sidecar.frames == (isCut ? 2000 : 2100))
            try expectSound(sidecar, [1, 4, 5], of: name)
            try expectKept(obstacle, name.stem.file(ending))
            #expect(sidecar.parts.allSatisfy { $0.unfilteredFile != nil })
            if !isCut { #expect(try directory.leftovers() == []) }
        }
    }

    @Test(arguments: Obstacle.allCases) func `a take with a hole in its numbers goes on, and is recovered`(
        obstacle: Obstacle
    ) throws {
        let directory = try TakesDirectory(path: bench.path)
        let output = try TakeOutput(directory, splitBytes: 8192)
        let name = output.name
        try place(obstacle, "\(name.audioFile(part: 2)).part")
        try output.append(1500)
        _ = try output.finish(endedBy: .stop, levels: [])
        try output.beginTail(format: stereo16)
        try output.append(400)
        try output.rejoin()
        try output.append(100)
        try output.sync()
        let sidecar = try #require(try recoverTake(name, in: directory))
        #expect(sidecar.frames == 2000)
        try expectSound(sidecar, [1, 3, 4], of: name)
        try expectKept(obstacle, "\(name.audioFile(part: 2)).part")
    }
}

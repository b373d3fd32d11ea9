import Files
import Glibc
import PowerCuts
import TakePlaces
import Takes
import Testing

@testable import TakeFiles

/// Files with a take's future file names that a recorder did not make.
struct TakenNamesTests {
    let bench = RecoveryBench()
    private let mine = Array("mine".utf8)

    private func put(_ name: String) throws { try bench.make(mine, name) }
    private func isKept(_ name: String) throws -> Bool { try bench.files.contents("\(bench.folder)/\(name)") == mine }

    @Test(arguments: [".wav", ".json", ".dat", "-raw.wav", "-p2.wav", ".flac", ".wav.part", ".json.part"])
    func `a number of which there is any file is not given`(ending: String) throws {
        let directory = try TakesDirectory(path: bench.path)
        let file = "heron07-0001_20261121_061811".file(ending)
        try put(file)
        let name = try directory.nextTake(kit: "heron07", started: morning)
        #expect(name.number == 2)
        #expect(try isKept(file))
    }

    @Test(arguments: [false, true]) func `what appears in a take under its final name is kept, and so is the take`(
        isFAT: Bool
    ) throws {
        let calls = FaultyCalls(root: bench.path)
        let directory = try TakesDirectory(path: bench.path, files: FileSystem(calls: calls))
        if isFAT { calls.magic = 0x4D44 }
        let output = try TakeOutput(directory)
        try output.append(1000)
        let name = output.name
        let file = name.audioFile(part: 1)
        try put(file)
        let error = #expect(throws: FileError.self) { _ = try output.finish(endedBy: .stop, levels: []) }
        #expect(error?.code == EEXIST)
        #expect(error?.description.contains("\(bench.folder)/\(file): File exists: move that file") == true)
        let remains = output.abandon(endedBy: .storageError, levels: [])
        #expect(!remains.isFinished && remains.safeFrames == 1000)
        #expect(try isKept(file))
        guard case .left? = try recoverAll(in: directory).first else {
            Issue.record("it is not left")
            return
        }
        #expect(try isKept(file))
        // After that file is moved away, nothing of the take is missing.
        try bench.files.rename("\(bench.folder)/\(file)", to: "\(bench.folder)/mine.wav")
        guard case .recovered(let sidecar)? = try recoverAll(in: directory).first else {
            Issue.record("it is not recovered")
            return
        }
        #expect(sidecar.frames == 1000)
        #expect(try frames(of: "\(bench.folder)/\(file)") == sound(0..<1000, stereo16))
    }

    @Test func `a part gets the next number where its name is taken`() throws {
        let directory = try TakesDirectory(path: bench.path)
        let output = try TakeOutput(directory, keepsUnfiltered: true, splitBytes: 8192)
        let name = output.name
        for file in [name.audioFile(part: 2), name.audioFile(part: 4, isUnfiltered: true)] { try put(file) }
        try output.append(2000, unfiltered: true)
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(sidecar.parts.map(\.file) == [1, 3, 5].map { name.audioFile(part: $0) })
        #expect(try isKept(name.audioFile(part: 2)))
        #expect(try isKept(name.audioFile(part: 4, isUnfiltered: true)))
        let stored = try sidecar.parts.flatMap { try frames(of: "\(bench.folder)/\($0.file)") }
        #expect(stored == sound(0..<2000, stereo16))
    }

    @Test func `what has the name of the sidecar is kept beside it`() throws {
        let directory = try TakesDirectory(path: bench.path)
        let output = try TakeOutput(directory)
        try output.append(1000)
        try put("\(output.name.stem).json")
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(try directory.sidecar(of: output.name) == sidecar)
        #expect(try isKept("\(output.name.stem).json.damaged"))
    }

    @Test func `a file of an empty name that was reserved is taken over`() throws {
        let calls = FaultyCalls(root: bench.path)
        let directory = try TakesDirectory(path: bench.path, files: FileSystem(calls: calls))
        calls.magic = 0x4D44
        let output = try TakeOutput(directory)
        try output.append(100)
        try bench.make([], output.name.audioFile(part: 1))
        _ = try output.finish(endedBy: .stop, levels: [])
        #expect(try frames(of: "\(bench.folder)/\(output.name.audioFile(part: 1))") == sound(0..<100, stereo16))
    }

    @Test(arguments: [EINVAL, ENOSYS, EOPNOTSUPP, 0])
    func `a name is not taken from a file, whether the kernel can promise that or not`(code: Int32) throws {
        let files = code == 0 ? FileSystem() : FileSystem(calls: FaultyCalls(root: bench.path))
        _ = try files.makeFolder(bench.path)
        let (from, to) = ("\(bench.path)/from", "\(bench.path)/to")
        for isTaken in [true, false] {
            try files.write([1], to: files.create(from, isNew: false), at: 0)
            if isTaken {
                try files.write([2], to: files.create(to, isNew: false), at: 0)
                #expect(throws: FileError("rename \(from) to", to, code: EEXIST)) { try files.renameNew(from, to: to) }
                #expect(try files.contents(to) == [2])
                #expect(try files.contents(from) == [1])
                try files.remove(to)
                #expect(symlink("nowhere", to) == 0)
                #expect(throws: FileError.self) { try files.renameNew(from, to: to) }
                try files.remove(to)
            } else {
                try files.renameNew(from, to: to)
                #expect(try files.contents(to) == [1])
            }
        }
    }

    @Test func `what has the name of the sidecar is kept by a take that is given up, and by one that is recovered`()
        throws
    {
        let calls = FaultyCalls(root: bench.path)
        let directory = try TakesDirectory(path: bench.path, files: FileSystem(calls: calls))
        let output = try TakeOutput(directory)
        try output.append(1000)
        try put("\(output.name.stem).json")
        let isFailed = Locked(false)
        calls.setPlan { _, verb in
            guard verb == "fsync" else { return nil }
            return isFailed.withLock { isFailed in
                defer { isFailed = true }
                return isFailed ? nil : EIO
            }
        }
        #expect(throws: FileError.self) { _ = try output.finish(endedBy: .stop, levels: []) }
        #expect(output.abandon(endedBy: .storageError, levels: []).isFinished)
        #expect(try directory.sidecar(of: output.name).frames == 1000)
        #expect(try isKept("\(output.name.stem).json.damaged"))

        for (index, content) in [mine, Array("{\"mine\": [1, 2]}".utf8)].enumerated() {
            let cut = try TakeOutput(directory)
            try cut.append(1000)
            try cut.sync()
            try bench.make(content, "\(cut.name.stem).json")
            _ = try recoverAll(in: directory)
            #expect(try directory.sidecar(of: cut.name).frames == 1000, "\(index)")
            #expect(try bench.files.contents("\(bench.folder)/\(cut.name.stem).json.damaged") == content)
        }
    }

    @Test func `a take's own first sidecar is not kept as another's`() throws {
        let calls = FaultyCalls(root: bench.path)
        let directory = try TakesDirectory(path: bench.path, files: FileSystem(calls: calls))
        let output = try TakeOutput(directory)
        try output.append(1000)
        let sidecar = "2026-11-21/\(output.name.stem).json"
        let isFailed = Locked(false)
        calls.setRefusal { verb, subject in
            guard verb == "fsync", subject == sidecar else { return nil }
            return isFailed.withLock { isFailed in
                defer { isFailed = true }
                return isFailed ? nil : EIO
            }
        }
        #expect(throws: FileError.self) { _ = try output.finish(endedBy: .stop, levels: []) }
        #expect(output.abandon(endedBy: .storageError, levels: []).isFinished)
        #expect(try !bench.files.entries(bench.folder).contains { $0.contains(".damaged") })
    }

    @Test func `what has the name of the waveform is kept, and the take has none`() throws {
        let directory = try TakesDirectory(path: bench.path)
        let output = try TakeOutput(directory)
        try output.append(1000)
        output.appendPeaks([Int8](repeating: 1, count: 16))
        let file = "\(output.name.stem).dat"
        try put(file)
        _ = try output.finish(endedBy: .stop, levels: [])
        #expect(try isKept(file))
        #expect(output.peaksFailure?.description.contains("\(file): File exists: move that file") == true)
        #expect(try !bench.files.entries(bench.folder).contains { $0.hasSuffix(".part") })

        // A take that continues does not copy it.
        try output.beginTail(format: stereo16)
        try output.append(500)
        try output.sync()
        try output.rejoin()
        output.appendPeaks([Int8](repeating: 1, count: 16))
        _ = try output.finish(endedBy: .stop, levels: [])
        #expect(try directory.sidecar(of: output.name).frames == 1500)
        #expect(try isKept(file))
        #expect(output.peaksFailure?.code == EEXIST)
        #expect(try !bench.files.entries(bench.folder).contains { $0.hasSuffix(".part") })

        let cut = try TakeOutput(directory)
        try cut.append(1000)
        try cut.sync()
        try put("\(cut.name.stem).dat")
        let recovery = TakeRecovery(of: cut.name, in: directory, bootID: "another")
        while try recovery.step() == nil {}
        #expect(try directory.sidecar(of: cut.name).frames == 1000)
        #expect(try isKept("\(cut.name.stem).dat"))
        #expect(
            recovery.shortcomings.contains { $0.hasPrefix("it has no waveform: ") && $0.contains("move that file") })
    }

    @Test func `what has the name of another part is not touched when a take is recovered`() throws {
        let directory = try TakesDirectory(path: bench.path)
        let output = try TakeOutput(directory)
        try output.append(1000)
        try output.sync()
        let name = output.name
        for file in [name.audioFile(part: 2), name.audioFile(part: 4, isUnfiltered: true)] {
            try bench.make(RecoveryBench.junk, file)
        }
        guard case .recovered(let sidecar)? = try recoverAll(in: directory).first else {
            Issue.record("it is not recovered")
            return
        }
        #expect(sidecar.parts.map(\.file) == [name.audioFile(part: 1)])
        for file in [name.audioFile(part: 2), name.audioFile(part: 4, isUnfiltered: true)] {
            #expect(try bench.files.contents("\(bench.folder)/\(file)") == RecoveryBench.junk)
        }
    }

    @Test(arguments: [".flac", "-raw.flac", "-p2.flac"])
    func `what has the name of a FLAC file is kept, and the take stays WAV`(
        ending: String
    ) throws {
        let conversion = try ConversionBench()
        let take = try conversion.pendingTake()
        let path = conversion.path(take.stem.file(ending))
        try bench.files.write(mine, to: bench.files.create(path, isNew: true), at: 0)
        guard case .kept(let sidecar, let sentence) = try conversion.convert(take) else {
            Issue.record("it is not kept")
            return
        }
        #expect(sentence.contains("\(path) is another file: move that to another place"))
        #expect(sidecar.parts.allSatisfy { $0.file.hasSuffix(".wav") })
        #expect(try bench.files.contents(path) == mine)
        #expect(try Set(conversion.names()) == Set(ConversionBench.original + [take.stem.file(ending)]))
    }

    @Test func `WAV that a person decoded beside FLAC is kept, and the take is not converted again`() throws {
        let conversion = try ConversionBench()
        let take = try conversion.pendingTake()
        guard case .converted(let sidecar) = try conversion.convert(take) else {
            Issue.record("it is not converted")
            return
        }
        let path = conversion.path(take.stem + ".wav")
        try bench.files.write(mine, to: bench.files.create(path, isNew: true), at: 0)
        #expect(try !conversion.directory.awaitsConversion(take))
        #expect(try conversion.convert(take) == .nothingToDo)
        #expect(try bench.files.contents(path) == mine)
        // Nor does it count as the take's sound if the sidecar is missing.
        try bench.files.remove(conversion.directory.sidecarPath(of: take))
        _ = try recoverAll(in: conversion.directory)
        #expect(try conversion.directory.sidecar(of: take).parts.map(\.file) == sidecar.parts.map(\.file))
        #expect(try bench.files.contents(path) == mine)
    }

    @Test func `what is in the way of a take's sound is named when it is recovered, with what to do`() throws {
        let directory = try TakesDirectory(path: bench.path)
        let output = try TakeOutput(directory)
        try output.append(1000)
        try output.sync()
        let file = output.name.audioFile(part: 1)
        try put(file)
        let reason = try #require(try reasonWithoutChange(in: directory))
        #expect(reason.contains("\(bench.folder)/\(file) has the name that its sound is to get"))
        #expect(reason.contains("move that to another place") && !reason.contains("fsck"))
    }

    private func reasonWithoutChange(in directory: TakesDirectory) throws -> String? {
        let before = try everything(in: bench.folder)
        guard case .left(let reason)? = try recoverAll(in: directory).first else { return nil }
        #expect(try everything(in: bench.folder) == before)
        return reason
    }
}

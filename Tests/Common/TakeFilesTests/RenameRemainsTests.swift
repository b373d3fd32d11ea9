import Files
import Glibc
import PowerCuts
import TakePlaces
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// The remains of a power cut during a rename on a repaired file system without a journal: one of two names without
/// content.
struct RenameRemainsTests {
    let scratch = TestFolder(in: .memory)
    let directory: TakesDirectory
    let files = FileSystem()

    init() throws { directory = try TakesDirectory(path: scratch.path + "/takes") }

    func path(_ name: TakeName, _ ending: String) -> String {
        "\(directory.path)/\(name.day)/\(name.stem.file(ending))"
    }

    func finishedTake() throws -> TakeName {
        let output = try TakeOutput(directory, keepsUnfiltered: true)
        try output.append(1000, unfiltered: true)
        _ = try output.finish(endedBy: .stop, levels: [])
        return output.name
    }

    func write(_ bytes: [UInt8], to path: String) throws {
        try files.write(bytes, to: files.create(path, isNew: false), at: 0)
    }

    func day(_ name: TakeName) throws -> [String: [UInt8]] { try everything(in: "\(directory.path)/\(name.day)") }

    @Test(arguments: [".wav.part", "-raw.wav.part", "-p2.wav.part", "-p2-raw.wav.part", ".dat.part", ".json.tmp"])
    func `an empty file that a cut left beside a finished take is removed`(ending: String) throws {
        let take = try finishedTake()
        let before = try day(take)
        try write([], to: path(take, ending))
        #expect(try directory.leftovers() == [take])
        #expect(try recoverAll(in: directory) == [.unchanged])
        #expect(try day(take) == before)
        #expect(try directory.leftovers() == [])
    }

    @Test func `a file with sound beside a finished take's own is left where it is`() throws {
        let take = try finishedTake()
        try write(files.contents(path(take, ".wav")), to: path(take, ".wav.part"))
        let before = try day(take)
        #expect(try recoverAll(in: directory) == [])
        #expect(try day(take) == before)
    }

    @Test(arguments: [[], [0, 0, 0], Array("{\"take\":".utf8)] as [[UInt8]?] + [nil])
    func `a sidecar that was being replaced is restored from its next revision`(damaged: [UInt8]?) throws {
        let take = try finishedTake()
        let before = try day(take)
        try files.rename(path(take, ".json"), to: path(take, ".json.tmp"))
        if let damaged { try write(damaged, to: path(take, ".json")) }
        #expect(try directory.leftovers() == [take])
        #expect(try recoverAll(in: directory) == [.recovered(directory.sidecar(of: take))])
        #expect(try day(take) == before)
    }

    @Test func `a revision that had not replaced the sidecar is dropped`() throws {
        let take = try finishedTake()
        let before = try day(take)
        var revision = try directory.sidecar(of: take)
        revision.revision = 2
        try write(SidecarFile.bytes(revision), to: path(take, ".json.tmp"))
        #expect(try recoverAll(in: directory) == [.unchanged])
        #expect(try day(take) == before)
    }

    @Test func `a removed take is not restored from what was left of a revision`() throws {
        let take = try finishedTake()
        try write(SidecarFile.bytes(directory.sidecar(of: take)), to: path(take, ".json.tmp"))
        let calls = FaultyCalls(root: directory.path)
        try { () throws in
            let copy = try TestFolder(everything(in: directory.path))
            let other = try TakesDirectory(path: copy.path, files: FileSystem(calls: calls))
            calls.setRefusal { verb, subject in verb == "remove" && subject.hasSuffix(".dat") ? EIO : nil }
            #expect(throws: FileError.self) { try other.remove(take) }
            calls.setRefusal { _, _ in nil }
            let again = try recoverAll(in: other)
            #expect(again == [.discarded], "\(again)")
            #expect(try other.takes() == [])
        }()
    }

    /// A take that was interrupted in its commit: each audio file has two names, one of them without content.
    @Test(arguments: [true, false], [[], nil] as [[UInt8]?])
    func `of two names of an audio file the one with the sound counts`(isOld: Bool, sidecar: [UInt8]?) throws {
        let take = try finishedTake()
        let before = try day(take)
        try write(files.contents(path(take, ".json")), to: path(take, ".json.part"))
        try files.remove(path(take, ".json"))
        if let sidecar { try write(sidecar, to: path(take, ".json")) }
        for ending in [".wav", "-raw.wav"] {
            if isOld { try files.rename(path(take, ending), to: path(take, ending + ".part")) }
            try write([], to: path(take, isOld ? ending : ending + ".part"))
        }
        let outcome = try recoverAll(in: directory)
        #expect(outcome == [.recovered(try directory.sidecar(of: take))])
        let after = try day(take)
        #expect(after.keys.sorted() == before.keys.sorted())
        for ending in [".wav", "-raw.wav"] { #expect(after[take.stem.file(ending)] == before[take.stem.file(ending)]) }
        #expect(try directory.sidecar(of: take).endedBy == .stop)
    }

    @Test func `two names with sound are left to the repair of the file system`() throws {
        let take = try finishedTake()
        try files.rename(path(take, ".json"), to: path(take, ".json.part"))
        try write(files.contents(path(take, ".wav")), to: path(take, ".wav.part"))
        let before = try day(take)
        let outcomes = try recoverAll(in: directory)
        guard case .left(let reason) = try #require(outcomes.first) else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(reason.contains("under two names: check the file system (fsck)"))
        #expect(try day(take) == before)
    }
}

/// The conversion to FLAC during a power cut.
struct FLACPowerCutTests {
    static let frameCount: Int64 = 3000

    @Test(arguments: [PowerCut.Loss.everything, .contents, .blocks, .apart])
    func `a power cut at any moment of a conversion leaves the whole take, and another conversion ends it`(
        loss: PowerCut.Loss
    ) throws {
        let scratch = TestFolder(in: .memory)
        let path = scratch.path + "/takes"
        var take: TakeName?
        try { () throws in
            let directory = try TakesDirectory(path: path)
            let output = try TakeOutput(directory, pendingFormat: "flac")
            try output.append(Self.frameCount)
            _ = try output.finish(endedBy: .stop, levels: [])
            take = output.name
        }()
        let name = try #require(take)
        let disk = try PowerCutDisk(root: path, isFAT: loss == .apart)
        try { () throws in
            let directory = try TakesDirectory(path: path, files: FileSystem(calls: disk))
            #expect(try Self.convert(name, in: directory) == .converted(directory.sidecar(of: name)))
        }()
        for count in 0...disk.count {
            for seed in 0..<(loss == .apart ? 4 : 1) as Range<UInt64> {
                let comment: Comment = "cut after \(count) of \(disk.count), \(loss), seed \(seed)"
                let cut = TestFolder(disk.files(after: count, losing: loss, seed: seed &* 1000 &+ UInt64(count)))
                let directory = try TakesDirectory(path: cut.path)
                for outcome in try recoverAll(in: directory) {
                    if case .left(let reason) = outcome { Issue.record("\(reason), \(comment)") }
                }
                #expect(try TakeAudio(of: name, in: directory).parts.map(\.frames) == [Self.frameCount], comment)
                _ = try Self.convert(name, in: directory)
                let file = try #require(try directory.sidecar(of: name).parts.first?.file, comment)
                #expect(file.hasSuffix(".flac"), comment)
                let isSame = try frames(of: "\(cut.path)/\(name.day)/\(file)") == sound(0..<Self.frameCount, stereo16)
                #expect(isSame, comment)
                let rest = try directory.files.entries("\(cut.path)/\(name.day)").sorted()
                #expect(rest == [".dat", ".flac", ".json"].map { name.stem.file($0) }, comment)
            }
        }
    }

    private static func convert(_ take: TakeName, in directory: TakesDirectory) throws -> FLACConversion.Outcome {
        let conversion = FLACConversion(of: take, in: directory, reserveBytes: 0)
        while true {
            if let outcome = try conversion.step() { return outcome }
        }
    }
}

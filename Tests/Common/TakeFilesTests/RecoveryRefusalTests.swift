import Files
import Glibc
import TakePlaces
import Takes
import Testing

@testable import TakeFiles

/// Files that only look like those of a take. They are left unchanged, and a message names them.
struct RecoveryRefusalTests {
    let bench = RecoveryBench()

    @Test func `what has neither a draft nor a head is left where it is`() throws {
        let name = try bench.record { try $0.append(100) }
        try bench.make(RecoveryBench.junk, "\(name.stem).json.part")
        try bench.write(Array(RecoveryBench.junk.prefix(4096)), to: "\(name.stem).wav.part")
        #expect(try bench.reason() == "\(name.stem): neither its sidecar nor the header of an audio file can be read")
    }

    @Test func `files of no known take are left where they are, and named`() throws {
        let stem = "heron07-0007-061811Z"
        let whole = try bench.record { try $0.append(100) }
        try bench.files.rename("\(bench.folder)/\(whole.stem).wav.part", to: "\(bench.folder)/\(stem).wav")
        for name in try bench.files.entries(bench.folder) where name.isFile(of: whole.stem) {
            try bench.files.remove("\(bench.folder)/\(name)")
        }
        #expect(try bench.reason() == "\(stem): its files have no sidecar")
        try bench.make(RecoveryBench.junk, "\(stem).wav.part")
        #expect(try bench.reason() == "\(stem): neither its sidecar nor the header of an audio file can be read")
        try bench.files.remove("\(bench.folder)/\(stem).wav")
        #expect(try bench.reason() == "\(stem): neither its sidecar nor the header of an audio file can be read")
        try bench.make([], "\(stem).wav.part")
        try bench.make(RecoveryBench.junk, "\(stem).notes")
        #expect(try bench.reason() == "\(stem): it has no sound, and files that no recorder left")
    }

    private let advice = LeftoverProblem.advice

    @Test func `links, folders and pipes are not followed`() throws {
        try bench.make([1, 2, 3], "elsewhere")
        let stem = "heron07-0007-061811Z"
        let audio = "\(bench.folder)/\(stem).wav.part"
        #expect(symlink("\(bench.folder)/elsewhere", audio) == 0)
        let remark = "it is a link, which is not followed here"
        #expect(
            try bench.reason() == "open DAY/\(stem).wav.part: Too many levels of symbolic links (\(remark)): \(advice)")
        #expect(try bench.files.contents("\(bench.folder)/elsewhere") == [1, 2, 3])
        try bench.files.remove(audio)
        _ = try bench.files.makeFolder(audio)
        #expect(try bench.reason() == "open DAY/\(stem).wav.part: Is a directory: \(advice)")
        rmdir(audio)
        #expect(mkfifo(audio, 0o600) == 0)
        #expect(try isLeft("measure \(bench.folder)/\(stem).wav.part: Illegal seek (it is not a file)"))
        try bench.files.remove(audio)
        #expect(mkfifo("\(bench.folder)/\(stem).json.part", 0o600) == 0)
        #expect(try bench.recover() == [.removed])
        #expect(try bench.files.entries(bench.folder).contains("\(stem).json.part.other1"))
    }

    /// Does not compare contents, since a pipe cannot be read.
    private func isLeft(_ reason: String) throws -> Bool {
        try bench.recover() == [.left("\(reason): \(advice): left where it is, in \(bench.folder)")]
    }
}

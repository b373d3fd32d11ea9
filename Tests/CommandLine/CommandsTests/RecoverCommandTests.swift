import Files
import Glibc
import TakeFiles
import TakePlaces
import Takes
import TestBench
import Testing

@testable import Commands

/// The command on real directories with interrupted takes.
@Suite final class RecoverCommandTests {
    private let scratch = TestFolder()
    private var folder: String { scratch.path }
    private var path: String { folder + "/takes" }

    /// The message for a path without permission. Root acts as the directory's owner.
    private func denied(_ path: String) -> String {
        "open \(path): Permission denied: "
            + (geteuid() == 0
                ? "the recorder's user must be allowed to write there" : "run this as root, or as its owner")
    }

    private let format = StreamFormat(rateHz: 48_000, channels: 1, sampleFormat: .s16)

    /// A take of `frames` that is interrupted before its end.
    private func cut(frames: Int, bootID: String = "of another boot", daysLater: Int64 = 0) throws -> TakeName {
        let directory = try TakesDirectory(path: path)
        let started = WallTime(microseconds: 1_795_241_891_250_000 + daysLater * 86_400_000_000)
        let name = try directory.nextTake(kit: "heron07", started: started)
        let sidecar = Sidecar(
            name: name, started: started, startedMonotonic: Instant(nanoseconds: 0), bootID: bootID, clock: .ntp,
            card: "card:Mic", format: format, preRollFrames: 0, gainDB: nil, agc: nil, version: "0")
        let output = try TakeOutput(in: directory, name: name, sidecar: sidecar, started: started, format: format)
        let bytes = [UInt8](repeating: 3, count: frames * 2)
        try unsafe bytes.withUnsafeBytes { try unsafe output.append($0) }
        return name
    }

    private var kit: LocalAccess {
        let path = path
        var access = LocalAccess(
            places: { _ in
                var places = LocalAccess.Places()
                places.takes = path
                return places
            }, problems: { _ in [] }, list: { _, _ in [] })
        access.bootID = { "of this boot" }
        return access
    }

    @Test func `each take is listed with its result, and afterwards nothing is left to do`() throws {
        _ = try cut(frames: 96_000)
        _ = try cut(frames: 48_000, bootID: "of this boot")
        _ = try cut(frames: 0)
        let day = path + "/2026-11-21"
        _ = try FileSystem().create("\(day)/heron07-0009_20261121_061811.wav", isNew: true)
        let left =
            "heron07-0009_20261121_061811: its files have no sidecar: "
            + "left where it is, in \(day)"
        let result = run(["recover", path + "//"], access: kit)
        #expect(
            result.output == [
                "heron07-0001_20261121_061811: recovered, 0:00:02.0, ended by power-cut",
                "heron07-0002_20261121_061811: recovered, 0:00:01.0, ended by crash",
                "heron07-0003_20261121_061811: removed, none of its files had any sound", left,
            ])
        let complaint = "recover: 1 take is not recovered: \(left)"
        #expect(result.complaints == [complaint])
        #expect(result.status == 65)
        #expect(try TakesDirectory(path: path).takes().map(\.number) == [1, 2])
        #expect(run(["recover"], access: kit) == (65, [left], [complaint]))
        #expect(run(["recover", "--json"], access: kit).status == 65)
        try FileSystem().remove("\(day)/heron07-0009_20261121_061811.wav")
        #expect(run(["recover"], access: kit) == (0, ["\(path): nothing to recover"], []))
    }

    @Test func `JSON lists the same`() throws {
        _ = try cut(frames: 96_000)
        _ = try cut(frames: 0)
        #expect(
            run(["recover", "--json"], access: kit).output == [
                "{\"directory\":\"\(path)\",\"takes\":[{\"day\":\"2026-11-21\",\"duration_seconds\":2,"
                    + "\"ended_by\":\"power-cut\",\"frames\":96000,\"outcome\":\"recovered\","
                    + "\"shortcomings\":[],\"take\":\"heron07-0001_20261121_061811\"},{\"day\":\"2026-11-21\",\"outcome\":\"removed\","
                    + "\"take\":\"heron07-0002_20261121_061811\"}]}"
            ])
        #expect(
            run(["recover", "--json"], access: kit).output == ["{\"directory\":\"\(path)\",\"takes\":[]}"])
    }

    @Test func `a directory that is not there is not made`() {
        #expect(run(["recover"], access: kit) == (66, [], ["recover: \(path): no such directory"]))
        #expect(unsafe Glibc.access(path, F_OK) != 0)
        #expect(run(["recover", "/dev/null"]) == (66, [], ["recover: /dev/null: no such directory"]))
    }

    @Test func `a directory without takes is not taken for theirs, unless the settings name it`() throws {
        _ = try cut(frames: 48_000)
        #expect(
            run(["recover", folder]) == (
                66, [],
                [
                    "recover: \(folder): it has no takes: name the directory with the folders of the days, such as "
                        + "\(folder)/takes"
                ]
            ))
        #expect(try FileSystem().entries(folder) == ["takes"])
        #expect(run(["recover", path]).status == 0)
        for name in try FileSystem().entries(path) where name != ".lock" { scratch.remove("takes/\(name)") }
        #expect(run(["recover", path]) == (0, ["\(path): nothing to recover"], []))
        scratch.remove("takes")
        unsafe mkdir(path, 0o755)
        #expect(run(["recover"], access: kit) == (0, ["\(path): nothing to recover"], []))
    }

    @Test func `a directory that a recorder has open is left to it`() throws {
        let directory = try TakesDirectory(path: path)
        #expect(
            run(["recover"], access: kit) == (
                75, [],
                ["recover: \(path): pid \(getpid()) has it open: a recorder that runs recovers takes by itself"]
            ))
        #expect(directory.path == path)
    }

    @Test func `storage that fails is reported, and the other takes are recovered`() throws {
        let name = try cut(frames: 10)
        _ = try cut(frames: 48_000, daysLater: 1)
        // Root acts as the directory's owner, who may not read the first draft.
        if geteuid() == 0 { try giveAway(path) }
        let draft = "\(path)/\(name.day)/\(name.stem).json.part"
        unsafe chmod(draft, 0)
        let result = run(["recover"], access: kit)
        let sentence = denied(draft)
        #expect(
            result == (
                77,
                [
                    "\(name.stem): failed: \(sentence)",
                    "heron07-0002_20261122_061811: recovered, 0:00:01.0, ended by power-cut",
                ], ["recover: 1 take is not recovered yet: \(sentence)"]
            ))
    }

    @Test func `a day that cannot be read is reported, and the other takes are recovered`() throws {
        let name = try cut(frames: 10)
        _ = try cut(frames: 48_000, daysLater: 1)
        if geteuid() == 0 { try giveAway(path) }
        let day = "\(path)/\(name.day)"
        unsafe chmod(day, 0)
        let sentence = denied(day)
        let complaint = "recover: passed over: \(sentence)"
        let line = "heron07-0002_20261122_061811: recovered, 0:00:01.0, ended by power-cut"
        #expect(run(["recover"], access: kit) == (77, [line], [complaint]))
        #expect(run(["recover"], access: kit) == (77, [], [complaint]))
        unsafe chmod(day, 0o755)
    }

    /// Gives the directory of takes and its content to a user other than root.
    private func giveAway(_ path: String) throws {
        unsafe chmod(folder, 0o755)
        unsafe chown(path, 4711, 4712)
        for name in (try? FileSystem().entries(path)) ?? [] { try giveAway("\(path)/\(name)") }
    }

    @Test(.enabled(if: geteuid() == 0)) func `what root recovers belongs to the owner of the directory`() throws {
        let name = try cut(frames: 10)
        let day = "\(path)/2026-11-21"
        try giveAway(path)
        #expect(run(["recover"], access: kit).status == 0)
        for file in [".json", ".wav", ".dat"] {
            var found = stat()
            #expect(unsafe stat("\(day)/\(name.stem.file(file))", &found) == 0)
            #expect(found.st_uid == 4711)
        }
        // The command restored the rights of root.
        _ = try FileSystem().create("\(folder)/mine", isNew: true)
        var found = stat()
        unsafe stat("\(folder)/mine", &found)
        #expect(found.st_uid == 0)
    }
}

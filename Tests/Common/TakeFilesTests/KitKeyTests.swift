import Files
import Glibc
import PowerCuts
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// The kit's id, which is independent of its name and of the storage of its takes.
struct KitKeyTests {
    let scratch = TestFolder(in: .memory)
    let files = FileSystem()
    var state: String { scratch.path + "/state" }
    var path: String { state + "/kit.key" }

    init() throws { _ = try files.makeFolder(state) }

    /// A key whose folder appears to be on ext4, wherever the test runs.
    func key(_ calls: FaultyCalls? = nil) -> KitKey {
        KitKey(folder: state, files: FileSystem(calls: calls ?? FaultyCalls(root: state)))
    }

    @Test func `the first start makes a key for the recorder alone, and each later one reads it`() throws {
        let first = key()
        #expect(first.standing == .unread)
        let id = try #require(first.prepare())
        #expect(first.standing == .kept(id) && first.newSentences() == [])
        #expect(try files.contents(path).count == 32 && rights(path) == "600")
        #expect(try files.entries(state) == ["kit.key"])
        #expect(key().prepare() == id && first.prepare() == id)
        unlink(path)
        #expect(key().prepare() != id)
    }

    @Test func `the id is the first 32 digits of the key's SHA-256`() throws {
        scratch.write(Array("abcdefghijklmnopqrstuvwxyz012345".utf8), to: "state/kit.key")
        // Computed with sha256sum.
        #expect(key().prepare()?.description == "653bb1245e828fcda4fa53fcd5a3def5")
    }

    @Test func `the key is synced before it has its name, and its name before it is used`() throws {
        let calls = FaultyCalls(root: state)
        _ = key(calls).prepare()
        #expect(
            calls.trace.map { String($0.split(separator: " ")[0]) }
                == ["create", "write", "fsync", "rename", "fsync", "fsync"])
    }

    @Test(arguments: [[], [1, 2, 3], [UInt8](repeating: 0, count: 32), [UInt8](repeating: 7, count: 33)] as [[UInt8]])
    func `a damaged key is kept aside, reported once, and another one is made`(content: [UInt8]) throws {
        scratch.write(content, to: "state/kit.key")
        let problem = content.count == 32 ? "it is all zeros" : "it has not 32 bytes"
        let key = key()
        let id = try #require(key.prepare())
        #expect(
            key.newSentences() == [
                "kit id: \(path) is damaged: \(problem): it is kept as \(path).damaged, and the kit has a new 'kit_id' from here on"
            ])
        #expect(key.newSentences() == [])
        #expect(try files.contents(path + ".damaged") == content)
        // A second damaged key does not replace the first one.
        scratch.write([9], to: "state/kit.key")
        let second = self.key()
        #expect(second.prepare() != id)
        #expect(try files.contents(path + ".damaged") == content && files.contents(path + ".damaged2") == [9])
    }

    @Test func `a folder or a link with the key's name is no key`() throws {
        _ = try files.makeFolder(path)
        #expect(key().prepare() != nil && files.isTaken(path + ".damaged"))
        unlink(path)
        scratch.write([UInt8](repeating: 7, count: 32), to: "elsewhere")
        symlink(scratch.path + "/elsewhere", path)
        let key = key()
        #expect(key.prepare() != nil && key.newSentences().count == 1)
        #expect(try files.contents(scratch.path + "/elsewhere") == [UInt8](repeating: 7, count: 32))
    }

    @Test(arguments: [("create", EROFS), ("write", ENOSPC), ("fsync", EIO), ("rename", EROFS)])
    func `a key that cannot be kept is reported once, and made as soon as it can be`(verb: String, code: Int32) throws {
        let calls = FaultyCalls(root: state)
        calls.setRefusal { call, _ in call == verb ? code : nil }
        let key = key(calls)
        #expect(key.prepare() == nil && key.prepare() == nil)
        let sentence = try #require(key.newSentences().first)
        #expect(key.standing == .missing(sentence) && key.newSentences() == [])
        #expect(sentence.hasPrefix("kit id: "))
        #expect(sentence.hasSuffix(": takes are recorded without 'kit_id', and are known by their names alone"))
        calls.setRefusal { _, _ in nil }
        let id = try #require(key.prepare())
        #expect(self.key().prepare() == id && key.newSentences() == [])
    }

    @Test func `a key that cannot be read now is not replaced`() throws {
        let id = key().prepare()
        let calls = FaultyCalls(root: state)
        calls.setRefusal { call, _ in call == "read" ? EIO : nil }
        #expect(key(calls).prepare() == nil)
        #expect(key().prepare() == id)
    }

    @Test func `no key is made where it would be another one after each start`() throws {
        let calls = FaultyCalls(root: state)
        calls.magic = 0x0102_1994
        let key = key(calls)
        #expect(key.prepare() == nil)
        #expect(
            key.newSentences() == [
                "kit id: \(state) is on tmpfs, which is kept in memory: takes are recorded without 'kit_id', and are known by their "
                    + "names alone"
            ])
        #expect(try files.entries(state) == [])
    }

    @Test func `a take that is cut, converted, dated, binned and restored keeps its kit's id`() throws {
        let directory = try TakesDirectory(path: scratch.path + "/takes", key: key())
        let id = try #require(directory.kitID())
        let name = try directory.nextTake(kit: "heron07", started: morning)
        var sidecar = testSidecar(name)
        (sidecar.kitID, sidecar.pendingFormat) = (id, "flac")
        do {
            let output = try TakeOutput(
                in: directory, name: name, sidecar: sidecar, started: morning, format: stereo16, keepsUnfiltered: false,
                splitBytes: TakeOutput.largestSplitBytes)
            try output.append(8000)
            try output.sync()
        }
        let recovery = TakeRecovery(of: name, in: directory, bootID: "")
        while try recovery.step() == nil {}
        #expect(try directory.sidecar(of: name).recovered && directory.sidecar(of: name).kitID == id)
        let conversion = FLACConversion(of: name, in: directory, reserveBytes: 0)
        while try conversion.step() == nil {}
        _ = try directory.revise(name) { $0.startedCorrected = (morning + .seconds(5)).iso8601 }
        directory.readBin(at: binMoment())
        try directory.moveToBin(name, at: binMoment())
        try directory.restore(name)
        let found = try directory.sidecar(of: name)
        #expect(found.kitID == id && found.restored == true && found.parts[0].file.hasSuffix(".flac"))
    }

    @Test func `a sidecar that is made anew from the sound claims no kit`() throws {
        let directory = try TakesDirectory(path: scratch.path + "/takes", key: key())
        _ = directory.kitID()
        let output = try TakeOutput(directory)
        try output.append(8000)
        let name = output.name
        _ = try output.finish(endedBy: .stop, levels: [])
        unlink(directory.sidecarPath(of: name))
        let recovery = TakeRecovery(of: name, in: directory, bootID: "")
        while try recovery.step() == nil {}
        #expect(try directory.sidecar(of: name).kitID == nil)
    }
}

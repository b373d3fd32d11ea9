import Catalog
import Control
import DiskCalls
import Files
import FinishedTakes
import Foundation
import TakeFiles
import TakePlaces
import Takes
import Testing
import Upload

@testable import Library

/// The output of `remote verify` and `remote fetch` about a copy at home that differs from what was sent.
@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) struct RemoteVerifyTests {
    private let remote: RemoteTests
    private let name: TakeName
    private var tested: TestedIndexer { remote.tested }
    private var disk: TakesOnDisk { tested.disk }
    private var day: String { "\(remote.home)/\(name.day)" }
    private var stem: String { name.stem }

    /// A take with each kind of file is at home, with two other takes.
    init() async throws {
        remote = try await RemoteTests()
        var sidecar = TakesOnDisk.sidecar(3, seconds: 0.01)
        sidecar.parts[0].unfilteredFile = sidecar.take.file("-raw.wav")
        name = try remote.tested.disk.addSound(sidecar).name
        try disk.write([1, 2, 3, 4], to: "\(disk.takes)/\(name.day)/\(stem).dat")
        await tested.indexer.scanAll()
        _ = try tested.catalog.note(stem) { $0.memo = "by the weir" }
        try await RemoteTests.send(name, to: remote.store, tested)
    }

    private func verify(_ options: String...) async throws -> (status: Int32, output: [String]) {
        let result = try await remote.run([["remote", "verify"] + options])[0]
        return (result.status, result.output)
    }

    private func fetch() async throws -> (status: Int32, output: [String], complaints: [String]) {
        try await remote.run([["remote", "fetch", "--to", "\(disk.path)/fetched", stem]])[0]
    }

    /// Changes a file at home.
    private func change(_ file: String, _ change: (inout [UInt8]) -> Void) throws {
        var bytes = try FileSystem().contents("\(day)/\(file)")
        change(&bytes)
        try disk.write(bytes, to: "\(day)/\(file)")
    }

    @Test func `what is as it was sent is said to be`() async throws {
        let read = try await verify("--read")
        #expect(read.status == 0 && read.output[0].contains(": 3 takes, 10 files as recorded, "), "\(read)")
        let measured = try await verify()
        #expect(measured.status == 0 && measured.output[1] == "  by reading back: 6; by length alone: 4")
    }

    /// Changes the sidecar at home.
    private func changeSidecar(_ change: (inout Sidecar) throws -> Void) throws {
        let path = "\(day)/\(stem).json"
        var sidecar = try SidecarFile.sidecar(FileSystem().contents(path), path: path)
        try change(&sidecar)
        try disk.write(SidecarFile.bytes(sidecar), to: path)
    }

    @Test func `sound that the sidecar at home does not list is named when it is fetched`() async throws {
        try changeSidecar { $0.parts = [] }
        let result = try await fetch()
        let lines = ["-raw.wav", ".wav"].map {
            "remote fetch: \(name.day)/\(stem.file($0)): its sidecar does not list it, so it cannot be checked"
        }
        #expect(result.complaints == lines && result.status == 0, "\(result)")
    }

    @Test func `sound that was accepted as damaged is named when it is fetched`() async throws {
        try changeSidecar { sidecar in
            var digest = SoundDigest()
            digest.update(try FileSystem().contents("\(day)/\(stem).wav"))
            sidecar.parts[0].sha256 = digest.hexadecimal
            sidecar.parts[0].acceptedSHA256 = digest.hexadecimal
        }
        let result = try await fetch()
        let line = "remote fetch: \(name.day)/\(stem).wav: is damaged, as a person accepted on the kit"
        #expect(result.complaints == [line] && result.status == 0, "\(result)")
    }

    @Test func `a file that the store refuses leaves no empty draft`() async throws {
        let listed = ["-raw.wav", ".dat", ".json", ".wav"].map {
            StoredObject(name: ObjectName(day: name.day, file: stem.file($0)), byteCount: -1, sha256: nil)
        }
        try FileManager.default.removeItem(atPath: "\(day)/\(stem).dat")
        let fetch = ["remote", "fetch", "--to", "\(disk.path)/fetched", stem]
        let result = try await remote.run([fetch], of: StatingStore(folder: remote.store, listed: listed))[0]
        #expect(result.status != 0)
        let fetched = try FileManager.default.contentsOfDirectory(atPath: "\(disk.path)/fetched/\(name.day)")
        #expect(fetched == [stem.file("-raw.wav")])
    }

    @Test func `a take in the folders of two days is counted once, and named`() async throws {
        let other = "\(remote.home)/2026-11-30"
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
        for file in try FileManager.default.contentsOfDirectory(atPath: day) where file.isFile(of: stem) {
            try FileManager.default.copyItem(atPath: "\(day)/\(file)", toPath: "\(other)/\(file)")
        }
        let found = try await verify()
        #expect(found.output[0].contains(": 3 takes, "), "\(found)")
        #expect(found.output.contains("  \(stem): is there 2 times, in \(name.day), 2026-11-30"), "\(found)")
        let json = try await remote.run([["--json", "remote", "verify"]])[0].output[0]
        let repeated = "\"repeated\":[{\"days\":[\"\(name.day)\",\"2026-11-30\"],\"take\":\"\(stem)\"}]"
        #expect(json.contains(repeated), "\(json)")
    }

    @Test(arguments: [".dat", ".txt", ".notes.json", ".json"])
    func `a file that was changed at home differs, sound or not`(_ ending: String) async throws {
        try change(stem.file(ending)) { bytes in
            if ending == ".json" {
                bytes = Array(String(decoding: bytes, as: UTF8.self).replacing("ntp", with: "rtc").utf8)
            } else {
                bytes[1] ^= 1
            }
        }
        let found = try await verify()
        #expect(found.status == 65)
        let line = "  \(name.day)/\(stem.file(ending)): differs from "
        #expect(found.output.contains { $0.hasPrefix(line) }, "\(found)")
        #expect(found.output.count { $0.contains("differs") } == 1)
    }

    @Test func `a take that is not on the stick that is in may be on another one`() async throws {
        let path = "\(disk.path)/stick"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let stick = try FolderStore(name: "stick", path: path, kit: "heron07")
        try await RemoteTests.send(name, to: stick, tested)
        for other in remote.names { try await RemoteTests.send(other, to: stick, tested) }
        for file in try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(name.day)")
        where file.isFile(of: stem) {
            try FileManager.default.removeItem(atPath: "\(path)/\(name.day)/\(file)")
        }
        let result = try await remote.run([["remote", "verify"]], of: stick)[0]
        #expect(result.status == 0 && !result.output.contains { $0.contains("missing") }, "\(result)")
    }

    @Test(arguments: [".dat", ".txt", ".notes.json", ".wav", "-raw.wav"])
    func `a file that is not at home any more is missing, also after the take was deleted on the kit`(
        _ ending: String
    ) async throws {
        try FileManager.default.removeItem(atPath: "\(disk.takes)/\(name.day)/\(stem).json")
        await tested.indexer.scanAll()
        try FileManager.default.removeItem(atPath: "\(day)/\(stem.file(ending))")
        let found = try await verify()
        #expect(found.status == 65 && found.output.last == "  \(name.day)/\(stem.file(ending)): missing", "\(found)")
    }

    @Test func `a take that is not at home any more is missing, also after it was deleted on the kit`() async throws {
        try FileManager.default.removeItem(atPath: "\(disk.takes)/\(name.day)/\(stem).json")
        await tested.indexer.scanAll()
        for file in try FileManager.default.contentsOfDirectory(atPath: day) where file.isFile(of: stem) {
            try FileManager.default.removeItem(atPath: "\(day)/\(file)")
        }
        let found = try await verify()
        #expect(found.status == 65 && found.output.last == "  \(stem): missing: it was sent, and is not there")
    }

    @Test func `another recording with a sidecar that fits it is not what was sent`() async throws {
        let other = TakesOnDisk()
        var sidecar = TakesOnDisk.sidecar(3, seconds: 0.02)
        sidecar.startedMonotonicNs += 1
        sidecar = try other.addSound(sidecar).sidecar
        let wav = try FileSystem().contents("\(other.takes)/\(name.day)/\(stem).wav")
        var digest = SoundDigest()
        digest.update(wav)
        sidecar.parts[0].sha256 = digest.hexadecimal
        try change("\(stem).wav") { $0 = wav }
        try change("\(stem).json") { $0 = SidecarFile.bytes(sidecar) }
        for hasReceipt in [true, false] {
            if !hasReceipt { _ = try tested.catalog.note(stem) { $0.receipts = [] } }
            let found = try await verify("--read")
            #expect(found.status == 65)
            #expect(found.output.contains { $0.hasPrefix("  \(name.day)/\(stem).json: ") }, "\(found)")
        }
    }

    @Test func `a file that nobody knows the hash of is counted by itself`() async throws {
        try disk.write([5], to: "\(day)/\(remote.names[0].stem).txt")
        let found = try await verify("--read")
        #expect(found.status == 0 && found.output[0].contains(": 3 takes, 10 files as recorded, "), "\(found)")
        #expect(found.output.contains("  1 file with nothing to compare with"))
        let json = try await remote.run([["--json", "remote", "verify"]])[0].output[0]
        #expect(json.contains("\"proof\":\"none\""))
    }

    @Test func `a hash that the store only keeps proves nothing`() async throws {
        var listed: [StoredObject] = []
        try await remote.store.list { listed += $0 }
        for index in listed.indices where listed[index].name.file.hasSuffix(".wav") {
            listed[index].sha256 = try await remote.store.sha256(
                of: listed[index].name, byteCount: listed[index].byteCount)
        }
        try change("\(stem).wav") { $0 = [UInt8](repeating: 0, count: $0.count) }
        let store = StatingStore(folder: remote.store, listed: listed)
        let results = try await remote.run([["remote", "verify"], ["remote", "verify", "--read"]], of: store)
        #expect(results[0].output[1] == "  by reading back: 6; by length alone: 4", "\(results[0])")
        #expect(results[1].status == 65)
        #expect(results[1].output.last == "  \(name.day)/\(stem).wav: differs from what was recorded")
    }

    @Test func `sound that its sidecar lists and the store does not have is named, and all else is fetched`()
        async throws
    {
        try FileManager.default.removeItem(atPath: "\(day)/\(stem.file("-raw.wav"))")
        let fetched = try await fetch()
        #expect(fetched.status == 65 && fetched.output.count == 5)
        #expect(
            fetched.complaints == [
                "remote fetch: \(name.day)/\(stem.file("-raw.wav")): is missing: its sidecar lists it",
                "remote fetch: 1 file is missing in the store; all others are fetched",
            ])
    }

    @Test func `sound that a person accepted as missing is named, and is no damage of the store`() async throws {
        try FileManager.default.removeItem(atPath: "\(disk.takes)/\(name.day)/\(stem.file("-raw.wav"))")
        try FileManager.default.removeItem(atPath: day)
        let frames = try TakesFolder(path: disk.takes).sidecar(of: name).parts[0].frames
        _ = try tested.catalog.note(stem) { notes in
            notes.receipts = []
            var sound = TakeNotes.SoundNote(file: name.stem.file("-raw.wav"), bytes: 0, modifiedNs: 0, frames: frames)
            (sound.problem, sound.acceptedSHA256) = ("it is missing", TakeNotes.SoundNote.missing)
            notes.sounds = [sound]
        }
        for other in remote.names { _ = try tested.catalog.note(other.stem) { $0.receipts = [] } }
        try await RemoteTests.send(name, to: remote.store, tested)
        let found = try await verify()
        #expect(found.status == 0, "\(found)")
        #expect(found.output.last == "  \(name.day)/\(stem.file("-raw.wav")): missing, as a person accepted on the kit")
        let fetched = try await fetch()
        #expect(fetched.status == 0)
        #expect(
            fetched.complaints == [
                "remote fetch: \(name.day)/\(stem.file("-raw.wav")): is missing, as a person accepted on the kit"
            ])
    }

    @Test func `sound without a hash of its file is compared by its fingerprint when it is fetched`() async throws {
        let path = "\(day)/\(stem).json"
        var sidecar = try SidecarFile.sidecar(FileSystem().contents(path), path: path)
        (sidecar.parts[0].sha256, sidecar.parts[0].unfilteredSHA256) = (nil, nil)
        try disk.write(SidecarFile.bytes(sidecar), to: path)
        try change("\(stem).wav") { $0[100] ^= 1 }
        let fetched = try await fetch()
        #expect(fetched.status == 65 && fetched.complaints.count == 1)
        #expect(fetched.complaints[0].contains("\(stem).wav: its sound is not what was recorded"), "\(fetched)")
        let there = try FileManager.default.contentsOfDirectory(atPath: "\(disk.path)/fetched/\(name.day)")
        #expect(!there.contains { $0.contains(".wav") && !$0.contains("-raw") })
    }

    @Test func `the folder to fetch into is made, and one that cannot be is named`() async throws {
        let far = "\(disk.path)/a/b"
        let results = try await remote.run([
            ["remote", "fetch", "--to", "\(disk.path)/new", stem], ["remote", "fetch", "--to", far, stem],
        ])
        #expect(results[0].status == 0 && results[0].output.count == 6)
        #expect(results[1].status == 73)
        #expect(results[1].complaints[0].hasPrefix("remote fetch: make folder \(far): No such file"), "\(results[1])")
    }
}

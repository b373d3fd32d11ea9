import Files
import Foundation
import PowerCuts
import TakePlaces
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// The same files, with sidecars as they were before their takes were restored.
func unrestored(_ files: [String: [UInt8]]) -> [String: [UInt8]] {
    Dictionary(
        uniqueKeysWithValues: files.map { name, bytes in
            guard name.hasSuffix(".json"), var sidecar = try? SidecarFile.sidecar(bytes, path: name),
                sidecar.restored == true
            else { return (name, bytes) }
            (sidecar.restored, sidecar.revision) = (nil, sidecar.revision - 1)
            return (name, SidecarFile.bytes(sidecar))
        })
}

/// Files of a binned take that a person put back by hand, and other takes' files with the names of a binned take.
@Suite final class BinnedNamesTests: BinnedFiles {
    private func bytes(_ file: String, of take: TakeName) throws -> [UInt8] {
        try #require(try everything(in: path)[".bin/\(take.day)/\(file)"])
    }

    enum Obstacle: CaseIterable { case file, link, folder }

    private func put(_ obstacle: Obstacle, at file: String) throws {
        switch obstacle {
        case .file: scratch.write([9], to: "takes/\(file)")
        case .link: #expect(symlink("/dev/null", "\(path)/\(file)") == 0)
        case .folder: #expect(mkdir("\(path)/\(file)", 0o755) == 0)
        }
    }

    @Test(arguments: Obstacle.allCases)
    func `what has the name of a file in the bin keeps the whole take from going there, and is named`(
        _ obstacle: Obstacle
    ) throws {
        let directory = try directory()
        // This makes the folder of the day in the bin.
        _ = try binned(in: directory)
        let take = try record(in: directory)
        let before = try files(of: take)
        let there = "\(directory.binPath)/\(take.day)/\(take.stem).wav"
        try put(obstacle, at: ".bin/\(take.day)/\(take.stem).wav")
        let error = #expect(throws: FileError.self) { try directory.moveToBin(take, at: binMoment()) }
        #expect(
            error?.description
                == "move \(path)/\(take.day)/\(take.stem).wav to \(there): File exists: move that file to another place, "
                + "nothing is written over it")
        #expect(try files(of: take) == before && directory.takes() == [take])
        directory.readBin(at: binMoment())
        #expect(try files(of: take) == before && directory.takes() == [take])
        #expect(rename(there, scratch.path + "/elsewhere") == 0)
        try directory.moveToBin(take, at: binMoment())
        try directory.restore(take)
        #expect(try unrestored(files(of: take)) == before)
    }

    @Test func `another file of a name of the take stops a restore before anything is moved, and is named`() throws {
        let directory = try directory()
        let (take, before) = try binned(in: directory)
        let binned = try everything(in: path)
        for file in before.keys.sorted() where !file.hasSuffix(".json") {
            for obstacle in Obstacle.allCases {
                try put(obstacle, at: file)
                let all = try everything(in: path)
                let error = #expect(throws: FileError.self) { try directory.restore(take) }
                #expect(
                    error == FileError("move \(directory.binPath)/\(file) to", "\(path)/\(file)", code: EEXIST),
                    "\(file), \(obstacle)")
                #expect(try everything(in: path) == all, "\(file), \(obstacle)")
                #expect(directory.bin.items.map(\.take) == [take])
                try FileManager.default.removeItem(atPath: "\(path)/\(file)")
            }
        }
        #expect(try everything(in: path) == binned)
        try directory.restore(take)
        #expect(try unrestored(files(of: take)) == before)
    }

    @Test func `files that were copied back by hand are no obstacle, and the take is whole`() throws {
        let directory = try directory()
        let (take, before) = try binned(in: directory)
        let audio = before.keys.sorted().filter { $0.hasSuffix(".wav") }
        try #require(audio.count > 1)
        // One complete file, and one that was only begun.
        scratch.write(try #require(before[audio[0]]), to: "takes/\(audio[0])")
        scratch.write([], to: "takes/\(audio[1])")
        try directory.restore(take)
        #expect(try unrestored(files(of: take)) == before && directory.sidecar(of: take).restored == true)
        #expect(try files(of: take, in: ".bin/").isEmpty && directory.bin.items.isEmpty)
        // A second move and restore change nothing.
        let restored = try files(of: take)
        try directory.moveToBin(take, at: binMoment())
        try directory.restore(take)
        #expect(try files(of: take) == restored)
    }

    @Test func `a file that was copied back by hand stays there, and that is said, until the take is restored`() throws
    {
        let take: TakeName
        let before: [String: [UInt8]]
        do {
            let directory = try directory()
            (take, before) = try binned(in: directory)
        }
        let file = "\(take.day)/\(take.stem).wav"
        let sound = try #require(before[file])
        scratch.write(sound, to: "takes/\(file)")
        let directory = try directory()
        #expect(
            directory.bin.newProblems() == [
                "bin: \(take.stem): \(path)/\(file) was put back by hand: the take stays in the bin until "
                    + "'fieldfare bin restore \(take.stem)'"
            ])
        #expect(try directory.leftovers() == [] && files(of: take) == [file: sound])
        directory.readBin(at: binMoment())
        #expect(try directory.bin.newProblems() == [] && files(of: take) == [file: sound])
        try directory.restore(take)
        #expect(try unrestored(files(of: take)) == before)
    }

    @Test(arguments: [false, true], [false, true])
    func `a file that was put back by hand keeps its take in the bin, where it does not count as free`(
        isMoved: Bool, isNoted: Bool
    ) throws {
        let directory = try directory()
        let (take, before) = try binned(in: directory)
        let file = "\(take.day)/\(take.stem).wav"
        // An older version does not note that all files are in the bin.
        let note = BinNote(since: 0, binned: nil).bytes
        if !isNoted { scratch.write(note, to: "takes/.bin/\(take.day)/\(take.stem).json.binned") }
        if isMoved {
            #expect(rename("\(path)/.bin/\(file)", "\(path)/\(file)") == 0)
        } else {
            scratch.write(try #require(before[file]), to: "takes/\(file)")
        }
        let all = try everything(in: path)
        #expect(throws: FileError.putBack("\(path)/\(file)")) { try directory.empty(take) }
        #expect(try everything(in: path) == all && directory.bin.items.map(\.take) == [take])
        #expect(try TakesFolder(path: path).binnedTakes().map(\.putBack) == [["\(take.stem).wav"]])
        guard isNoted else { return }
        directory.readBin(at: binMoment())
        try directory.keepBinAge(at: binMoment(31 * 86400))
        let bin = directory.bin
        #expect(bin.byteCount == 0 && bin.oldest == nil && bin.overdue == [] && bin.items.map(\.take) == [take])
        #expect(try files(of: take) == [file: try #require(before[file])])
        #expect(rename("\(path)/\(file)", scratch.path + "/elsewhere") == 0)
        try directory.empty(take)
        #expect(try files(of: take, in: ".bin/").isEmpty && bin.items.isEmpty)
    }

    @Test func `a take that was put back whole by hand is not deleted with the bin`() throws {
        let directory = try directory()
        let (take, before) = try binned(in: directory)
        for (file, bytes) in before { scratch.write(bytes, to: "takes/\(file)") }
        directory.readBin(at: binMoment())
        let all = try everything(in: path)
        #expect(throws: FileError.self) { try directory.empty(take) }
        #expect(try everything(in: path) == all && directory.bin.byteCount == 0)
        #expect(try TakesFolder(path: path).binnedTakes().map(\.take) == [take])
    }

    @Test(arguments: [false, true])
    func `a person's file whose name begins with the stem is neither moved nor removed with the take`(isForGood: Bool)
        throws
    {
        let directory = try directory()
        let take = try record(in: directory)
        let endings = [
            ".mp3", "-p2.txt", ".wav.bak", ".json.orig", ".wav.part.download", ".dat.part.other1", ".wav.1", ".json.2",
            ".json.tmp.2", ".dat.3", "-p2.wav.part.1",
        ]
        let theirs = endings.map { "\(take.day)/\(take.stem.file($0))" }
        for file in theirs { scratch.write([1], to: "takes/\(file)") }
        // A recorder keeps damaged documents under these names.
        for ending in [".json.damaged", ".json.damaged.2", ".json.part.unread", ".json.part.unread.3"] {
            scratch.write([2], to: "takes/\(take.day)/\(take.stem.file(ending))")
        }
        if isForGood {
            try directory.remove(take)
        } else {
            try directory.moveToBin(take, at: binMoment())
            directory.readBin(at: binMoment())
            #expect(directory.bin.byteCount > 0 && directory.bin.newProblems() == [])
            try directory.empty(take)
        }
        #expect(try files(of: take) == Dictionary(uniqueKeysWithValues: theirs.map { ($0, [1]) }))
        #expect(try files(of: take, in: ".bin/").isEmpty && directory.leftovers() == [])
    }

    @Test func `a sidecar that was put back by hand is said, and nothing is replaced by a restore`() throws {
        let directory = try directory()
        let (take, before) = try binned(in: directory)
        let file = "\(take.day)/\(take.stem).json"
        scratch.write(try #require(before[file]), to: "takes/\(file)")
        directory.readBin(at: binMoment())
        #expect(
            directory.bin.newProblems() == [
                "bin: \(take.stem): a take of that name is in \(path)/\(take.day), too: this one stays in the bin until the other's "
                    + "\(take.stem).json is moved away, or, if it was copied back whole, until 'fieldfare bin empty \(take.stem)'"
            ])
        let all = try everything(in: path)
        #expect(throws: FileError("restore", "\(path)/\(file)", code: EEXIST)) { try directory.restore(take) }
        #expect(try everything(in: path) == all)
    }

    @Test func `a move into the bin that another file hinders goes on once that is moved away`() throws {
        let take: TakeName
        let before: [String: [UInt8]]
        do {
            let directory = try directory()
            (take, before) = try binned(in: directory)
            // The state after an interrupted move.
            for file in try files(of: take, in: ".bin/").keys where !file.hasSuffix(".json") {
                #expect(rename("\(path)/\(file)", "\(path)/\(file.dropFirst(5))") == 0)
            }
            scratch.write(BinNote(since: 0, binned: nil).bytes, to: "takes/.bin/\(take.day)/\(take.stem).json.binned")
        }
        try put(.file, at: ".bin/\(take.day)/\(take.stem).wav")
        let all = try everything(in: path)
        do {
            let directory = try directory()
            let problems = directory.bin.newProblems()
            #expect(problems.count == 1 && problems[0].contains("\(take.stem).wav: File exists: move that file to"))
            #expect(try everything(in: path) == all)
        }
        unlink("\(path)/.bin/\(take.day)/\(take.stem).wav")
        let directory = try directory()
        #expect(try directory.bin.newProblems() == [] && files(of: take).isEmpty)
        try directory.restore(take)
        #expect(try unrestored(files(of: take)) == before)
    }
}

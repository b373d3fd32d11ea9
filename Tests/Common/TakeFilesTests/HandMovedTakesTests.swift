import Files
import Foundation
import PowerCuts
import TakePlaces
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// Whole takes that a person moved or copied out of the bin by hand.
@Suite final class HandMovedTakesTests: BinnedFiles {
    /// Moves all files of a binned take back, including the bin's own documents.
    private func moveBack(_ take: TakeName) throws {
        for file in try everything(in: path).keys where file.isFile(of: ".bin/\(take.day)/\(take.stem)") {
            #expect(rename("\(path)/\(file)", "\(path)/\(file.dropFirst(5))") == 0)
        }
    }

    @Test(arguments: [false, true])
    func `a take that was moved back with the note of the bin goes into it again`(isRestarted: Bool) throws {
        var opened: TakesDirectory? = try self.directory()
        let (take, before) = try binned(in: try #require(opened))
        try moveBack(take)
        if isRestarted {
            opened = nil
            opened = try self.directory()
            #expect(opened?.bin.newProblems() == [])
        }
        let directory = try #require(opened)
        #expect(try directory.takes() == [take])
        try directory.moveToBin(take, at: binMoment())
        #expect(try files(of: take).isEmpty && directory.takes() == [])
        #expect(directory.bin.items.map(\.take) == [take] && directory.bin.items.map(\.putBack) == [[]])
        try directory.restore(take)
        #expect(try unrestored(files(of: take)) == before)
        try directory.moveToBin(take, at: binMoment())
        try directory.empty(take)
        #expect(try files(of: take).isEmpty && files(of: take, in: ".bin/").isEmpty)
    }

    @Test func `a move into the bin that a note of the bin hindered goes on`() throws {
        let take = try { try binned(in: self.directory()).0 }()
        let (home, bin) = ("\(path)/\(take.day)/\(take.stem)", "\(path)/.bin/\(take.day)/\(take.stem)")
        #expect(rename("\(bin).wav", "\(home).wav") == 0)
        scratch.write(BinNote(since: 5, binned: nil).bytes, to: "takes/\(take.day)/\(take.stem).json.binned")
        scratch.write(BinNote(since: 0, binned: nil).bytes, to: "takes/.bin/\(take.day)/\(take.stem).json.binned")
        let directory = try self.directory()
        #expect(directory.bin.newProblems() == [] && directory.bin.items.map(\.putBack) == [[]])
        #expect(try files(of: take).isEmpty)
        try directory.empty(take)
        #expect(try files(of: take, in: ".bin/").isEmpty)
    }

    @Test func `of a take that was copied back whole, what lies in the bin is deleted if a person names it`() throws {
        let directory = try self.directory()
        let (take, before) = try binned(in: directory)
        for (file, bytes) in before { scratch.write(bytes, to: "takes/\(file)") }
        for file in before.keys.sorted() {
            let original = try #require(before[file])
            // A different byte, a different length, and no file at all.
            let others: [[UInt8]?] = [[~original[0]] + original.dropFirst(), original + [1], nil]
            for bytes in others {
                if let bytes { scratch.write(bytes, to: "takes/\(file)") } else { unlink("\(path)/\(file)") }
                let all = try everything(in: path)
                #expect(throws: FileError.self, "\(file)") { try directory.empty(take, isNamed: true) }
                #expect(try everything(in: path) == all, "\(file)")
            }
            scratch.write(original, to: "takes/\(file)")
        }
        #expect(throws: FileError.self) { try directory.empty(take) }
        try directory.empty(take, isNamed: true)
        #expect(try files(of: take) == before && files(of: take, in: ".bin/").isEmpty && directory.bin.items.isEmpty)
        #expect(try directory.takes() == [take] && directory.leftovers() == [])
        try directory.moveToBin(take, at: binMoment())
        try directory.restore(take)
        #expect(try unrestored(files(of: take)) == before)
    }
}

import Files
import Foundation
import PowerCuts
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// Files of a binned take whose sidecar was taken out of the bin.
@Suite final class LostBinSidecarTests: BinnedFiles {
    private func sidecar(of take: TakeName) -> String { "\(path)/.bin/\(take.day)/\(take.stem).json" }

    private func sound(_ files: [String: [UInt8]]) -> [[UInt8]] {
        files.sorted { $0.key < $1.key }.filter { $0.key.hasSuffix(".wav") }.map(\.value)
    }

    @Test func `a take whose sidecar was taken out of the bin is not deleted for good`() throws {
        let directory = try self.directory()
        let (take, _) = try binned(in: directory)
        #expect(rename(sidecar(of: take), scratch.path + "/elsewhere.json") == 0)
        let all = try everything(in: path)
        #expect(throws: FileError("open", sidecar(of: take), code: ENOENT)) { try directory.empty(take) }
        #expect(try everything(in: path) == all && directory.bin.isReadAgain && directory.bin.oldest == nil)
        directory.readBin(at: binMoment())
        #expect(directory.bin.newProblems() == ["bin: \(take.stem): \(TakesBin.withoutSidecar(take))"])
        try directory.keepBinAge(at: binMoment(31 * 86400))
        #expect(directory.bin.items.map(\.take) == [take] && directory.bin.items.map(\.hasSidecar) == [false])
        #expect(directory.bin.byteCount == 0 && directory.bin.oldest == nil && directory.bin.overdue == [])
        #expect(try TakesFolder(path: path).binnedTakes().map(\.hasSidecar) == [false])
    }

    @Test func `after a restart it is named, and a person who names it deletes it for good`() throws {
        let take = try { try binned(in: self.directory()).0 }()
        #expect(rename(sidecar(of: take), scratch.path + "/elsewhere.json") == 0)
        let directory = try self.directory()
        #expect(directory.bin.newProblems() == ["bin: \(take.stem): \(TakesBin.withoutSidecar(take))"])
        try directory.empty(take)
        #expect(try files(of: take, in: ".bin/").isEmpty && directory.bin.items.isEmpty)
        #expect(try TakesFolder(path: path).binnedTakes().isEmpty)
    }

    @Test(arguments: [false, true])
    func `it is restored as a take without a sidecar, which recovery makes`(isRestarted: Bool) throws {
        var opened: TakesDirectory? = try self.directory()
        let (take, before) = try binned(in: try #require(opened))
        #expect(rename(sidecar(of: take), scratch.path + "/elsewhere.json") == 0)
        if isRestarted {
            opened = nil
            opened = try self.directory()
        }
        let directory = try #require(opened)
        #expect(try directory.leftovers() == [])
        try directory.restore(take)
        #expect(try files(of: take, in: ".bin/").isEmpty && directory.bin.items.isEmpty)
        #expect(try directory.leftovers() == [take])
        _ = try recoverAll(in: directory)
        #expect(try directory.takes() == [take] && sound(files(of: take)) == sound(before))
    }

    @Test(arguments: [false, true])
    func `its sound goes back to the sidecar that was put back by hand`(isRestarted: Bool) throws {
        var opened: TakesDirectory? = try self.directory()
        let (take, before) = try binned(in: try #require(opened))
        let home = "\(path)/\(take.day)/\(take.stem).json"
        #expect(rename(sidecar(of: take), home) == 0)
        if isRestarted {
            opened = nil
            opened = try self.directory()
            #expect(opened?.bin.newProblems() == ["bin: \(take.stem): \(TakesBin.putBack(home, of: take))"])
        }
        let directory = try #require(opened)
        #expect(try TakesFolder(path: path).binnedTakes().map(\.putBack) == [["\(take.stem).json"]])
        #expect(throws: FileError.putBack(home)) { try directory.empty(take) }
        try directory.restore(take)
        #expect(try unrestored(files(of: take)) == before && directory.sidecar(of: take).restored == true)
        #expect(try files(of: take, in: ".bin/").isEmpty && directory.bin.items.isEmpty)
    }
}

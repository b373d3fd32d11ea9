import Files
import PowerCuts
import TakePlaces
import Takes
import TestBench
import Testing

@testable import TakeFiles

class BinnedFiles {
    let scratch = TestFolder(in: .memory)
    var path: String { scratch.path + "/takes" }

    func directory() throws -> TakesDirectory {
        let directory = try TakesDirectory(path: path)
        directory.readBin(at: binMoment())
        return directory
    }

    func record(in directory: TakesDirectory) throws -> TakeName {
        try #require(CutTake.record(in: directory).name)
    }

    /// A binned take, and the files that it had.
    func binned(in directory: TakesDirectory) throws -> (TakeName, [String: [UInt8]]) {
        let take = try record(in: directory)
        let before = try files(of: take)
        try directory.moveToBin(take, at: binMoment())
        return (take, before)
    }

    /// The files of a take, except the bin's note.
    func files(of take: TakeName, in folder: String = "") throws -> [String: [UInt8]] {
        try everything(in: path).filter {
            $0.key.isFile(of: "\(folder)\(take.day)/\(take.stem)") && !$0.key.hasSuffix(".json.binned")
        }
    }
}

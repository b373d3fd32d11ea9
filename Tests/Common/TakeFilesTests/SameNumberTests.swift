import Files
import Foundation
import Takes
import Testing

@testable import TakeFiles

/// Two takes in one folder with the same kit name and number: from two kits, or copied.
struct SameNumberTests {
    private let bench = RecoveryBench()
    /// With 1000 frames per second a few frames are visible in the names of parts.
    private let format = StreamFormat(rateHz: 1000, channels: 2, sampleFormat: .s16)

    private func name(after seconds: Int) -> TakeName {
        TakeName(kit: "heron07", number: 1, started: morning + .seconds(seconds))
    }

    /// Records a take that begins some seconds after `morning`. Its first part lasts 4 s.
    private func record(after seconds: Int, parts: Int, isFinished: Bool = true) throws -> TakeName {
        let (name, started) = (name(after: seconds), morning + .seconds(seconds))
        let output = try TakeOutput(
            in: TakesDirectory(path: bench.path), name: name,
            sidecar: testSidecar(name, format, started: started), started: started, format: format,
            keepsUnfiltered: true)
        for part in 0..<parts {
            if part > 0 { try output.beginPart(format: format, firstFrame: TakeFrame(Int64(4000 * part))) }
            try output.append(4000, format, unfiltered: true)
        }
        try output.sync()
        if isFinished { _ = try output.finish(endedBy: .stop, levels: []) }
        return name
    }

    private func files(of take: TakeName) throws -> [String: [UInt8]] {
        let names = try TakeListing.files(
            of: take, in: bench.files.entries(bench.folder), folder: bench.folder, files: bench.files)
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try bench.files.contents("\(bench.folder)/\($0)")) })
    }

    private func remove(_ isMeant: (String) -> Bool) throws {
        for file in try bench.files.entries(bench.folder) where isMeant(file) {
            try bench.files.remove("\(bench.folder)/\(file)")
        }
    }

    @Test func `an unfinished part is recovered with its own take, beside a finished one that began later`() throws {
        let later = try record(after: 2, parts: 1)
        let before = try files(of: later)
        let take = try record(after: 0, parts: 2, isFinished: false)
        // A person's file with a name of another take with the same number. It is left unchanged.
        try bench.make(Array("notes".utf8), "heron07-0001-raw_20261121_061814.wav")
        let recovered = try bench.recover().compactMap { outcome in
            if case .recovered(let sidecar) = outcome { sidecar } else { nil as Sidecar? }
        }
        #expect(recovered.count == 1)
        let sidecar = try #require(recovered.first)
        #expect(sidecar.take == take.stem && sidecar.frames == 8000)
        let sounds = try files(of: take).keys.filter { $0.hasSuffix(".wav") }
        #expect(sidecar.audioFiles.sorted() == sounds.sorted())
        #expect(try files(of: later) == before)
    }

    @Test func `a take leaves the folder and the bin with its own parts`() throws {
        let (take, later) = (try record(after: 0, parts: 2), try record(after: 2, parts: 1))
        let before = try [files(of: take), files(of: later)]
        #expect(before.map(\.count) == [6, 4])
        let directory = try TakesDirectory(path: bench.path)
        directory.readBin(at: binMoment())
        try directory.moveToBin(later, at: binMoment())
        #expect(try files(of: take) == before[0])
        try directory.moveToBin(take, at: binMoment())
        try directory.empty(later)
        try directory.restore(take)
        let restored = try files(of: take)
        #expect(restored.filter { !$0.key.hasSuffix(".json") } == before[0].filter { !$0.key.hasSuffix(".json") })
        #expect(restored.keys == before[0].keys)
        #expect(try directory.takes() == [take])
    }

    @Test func `of a part whose head is damaged the sidecar says the take`() throws {
        let (take, later) = (try record(after: 0, parts: 2), try record(after: 2, parts: 1))
        let part = take.audioFile(part: 2, started: morning + .seconds(4))
        try bench.write([UInt8](repeating: 0, count: WAVHeader.byteCount), to: part)
        let (own, others) = (try files(of: take), try files(of: later))
        #expect(own.keys.contains(part) && others.count == 4)
    }

    @Test(arguments: [false, true])
    func `a later part that is alone is recovered under its take's name`(isFinished: Bool) throws {
        let take = try record(after: 0, parts: 2, isFinished: isFinished)
        try remove { !$0.contains("-p2") }
        let later = try record(after: 2, parts: 1)
        let sidecar = try #require(try bench.recovered())
        #expect(sidecar.take == take.stem && sidecar.frames == 4000)
        #expect(try files(of: take).keys.contains("\(take.stem).json") && files(of: later).count == 4)
    }

    @Test func `two later parts that are alone are two takes`() throws {
        let (take, later) = (try record(after: 0, parts: 2), try record(after: 2, parts: 2))
        try remove { !$0.contains("-p2") }
        let recovered = try bench.recover().compactMap { outcome in
            if case .recovered(let sidecar) = outcome { sidecar.take } else { nil as String? }
        }
        #expect(recovered.sorted() == [take.stem, later.stem])
        #expect(try files(of: take).count == 4 && files(of: later).count == 4)
    }

    @Test func `a take has no later part that its sidecar does not list`() throws {
        let (take, later) = (try record(after: 0, parts: 2), try record(after: 2, parts: 1))
        let part = take.audioFile(part: 2, started: morning + .seconds(4))
        try bench.write([UInt8](repeating: 0, count: WAVHeader.byteCount), to: part)
        try remove { $0 == "\(take.stem).json" }
        #expect(try files(of: take).keys.contains(part) && files(of: later).count == 4)
        try remove { $0.contains("_20261121_061811.") }
        #expect(try !files(of: take).keys.contains(part) && files(of: later).count == 4)
    }

    @Test func `a part that was begun after the end, and has no head yet, is of the take`() throws {
        let take = try record(after: 0, parts: 1)
        let part = take.audioFile(part: 2, started: morning + .seconds(4))
        for bytes in [[], [UInt8](repeating: 0, count: 5000)] {
            for ending in [".part", ".tail"] {
                try bench.make(bytes, part + ending)
                #expect(try files(of: take).keys.contains(part + ending))
                if ending == ".part" { try bench.files.remove("\(bench.folder)/\(part + ending)") }
            }
            #expect(try bench.recover().count == 1)
            #expect(try files(of: take).count == 4 && !bench.files.entries(bench.folder).contains(part + ".tail"))
        }
    }

    @Test func `a take that was renamed with its sidecar keeps the parts that this lists`() throws {
        let (take, renamed) = (try record(after: 0, parts: 2), name(after: 1))
        let (stamp, other) = ("_20261121_061811.", "_20261121_061812.")
        for file in try bench.files.entries(bench.folder) where file.contains(stamp) {
            let bytes = try bench.files.contents("\(bench.folder)/\(file)")
            let text = String(decoding: bytes, as: UTF8.self).replacing(take.stem, with: renamed.stem)
            let copy = file.hasSuffix(".json") ? Array(text.replacing(stamp, with: other).utf8) : bytes
            try bench.make(copy, file.replacing(stamp, with: other))
        }
        try remove { $0.contains(stamp) }
        _ = try record(after: 0, parts: 1)
        #expect(try files(of: renamed).count == 6 && files(of: take).count == 4)
    }
}

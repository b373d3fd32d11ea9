import Files
import Filters
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// Takes of a card whose samples have few significant bits in 32.
struct SignificantBitsTests {
    let scratch = TestFolder(in: .memory)
    var path: String { scratch.path + "/takes" }
    let files = FileSystem()

    static func card(_ bits: Int?) -> StreamFormat {
        StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s32, significantBits: bits)
    }

    /// The stored bytes and the levels of `frames` frames of a loud sound. Every tenth frame is at the converter's
    /// limit.
    func recording(_ format: StreamFormat, frames: Int) -> (bytes: [UInt8], levels: [ChannelLevels]) {
        let step = Int32(1) << (32 - format.significantBits)
        let highest = Int32.max - step + 1
        let words = (0..<frames * 2).map { $0 % 20 < 2 ? highest : Int32($0 % 1000) * step }
        let input = words.flatMap { withUnsafeBytes(of: $0, Array.init) }
        var output = [UInt8](repeating: 0, count: frames * format.stored.bytesPerFrame)
        let signal = SignalPath(format: format, design: .off(rateHz: format.rateHz))
        input.withUnsafeBytes { input in output.withUnsafeMutableBytes { _ = signal.process(input, into: $0) } }
        return (output, signal.levels)
    }

    /// Records a take without ending it.
    func record(_ format: StreamFormat, frames: Int) throws -> (name: TakeName, levels: [ChannelLevels]) {
        let (bytes, levels) = recording(format, frames: frames)
        let output = try TakeOutput(TakesDirectory(path: path), format)
        try bytes.withUnsafeBytes { try output.append($0) }
        try output.sync()
        return (output.name, levels)
    }

    @Test(arguments: [18, 20, 24]) func `its file holds 24 bits, and its sidecar what the card delivers`(
        bits: Int
    ) throws {
        let directory = try TakesDirectory(path: path)
        let output = try TakeOutput(directory, Self.card(bits))
        let (bytes, _) = recording(Self.card(bits), frames: 300)
        try bytes.withUnsafeBytes { try output.append($0) }
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(sidecar.format == .s32)
        #expect(sidecar.parts.map { $0.streamFormat(channels: 2) } == [Self.card(bits)])
        let wav = "\(path)/2026-11-21/\(output.name.stem).wav"
        #expect(try SoundFileReader(path: wav).format.sampleFormat == .s24Packed)
        #expect(try frames(of: wav) == bytes)
        #expect(bytes.count == 300 * 6)
    }

    @Test func `a card of 32 bits makes a file of 32, and a sidecar that does not mention them`() throws {
        let output = try TakeOutput(TakesDirectory(path: path), Self.card(nil))
        try output.append(300, Self.card(nil))
        #expect(try output.finish(endedBy: .stop, levels: []).parts.map(\.significantBits) == [nil])
        #expect(try SoundFileReader(path: "\(path)/2026-11-21/\(output.name.stem).wav").format == Self.card(nil))
    }

    /// The remains after a power cut: all files, without the header of the audio file, or without the sidecar.
    @Test(arguments: [18, 24], ["", "head", "sidecar"])
    func `after a cut all frames are there, and clipping is counted at the converter's own limit`(
        bits: Int, lost: String
    ) throws {
        let (name, levels) = try record(Self.card(bits), frames: 3000)
        let folder = "\(path)/2026-11-21"
        switch lost {
        case "head":
            let file = try files.open("\(folder)/\(name.stem).wav.part")
            try files.write([UInt8](repeating: 0, count: 4096), to: file, at: 0)
        case "sidecar": try files.remove("\(folder)/\(name.stem).json.part")
        default: break
        }
        let outcomes = try recoverAll(in: TakesDirectory(path: path), bootID: "another")
        guard case .recovered(let sidecar)? = outcomes.first else {
            Issue.record("\(outcomes)")
            return
        }
        let (bytes, _) = recording(Self.card(bits), frames: 3000)
        #expect(try frames(of: "\(folder)/\(name.stem).wav") == bytes)
        #expect(sidecar.frames == 3000)
        let part = try #require(sidecar.parts.first)
        if lost == "sidecar" {
            // The file alone does not contain the format that the card delivered.
            #expect(part.format == .s24Packed && part.significantBits == nil)
        } else {
            #expect(part.streamFormat(channels: 2) == Self.card(bits))
            #expect(sidecar.levels == levels.map(Sidecar.Levels.init))
            #expect(sidecar.levels.map(\.clippedFrames) == [300, 300])
        }
    }
}

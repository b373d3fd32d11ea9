import Testing

@testable import Playback

@Suite struct ResamplerTests {
    @Test(arguments: [(44100, 48000), (48000, 44100), (8000, 192_000), (192_000, 8000), (96000, 48000)])
    func `what goes in comes out, as long as it was and in step`(fromHz: Int, toHz: Int) throws {
        var resampler = try Resampler(fromHz: Double(fromHz), toHz: Double(toHz), channels: 2)
        // A slow rise, which every rate can represent. The other channel is its negative.
        let length = fromHz / 4
        let input = (0..<length).flatMap { [Double($0) / Double(length), -Double($0) / Double(length)] }
        var output: [Double] = []
        var chunk = [Double](repeating: 0, count: 2 * 1000)
        var used = 0
        while used < length {
            let step = try resampler.process(
                input, first: used, frameCount: min(777, length - used), into: &chunk)
            used += step.used
            output += chunk.prefix(2 * step.made)
        }
        while case let step = try resampler.process(nil, first: 0, frameCount: 0, into: &chunk), step.made > 0 {
            output += chunk.prefix(2 * step.made)
        }
        #expect(output.count == 2 * (toHz / 4))
        let middle = toHz / 8
        #expect(abs(output[2 * middle] - Double(middle) / Double(toHz / 4)) < 1e-6)
        #expect(output[2 * middle] == -output[2 * middle + 1])
    }

    @Test func `what the library refuses is reported in its words`() {
        #expect(throws: ResamplerError(fromHz: 0, toHz: 48000, problem: "I/O ratio out-of-range")) {
            _ = try Resampler(fromHz: 0.0, toHz: 48000.0, channels: 1)
        }
        #expect(
            ResamplerError(fromHz: 1, toHz: 2, problem: "no memory").description
                == "resample from 1 to 2 Hz: no memory")
    }
}

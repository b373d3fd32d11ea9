import Files
import Filters
import Takes
import Testing

@testable import TakeFiles

/// A take whose card came back with another rate.
struct MixedRatesTests {
    let bench = RecoveryBench()

    @Test(arguments: [8000, 16_000, 44_100, 96_000, 192_000])
    func `its frames are counted at its own rate, and its length is true`(rateHz: Int) throws {
        let other = StreamFormat(rateHz: rateHz, channels: 2, sampleFormat: .s16)
        let second = Int64(rateHz)
        let name = try bench.record(splitBytes: TakeOutput.largestSplitBytes) { output in
            try output.append(48_000)
            try output.beginPart(format: other, firstFrame: 480_000)
            try output.append(second, other)
            #expect(output.takeFrames == 96_000)
            try output.sync()
            #expect(output.syncedTakeFrames == 96_000)
        }
        let sidecar = try #require(try bench.recovered())
        #expect(sidecar.frames == 96_000)
        #expect(sidecar.durationSeconds == 2)
        #expect(sidecar.parts.map(\.frames) == [48_000, second])
        let peaks = try bench.files.contents("\(bench.folder)/\(name.stem).dat")
        let length = (peaks.count - PeaksFile.headerByteCount) / 4
        // 187.5 pixels per part. Each part begins with its own pixel.
        #expect(abs(length - 376) <= 6, "\(length)")
        #expect(length == PeaksFile.shape(header: Array(peaks.prefix(24)))?.length)
    }

    @Test func `each part keeps its card and the port of that, also after a cut`() throws {
        let moved = CardPlace(card: "usb:0d8c:0014", port: "1-1.4")
        _ = try bench.record(splitBytes: TakeOutput.largestSplitBytes) { output in
            try output.append(48_000)
            try output.beginPart(format: stereo16, firstFrame: TakeFrame(480_000), card: moved)
            try output.append(48_000)
            // From the same card.
            try output.beginPart(format: stereo16, firstFrame: TakeFrame(960_000))
            try output.append(48_000)
            try output.sync()
        }
        #expect(try #require(try bench.recovered()).parts.map(\.place) == [nil, moved, moved])
    }

    @Test(arguments: [(16_000, 48_000), (96_000, 48_000), (44_100, 48_000), (48_000, 44_100), (8000, 192_000)])
    func `a place in the waveform is a time, whatever the rate was then`(rateHz: Int, takeRateHz: Int) {
        // One loud pixel at each tenth of the part's waveform.
        let count = 1000
        var scale = PeaksScale(channels: 1, from: rateHz, to: takeRateHz)
        var scaled: [Int8] = []
        for index in 0..<count { scaled += scale.add(index % 100 == 50 ? [-100, 100] : [0, 0]) }
        scaled += scale.finish()
        let pixels = scaled.count / 2
        #expect(pixels == (count * takeRateHz + rateHz - 1) / rateHz)
        for index in 0..<count {
            let first = index * takeRateHz / rateHz
            let isLoud = scaled[2 * first + 1] == 100
            if index % 100 == 50 { #expect(isLoud && scaled[2 * first] == -100) }
        }
        let loud = (0..<pixels).filter { scaled[2 * $0 + 1] == 100 }.count
        #expect(loud <= 10 * (takeRateHz / rateHz + 2))
    }

    @Test func `a waveform of one rate is left as it is`() {
        var scale = PeaksScale(channels: 2, from: 48_000, to: 48_000)
        let pairs = (0..<64).map { Int8($0) }
        #expect(scale.add(pairs) == pairs)
        #expect(scale.finish() == [])
    }
}

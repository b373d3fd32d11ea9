import Foundation
import SeededRandom
import Takes
import Testing

@testable import Playback

/// The input frame that each frame of a stretched sound comes from.
@Suite struct StretchStageTests {
    /// The time between two clicks of the input, in seconds. They never overlap in the output.
    private static let spacing = 0.1
    private static let click = 1e-3

    /// Noise, and clicks in two other channels. Noise has no best fit, so the whole seek window is used. The clicks of
    /// one channel have equal size, those of the next are as large as their number.
    private func input(_ frames: Range<Int>, clickEvery spacing: Int) -> Frames {
        var random = SeededRandom(seed: 7)
        var samples: [Double] = []
        samples.reserveCapacity(3 * frames.count)
        for frame in frames {
            let isClick = frame >= 0 && frame % spacing == 0
            samples.append(Double(random.below(2001) - 1000) / 5000)
            samples.append(isClick ? Self.click : 0)
            samples.append(isClick ? Self.click * Double(frame / spacing) : 0)
        }
        var input = Frames(channels: 3)
        input.append(samples, frameCount: frames.count)
        return input
    }

    /// The error of each output click that is louder than its echo, in seconds of the take.
    private func errors(rateHz: Int, _ tuning: Tuning) throws -> [Double] {
        let stage = try StretchStage(
            rateHz: rateHz, channels: 3, tempo: tuning.tempo, transposed: tuning.resampling)
        let spacing = Int(Self.spacing * Double(rateHz))
        let count = Int(max(0.15, 2 * tuning.tempo) * Double(rateHz))
        var output = Frames(channels: 3)
        try stage.process(input(-stage.leadFrames..<count, clickEvery: spacing), into: &output)
        try stage.flush(into: &output)
        output.removeFirst(stage.latencyFrames)
        #expect(output.count == Int((Double(count) / tuning.tempo).rounded()))
        return (0..<output.count).compactMap { frame in
            let (size, numbered) = (output.samples[3 * frame + 1], output.samples[3 * frame + 2])
            guard size > 0.5 * Self.click else { return nil }
            let place = (numbered / size).rounded() * Double(spacing)
            return (place - Double(frame) * tuning.tempo) / Double(rateHz) * tuning.resampling
        }
    }

    /// The largest error of the louder of two sequences, in seconds of the take.
    private func bound(rateHz: Int, _ tuning: Tuning) -> Double {
        let lengths = StretchLengths(rateHz: rateHz, tempo: tuning.tempo, transposed: tuning.resampling)
        let frames = (Double(lengths.seek) + abs(1 - tuning.tempo) * Double(lengths.step)) / 2
        // Two more frames for rounding.
        return (frames + 2) / Double(rateHz) * tuning.resampling
    }

    @Test(arguments: [8000, 16000], [-2400, -1200, -300, 0, 1200, 2400])
    func `no click is further off the even course than the lengths of seek window and overlap allow`(
        rateHz: Int, cents: Int
    ) throws {
        for speed in [0.05, 0.1, 0.25, 0.5, 0.9, 1, 1.5, 2] {
            let tuning = Tuning(pitchCents: cents, speed: speed)
            guard tuning.tempo != 1 else { continue }
            let errors = try errors(rateHz: rateHz, tuning)
            #expect(errors.count > 5)
            #expect((errors.map(abs).max() ?? 1) < bound(rateHz: rateHz, tuning), "speed \(speed)")
        }
    }

    @Test(arguments: [0.05, 0.1, 0.25, 0.5, 0.9, 1.5, 2])
    func `a voice of 80 Hz stays smooth`(tempo: Double) throws {
        let period = 200
        let stage = try StretchStage(rateHz: 16000, channels: 1, tempo: tempo, transposed: 1)
        let count = Int(16000 * max(0.5, 2 * tempo))
        var input = Frames(channels: 1)
        for frame in 0..<count {
            var sample = 0.0
            for harmonic in 1...8 {
                let phase = 2 * .pi * Double(harmonic * frame % period) / Double(period)
                sample += 0.15 * sin(phase + Double(harmonic)) / Double(harmonic)
            }
            input.append([sample], frameCount: 1)
        }
        var output = Frames(channels: 1)
        try stage.process(input, into: &output)
        let middle = output.samples[output.count / 5..<output.count * 4 / 5]
        let power = middle.reduce(0) { $0 + $1 * $1 }
        let changes = zip(middle, middle.dropFirst(period)).map { $0 - $1 }
        let change = changes.reduce(0) { $0 + $1 * $1 }
        // The part that is not the voice, half of the change from period to period, is 20 dB below the voice.
        #expect(change / 2 < 0.01 * power)
    }

    @Test(arguments: 1...4)
    func `after a reset it makes the same of the same sound, for any number of channels`(channels: Int) throws {
        let stage = try StretchStage(rateHz: 16000, channels: channels, tempo: 0.5, transposed: 1)
        var input = Frames(channels: channels)
        for frame in 0..<16000 {
            input.append([Double](repeating: Waves.voice(frame), count: channels), frameCount: 1)
        }
        func output() throws -> [Double] {
            var output = Frames(channels: channels)
            try stage.process(input, into: &output)
            try stage.flush(into: &output)
            return output.samples
        }
        let first = try output()
        stage.reset()
        #expect(try output() == first)
    }
}

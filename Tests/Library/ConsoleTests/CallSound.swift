import Foundation
import SeededRandom
import Takes

/// White noise with calls in it, at random places. One channel of 16 bits.
///
/// A call is a tone of 60 to 300 ms, 20 to 26 dB above the noise of its band. A band is a 256th of the frequencies from
/// 0 to half the rate, as in the files of columns.
struct CallSound {
    struct Call {
        let frames: Range<Int64>
        let hertz: Double
        /// In steps of a sample.
        let amplitude: Double

        var middle: Int64 { (frames.lowerBound + frames.upperBound) / 2 }
    }

    let format: StreamFormat
    let frames: Int64
    let calls: [Call]
    /// Repeated over and over. It is longer than a column of any first picture, so that no column repeats another one.
    private let noise: [Int16]

    private static let noiseSeconds = 180
    /// Samples of noise are evenly distributed from -1024 to 1023.
    private static let noiseShift: Int16 = 5
    private static let noiseVariance = 1024.0 * 1024 / 3
    /// A call fades in and out.
    private static let fadeSeconds = 0.005

    /// - Parameter count: of the calls. Each is somewhere in its own share of the sound, which must have 300 ms.
    init(seconds: Int, rateHz: Int, calls count: Int, seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let frames = Int64(seconds) * Int64(rateHz)
        let share = frames / Int64(count)
        var calls: [Call] = []
        for index in 0..<count {
            let length = Int64(rateHz) * Int64(60 + random.below(241)) / 1000
            let start = Int64(index) * share + Int64.random(in: 0...share - length, using: &random)
            let hertz = Double.random(in: 0.02...0.95, using: &random) * Double(rateHz) / 2
            let decibels = Double.random(in: 20...26, using: &random)
            let power = pow(10, decibels / 10) * Self.noiseVariance / 256
            // A sine has half the power of its amplitude's square.
            calls.append(Call(frames: start..<start + length, hertz: hertz, amplitude: (2 * power).squareRoot()))
        }
        var noise: [Int16] = []
        noise.reserveCapacity(min(seconds, Self.noiseSeconds) * rateHz)
        var bits: UInt64 = 0
        for index in 0..<min(seconds, Self.noiseSeconds) * rateHz {
            bits = index % 4 == 0 ? random.next() : bits >> 16
            noise.append(Int16(truncatingIfNeeded: bits) >> Self.noiseShift)
        }
        self.frames = frames
        self.calls = calls
        self.noise = noise
        format = StreamFormat(rateHz: rateHz, channels: 1, sampleFormat: .s16)
    }

    /// The sound in pieces of three minutes, for `samples`.
    var pieces: [Range<Int64>] {
        stride(from: 0, to: frames, by: noise.count).map { $0..<min(frames, $0 + Int64(noise.count)) }
    }

    func samples(of piece: Range<Int64>) -> [Int16] {
        var samples = piece.count == noise.count ? noise : Array(noise.prefix(piece.count))
        for call in calls {
            for frame in call.frames.clamped(to: piece) {
                let place = frame - call.frames.lowerBound
                let edge = Double(min(place, Int64(call.frames.count) - place)) / Double(format.rateHz)
                let turns = call.hertz * Double(place) / Double(format.rateHz)
                let value = call.amplitude * min(1, edge / Self.fadeSeconds) * sin(2 * .pi * turns)
                samples[Int(frame - piece.lowerBound)] += Int16(value.rounded())
            }
        }
        return samples
    }

    /// The bytes of the whole sound, as in a WAV file.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2 * Int(frames))
        for piece in pieces { samples(of: piece).withUnsafeBytes { bytes.append(contentsOf: $0) } }
        return bytes
    }

    /// The columns of the picture that the page asks for first when a take is opened. It is one tile of the whole take
    /// with at most 512 columns of 2ⁿ frames (`SpectrumLevels` in `spectrum.js`).
    var firstColumns: Int {
        var level = 0
        while frames > 512 << level { level += 1 }
        return Int(frames >> level)
    }

    /// How far the cell of a call is above the median of its row, in dB.
    /// - Parameters:
    ///   - values: of a picture of the whole sound, column after column.
    ///   - window: the samples in a window.
    func excess(of call: Call, in values: [UInt8], columns: Int, window: Int) -> Int {
        let rows = values.count / columns
        let bin = Int((call.hertz * Double(window) / Double(format.rateHz)).rounded())
        let row = bin * rows / (window / 2)
        let column = Int(call.middle * Int64(columns) / frames)
        let cells = (0..<columns).map { Int(values[$0 * rows + row]) }
        return cells[column] - cells.sorted()[columns / 2]
    }
}

/// Converts sound to another rate. If `fromHz` is not the sound's own rate, speed and pitch change together.
final class ResampleStage: PlayStage {
    private let fromHz: Double
    private let toHz: Double
    private var resampler: Resampler
    private var made: [Double]

    let channels: Int
    let leadFrames = 0
    let latencyFrames = 0

    /// The most frames that the resampler returns at a time.
    private static let chunkFrames = 4096

    /// - Throws: `ResamplerError`.
    init(fromHz: Double, toHz: Double, channels: Int) throws(ResamplerError) {
        self.fromHz = fromHz
        self.toHz = toHz
        self.channels = channels
        resampler = try Resampler(fromHz: fromHz, toHz: toHz, channels: channels)
        made = [Double](repeating: 0, count: Self.chunkFrames * channels)
    }

    func process(_ input: Frames, into output: inout Frames) throws {
        var used = 0
        var isFull = false
        while used < input.count || isFull {
            let step = try resampler.process(
                input.samples, first: used, frameCount: input.count - used, into: &made)
            used += step.used
            isFull = step.made == Self.chunkFrames
            output.append(made, frameCount: step.made)
        }
    }

    func flush(into output: inout Frames) throws {
        while case let step = try resampler.process(nil, first: 0, frameCount: 0, into: &made), step.made > 0 {
            output.append(made, frameCount: step.made)
        }
    }

    func reset() throws {
        resampler = try Resampler(fromHz: fromHz, toHz: toHz, channels: channels)
    }
}

public import Filters
public import Takes

/// Computes the levels and the waveform of stored sound, with the same results as during recording.
struct SoundMeasure {
    /// The take's number of channels. Extra channels of a part are omitted, and missing ones are silent.
    private let channels: Int
    /// The take's frame rate.
    private let rateHz: Int
    private var scale: PeaksScale
    private var path: SignalPath?
    /// Frames that the current path has processed.
    private var frames: Int64 = 0
    /// The levels of the stretches before the current path.
    private var earlier: [ChannelLevels]
    private var earlierFrames: Int64 = 0
    /// The path's output, which is not used.
    private var output: [UInt8] = []

    init(rateHz: Int, channels: Int) {
        self.rateHz = rateHz
        self.channels = channels
        scale = PeaksScale(channels: channels, from: rateHz, to: rateHz)
        earlier = [ChannelLevels](repeating: ChannelLevels(), count: channels)
    }

    /// Begins a part.
    ///
    /// - Parameters:
    ///   - format: the stored format.
    ///   - follows: whether its first frame follows the last measured one, so that a pixel may span both.
    /// - Returns: the last pixels of the sound before it.
    mutating func begin(format: StreamFormat, follows: Bool) -> [Int8] {
        if follows, let path, path.format == format { return [] }
        let rest = finish()
        earlier = levels
        earlierFrames += frames
        frames = 0
        path = SignalPath(format: format, design: .off(rateHz: format.rateHz))
        scale = PeaksScale(channels: format.channels, from: format.rateHz, to: rateHz)
        return rest
    }

    /// Adds whole frames.
    /// - Returns: the pixels that were completed, in the layout of `PeaksFile.pairs`.
    mutating func add(_ bytes: [UInt8]) -> [Int8] {
        guard let path else { return [] }
        if output.count < bytes.count { output = [UInt8](repeating: 0, count: bytes.count) }
        // Safe: both buffers are valid while the closures run, and the output is never longer than the input.
        unsafe bytes.withUnsafeBytes { input in
            unsafe output.withUnsafeMutableBytes { output in
                _ = unsafe path.process(input, into: output)
            }
        }
        frames += Int64(bytes.count / path.format.bytesPerFrame)
        return fit(scale.add(path.takePeaks()))
    }

    /// Completes the current pixel.
    mutating func finish() -> [Int8] {
        guard let path else { return [] }
        return fit(scale.add(path.finishPeaks()) + scale.finish())
    }

    /// The levels of all sound that was added, one per channel of the take.
    var levels: [ChannelLevels] {
        guard let path, frames > 0 else { return earlier }
        let now = path.levels
        let weight = Double(frames) / Double(earlierFrames + frames)
        return (0..<channels).map { channel in
            let new = channel < now.count ? now[channel] : ChannelLevels()
            let old = earlier[channel]
            return ChannelLevels(
                peak: max(old.peak, new.peak),
                meanSquare: earlierFrames == 0
                    ? new.meanSquare : old.meanSquare * (1 - weight) + new.meanSquare * weight,
                clippedFrames: old.clippedFrames + new.clippedFrames,
                filterClippedFrames: old.filterClippedFrames + new.filterClippedFrames)
        }
    }

    /// Converts pixels to the take's number of channels.
    private func fit(_ pairs: [Int8]) -> [Int8] {
        guard let own = path?.format.channels, own != channels else { return pairs }
        return stride(from: 0, to: pairs.count, by: 2 * own).flatMap { pixel in
            let kept = pairs[pixel..<pixel + 2 * min(own, channels)]
            return kept + [Int8](repeating: 0, count: 2 * channels - kept.count)
        }
    }
}

extension Sidecar.Levels {
    public init(_ levels: ChannelLevels) {
        self.init(
            peakDBFS: levels.peakDBFS, rmsDBFS: levels.rmsDBFS, clippedFrames: levels.clippedFrames,
            filterClippedFrames: levels.filterClippedFrames)
    }
}

public import Takes

/// Measures captured sound once for all consumers. A live meter uses the levels of the last 0.1 s, and the watch on
/// clipping, dead inputs and level drops uses the signal of each channel.
///
/// It takes all frames in order, in batches of any length: 2 s while only the signal is watched, 0.1 s while levels are
/// shown. The results do not depend on the batches, because it divides the sound into blocks of 0.1 s itself. One
/// thread at a time may use it.
@safe public final class RunningMeter {
    /// The card's format.
    public let format: StreamFormat
    /// The levels of the last complete block, one entry for each channel; silence before the first block.
    public private(set) var levels: [ChannelLevels]

    private let coding: SampleCoding
    private let blockFrames: Int
    private var signals: [ChannelSignal]
    /// The sum of the blocks of the unfinished half second.
    private var half: [ChannelSignal]
    private var blocksOfHalf = 0
    private var halves: [[ChannelSignal]] = []
    /// Frames of the unfinished block.
    private var frames = 0
    private let samples: UnsafeMutablePointer<Double>
    /// The results of the unfinished block, in four rows with one number for each channel: least, greatest, sum,
    /// squares.
    private let sums: UnsafeMutablePointer<Double>
    /// Clipped frames of the unfinished block, one number for each channel.
    private let clipped: UnsafeMutablePointer<Int64>

    /// Frames that are processed at a time. They fit into a processor's nearest cache.
    private static let chunkFrames = 256
    private static let blocksPerHalf = 5
    /// The number of half seconds that are kept until they are drained. A ring holds this many.
    private static let mostHalves = 60

    public init(_ format: StreamFormat) {
        self.format = format
        coding = SampleCoding(format)
        blockFrames = max(1, format.rateHz / 10)
        let channels = format.channels
        levels = Array(repeating: ChannelLevels(), count: channels)
        signals = Array(repeating: ChannelSignal(), count: channels)
        half = signals
        // Safe: allocated here with these sizes and freed in deinit. Every access below stays within them.
        unsafe samples = .allocate(capacity: Self.chunkFrames * channels)
        unsafe samples.initialize(repeating: 0, count: Self.chunkFrames * channels)
        unsafe sums = .allocate(capacity: 4 * channels)
        unsafe sums.initialize(repeating: 0, count: 4 * channels)
        unsafe clipped = .allocate(capacity: channels)
        unsafe clipped.initialize(repeating: 0, count: channels)
        beginBlock()
    }

    deinit {
        unsafe samples.deallocate()
        unsafe sums.deallocate()
        unsafe clipped.deallocate()
    }

    /// Measures the next frames.
    /// - Parameter bytes: whole frames, interleaved.
    public func take(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        let frameCount = bytes.count / format.bytesPerFrame
        var done = 0
        while done < frameCount {
            let count = min(frameCount - done, Self.chunkFrames, blockFrames - frames)
            unsafe measure(start + done * format.bytesPerFrame, frameCount: count)
            frames += count
            done += count
            if frames == blockFrames { endBlock() }
        }
    }

    /// Returns the signal of all blocks that were completed since the last call, one entry for each channel, with zero
    /// frames if no block was completed.
    public func drain() -> [ChannelSignal] {
        defer { signals = Array(repeating: ChannelSignal(), count: format.channels) }
        return signals
    }

    /// Returns the half seconds that were completed since the last call, oldest first, each with one entry for each
    /// channel.
    public func drainHalves() -> [[ChannelSignal]] {
        defer { halves = [] }
        return halves
    }

    /// Drops all half seconds, including the unfinished one and its unfinished block. A new half second begins with the
    /// next frame.
    public func dropHalves() {
        halves = []
        beginHalf()
        beginBlock()
    }

    /// Completes the unfinished block, however short, and drains. For the end of the sound.
    public func finish() -> [ChannelSignal] {
        if frames > 0 { endBlock() }
        return drain()
    }

    private func measure(_ bytes: UnsafeRawPointer, frameCount: Int) {
        let channels = format.channels
        if unsafe coding.read(bytes, into: samples, count: frameCount * channels) {
            let limits = coding.limits
            for index in 0..<frameCount * channels {
                let sample = unsafe samples[index]
                if sample <= limits.least || sample >= limits.greatest { unsafe clipped[index % channels] += 1 }
            }
        }
        var channel = 0
        while channel < channels {
            let left = channels - channel
            let lanes = left >= 4 ? 4 : left >= 2 ? 2 : 1
            let sum = unsafe BlockSum(
                samples: samples + channel, channels: channels, frameCount: frameCount, sums: sums + channel)
            sum.run(lanes: lanes)
            channel += lanes
        }
    }

    private func beginBlock() {
        let channels = format.channels
        for channel in 0..<channels {
            unsafe sums[channel] = .infinity
            unsafe sums[channels + channel] = -.infinity
            unsafe sums[2 * channels + channel] = 0
            unsafe sums[3 * channels + channel] = 0
            unsafe clipped[channel] = 0
        }
        frames = 0
    }

    private func endBlock() {
        let (channels, scale, count) = (format.channels, coding.fullScale, Double(frames))
        for channel in 0..<channels {
            let mean = unsafe sums[2 * channels + channel] / count / scale
            let meanSquare = unsafe sums[3 * channels + channel] / count / scale / scale
            // The difference is accurate to 13 digits of the mean's square, which is far below the least signal.
            let signal = unsafe ChannelSignal(
                frames: Int64(frames), least: sums[channel] / scale, greatest: sums[channels + channel] / scale,
                offset: mean, alternatingSquare: max(0, meanSquare - mean * mean), clippedFrames: clipped[channel])
            signals[channel].add(signal)
            half[channel].add(signal)
            levels[channel] = ChannelLevels(
                peak: signal.peak, meanSquare: meanSquare, clippedFrames: signal.clippedFrames)
        }
        blocksOfHalf += 1
        if blocksOfHalf == Self.blocksPerHalf { endHalf() }
        beginBlock()
    }

    private func beginHalf() {
        half = Array(repeating: ChannelSignal(), count: format.channels)
        blocksOfHalf = 0
    }

    private func endHalf() {
        if halves.count == Self.mostHalves { halves.removeFirst() }
        halves.append(half)
        beginHalf()
    }
}

/// The combined levels of several consecutive stretches of sound.
public struct LevelSum: Hashable, Sendable {
    /// One entry for each channel.
    public private(set) var levels: [ChannelLevels] = []
    /// The total length of the stretches.
    public private(set) var frames: Int64 = 0

    public init() {}

    /// Adds a stretch. If the numbers of channels differ, only the channels that all stretches have are summed.
    /// - Parameters:
    ///   - more: the levels of the stretch, one entry for each channel.
    ///   - count: the number of its frames.
    public mutating func add(_ more: [ChannelLevels], frames count: Int64) {
        guard frames > 0 else {
            levels = more
            frames = count
            return
        }
        guard count > 0 else { return }
        let weight = Double(count) / Double(frames + count)
        levels = zip(levels, more).map { sum, more in
            ChannelLevels(
                peak: max(sum.peak, more.peak),
                meanSquare: sum.meanSquare + (more.meanSquare - sum.meanSquare) * weight,
                clippedFrames: sum.clippedFrames + more.clippedFrames,
                filterClippedFrames: sum.filterClippedFrames + more.filterClippedFrames)
        }
        frames += count
    }
}

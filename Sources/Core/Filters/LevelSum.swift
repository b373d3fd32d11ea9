/// The levels of stretches of sound that follow one another, as if they were one.
public struct LevelSum: Hashable, Sendable {
    /// A channel each.
    public private(set) var levels: [ChannelLevels] = []
    /// How long the stretches are together, in frames.
    public private(set) var frames: Int64 = 0

    /// The levels of no sound.
    public init() {}

    /// Adds a stretch. Of stretches with different channels, those that all of them have are summed.
    /// - Parameters:
    ///   - more: the levels of the stretch, a channel each.
    ///   - count: how many frames it has.
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

import CFloat

/// How loud one channel was, as stored.
public struct ChannelLevels: Hashable, Sendable {
    /// The size of the greatest sample; 1 is full scale.
    public var peak: Double
    /// The mean of the squares; 1 is a square wave at full scale.
    public var meanSquare: Double
    /// Frames in which the converter was at its limit.
    public var clippedFrames: Int64
    /// Frames that the filter made larger than full scale while the converter was not at its limit (float), or that
    /// were saturated (integers).
    public var filterClippedFrames: Int64

    /// The levels of one channel.
    public init(peak: Double = 0, meanSquare: Double = 0, clippedFrames: Int64 = 0, filterClippedFrames: Int64 = 0) {
        self.peak = peak
        self.meanSquare = meanSquare
        self.clippedFrames = clippedFrames
        self.filterClippedFrames = filterClippedFrames
    }

    /// The greatest sample in dB of full scale; nil for silence.
    public var peakDBFS: Double? {
        peak > 0 ? 20 * fieldfare_log10(peak) : nil
    }

    /// The root of the mean square in dB of a square wave at full scale: a full-scale sine is −3.01. Nil for silence.
    public var rmsDBFS: Double? {
        meanSquare > 0 ? 10 * fieldfare_log10(meanSquare) : nil
    }
}

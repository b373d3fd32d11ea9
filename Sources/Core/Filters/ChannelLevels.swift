import CFloat

/// The levels of one channel, as stored.
public struct ChannelLevels: Hashable, Sendable {
    /// The largest absolute sample; 1 is full scale.
    public var peak: Double
    /// The mean square; 1 is a square wave at full scale.
    public var meanSquare: Double
    /// Frames with the converter at its limit.
    public var clippedFrames: Int64
    /// For integers, the frames that saturated. For float, the frames that the filter raised above full scale while the
    /// converter was not at its limit.
    public var filterClippedFrames: Int64

    public init(peak: Double = 0, meanSquare: Double = 0, clippedFrames: Int64 = 0, filterClippedFrames: Int64 = 0) {
        self.peak = peak
        self.meanSquare = meanSquare
        self.clippedFrames = clippedFrames
        self.filterClippedFrames = filterClippedFrames
    }

    /// The peak in dB of full scale, or nil for silence.
    public var peakDBFS: Double? {
        peak > 0 ? 20 * fieldfare_log10(peak) : nil
    }

    /// The root mean square in dB of a square wave at full scale (a full-scale sine is −3.01), or nil for silence.
    public var rmsDBFS: Double? {
        meanSquare > 0 ? 10 * fieldfare_log10(meanSquare) : nil
    }
}

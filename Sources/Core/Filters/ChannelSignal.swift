import CFloat
public import Takes

/// Measurements of one channel of a stretch of captured sound, before the filter. They reveal clipping, an offset and a
/// dead input. The unit is full scale.
public struct ChannelSignal: Hashable, Sendable {
    public var frames: Int64
    public var least: Double
    public var greatest: Double
    /// The mean of the samples.
    public var offset: Double
    /// The mean square of the alternating part: the samples minus their mean in each 0.1 s. It excludes a constant
    /// offset and its slow drift.
    public var alternatingSquare: Double
    /// Frames with the converter at its limit.
    public var clippedFrames: Int64

    public init(
        frames: Int64 = 0, least: Double = 0, greatest: Double = 0, offset: Double = 0, alternatingSquare: Double = 0,
        clippedFrames: Int64 = 0
    ) {
        self.frames = frames
        self.least = least
        self.greatest = greatest
        self.offset = offset
        self.alternatingSquare = alternatingSquare
        self.clippedFrames = clippedFrames
    }

    /// The largest absolute sample.
    public var peak: Double { max(greatest, -least) }

    public var alternatingRMS: Double { alternatingSquare.squareRoot() }

    /// The root mean square of the alternating part in dB of full scale, but at least that of `leastRMS`.
    public func alternatingDBFS(in format: StreamFormat) -> Double {
        20 * fieldfare_log10(max(alternatingRMS, Self.leastRMS(format)))
    }

    /// Adds the following stretch.
    public mutating func add(_ next: ChannelSignal) {
        guard frames > 0 else {
            self = next
            return
        }
        guard next.frames > 0 else { return }
        frames += next.frames
        let weight = Double(next.frames) / Double(frames)
        least = min(least, next.least)
        greatest = max(greatest, next.greatest)
        offset += (next.offset - offset) * weight
        alternatingSquare += (next.alternatingSquare - alternatingSquare) * weight
        clippedFrames += next.clippedFrames
    }

    /// The root mean square below which the alternating part of an input of `format` counts as no signal. It is three
    /// quarters of a step, with at most 18 significant bits: -92.8 dBFS for 16 bits, -104.8 dBFS for 18 and more and
    /// for float.
    ///
    /// A constant offset between two codes makes a converter alternate between them. That has a root mean square of
    /// half a step at most, and a little more with the converter's own noise. From 18 bits on, analogue noise exceeds a
    /// step. There the limit is the self-noise of a very quiet microphone (15 dB SPL) with full scale at 120 dB SPL. A
    /// lower value means a missing microphone, or hardly any gain.
    public static func leastRMS(_ format: StreamFormat) -> Double {
        let bits = format.sampleFormat == .float ? 18 : min(18, format.significantBits)
        return 0.75 / Double(1 << (bits - 1))
    }

    /// Whether the alternating part is below `leastRMS`.
    public func isDead(in format: StreamFormat) -> Bool {
        let least = Self.leastRMS(format)
        return alternatingSquare < least * least
    }
}

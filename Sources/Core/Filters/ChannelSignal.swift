import CFloat
public import Takes

/// What one channel of a stretch of captured sound contains, as the card delivered it: by this clipping, an offset and a dead
/// input are found. In parts of full scale.
public struct ChannelSignal: Hashable, Sendable {
    /// How long the stretch is.
    public var frames: Int64
    /// The least sample.
    public var least: Double
    /// The greatest sample.
    public var greatest: Double
    /// The mean of the samples: the offset.
    public var offset: Double
    /// The mean square of the samples without their mean, which is taken out of each 0.1 s: the alternating part. A constant
    /// offset and its slow drift are no part of it.
    public var alternatingSquare: Double
    /// Frames in which the converter was at its limit.
    public var clippedFrames: Int64

    /// A stretch of one channel; without arguments, one without a frame.
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

    /// The size of the greatest sample.
    public var peak: Double { max(greatest, -least) }

    /// The root mean square of the alternating part.
    public var alternatingRMS: Double { alternatingSquare.squareRoot() }

    /// The root mean square of the alternating part in dB of full scale, and that of the least signal for all below it.
    public func alternatingDBFS(in format: StreamFormat) -> Double {
        20 * fieldfare_log10(max(alternatingRMS, Self.leastRMS(format)))
    }

    /// Adds a stretch that follows.
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

    /// The root mean square below which the alternating part is no signal of an input of `format`: three quarters of a step of
    /// its significant bits, of 18 at most, which is -92.8 dBFS for 16 bits and -104.8 dBFS for 18 and more and for float.
    ///
    /// A constant offset between two codes makes a converter alternate between them, which has a root mean square of half a step at
    /// most, and a little more with its own noise. From 18 bits on, analogue noise is more than a step: there the limit is the
    /// self-noise of a very quiet microphone (15 dB SPL) whose full scale is at 120 dB SPL. What is below had no microphone, or
    /// hardly any gain.
    public static func leastRMS(_ format: StreamFormat) -> Double {
        let bits = format.sampleFormat == .float ? 18 : min(18, format.significantBits)
        return 0.75 / Double(1 << (bits - 1))
    }

    /// Whether there is no signal in it.
    public func isDead(in format: StreamFormat) -> Bool {
        let least = Self.leastRMS(format)
        return alternatingSquare < least * least
    }
}

public import Takes

/// Turns numbers of full scale 1 into a card's samples: rounded to the nearest, saturated, never wrapped.
///
/// A number that came from integers of no more bits than the card's is encoded as that very integer.
@safe public struct SampleEncoder: Sendable {
    /// The layout of the samples.
    public let format: SampleFormat
    /// Steps of the significant bits on one side of zero; 1 for float.
    private let steps: Double
    /// What a step is in the layout.
    private let step: Int64

    /// An encoder into `format`.
    /// - Parameter significantBits: those that the card converts: samples are rounded to them, since a converter would cut the others
    ///   off; nil: all that the layout has.
    public init(_ format: SampleFormat, significantBits: Int? = nil) {
        self.format = format
        let most = format.significantBits
        let bits = max(1, min(significantBits ?? most, most))
        steps = format == .float ? 1 : Double(Int64(1) << (bits - 1))
        step = format == .float ? 1 : 1 << (most - bits)
    }

    /// Encodes samples.
    /// - Parameters:
    ///   - samples: of full scale 1.
    ///   - bytes: room for all of them.
    public func encode(_ samples: Span<Double>, into bytes: UnsafeMutableRawBufferPointer) {
        let size = format.bytesPerSample
        precondition(bytes.count >= samples.count * size, "room for all samples")
        guard samples.count > 0, let start = bytes.baseAddress else { return }
        // Safe below: index < count, and there is room for count samples.
        for index in 0..<samples.count {
            let place = unsafe start + index * size
            switch format {
            case .s16:
                unsafe place.storeBytes(of: Int16(truncatingIfNeeded: whole(samples[index])), as: Int16.self)
            case .s24Packed:
                let value = UInt32(truncatingIfNeeded: whole(samples[index]))
                unsafe place.storeBytes(of: UInt16(truncatingIfNeeded: value), as: UInt16.self)
                unsafe place.storeBytes(of: UInt8(truncatingIfNeeded: value >> 16), toByteOffset: 2, as: UInt8.self)
            case .s24, .s32:
                unsafe place.storeBytes(of: Int32(truncatingIfNeeded: whole(samples[index])), as: Int32.self)
            case .float:
                unsafe place.storeBytes(of: Float(samples[index]), as: Float.self)
            }
        }
    }

    @inline(__always)
    private func whole(_ sample: Double) -> Int64 {
        // NaN is silence.
        guard !sample.isNaN else { return 0 }
        return Int64(min(max((sample * steps).rounded(.toNearestOrEven), -steps), steps - 1)) * step
    }
}

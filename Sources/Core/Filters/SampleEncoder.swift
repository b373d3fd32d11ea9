public import Takes

/// Converts numbers with full scale 1 to a card's samples: rounded to the nearest, saturated, never wrapped.
///
/// A number that was read from integers with no more bits than the card's becomes the same integer again.
@safe public struct SampleEncoder: Sendable {
    public let format: SampleFormat
    /// The number of steps of the significant bits on one side of zero; 1 for float.
    private let steps: Double
    /// The size of one step in the layout.
    private let step: Int64

    /// - Parameter significantBits: samples are rounded to these, because a converter would cut off the others. Nil
    ///   means all bits of the layout.
    public init(_ format: SampleFormat, significantBits: Int? = nil) {
        self.format = format
        let most = format.significantBits
        let bits = max(1, min(significantBits ?? most, most))
        steps = format == .float ? 1 : Double(Int64(1) << (bits - 1))
        step = format == .float ? 1 : 1 << (most - bits)
    }

    /// - Parameters:
    ///   - samples: samples with full scale 1.
    ///   - bytes: must have room for all of them.
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
        // NaN becomes silence.
        guard !sample.isNaN else { return 0 }
        return Int64(min(max((sample * steps).rounded(.toNearestOrEven), -steps), steps - 1)) * step
    }
}

public import Takes

/// Turns numbers of full scale 1 into a card's samples: rounded to the nearest, saturated, never wrapped.
///
/// A number that came from integers of no more bits than the card's comes out as that very integer.
@safe public struct SampleEncoder: Sendable {
    /// The layout of the samples.
    public let format: SampleFormat

    /// An encoder into `format`.
    public init(_ format: SampleFormat) {
        self.format = format
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
                unsafe place.storeBytes(
                    of: Int16(truncatingIfNeeded: whole(samples[index], 32768)), as: Int16.self)
            case .s24Packed:
                let value = UInt32(truncatingIfNeeded: whole(samples[index], 8_388_608))
                unsafe place.storeBytes(of: UInt16(truncatingIfNeeded: value), as: UInt16.self)
                unsafe place.storeBytes(of: UInt8(truncatingIfNeeded: value >> 16), toByteOffset: 2, as: UInt8.self)
            case .s24:
                unsafe place.storeBytes(
                    of: Int32(truncatingIfNeeded: whole(samples[index], 8_388_608)), as: Int32.self)
            case .s32:
                unsafe place.storeBytes(
                    of: Int32(truncatingIfNeeded: whole(samples[index], 2_147_483_648)), as: Int32.self)
            case .float:
                unsafe place.storeBytes(of: Float(samples[index]), as: Float.self)
            }
        }
    }

    @inline(__always)
    private func whole(_ sample: Double, _ fullScale: Double) -> Int64 {
        // A number that is none is silence.
        guard !sample.isNaN else { return 0 }
        return Int64(min(max((sample * fullScale).rounded(.toNearestOrEven), -fullScale), fullScale - 1))
    }
}

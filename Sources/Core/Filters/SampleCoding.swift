package import Takes

/// Converts between a card's bytes and numbers in the format's own units: integers keep their value, and float has full
/// scale 1.
///
/// Nothing is scaled. The filter is linear, so only levels depend on full scale.
@safe package struct SampleCoding: Sendable {
    /// The position of the signal in the bytes of a sample.
    enum Layout {
        case s16, s24Packed
        /// 24 bits in the low 3 of 4 bytes.
        case s24Low
        /// 24 bits in the high 3 of 4 bytes.
        case s24High
        case s32, float
    }

    let layout: Layout
    /// A converter is at its limit at or beyond these: its lowest and its highest code, whatever the bits below them
    /// are.
    package let limits: (least: Double, greatest: Double)
    /// The limits of integer formats.
    private let lowest, highest: Int32

    package init(_ format: StreamFormat) {
        switch format.sampleFormat {
        case .s16: layout = .s16
        case .s24Packed: layout = .s24Packed
        case .s24: layout = .s24Low
        case .s32: layout = format.stored.sampleFormat == .s32 ? .s32 : .s24High
        case .float: layout = .float
        }
        let width =
            switch layout {
            case .s16: 16
            case .s24Packed, .s24Low, .s24High: 24
            case .s32, .float: 32
            }
        // Many drivers state 32 bits, but no converter has more than 24 bits above its noise. So the limit is the
        // highest code of 24 bits.
        let step = Int64(1) << (width - min(24, width, format.significantBits))
        let fullScale = Int64(1) << (width - 1)
        lowest = Int32(step - 1 - fullScale)
        highest = Int32(fullScale - step)
        limits = layout == .float ? (-1, 1) : (Double(lowest), Double(highest))
    }

    /// The value of full scale in the format.
    package var fullScale: Double {
        switch layout {
        case .s16: 32768
        case .s24Packed, .s24Low, .s24High: 8_388_608
        case .s32: 2_147_483_648
        case .float: 1
        }
    }

    /// The least and greatest number that can be stored. Float has no such limits.
    var storable: (least: Double, greatest: Double) {
        @_noLocks @_noAllocation get {
            switch layout {
            case .s16: (-32768, 32767)
            case .s24Packed, .s24Low, .s24High: (-8_388_608, 8_388_607)
            case .s32: (-2_147_483_648, 2_147_483_647)
            case .float: (-.infinity, .infinity)
            }
        }
    }

    // Safe below: `count` samples lie at both addresses. A card's bytes need not be aligned.

    /// Reads `count` samples.
    /// - Returns: whether any of them is at the converter's limit.
    @_noLocks @_noAllocation
    package func read(_ bytes: UnsafeRawPointer, into samples: UnsafeMutablePointer<Double>, count: Int) -> Bool {
        switch layout {
        case .s16: unsafe readS16(bytes, into: samples, count: count)
        case .s24Packed: unsafe readS24Packed(bytes, into: samples, count: count)
        case .s24Low: unsafe readWords(bytes, into: samples, count: count, up: 8, down: 8)
        case .s24High: unsafe readWords(bytes, into: samples, count: count, up: 0, down: 8)
        case .s32: unsafe readWords(bytes, into: samples, count: count, up: 0, down: 0)
        case .float: unsafe readFloat(bytes, into: samples, count: count)
        }
    }

    /// Writes `count` samples in the stored layout, rounded to the nearest. Integers must be storable.
    ///
    /// It adds no dither: the noise of a microphone and its converter in the lowest bits has the same effect already,
    /// and dither would only add noise.
    @_noLocks @_noAllocation
    func write(_ samples: UnsafePointer<Double>, to bytes: UnsafeMutableRawPointer, count: Int) {
        switch layout {
        case .s16: unsafe writeS16(samples, to: bytes, count: count)
        case .s24Packed, .s24Low, .s24High: unsafe writeS24Packed(samples, to: bytes, count: count)
        case .s32: unsafe writeS32(samples, to: bytes, count: count)
        case .float: unsafe writeFloat(samples, to: bytes, count: count)
        }
    }

    /// Whether the stored layout is the card's.
    var storesAsDelivered: Bool {
        @_noLocks @_noAllocation get {
            switch layout {
            case .s16, .s24Packed, .s32, .float: true
            case .s24Low, .s24High: false
            }
        }
    }

    /// Copies `count` samples without a change of value, into the stored layout.
    @_noLocks @_noAllocation
    func copy(_ source: UnsafeRawPointer, to bytes: UnsafeMutableRawPointer, count: Int) {
        switch layout {
        case .s16: unsafe bytes.copyMemory(from: source, byteCount: 2 &* count)
        case .s24Packed: unsafe bytes.copyMemory(from: source, byteCount: 3 &* count)
        case .s24Low: unsafe copyWords(source, to: bytes, count: count, down: 0)
        case .s24High: unsafe copyWords(source, to: bytes, count: count, down: 8)
        case .s32, .float: unsafe bytes.copyMemory(from: source, byteCount: 4 &* count)
        }
    }

    @inline(__always) @_noLocks @_noAllocation
    private func copyWords(
        _ source: UnsafeRawPointer, to bytes: UnsafeMutableRawPointer, count: Int, down: UInt32
    ) {
        var index = 0
        while index < count {
            let value = unsafe source.loadUnaligned(fromByteOffset: 4 &* index, as: UInt32.self) &>> down
            unsafe Self.store24(value, to: bytes + 3 &* index, isLast: index &+ 1 == count)
            index &+= 1
        }
    }

    /// Stores the low 3 bytes. Except for the last sample it writes 4 bytes, and the next sample overwrites the fourth.
    @inline(__always) @_noLocks @_noAllocation
    private static func store24(_ value: UInt32, to bytes: UnsafeMutableRawPointer, isLast: Bool) {
        if isLast {
            unsafe bytes.storeBytes(of: UInt16(truncatingIfNeeded: value), as: UInt16.self)
            unsafe bytes.storeBytes(of: UInt8(truncatingIfNeeded: value >> 16), toByteOffset: 2, as: UInt8.self)
        } else {
            unsafe bytes.storeBytes(of: value, as: UInt32.self)
        }
    }
}

// MARK: - Reading

extension SampleCoding {
    @_noLocks @_noAllocation
    private func readS16(_ bytes: UnsafeRawPointer, into samples: UnsafeMutablePointer<Double>, count: Int) -> Bool {
        var least = Int16.max
        var greatest = Int16.min
        var index = 0
        while index < count {
            let value = unsafe bytes.loadUnaligned(fromByteOffset: 2 &* index, as: Int16.self)
            least = value < least ? value : least
            greatest = value > greatest ? value : greatest
            index &+= 1
        }
        index = 0
        while index < count {
            let value = unsafe bytes.loadUnaligned(fromByteOffset: 2 &* index, as: Int16.self)
            unsafe samples[index] = Double(Int32(truncatingIfNeeded: value))
            index &+= 1
        }
        return Int32(truncatingIfNeeded: least) <= lowest || Int32(truncatingIfNeeded: greatest) >= highest
    }

    @_noLocks @_noAllocation
    private func readS24Packed(
        _ bytes: UnsafeRawPointer, into samples: UnsafeMutablePointer<Double>, count: Int
    ) -> Bool {
        var least = Int32.max
        var greatest = Int32.min
        var index = 0
        while index < count {
            // Every sample except the last is read as 4 bytes. The highest of these belongs to the next sample.
            let raw: UInt32
            if index &+ 1 < count {
                raw = unsafe bytes.loadUnaligned(fromByteOffset: 3 &* index, as: UInt32.self)
            } else {
                let low = unsafe bytes.loadUnaligned(fromByteOffset: 3 &* index, as: UInt16.self)
                let high = unsafe bytes.loadUnaligned(fromByteOffset: 3 &* index &+ 2, as: UInt8.self)
                raw = UInt32(truncatingIfNeeded: low) | UInt32(truncatingIfNeeded: high) &<< 16
            }
            let value = Int32(truncatingIfNeeded: raw &<< 8) &>> 8
            least = value < least ? value : least
            greatest = value > greatest ? value : greatest
            unsafe samples[index] = Double(value)
            index &+= 1
        }
        return least <= lowest || greatest >= highest
    }

    /// Reads samples of 4 bytes. The shifts cut off the bits without signal and extend the sign.
    @inline(__always) @_noLocks @_noAllocation
    private func readWords(
        _ bytes: UnsafeRawPointer, into samples: UnsafeMutablePointer<Double>, count: Int, up: Int32, down: Int32
    ) -> Bool {
        var least = Int32.max
        var greatest = Int32.min
        var index = 0
        while index < count {
            let word = unsafe bytes.loadUnaligned(fromByteOffset: 4 &* index, as: Int32.self)
            let value = (word &<< up) &>> down
            least = value < least ? value : least
            greatest = value > greatest ? value : greatest
            unsafe samples[index] = Double(value)
            index &+= 1
        }
        return least <= lowest || greatest >= highest
    }

    /// Reads a sample that is not a number, or more than 180 dB above full scale, as 0. It comes from a faulty driver,
    /// and would stay in a filter forever.
    @_noLocks @_noAllocation
    private func readFloat(_ bytes: UnsafeRawPointer, into samples: UnsafeMutablePointer<Double>, count: Int) -> Bool {
        var atLimit: UInt32 = 0
        var index = 0
        while index < count {
            let bits = unsafe bytes.loadUnaligned(fromByteOffset: 4 &* index, as: UInt32.self) & 0x7FFF_FFFF
            // Compared as bits: the magnitudes of floats have the same order as their bits. 0x3F800000 is 1.
            atLimit |= bits >= 0x3F80_0000 ? 1 : 0
            index &+= 1
        }
        index = 0
        while index < count {
            let value = unsafe bytes.loadUnaligned(fromByteOffset: 4 &* index, as: Float.self)
            let sample = Double(value)
            unsafe samples[index] = sample >= -1e9 && sample <= 1e9 ? sample : 0
            index &+= 1
        }
        return atLimit != 0
    }
}

// MARK: - Writing

extension SampleCoding {
    @_noLocks @_noAllocation
    private func writeS16(_ samples: UnsafePointer<Double>, to bytes: UnsafeMutableRawPointer, count: Int) {
        var index = 0
        while index < count {
            let bits = unsafe (samples[index] + Scan.roundingBias).bitPattern
            unsafe bytes.storeBytes(of: Int16(truncatingIfNeeded: bits), toByteOffset: 2 &* index, as: Int16.self)
            index &+= 1
        }
    }

    @_noLocks @_noAllocation
    private func writeS24Packed(_ samples: UnsafePointer<Double>, to bytes: UnsafeMutableRawPointer, count: Int) {
        var index = 0
        while index < count {
            let bits = unsafe (samples[index] + Scan.roundingBias).bitPattern
            unsafe Self.store24(
                UInt32(truncatingIfNeeded: bits), to: bytes + 3 &* index, isLast: index &+ 1 == count)
            index &+= 1
        }
    }

    @_noLocks @_noAllocation
    private func writeS32(_ samples: UnsafePointer<Double>, to bytes: UnsafeMutableRawPointer, count: Int) {
        var index = 0
        while index < count {
            let bits = unsafe (samples[index] + Scan.roundingBias).bitPattern
            unsafe bytes.storeBytes(of: Int32(truncatingIfNeeded: bits), toByteOffset: 4 &* index, as: Int32.self)
            index &+= 1
        }
    }

    @_noLocks @_noAllocation
    private func writeFloat(_ samples: UnsafePointer<Double>, to bytes: UnsafeMutableRawPointer, count: Int) {
        var index = 0
        while index < count {
            let sample = unsafe Float(samples[index])
            unsafe bytes.storeBytes(of: sample, toByteOffset: 4 &* index, as: Float.self)
            index &+= 1
        }
    }
}

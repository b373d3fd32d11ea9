package import Takes

/// Between a card's bytes and numbers, in the format's own units: whole numbers are themselves, float is ±1.
///
/// Nothing is scaled: the filter is linear, so only levels need to know what full scale is.
@safe package struct SampleCoding {
    let format: SampleFormat

    @_noLocks @_noAllocation
    package init(_ format: SampleFormat) {
        self.format = format
    }

    /// What the format calls 1.
    package var fullScale: Double {
        switch format {
        case .s16: 32768
        case .s24Packed, .s24: 8_388_608
        case .s32: 2_147_483_648
        case .float: 1
        }
    }

    /// The least and greatest number that can be stored; float has none to speak of.
    var storable: (least: Double, greatest: Double) {
        @_noLocks @_noAllocation get {
            switch format {
            case .s16: (-32768, 32767)
            case .s24Packed, .s24: (-8_388_608, 8_388_607)
            case .s32: (-2_147_483_648, 2_147_483_647)
            case .float: (-.infinity, .infinity)
            }
        }
    }

    /// At or beyond these a converter is at its limit. In 32 bits it is within one step of 24 of them, because that is
    /// what the converter behind them has: its greatest number is 0x7FFFFF00.
    package var limits: (least: Double, greatest: Double) {
        @_noLocks @_noAllocation get {
            switch format {
            case .s16: (-32768, 32767)
            case .s24Packed, .s24: (-8_388_608, 8_388_607)
            case .s32: (-2_147_483_393, 2_147_483_392)
            case .float: (-1, 1)
            }
        }
    }

    // Safe below: `count` samples lie at both addresses. A card's bytes need not be aligned.

    /// Reads `count` samples.
    /// - Returns: whether any of them is at the converter's limit.
    @_noLocks @_noAllocation
    package func read(_ bytes: UnsafeRawPointer, into samples: UnsafeMutablePointer<Double>, count: Int) -> Bool {
        switch format {
        case .s16: unsafe readS16(bytes, into: samples, count: count)
        case .s24Packed: unsafe readS24Packed(bytes, into: samples, count: count)
        case .s24: unsafe readS24(bytes, into: samples, count: count)
        case .s32: unsafe readS32(bytes, into: samples, count: count)
        case .float: unsafe readFloat(bytes, into: samples, count: count)
        }
    }

    /// Writes `count` samples in the stored layout, rounded to the nearest. Whole numbers must be storable.
    ///
    /// There is no dither: the noise that a microphone and its converter put into the lowest bits does that work
    /// already, and more would only add to it.
    @_noLocks @_noAllocation
    func write(_ samples: UnsafePointer<Double>, to bytes: UnsafeMutableRawPointer, count: Int) {
        switch format {
        case .s16: unsafe writeS16(samples, to: bytes, count: count)
        case .s24Packed, .s24: unsafe writeS24Packed(samples, to: bytes, count: count)
        case .s32: unsafe writeS32(samples, to: bytes, count: count)
        case .float: unsafe writeFloat(samples, to: bytes, count: count)
        }
    }

    /// Copies `count` samples as they are, into the stored layout.
    @_noLocks @_noAllocation
    func copy(_ source: UnsafeRawPointer, to bytes: UnsafeMutableRawPointer, count: Int) {
        switch format {
        case .s16, .s24Packed, .s32, .float:
            unsafe bytes.copyMemory(from: source, byteCount: count * format.width)
        case .s24:
            var index = 0
            while index < count {
                let value = unsafe source.loadUnaligned(fromByteOffset: 4 &* index, as: UInt32.self)
                unsafe Self.store24(value, to: bytes + 3 &* index, isLast: index &+ 1 == count)
                index &+= 1
            }
        }
    }

    /// The low 3 bytes. All but the last sample are written as 4, the fourth to be overwritten by the next one.
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

extension SampleFormat {
    /// `bytesPerSample`, where unoptimised code must see that nothing is allocated.
    fileprivate var width: Int {
        @_noLocks @_noAllocation get {
            switch self {
            case .s16: 2
            case .s24Packed: 3
            case .s24, .s32, .float: 4
            }
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
        return least == .min || greatest == .max
    }

    @_noLocks @_noAllocation
    private func readS24Packed(
        _ bytes: UnsafeRawPointer, into samples: UnsafeMutablePointer<Double>, count: Int
    ) -> Bool {
        var least = Int32.max
        var greatest = Int32.min
        var index = 0
        while index < count {
            // All but the last are read as 4 bytes, the highest of which belongs to the next sample.
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
        return least == -8_388_608 || greatest == 8_388_607
    }

    @_noLocks @_noAllocation
    private func readS24(_ bytes: UnsafeRawPointer, into samples: UnsafeMutablePointer<Double>, count: Int) -> Bool {
        var least = Int32.max
        var greatest = Int32.min
        var index = 0
        while index < count {
            let raw = unsafe bytes.loadUnaligned(fromByteOffset: 4 &* index, as: UInt32.self)
            let value = Int32(truncatingIfNeeded: raw &<< 8) &>> 8
            least = value < least ? value : least
            greatest = value > greatest ? value : greatest
            unsafe samples[index] = Double(value)
            index &+= 1
        }
        return least == -8_388_608 || greatest == 8_388_607
    }

    @_noLocks @_noAllocation
    private func readS32(_ bytes: UnsafeRawPointer, into samples: UnsafeMutablePointer<Double>, count: Int) -> Bool {
        var least = Int32.max
        var greatest = Int32.min
        var index = 0
        while index < count {
            let value = unsafe bytes.loadUnaligned(fromByteOffset: 4 &* index, as: Int32.self)
            least = value < least ? value : least
            greatest = value > greatest ? value : greatest
            unsafe samples[index] = Double(value)
            index &+= 1
        }
        return least <= -2_147_483_393 || greatest >= 2_147_483_392
    }

    /// What is no number, or more than 180 dB above full scale, is no sound but a driver gone wrong; it reads as 0,
    /// because one such sample would stay in a filter for ever.
    @_noLocks @_noAllocation
    private func readFloat(_ bytes: UnsafeRawPointer, into samples: UnsafeMutablePointer<Double>, count: Int) -> Bool {
        var atLimit: UInt32 = 0
        var index = 0
        while index < count {
            let bits = unsafe bytes.loadUnaligned(fromByteOffset: 4 &* index, as: UInt32.self) & 0x7FFF_FFFF
            // Compared as bits: the order of the sizes of floats is that of their bits. 0x3F800000 is 1.
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

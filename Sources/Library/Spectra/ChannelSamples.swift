public import Takes

/// The samples of one channel of interleaved sound.
public enum ChannelSamples {
    /// Copies a channel as numbers with full scale 1. A number that is not finite, or above 65 536, becomes 0.
    /// - Parameters:
    ///   - bytes: whole frames, as in the `data` chunk of a WAV file.
    ///   - channel: counted from 0.
    public static func numbers(_ bytes: RawSpan, _ format: StreamFormat, channel: Int) -> [Float] {
        let count = bytes.byteCount / max(1, format.bytesPerFrame)
        var numbers = [Float](repeating: 0, count: count)
        copy(bytes, format, channel: channel, to: &numbers, at: 0)
        return numbers
    }

    /// Copies a channel of all frames in `bytes` to the numbers from `start` on.
    static func copy(
        _ bytes: RawSpan, _ format: StreamFormat, channel: Int, to numbers: inout [Float], at start: Int
    ) {
        let size = format.sampleFormat.bytesPerSample
        let channels = format.channels
        precondition((0..<channels).contains(channel))
        let count = bytes.byteCount / format.bytesPerFrame
        precondition(start >= 0 && count <= numbers.count - start)
        guard count > 0 else { return }
        // Safe: there are `count` frames in the bytes, and `count` numbers from the start.
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe numbers.withUnsafeMutableBufferPointer { numbers in
                guard let first = bytes.baseAddress, let target = numbers.baseAddress else { return }
                let pass = unsafe Pass(
                    source: first + size * channel, target: target + start, count: count, channels: channels)
                switch format.sampleFormat {
                case .s16:
                    unsafe pass.run(2) { unsafe Float(Int32($0.loadUnaligned(as: Int16.self))) * 0x1p-15 }
                case .s24Packed:
                    unsafe pass.run(3) {
                        let low = unsafe UInt32($0.loadUnaligned(as: UInt16.self))
                        let high = unsafe UInt32($0.load(fromByteOffset: 2, as: UInt8.self))
                        return Float(Int32(bitPattern: low &<< 8 | high &<< 24)) * 0x1p-31
                    }
                case .s24:
                    unsafe pass.run(4) { unsafe Float($0.loadUnaligned(as: Int32.self) &<< 8) * 0x1p-31 }
                case .s32:
                    unsafe pass.run(4) { unsafe Float($0.loadUnaligned(as: Int32.self)) * 0x1p-31 }
                case .float:
                    unsafe pass.run(4) {
                        let number = unsafe $0.loadUnaligned(as: Float.self)
                        return number.magnitude <= 65_536 ? number : 0
                    }
                }
            }
        }
    }

    /// The buffers of one copy.
    @safe private struct Pass {
        /// The first sample of the channel.
        let source: UnsafeRawPointer
        let target: UnsafeMutablePointer<Float>
        let count: Int
        let channels: Int

        init(source: UnsafeRawPointer, target: UnsafeMutablePointer<Float>, count: Int, channels: Int) {
            unsafe self.source = source
            unsafe self.target = target
            self.count = count
            self.channels = channels
        }

        /// The compiler reads several frames at once if the number of channels is a constant.
        @inline(__always)
        func run(_ size: Int, _ number: (UnsafeRawPointer) -> Float) {
            switch channels {
            case 1: unsafe run(stride: size, number)
            case 2: unsafe run(stride: 2 * size, number)
            default: unsafe run(stride: channels * size, number)
            }
        }

        @inline(__always)
        private func run(stride: Int, _ number: (UnsafeRawPointer) -> Float) {
            for index in 0..<count { unsafe target[index] = number(source + index &* stride) }
        }
    }
}

import Takes

/// Messages as the recorder's sound socket sends them.
enum MadeSound {
    static let stereo = StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s16)

    /// - Parameter frames: nil stands for the number of bytes in the payload.
    static func message(
        _ kind: Int, channels: Int = 0, frames: Int? = nil, first: UInt64 = 0, payload: [UInt8] = []
    ) -> [UInt8] {
        var bytes = Array("FFS1".utf8)
        let numbers = [
            (UInt64(kind), 2), (UInt64(channels), 2), (UInt64(frames ?? payload.count), 4), (first, 8), (0, 8),
        ]
        for (number, count) in numbers {
            for place in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * place))) }
        }
        return bytes + payload
    }

    static func format(_ format: StreamFormat = stereo) -> [UInt8] {
        let text =
            #"{"bytes_per_frame":\#(format.bytesPerFrame),"channels":\#(format.channels),"#
            + #""format":"\#(format.sampleFormat.rawValue)","rate_hz":\#(format.rateHz),"significant_bits":16}"#
        return message(1, channels: format.channels, payload: Array(text.utf8))
    }

    /// Sound in one message. Its samples depend on the frame alone.
    static func sound(_ frames: Range<Int64>, _ format: StreamFormat = stereo) -> [UInt8] {
        message(
            2, channels: format.channels, frames: frames.count, first: UInt64(frames.lowerBound),
            payload: bytes(frames, format))
    }

    /// The bytes of frames of 16-bit samples: noise.
    static func bytes(_ frames: Range<Int64>, _ format: StreamFormat = stereo) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(frames.count * format.bytesPerFrame)
        for frame in frames {
            for channel in 0..<format.channels {
                let mixed = UInt64(frame &+ 1) &* 0x9e37_79b9_7f4a_7c15 &+ UInt64(channel)
                bytes.append(UInt8(truncatingIfNeeded: mixed >> 40))
                bytes.append(UInt8(truncatingIfNeeded: mixed >> 48))
            }
        }
        return bytes
    }
}

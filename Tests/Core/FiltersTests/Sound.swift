import Filters
import Glibc
import Takes

/// Test sound, as bytes.
enum Sound {
    static func format(
        _ sampleFormat: SampleFormat, channels: Int = 1, rateHz: Int = 48000, bits: Int? = nil
    ) -> StreamFormat {
        StreamFormat(rateHz: rateHz, channels: channels, sampleFormat: sampleFormat, significantBits: bits)
    }

    /// The levels of sound that is stored unchanged.
    static func levels(_ bytes: [UInt8], _ format: StreamFormat) -> [ChannelLevels] {
        let path = SignalPath(format: format, design: .off(rateHz: format.rateHz))
        _ = path.process(bytes)
        return path.levels
    }

    static func bytes(_ samples: [Int16]) -> [UInt8] { samples.flatMap { withUnsafeBytes(of: $0, Array.init) } }
    static func bytes(_ samples: [Int32]) -> [UInt8] { samples.flatMap { withUnsafeBytes(of: $0, Array.init) } }
    static func bytes(_ samples: [Float]) -> [UInt8] { samples.flatMap { withUnsafeBytes(of: $0, Array.init) } }
    static func packed(_ samples: [Int32]) -> [UInt8] {
        samples.flatMap { withUnsafeBytes(of: $0) { Array($0.prefix(3)) } }
    }

    static func shorts(_ bytes: [UInt8]) -> [Int16] {
        bytes.withUnsafeBytes { raw in
            (0..<raw.count / 2).map { raw.loadUnaligned(fromByteOffset: 2 * $0, as: Int16.self) }
        }
    }
    static func words(_ bytes: [UInt8]) -> [Int32] {
        bytes.withUnsafeBytes { raw in
            (0..<raw.count / 4).map { raw.loadUnaligned(fromByteOffset: 4 * $0, as: Int32.self) }
        }
    }
    static func floats(_ bytes: [UInt8]) -> [Float] { words(bytes).map { Float(bitPattern: UInt32(bitPattern: $0)) } }

    /// `frameCount` samples of a sine.
    static func sine(_ frequencyHz: Double, amplitude: Double, frameCount: Int, rateHz: Int = 48000) -> [Double] {
        (0..<frameCount).map { amplitude * sin(2 * .pi * frequencyHz * Double($0) / Double(rateHz)) }
    }
}

extension SignalPath {
    /// Processes bytes and returns the stored ones.
    func process(_ bytes: [UInt8]) -> [UInt8] {
        let room = bytes.count / format.bytesPerFrame * format.stored.bytesPerFrame
        // One extra byte, to check that it is not written.
        var output = [UInt8](repeating: 0xA5, count: room + 1)
        let written = bytes.withUnsafeBytes { input in
            output.withUnsafeMutableBytes { process(input, into: $0) }
        }
        precondition(written == room && output.removeLast() == 0xA5)
        return output
    }

    func process(_ samples: [Float]) -> [Float] { Sound.floats(process(Sound.bytes(samples))) }

    /// Processes silence and returns the stored bytes.
    func silence(frameCount: Int) -> [UInt8] {
        var output = [UInt8](repeating: 0xA5, count: frameCount * format.stored.bytesPerFrame)
        let written = output.withUnsafeMutableBytes { silence(frameCount: frameCount, into: $0) }
        precondition(written == output.count)
        return output
    }
}

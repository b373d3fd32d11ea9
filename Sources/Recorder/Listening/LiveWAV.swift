import Filters
import Takes

/// A WAV stream that has no end: 16 bits at the rate of the card, one channel or two.
///
/// The sizes in its header are the largest that there are, which players take for unknown.
struct LiveWAV: Hashable {
    let rateHz: Int
    let layout: Layout

    /// How the channels of the card become those of the stream.
    enum Layout: Hashable {
        /// All channels, averaged.
        case mono
        /// The first two; of a card with one channel, that one twice.
        case stereo
    }

    /// What a peer gets that asked for nothing.
    static func usualLayout(of format: StreamFormat) -> Layout { format.channels < 2 ? .mono : .stereo }

    var channels: Int { layout == .mono ? 1 : 2 }
    var bytesPerFrame: Int { 2 * channels }

    /// `RIFF`, `fmt ` of PCM, and the head of `data`: 44 bytes.
    var header: [UInt8] {
        func number(_ value: Int, bytes count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let unknown = [UInt8](repeating: 0xff, count: 4)
        let form = [(1, 2), (channels, 2), (rateHz, 4), (rateHz * bytesPerFrame, 4), (bytesPerFrame, 2), (16, 2)]
        return Array("RIFF".utf8) + unknown + Array("WAVEfmt ".utf8) + number(16, bytes: 4)
            + form.flatMap { number($0.0, bytes: $0.1) } + Array("data".utf8) + unknown
    }

    /// The frames of a card as this stream has them.
    /// - Parameter samples: interleaved, of full scale 1, `channelCount` a frame.
    func encode(_ samples: [Double], frameCount: Int, from channelCount: Int) -> [UInt8] {
        var mapped = [Double](repeating: 0, count: frameCount * channels)
        for frame in 0..<frameCount {
            let first = frame * channelCount
            switch layout {
            case .mono:
                var sum = 0.0
                for channel in 0..<channelCount { sum += samples[first + channel] }
                mapped[frame] = sum / Double(channelCount)
            case .stereo:
                mapped[2 * frame] = samples[first]
                mapped[2 * frame + 1] = samples[first + min(1, channelCount - 1)]
            }
        }
        var bytes = [UInt8](repeating: 0, count: frameCount * bytesPerFrame)
        // Safe: the bytes have room for all samples.
        unsafe bytes.withUnsafeMutableBytes { unsafe SampleEncoder(.s16).encode(mapped.span, into: $0) }
        return bytes
    }
}

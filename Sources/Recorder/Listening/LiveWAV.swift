import Filters
import Takes

/// A WAV stream without an end: 16 bits at the rate of the card, one channel or two.
///
/// The sizes in its header have the largest value, which players read as unknown.
struct LiveWAV: Hashable {
    let rateHz: Int
    let layout: Layout

    enum Layout: Hashable {
        /// All channels, averaged.
        case mono
        /// The first two channels. The single channel of a mono card is sent twice.
        case stereo
    }

    /// The layout for a peer that asked for none.
    static func usualLayout(of format: StreamFormat) -> Layout { format.channels < 2 ? .mono : .stereo }

    var channels: Int { layout == .mono ? 1 : 2 }
    var bytesPerFrame: Int { 2 * channels }

    /// `RIFF`, `fmt ` for PCM, and the header of `data`: 44 bytes.
    var header: [UInt8] {
        func number(_ value: Int, bytes count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let unknown = [UInt8](repeating: 0xff, count: 4)
        let form = [(1, 2), (channels, 2), (rateHz, 4), (rateHz * bytesPerFrame, 4), (bytesPerFrame, 2), (16, 2)]
        return Array("RIFF".utf8) + unknown + Array("WAVEfmt ".utf8) + number(16, bytes: 4)
            + form.flatMap { number($0.0, bytes: $0.1) } + Array("data".utf8) + unknown
    }

    /// Converts frames of a card to this stream.
    /// - Parameter samples: interleaved, full scale 1, `channelCount` samples per frame.
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
        // Safe: `bytes` has room for all samples.
        unsafe bytes.withUnsafeMutableBytes { unsafe SampleEncoder(.s16).encode(mapped.span, into: $0) }
        return bytes
    }
}

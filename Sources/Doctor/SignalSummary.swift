import Filters
import Glibc
import Takes

/// What was heard on each channel, in parts of full scale.
struct SignalSummary: Equatable {
    /// One channel.
    struct Channel: Equatable {
        var least = 0.0
        var greatest = 0.0
        /// The mean of the samples: what does not swing.
        var offset = 0.0
        /// The root of the mean square of what does.
        var rms = 0.0
        /// Samples at the converter's limit.
        var clipped = 0

        /// The greatest swing to one side of zero.
        var peak: Double { max(greatest, -least) }
    }

    var channels: [Channel]
    var frameCount: Int
    var format: StreamFormat

    init(channels: [Channel], frameCount: Int, format: StreamFormat) {
        self.channels = channels
        self.frameCount = frameCount
        self.format = format
    }

    /// Measures whole frames as a card delivered them.
    init(of bytes: [UInt8], format: StreamFormat) {
        self.format = format
        frameCount = bytes.count / format.bytesPerFrame
        let count = frameCount * format.channels
        var samples = [Double](repeating: 0, count: count)
        let coding = SampleCoding(format.sampleFormat)
        // Safe: there are bytes for `count` samples, and room for as many.
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe samples.withUnsafeMutableBufferPointer { samples in
                guard let source = bytes.baseAddress, let target = samples.baseAddress else { return }
                _ = unsafe coding.read(source, into: target, count: count)
            }
        }
        let (limits, scale) = (coding.limits, coding.fullScale)
        channels = (0..<format.channels).map { number in
            guard count > 0 else { return Channel() }
            var channel = Channel()
            var (least, greatest, sum) = (Double.infinity, -Double.infinity, 0.0)
            for index in stride(from: number, to: count, by: format.channels) {
                let sample = samples[index]
                least = min(least, sample)
                greatest = max(greatest, sample)
                sum += sample
                if sample <= limits.least || sample >= limits.greatest { channel.clipped += 1 }
            }
            let mean = sum / Double(count / format.channels)
            var squares = 0.0
            for index in stride(from: number, to: count, by: format.channels) {
                let swing = samples[index] - mean
                squares += swing * swing
            }
            channel.least = least / scale
            channel.greatest = greatest / scale
            channel.offset = mean / scale
            channel.rms = (squares / Double(count / format.channels)).squareRoot() / scale
            return channel
        }
    }

    /// A part of full scale in dB; nil for nothing.
    static func dBFS(_ part: Double) -> Double? {
        part > 0 ? 20 * log10(part) : nil
    }
}

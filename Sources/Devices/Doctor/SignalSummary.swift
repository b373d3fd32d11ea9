import Filters
import Glibc
import Takes

/// The measured signal of each channel of a card, in fractions of full scale.
struct SignalSummary: Equatable {
    var channels: [ChannelSignal]
    var format: StreamFormat

    init(channels: [ChannelSignal], format: StreamFormat) {
        self.channels = channels
        self.format = format
    }

    /// Measures whole frames as a card delivered them.
    init(of bytes: [UInt8], format: StreamFormat) {
        self.format = format
        let meter = RunningMeter(format)
        unsafe bytes.withUnsafeBytes { unsafe meter.take($0) }
        channels = meter.finish()
    }

    var frameCount: Int { Int(channels.first?.frames ?? 0) }

    /// A fraction of full scale in dB, or nil for 0.
    static func dBFS(_ part: Double) -> Double? {
        part > 0 ? 20 * log10(part) : nil
    }
}

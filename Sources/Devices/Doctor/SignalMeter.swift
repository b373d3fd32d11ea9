import Filters
package import SoundCard
package import Takes

/// Decides which channels of a card have a signal, by the same rule as the continuous signal check.
package final class SignalMeter: ChannelMeter {
    private let meter: RunningMeter

    package init(_ format: StreamFormat) {
        meter = RunningMeter(format)
    }

    package func take(_ bytes: UnsafeRawBufferPointer) {
        unsafe meter.take(bytes)
    }

    package func signals() -> [Bool] {
        meter.finish().map { !$0.isDead(in: meter.format) }
    }
}

extension CaptureCard {
    /// A closed card whose live channels a `SignalMeter` finds.
    package convenience init() {
        self.init(sampleFormat: nil, meter: SignalMeter.init)
    }
}

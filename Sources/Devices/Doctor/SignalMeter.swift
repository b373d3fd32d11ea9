import Filters
package import SoundCard
package import Takes

/// Judges which channels of a card have a signal, as the watch on the signal does.
package final class SignalMeter: ChannelMeter {
    private let meter: RunningMeter

    /// A meter of what a card delivers in this format.
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
    /// A card that is not open yet, whose live channels a `SignalMeter` finds.
    package convenience init() {
        self.init(sampleFormat: nil, meter: SignalMeter.init)
    }
}

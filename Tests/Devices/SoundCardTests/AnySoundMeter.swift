import Takes

@testable import SoundCard

/// Reports a signal on a channel if any of its 16-bit samples is not zero.
private final class AnySoundMeter: ChannelMeter {
    private var isLive: [Bool]

    init(_ format: StreamFormat) { isLive = Array(repeating: false, count: format.channels) }

    func take(_ bytes: UnsafeRawBufferPointer) {
        for (index, sample) in bytes.bindMemory(to: Int16.self).enumerated() where sample != 0 {
            isLive[index % isLive.count] = true
        }
    }

    func signals() -> [Bool] { isLive }
}

extension CaptureCard {
    convenience init(sampleFormat: SampleFormat? = nil, patience: Duration = CaptureCard.patience) {
        self.init(
            cards: SoundCards(), sampleFormat: sampleFormat, meter: AnySoundMeter.init, patience: patience)
    }
}

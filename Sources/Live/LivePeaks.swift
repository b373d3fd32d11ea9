import Filters
import Ring
import Takes

/// The waveform of the sound of the capture card while it is sampled, filtered as in a take. It reads the ring beside the take's writer
/// and holds no frame of it. To be used by one thread at a time.
public final class LivePeaks {
    private let source: LiveSource
    private let sound: LiveSound
    /// How many pixels were given before.
    public private(set) var pixelCount = 0

    /// The waveform from the next frame on.
    public init(_ source: LiveSource) {
        self.source = source
        sound = LiveSound(source)
    }

    /// Goes on with the same card and perhaps another filter.
    /// - Returns: false if it is another card, or was opened in another format.
    public func follow(_ source: LiveSource) -> Bool {
        guard source.ring === self.source.ring else { return false }
        sound.change(to: source.design)
        return true
    }

    /// The pixels since the last call: least and greatest of each channel, in 1/128 of full scale, for `SignalPath.framesPerPixel`
    /// frames each.
    public func next() -> [Int8] {
        var peaks: [Int8] = []
        while sound.read({ _, _ in }) { peaks += sound.peaks }
        pixelCount += peaks.count / (2 * sound.format.channels)
        return peaks
    }
}

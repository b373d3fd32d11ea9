import Ring
package import Takes

/// The sound of the open card, filtered once for all consumers: listeners and waveform displays. It reads the ring
/// independently of the take's writer and does not hold frames. One thread at a time may use it.
package final class LiveFeed {
    /// The card's format.
    package var format: StreamFormat { sound.format }
    private let source: LiveSource
    private let sound: LiveSound
    private let pixels: LivePixels?

    /// The sound from the next frame on.
    /// - Parameter pixels: receives the waveform.
    package init(_ source: LiveSource, pixels: LivePixels? = nil) {
        self.source = source
        self.pixels = pixels
        sound = LiveSound(source)
        draw()
    }

    deinit { pixels?.end() }

    /// Writes the waveform from the next frame on, if it is wanted.
    package func draw() { pixels?.begin(format) }

    /// Continues with the same card and possibly another filter.
    /// - Returns: false if the source is another card, or was opened in another format.
    package func follow(_ source: LiveSource) -> Bool {
        guard source.ring === self.source.ring else { return false }
        sound.change(to: source.design)
        return true
    }

    /// Reads the next frames.
    /// - Parameter body: receives interleaved samples with full scale 1, and the number of valid frames.
    /// - Returns: the frames, or nil if none are available yet.
    package func read(_ body: (_ samples: [Double], _ frameCount: Int) throws -> Void) rethrows -> LiveChunk? {
        guard try sound.read(body) else { return nil }
        pixels?.append(sound.peaks)
        return sound.chunk
    }
}

import Ring
package import Takes

/// The sound of the open card, filtered once for all that follow it: those that listen, and those that draw its waveform. It reads the
/// ring beside the take's writer and holds no frame of it. To be used by one thread at a time.
package final class LiveFeed {
    /// What the card delivers.
    package var format: StreamFormat { sound.format }
    private let source: LiveSource
    private let sound: LiveSound
    private let pixels: LivePixels?

    /// The sound from the next frame on.
    /// - Parameter pixels: gets the waveform.
    package init(_ source: LiveSource, pixels: LivePixels? = nil) {
        self.source = source
        self.pixels = pixels
        sound = LiveSound(source)
        draw()
    }

    deinit { pixels?.end() }

    /// Gives the waveform from the next frame on, if somebody draws it.
    package func draw() { pixels?.begin(format) }

    /// Goes on with the same card and perhaps another filter.
    /// - Returns: false if it is another card, or was opened in another format.
    package func follow(_ source: LiveSource) -> Bool {
        guard source.ring === self.source.ring else { return false }
        sound.change(to: source.design)
        return true
    }

    /// Reads the next frames.
    /// - Parameter body: gets interleaved samples of full scale 1, and how many frames of them count.
    /// - Returns: the frames, or nil if there are none yet.
    package func read(_ body: (_ samples: [Double], _ frameCount: Int) throws -> Void) rethrows -> LiveChunk? {
        guard try sound.read(body) else { return nil }
        pixels?.append(sound.peaks)
        return sound.chunk
    }
}
